"""The alerts that stand, as a plain dict: by name, {"text", "detail", "latched", "acknowledged_by", "seq", "not_by"}.

What stands before a colon in the name is the alert's kind. Latched, it tells of what has happened and stands until it
is acknowledged; otherwise it tells of what is so, until that is put right.

Most alerts may be acknowledged by anyone: a technician's matters, the puck, the buttons. Those about dice and their
reserve (ANOTHER_PERSON) tell of what the boxman and the witness did or let happen, so neither of them may put such an
alert away: `not_by` holds who was on duty or signed then; whoever is on duty when it is acknowledged is refused too,
and where the configuration lists supervisors, whoever is none of them.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from device.dice_control.names import same_name
from engine_lite.refusal import Refused

ANOTHER_PERSON = frozenset(
    {
        "against_rule",
        "count_differs",
        "recording_gap",
        "no_opening_count",
        "no_closing_count",
        "slots_changed_shut",
        "reserve_unexplained",
        "reserve_left_open",
        "reserve_open_during_roll",
        "reserve_open_while_closed",
        "slots_disagree",
        "dice_in_play",
        "dice_missing",
        "dice_written_off",
        "dice_not_named",
        "set_to_replace",
        "set_served_before",
        "pin_locked",
    }
)
# Names that one alert keeps: as many as come on duty at a table while it stands.
NOT_BY_MAX = 100

Standing = dict[str, dict[str, Any]]


def needs_another(alert: str) -> bool:
    """Whether an alert is acknowledged by another person than those whom it is about."""
    return alert.partition(":")[0] in ANOTHER_PERSON


def raised(
    standing: Standing, alert: str, text: str, detail: dict[str, Any], *, latched: bool, people: Iterable[str]
) -> dict[str, Any] | None:
    """The data of the event that raises an alert; None where it stands with the same text and detail already.

    `people` are those whom it is about.
    """
    said: dict[str, Any] = {"text": text, "detail": detail, "latched": latched}
    known = standing.get(alert)
    if known is not None and all(known[name] == said[name] for name in said):
        return None
    if needs_another(alert):
        before = [] if known is None else known.get("not_by", [])
        if not_by := list(dict.fromkeys([*before, *people]))[:NOT_BY_MAX]:
            said["not_by"] = not_by
    return {"alert": alert} | said


def check_acknowledgement(
    standing: Standing,
    alert: str,
    seq: int,
    name: str,
    on_duty: Iterable[str],
    supervisors: Collection[str] | None = None,
) -> None:
    """Refuse the acknowledgement of an alert as event `seq` told of it, where it does not stand so or may not be.

    `supervisors` are the only ones who may acknowledge what another person must; None: no names are listed.
    """
    known = standing.get(alert)
    if known is None:
        raise Refused("no_such_alert", "this alert does not stand any more")
    if known["seq"] != seq:
        raise Refused("stale", "this alert says something else now; read it again")
    if known["acknowledged_by"] is not None:
        raise Refused("no_such_alert", f"{known['acknowledged_by']} has acknowledged this alert already")
    if not needs_another(alert):
        return
    if any(same_name(name, other) for other in on_duty):
        raise Refused("same_name", f"{name} is on duty; another person must acknowledge this alert")
    if any(same_name(name, other) for other in known.get("not_by", [])):
        raise Refused("same_name", f"{name} was on duty or signed then; another person must acknowledge this alert")
    if supervisors is not None and not any(same_name(name, other) for other in supervisors):
        raise Refused("not_a_supervisor", f"{name} is none of the supervisors of this table; one of them must do this")


def take(standing: Standing, kind: str, data: Mapping[str, Any], seq: int) -> None:
    """Apply alert_raised, alert_cleared or alert_acknowledged. KeyError: no such alert stands."""
    alert: str = data["alert"]
    if kind == "alert_raised":
        # Raised again with another text, it counts from its first time on.
        said = {name: data[name] for name in ("text", "detail", "latched")}
        standing[alert] = said | {"acknowledged_by": None, "seq": seq, "not_by": data.get("not_by", [])}
    elif kind == "alert_cleared" or standing[alert]["latched"]:
        del standing[alert]
    else:
        standing[alert]["acknowledged_by"] = data["name"]
