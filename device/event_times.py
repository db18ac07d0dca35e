"""When things began, for the screen: the wall times of events, which the session itself never looks at."""

from dataclasses import dataclass, field

from device.event import Event


@dataclass
class EventTimes:
    """Since when the reserve's lid is as it is and each alert stands (RFC 3339, UTC; the clock's quality aside)."""

    reserve: str | None = None
    alerts: dict[str, str] = field(default_factory=dict)
    # Those of them that end when they are acknowledged.
    latched: list[str] = field(default_factory=list)

    def note(self, event: Event) -> None:
        """Take a committed event on, in order."""
        if event.type in ("reserve_opened", "reserve_closed"):
            self.reserve = event.wall
        elif event.type == "alert_raised":
            # Raised again with another text, it still counts from its first time on.
            alert = event.data["alert"]
            self.alerts.setdefault(alert, event.wall)
            if event.data["latched"] and alert not in self.latched:
                self.latched.append(alert)
        elif event.type == "alert_cleared" or (
            event.type == "alert_acknowledged" and event.data["alert"] in self.latched
        ):
            self.alerts.pop(event.data["alert"], None)
            self.latched = [alert for alert in self.latched if alert != event.data["alert"]]
