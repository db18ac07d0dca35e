"""Makes a table's statistics and writes them to standard output as JSON: a program of its own, so that no table waits.

    python -m device.statistics_program JOURNAL [--language L]

One reading of the journal gives every period that the page offers: all that the journal holds, the latest days and
sessions, and each set of dice.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from device.give_way import give_way
from device.journal import JournalError, JournalReader
from device.languages.languages import LANGUAGES
from device.languages.said import bet_name
from device.recovery import beginning
from device.statistics_figures import Figures, Hold, days_of, figures, sessions_of, sets_of
from device.statistics_history import Statistics, Stretch, UnreadableEvent, statistics

# Below everything that a player waits for.
NICE = 10
# So many days and sessions are offered, and sets of dice; older ones are for the command line.
LATEST = 31


def statistics_view(found: Statistics, language: str) -> dict[str, Any]:
    """What the page shows; times in UTC, the names of bets in a language."""
    names = {kind: bet_name(name, found.rules or "", language) for kind, name in found.names.items()}
    days = list(days_of(found, None).items())[-LATEST:]
    sessions = list(sessions_of(found).items())[-LATEST:]
    sets = list(sets_of(found).items())[-LATEST:]

    def period(kind: str, name: str | int | None, parts: Iterable[Stretch]) -> dict[str, Any]:
        return {"kind": kind, "name": name} | _figures(figures(parts, found), names)

    return {
        "table": found.table,
        "last_seq": found.last_seq,
        "pruned_seq": found.pruned_seq,
        "open_session": found.open_session,
        "layout": found.layout,
        "periods": [
            period("all", None, found.stretches),
            *(period("day", day.isoformat(), parts) for day, parts in reversed(days)),
            *(period("session", number, parts) for number, parts in reversed(sessions)),
            *(period("set", name, parts) for name, parts in reversed(sets)),
        ],
    }


def _figures(made: Figures, names: dict[str, str]) -> dict[str, Any]:
    view = asdict(made)
    view["began"], view["ended"] = _moment(made.began), _moment(made.ended)
    view["paces"] = [{"at": _moment(at)} | asdict(rate) for at, rate in made.paces]
    view["bets"] = [_hold(bet) | {"name": names.get(bet.kind or "", bet.kind)} for bet in made.bets]
    view["whole"] = _hold(made.whole)
    return view


def _hold(hold: Hold) -> dict[str, Any]:
    return asdict(hold) | {
        "difference": hold.difference,
        "hold": hold.hold,
        "expected_hold": hold.expected_hold,
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")


def main() -> int:
    """Make the statistics; exit status 1 and one line on standard error where they cannot be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    parser.add_argument("--language", choices=LANGUAGES, default="en")
    chosen = parser.parse_args()
    give_way(NICE)
    try:
        with JournalReader(chosen.journal) as reader:
            found = statistics(reader.events(), beginning(reader)[0])
    except (JournalError, UnreadableEvent) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    view = statistics_view(found, chosen.language)
    sys.stdout.buffer.write(json.dumps(view, separators=(",", ":")).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
