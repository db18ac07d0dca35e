"""A journal of a session that was really played and signed, its states on the way, and pruning it."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from device.checkpoint import is_checkpoint_due, sign, sign_entries
from device.event import Event, Stamp
from device.event_times import EventTimes
from device.journal import Journal, JournalReader
from device.journal_base import Base, pruned_data, sign_base, state_text
from device.journal_verification import VerificationResult, verify
from device.origin import Origin
from device.recovery import Recovered, recover
from device.session import Entry, Session
from device.session_snapshot import state_of
from device.snapshot_file import SnapshotFile
from device.table_key import TableKey
from tests.journal_rig import KEY, STAMP
from tests.test_session import CONFIGURED, terms

SITE = "demo"
TABLE = "craps-1"
HAND: tuple[dict[str, Any], ...] = (
    {"bet": {"player": "3", "kind": "pass_line", "amount": 10}},
    {"roll": [2, 2]},
    {"bet": {"player": "1", "kind": "place", "amount": 12, "number": 6}},
    {"roll": [3, 3]},
    {"roll": [3, 4]},
)


class Game:
    """A journal at `path`, held open by nobody. `states` and `events` are by `seq`.

    Without `all_states`, which take their time, `states` has those where it may be cut.
    """

    def __init__(
        self, path: Path, hands: int = 4, sign_every: int = 5, key: TableKey = KEY, *, all_states: bool = True
    ) -> None:
        self.path = path
        self.key = key
        self.session, self.times = Session(), EventTimes()
        self.states: dict[int, dict[str, Any]] = {}
        self.events: dict[int, Event] = {}
        self._sign_every = sign_every
        self._all_states = all_states
        self.play(self._start, *[self._hand] * hands)

    @property
    def cuts(self) -> list[int]:
        """The events after which the journal may be cut: those before a checkpoint that is followed by others."""
        return [seq - 1 for seq, event in self.events.items() if event.type == "checkpoint"]

    @property
    def last_seq(self) -> int:
        """The last event."""
        return max(self.events)

    def play(self, *parts: Callable[[], Iterable[list[Entry]]], stamp: Stamp = STAMP) -> None:
        """Append what the session says to each part, in one commit, a checkpoint behind every so many events."""
        with Journal.open(self.path, TABLE) as journal:
            states: list[dict[str, Any]] = []
            written: list[Entry] = []
            for part in parts:
                for entries in part():
                    written += entries
                    is_due = self.session.seq - self.session.checkpoint_seq >= self._sign_every
                    states += [{}] * (len(entries) - 1)
                    states.append(state_of(self.session, EventTimes()) if is_due or self._all_states else {})
                    if is_due:
                        data = sign_entries(self.key, TABLE, written, stamp, journal.last_seq, journal.last_hash).data()
                        written += self.session.checkpoint(data)
                        states.append(state_of(self.session, EventTimes()))
            self._note(journal.append(written, stamp), states)

    def _start(self) -> Iterator[list[Entry]]:
        yield self.session.start("1", CONFIGURED | {"site": SITE}, key=self.key.public, configuration_hash="0")
        yield self.session.open_table(terms(), Origin("configuration"))

    def _hand(self) -> Iterator[list[Entry]]:
        for step in HAND:
            yield self.session.command(step, Origin("console", f"command-{self.session.seq}"))

    def more(self, hands: int = 1, stamp: Stamp = STAMP) -> None:
        """Play on."""
        self.play(*[self._hand] * hands, stamp=stamp)

    def base(self, seq: int, key: TableKey | None = None, table: str = TABLE, **other: Any) -> Base:
        """What stands for events 1 to `seq`."""
        said = {"hash": self.events[seq].hash, "state": state_text(self.states[seq]), "program": "1"} | other
        return sign_base(key or self.key, table, seq, said["hash"], said["state"], said["program"])

    def prune(self, seq: int, journal: Journal | None = None) -> Base:
        """Prune events 1 to `seq`."""
        base = self.base(seq)
        entries = self.session.prune_journal(pruned_data(base, 180, self.last_seq))
        if journal is None:
            with Journal.open(self.path, TABLE) as opened:
                self._prune(opened, base, entries)
        else:
            self._prune(journal, base, entries)
        return base

    def _prune(self, journal: Journal, base: Base, entries: list[Entry]) -> None:
        assert is_checkpoint_due([kind for kind, _ in entries], 0)
        states = [state_of(self.session, EventTimes())]
        data = sign_entries(self.key, TABLE, entries, STAMP, journal.last_seq, journal.last_hash).data()
        entries = entries + self.session.checkpoint(data)
        states.append(state_of(self.session, EventTimes()))
        self._note(journal.prune(base, entries, STAMP), states)

    def _note(self, events: list[Event], states: list[dict[str, Any]]) -> None:
        for event, state in zip(events, states, strict=True):
            self.times.note(event)
            self.events[event.seq], self.states[event.seq] = event, state

    def read(self) -> list[Event]:
        """What is left of the journal."""
        with JournalReader(self.path) as reader:
            return list(reader.events())

    def verify(self) -> VerificationResult:
        """What verification says."""
        with JournalReader(self.path) as reader:
            return verify(reader, lambda _done, _of: None)

    def recover(self) -> Recovered:
        """What the terminal starts from, without a snapshot unless there is one."""
        with Journal.open(self.path, TABLE) as journal:
            file = SnapshotFile(self.path.with_name("snapshot"), "1", TABLE, KEY)
            return recover(journal, file, lambda _done, _of: None)


def checkpoint_of(event: Event, key: TableKey = KEY) -> dict[str, Any]:
    """A checkpoint of an event, as it is taken away from the table."""
    return {"table": TABLE} | sign(key, TABLE, event.seq, event.hash).data()
