"""Makes what a journal can be pruned with: `python -m device.pruning_program JOURNAL DELIVERED DAYS NOW`.

Writes a line of JSON with `seq` and `hash` of the last event to go, and behind it the state there; nothing where no
event may go. Exit status 1, and one line on standard error, where it cannot be done.
"""

import json
import sys
from pathlib import Path

from device.give_way import give_way
from device.journal import JournalError, JournalReader
from device.journal_base import state_text
from device.prune_point import prune_point, state_at
from device.session import ReplayError

# Below everything that a player waits for.
NICE = 19


def main() -> int:
    """Look at the journal that the command line names."""
    give_way(NICE)
    journal, delivered, days, now = sys.argv[1:]
    try:
        with JournalReader(Path(journal)) as reader:
            point = prune_point(reader.events(), int(delivered), int(days), now)
            if point is None:
                return 0
            said = json.dumps({"seq": point.seq, "hash": point.hash}) + "\n" + state_text(state_at(reader, point.seq))
    except (JournalError, ReplayError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    sys.stdout.buffer.write(said.encode("ascii"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
