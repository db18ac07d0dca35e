"""The report of a commissioning: what was tried, by whom, with which versions, and what it came to; signed.

Its JSON form is {"commissioning": {...}, "key": "U...", "signature": "..."}: the signature is of the canonical report,
by the key of the unit, which is the one that signs the table's journal. The same is the data of the event
`commissioned`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from device.commissioning.bounce import settle_times
from device.commissioning.machine import Result
from device.commissioning.steps import Step
from device.event import canonical
from device.table_key import TableKey, is_public_key, is_signed_by
from drivers.wiring import GROUPS, Wiring

COMMISSIONED: Final = "commissioned"
"""The type of the event."""

_VERSION: Final = 1
# No text that NATS has a client sign begins with this byte.
_DOMAIN: Final = b"\xffboxman commissioning 1\n"


class ReportError(Exception):
    """A report is none, or is not as it was signed; the text says what is wrong, and begins with a verb."""


@dataclass(frozen=True)
class Unit:
    """What was commissioned: program version, configuration (its hash), pin library, firmware of the node if any."""

    site: str
    table: str
    program: str
    configuration: str
    pins: str
    node: str | None


def report_of(
    unit: Unit, wiring: Wiring, steps: Sequence[Step], results: Mapping[str, Result], *, begun: str, ended: str
) -> dict[str, Any]:
    """The report; each step must have a result."""
    told = [_told(step, results[step.name]) for step in steps]
    bounces = {
        step.signal: results[step.name].bounce_us or 0
        for step in steps
        if step.signal is not None and results[step.name].bounce_us is not None
    }
    return {
        "version": _VERSION,
        **asdict(unit),
        "begun": begun,
        "ended": ended,
        "by": list(dict.fromkeys(result.by for result in results.values())),
        "passed": all(result.verdict == "passed" for result in results.values()),
        "steps": told,
        "not_wired": [group for group in GROUPS if not wiring.group(group)],
        "timing": [asdict(time) for time in settle_times(wiring, bounces)],
    }


def _told(step: Step, result: Result) -> dict[str, Any]:
    said = {
        name: value for name, value in asdict(result).items() if value is not None and (name, value) != ("said", "")
    }
    return said | {"signal": step.signal, "pin": step.pin}


def signed(report: Mapping[str, Any], key: TableKey) -> dict[str, Any]:
    """The report with the unit's signature."""
    return {"commissioning": dict(report), "key": key.public, "signature": key.sign(_message(report))}


def read_signed(content: bytes) -> dict[str, Any]:
    """A signed report as a file or an event holds it. Raises ReportError unless the key that it names has signed it."""
    try:
        said = json.loads(content)
        report, key, signature = said["commissioning"], said["key"], said["signature"]
        message = _message(report)
        has_more = len(said) > len(("commissioning", "key", "signature"))
    except (ValueError, TypeError, KeyError, RecursionError):
        has_more = True
    if has_more:
        raise ReportError('is no signed report; it should be {"commissioning": …, "key": …, "signature": …} alone')
    if not isinstance(key, str) or not is_public_key(key):
        raise ReportError("names no public key of a unit (U…) as its key")
    if not isinstance(signature, str) or not is_signed_by(key, message, signature):
        raise ReportError(f"was altered since, or {key} has not signed it: the signature is of something else")
    return dict(said)


def _message(report: Mapping[str, Any]) -> bytes:
    return _DOMAIN + canonical(dict(report)).encode("utf-8")
