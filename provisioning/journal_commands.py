"""`boxman journal`: verify a table's journal, and export it as events or as scenarios."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from device.data_folder import JOURNAL_FILE_NAME
from device.journal import JournalError, JournalReader
from device.journal_verification import verify
from device.scenario_export import ExportedSession, sessions
from engine_lite import rule_sets
from engine_lite.json_text import json_text
from provisioning.command_failed import CommandFailed
from provisioning.progress import ProgressBar
from provisioning.standard_streams import write_utf8


def verify_journal(data: Path) -> int:
    """Check every event and the chain; exit status 0 when all is well, 1 with the first bad event otherwise."""
    with journal_reader(data) as reader:
        progress = ProgressBar("verifying")
        result = verify(reader, progress)
        progress.close()
    if not result.is_good:
        print(f"{data / JOURNAL_FILE_NAME}: event {result.first_bad_seq}: {result.what_is_wrong}", file=sys.stderr)
        return 1
    print(f"{result.last_seq} events, unbroken; the last hash is {result.last_hash}")
    return 0


def export_events(data: Path) -> int:
    """Every event as one line of JSON, as it stands in the journal."""
    write_data()
    with journal_reader(data) as reader:
        for event in reader.events():
            print(event.line())
    return 0


def export_scenario(data: Path, session: int | None) -> int:
    """One session as a scenario file; `session` counts from 1, None is the latest."""
    write_data()
    with journal_reader(data) as reader:
        chosen, count = _choose(sessions(reader.events()), session)
    if chosen is None:
        raise CommandFailed(f"there is no session {session}; the journal holds {count}" if count else "no session yet")
    name = chosen.scenario["rules"]
    if name not in rule_sets.NAMES or rule_sets.load(name) != chosen.rule_set:
        print(
            f"boxman: the session was played under another version of {name} than this program holds; "
            "its table_opened event has the rule set",
            file=sys.stderr,
        )
    print(_layout(chosen))
    return 0


def write_data() -> None:
    """From now on standard output is data for other programs, in UTF-8. Raises CommandFailed when it is closed."""
    if sys.stdout is None:
        raise CommandFailed("standard output is closed, so there is nowhere to write to")
    write_utf8()


def _layout(session: ExportedSession) -> str:
    """A scenario with one step a line, so that two can be compared by eye."""
    scenario = session.scenario
    head = {name: value for name, value in scenario.items() if name != "steps"}
    steps = ",\n  ".join(json_text(step) for step in scenario["steps"])
    return json_text(head)[:-1] + ',\n "steps": [\n  ' + steps + "]}"


def _choose(found: Iterator[ExportedSession], number: int | None) -> tuple[ExportedSession | None, int]:
    chosen: ExportedSession | None = None
    count = 0
    for session in found:
        count += 1
        if number is None or count == number:
            chosen = session
    return chosen, count


@contextmanager
def journal_reader(data: Path) -> Iterator[JournalReader]:
    """A reader of the journal in a data folder, also beside a terminal that writes it. Raises CommandFailed."""
    path = data / JOURNAL_FILE_NAME
    try:
        there = path.is_file()
    except OSError as error:
        raise CommandFailed(
            f"{path}: cannot be read ({error.strerror}); --data names the table's data folder"
        ) from error
    if not there:
        raise CommandFailed(f"{path}: there is no journal; --data names the table's data folder")
    try:
        with JournalReader(path) as reader:
            yield reader
    except JournalError as error:
        raise CommandFailed(str(error)) from error
