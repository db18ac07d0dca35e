"""Raises an alert when a condition has lasted, and clears it when it is put right. Time comes in with the call."""

from dataclasses import dataclass
from typing import Any

from device.alert_conditions import TOLD_AGAIN_MS, GraceTimes, conditions, undetermined
from device.condition import Condition
from device.dice_control import reserve_conditions
from device.dice_control.dice_rules import DiceRules
from device.dice_control.reserve_conditions import SETTLED_MS, ReserveTimes
from device.session import Entry, Session
from drivers.wiring import Wiring

# When what is wrong changes while the alert stands, such as a puck that is put on another wrong box.
CHANGED_MS = 1_000


@dataclass
class _Pending:
    # The condition's epoch, and what tells this occurrence of it from others.
    epoch: tuple[Any, ...]
    detail: dict[str, Any]
    since_ms: int


class AlertWatch:
    """One session's watch. What it remembers is only for how long something has been wrong."""

    def __init__(self, grace: GraceTimes, reserve: ReserveTimes, dice_rules: DiceRules, wiring: Wiring) -> None:
        self._grace = grace
        self._reserve = reserve
        self._dice_rules = dice_rules
        self._wiring = wiring
        self._pending: dict[str, _Pending] = {}
        self._looked_at_seq = -1
        self._began_ms: int | None = None
        self._next_ms: int | None = None
        # The closing of the reserve that the slots have not settled after yet, and when it was first seen.
        self._settling: tuple[int, int] | None = None

    def wants(self, session: Session, now_ms: int) -> bool:
        """Whether a look is worth it: something has happened, or a grace time has run out."""
        return session.seq != self._looked_at_seq or (self._next_ms is not None and now_ms >= self._next_ms)

    def look(self, session: Session, now_ms: int) -> list[Entry]:
        """The alerts to raise and to clear now, already taken on by the session. `now_ms` never goes back."""
        entries: list[Entry] = []
        began_ms = self._began_ms = now_ms if self._began_ms is None else self._began_ms
        due = self._let_settle(session, now_ms, entries)
        stays = undetermined(session, now_ms - began_ms)
        context = session.dice_context(self._dice_rules)
        present = [
            *conditions(session, self._grace, self._wiring),
            *reserve_conditions.conditions(session.dice, context, self._reserve),
        ]
        for condition in present:
            if _is_over(session, condition):
                entries += session.clear_alert(condition.alert)
            at_ms = self._due_ms(session, condition, now_ms)
            if at_ms is None:
                continue
            if now_ms >= at_ms:
                entries += session.raise_alert(
                    condition.alert, condition.text, condition.detail, latched=condition.latched
                )
            else:
                due.append(at_ms)
        names = {condition.alert for condition in present}
        self._pending = {name: pending for name, pending in self._pending.items() if name in names}
        for name, raised in list(session.alerts.items()):
            if raised["latched"] or name in names:
                continue
            if name not in stays:
                entries += session.clear_alert(name)
            elif name in TOLD_AGAIN_MS:
                due.append(began_ms + TOLD_AGAIN_MS[name])
        self._looked_at_seq = session.seq
        self._next_ms = min(due, default=None)
        return entries

    def _let_settle(self, session: Session, now_ms: int, entries: list[Entry]) -> list[int]:
        """Say so when the slots have settled after a closing; when that will be."""
        state = session.dice.state
        if state.settling is None or state.slots is None or session.hardware.lid_unseen:
            return []
        if session.hardware.slots_unseen:
            # When its node is back, what it kept comes first.
            self._settling = None
            if session.hardware.node_away is not None and not state.settling_unread:
                entries += session.reserve_settled()
            return []
        if self._settling is None or self._settling[0] != state.settling:
            self._settling = (state.settling, now_ms)
        at_ms = self._settling[1] + SETTLED_MS
        if now_ms < at_ms:
            return [at_ms]
        entries += session.reserve_settled()
        return []

    def _due_ms(self, session: Session, condition: Condition, now_ms: int) -> int | None:
        """When the condition becomes an alert; None where the alert that stands says all."""
        raised = session.alerts.get(condition.alert)
        pending = self._pending.get(condition.alert)
        epoch = (condition.epoch, condition.occurrence(condition.detail))
        if pending is None or pending.epoch != epoch:
            pending = _Pending(epoch, condition.detail, now_ms)
        elif pending.detail != condition.detail:
            since_ms = pending.since_ms if raised is None else now_ms
            pending = _Pending(epoch, condition.detail, since_ms)
        self._pending[condition.alert] = pending
        if raised is None:
            return pending.since_ms + condition.grace_ms
        if raised["detail"] == condition.detail:
            return None
        return pending.since_ms + min(condition.grace_ms, CHANGED_MS)


def _is_over(session: Session, condition: Condition) -> bool:
    """Whether the alert that stands under this name tells of another occurrence, which nobody saw end."""
    raised = session.alerts.get(condition.alert)
    if raised is None or condition.latched:
        return False
    return condition.occurrence(raised["detail"]) != condition.occurrence(condition.detail)
