"""Holds the snapshot that a table started from against its journal: `python -m device.replay_program VERSION FOLDER`.

Replays the journal as far as the snapshot goes and compares the states. Writes one line where they differ, nothing
otherwise. Exit status 1, and one line on standard error, where that cannot be done. A start takes the snapshot's word
for what came before it; this does not, while the table plays.
"""

import json
import sys
from pathlib import Path
from typing import Any

from device.assembly import SNAPSHOT_FILE
from device.data_folder import JOURNAL_FILE_NAME
from device.give_way import give_way
from device.journal import JournalError, JournalPruned, JournalReader
from device.journal_base import state_text
from device.prune_point import state_at
from device.session import ReplayError
from device.snapshot_file import BadSnapshot, Snapshot, SnapshotFile
from device.table_key import KEY_FILE_NAME, TableKeyError, read_table_key

# Below everything that a player waits for.
NICE = 19


def main() -> int:
    """Look at the data folder that the command line names, of a table of this version."""
    give_way(NICE)
    version, folder = sys.argv[1], Path(sys.argv[2])
    try:
        with JournalReader(folder / JOURNAL_FILE_NAME) as reader:
            differing = _differing(reader, folder, version)
    except (JournalError, TableKeyError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    if differing is not None:
        print(differing)  # noqa: T201
    return 0


def _differing(reader: JournalReader, folder: Path, version: str) -> str | None:
    """What is wrong with the snapshot; None where nothing is, or where no start would believe it."""
    first = next(reader.events(), None)
    key = read_table_key(folder / KEY_FILE_NAME)
    if first is None or key is None:
        return None
    try:
        snapshot = SnapshotFile(folder / SNAPSHOT_FILE, version, first.table, key).read()
    except BadSnapshot:
        return None
    if snapshot is None:
        return None
    try:
        state = _replayed(reader, snapshot)
    except ReplayError as error:
        return str(error)
    if state is None or state == snapshot.state:
        return None
    session, kept = state["session"], snapshot.state.get("session", {})
    names = [name for name in session if session[name] != kept.get(name)] or ["times"]
    return f"the snapshot of event {snapshot.seq} that it went on from is another, in {', '.join(names)}"


def _replayed(reader: JournalReader, snapshot: Snapshot) -> dict[str, Any] | None:
    """The state that the journal leads to at the snapshot's event, as JSON has it; None where that was pruned.

    Raises JournalError or ReplayError.
    """
    while True:
        base = reader.base()
        if base is not None and base.seq >= snapshot.seq:
            return None
        try:
            state: dict[str, Any] = json.loads(state_text(state_at(reader, snapshot.seq)))
        except JournalPruned:
            # A table prunes once an hour at most, so that the next time is not in vain.
            continue
        return state


if __name__ == "__main__":
    sys.exit(main())
