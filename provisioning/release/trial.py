"""How a release proves itself: it is ready, has opened the journal and has passed its self-test. Pure.

Who has nothing to say for as long as the service's watchdog allows is given up, as it would be later.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

TRIAL_S_MAX: Final = 900.0
"""However busy it says that it is: through the longest journal a start takes less."""


@dataclass(frozen=True)
class Proof:
    """What the journal has of a release's run: that it has begun, and which checks of its self-test failed.

    `failed` None: the self-test is not over.
    """

    began: bool = False
    failed: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Seen:
    """What there is to see of a release on trial.

    `start_status` is how its start has ended (0: it is ready; None: it goes on); `active`: the service says so;
    `status` is the last that it said.
    """

    start_status: int | None
    active: bool
    status: str
    proof: Proof


@dataclass(frozen=True)
class Verdict:
    """`good` None: not yet to be said. `reason` is why it is not good."""

    good: bool | None
    reason: str = ""


_WAIT = Verdict(None)


class Trial:
    """A trial that began at a time of the monotonic clock, in seconds."""

    def __init__(self, began_s: float, silence_s_max: float) -> None:
        self._began_s = began_s
        self._silence_s_max = silence_s_max
        self._heard: Seen | None = None
        self._heard_s = began_s

    def judge(self, now_s: float, seen: Seen) -> Verdict:
        """The verdict after what is seen now."""
        if seen != self._heard:
            self._heard, self._heard_s = seen, now_s
        if seen.start_status is not None and (seen.start_status != 0 or not seen.active):
            return Verdict(False, f"it ended before it had proven itself{_said(seen)}")
        if seen.start_status == 0 and seen.proof.failed is not None:
            if seen.proof.failed:
                return Verdict(False, f"its self-test failed: {'; '.join(seen.proof.failed)}")
            return Verdict(True)
        if now_s - self._heard_s >= self._silence_s_max:
            return Verdict(False, f"nothing was heard of it for {self._silence_s_max:.0f} s{_said(seen)}")
        if now_s - self._began_s >= TRIAL_S_MAX:
            return Verdict(False, f"it was not ready after {TRIAL_S_MAX:.0f} s{_said(seen)}")
        return _WAIT


def _said(seen: Seen) -> str:
    return f"; the last it said was: {seen.status}" if seen.status else ""


def proof_in(lines: Iterable[str], version: str) -> Proof:
    """What the events since the trial began (canonical lines) prove of the release `version`."""
    proof = Proof()
    for line in lines:
        event = json.loads(line)
        if event["type"] == "started":
            proof = Proof(began=event["data"]["version"] == version)
        elif event["type"] == "self_test" and proof.began:
            checks = event["data"]["checks"]
            proof = Proof(
                True, tuple(f"{each['check']}: {each['said']}" for each in checks if each["result"] == "failed")
            )
    return proof


def opened_in(lines: Iterable[str]) -> bool:
    """Whether somebody opened the table in these events."""
    return any(json.loads(line)["type"] == "table_opened" for line in lines)
