"""The self-test at a start: what was found, judged check by check. Pure, but for the reckoning of house edges.

A failed check of the rules stops the table, since it would pay wrong. Whatever else is not as it should be is named,
and the table plays.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from device.input_names import all_said
from device.rule_edges import EdgesDiffer, check_edges
from device.table_terms import TableTerms

MIB: Final = 1024 * 1024
# The digits of a hash that people compare.
HASH_SHOWN: Final = 12

Result = Literal["passed", "failed", "warning"]
Entry = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and in words what was found."""

    check: str
    result: Result
    said: str


def self_test(checks: Iterable[Check]) -> Entry:
    """The event that tells of them. A warning does not keep the test from being passed."""
    told = list(checks)
    return "self_test", {
        "passed": all(check.result != "failed" for check in told),
        "checks": [asdict(check) for check in told],
    }


def check_journal(last_seq: int, snapshot_seq: int) -> Check:
    """The journal was opened and replayed from the snapshot of event `snapshot_seq` on (0: from its beginning)."""
    if snapshot_seq:
        said = (
            f"{last_seq} events; checked after event {snapshot_seq}, of which there is a snapshot; "
            "those before it are verified beside the table"
        )
    else:
        said = f"{last_seq} events, each of them checked" if last_seq else "a new journal"
    return Check("journal", "passed", said)


def check_rules(terms: TableTerms) -> Check:
    """The rules to be played by pay what they should."""
    try:
        return Check("rules", "passed", check_edges(terms.rule_set, terms.options))
    except EdgesDiffer as differ:
        return Check("rules", "failed", str(differ))


def check_key(former: str | None, key: str, adopted_by: str | None = None) -> Check:
    """The table's key is the one that its journal was signed with so far.

    Or it is `adopted_by`, the key of the unit of which the journal's last event says that it has taken the table over.
    """
    if former is None:
        return Check("key", "passed", f"the first one of this table, {_short(key)}")
    if former != key and adopted_by == key:
        return Check(
            "key", "passed", f"{_short(key)} of this unit, which has taken the table over from {_short(former)}"
        )
    if former != key:
        return Check("key", "failed", f"is {_short(key)}, but the journal was signed with {_short(former)}")
    return Check("key", "passed", f"the journal's, {_short(key)}")


def _short(key: str) -> str:
    """Enough of a public key to tell it from others on a screen; the start's event has the whole."""
    return f"{key[:8]}…{key[-4:]}"


def check_space(free_bytes: int, *, holds_reserve: bool) -> Check:
    """There is room on the disk, and the reserve with which a full disk is recorded."""
    free = f"{free_bytes // MIB} MiB free"
    if holds_reserve:
        return Check("disk", "passed", f"{free}, beside the reserve")
    return Check("disk", "warning", f"{free}, too little for the reserve; make room before the table stops")


def check_clock(quality: str) -> Check:
    """Wall time is kept by the system's time service."""
    if quality == "synced":
        return Check("clock", "passed", "synchronised")
    return Check("clock", "warning", "not synchronised: wall times may be wrong; order and durations are not concerned")


def check_program(version: str, configuration_hash: str, *, newer_before: str | None) -> Check:
    """Which program and configuration run; `newer_before` is the newer version that ran before this one."""
    said = f"version {version}, configuration {configuration_hash[:HASH_SHOWN]}"
    if newer_before is not None:
        return Check("program", "warning", f"{said}; older than version {newer_before}, which ran before")
    return Check("program", "passed", said)


def have_answered(hardware: Mapping[str, Any]) -> bool:
    """Whether every input, and the node, has said by now how it is (`hardware` as Terminal.hardware gives it)."""
    told = all(one["active"] is not None or one["unavailable"] is not None for one in hardware["inputs"])
    return told and hardware["node"]["state"] in ("none", "online")


def check_hardware(hardware: Mapping[str, Any]) -> Check:
    """Each wired input, each lamp and the node were seen."""
    inputs, lamps, node = hardware["inputs"], hardware["lamps"], hardware["node"]
    wrong = []
    if node["state"] not in ("none", "online"):
        wrong.append("the I/O node does not answer")
    unread = [one["name"] for one in inputs if one["unavailable"] is not None]
    unread += [f"lamp_{one['name']}" for one in lamps if one["unavailable"] is not None]
    if unread:
        wrong.append(f"cannot be used: {all_said(unread)}")
    silent = [one["name"] for one in inputs if one["active"] is None and one["unavailable"] is None]
    if silent:
        wrong.append(f"not heard of yet: {all_said(silent)}")
    if stuck := [one["name"] for one in inputs if one["stuck"]]:
        wrong.append(f"stuck: {all_said(stuck)}")
    if wrong:
        return Check("hardware", "warning", "; ".join(wrong))
    said = f"{len(inputs)} inputs and {len(lamps)} lamps"
    if node["state"] == "online":
        said += f"; the I/O node has firmware {node['firmware']}, configuration {node['configuration']}"
    return Check("hardware", "passed", said)
