"""Verifies a journal from its first event on: `python -m device.verification_program JOURNAL`.

Writes one line where the journal is not what the table wrote, nothing otherwise. A start from a snapshot does not look
at what lies before it; this does, while the table plays.
"""

import sys
from pathlib import Path

from device.give_way import give_way
from device.journal import JournalError, JournalReader
from device.journal_verification import verify

# Below everything that a player waits for.
NICE = 19


def main() -> int:
    """Verify the journal that the command line names."""
    give_way(NICE)
    try:
        with JournalReader(Path(sys.argv[1])) as reader:
            result = verify(reader, lambda _checked, _whole: None)
    except JournalError as error:
        print(error)  # noqa: T201
        return 0
    if not result.is_good:
        print(f"event {result.first_bad_seq}: {result.what_is_wrong}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
