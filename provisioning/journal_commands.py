"""`boxman journal`: verify a table's journal, take a checkpoint away, show events, and export events or scenarios."""

import argparse
import asyncio
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from device.central_comparison import ComparisonResult, compare_with_central
from device.central_history import CentralHistory, CentralUnreadable, nats_history
from device.checkpoint import CHECKPOINT, CHECKPOINT_EVENTS, BadCheckpoint, Checkpoint, parse_checkpoint
from device.data_folder import JOURNAL_FILE_NAME
from device.delivery_record import DELIVERY_FILE
from device.event import canonical
from device.journal import JournalDamaged, JournalError, JournalReader
from device.journal_verification import UNSIGNED_EVENTS_MAX, VerificationResult, verify
from device.nats_connection import NatsAccess, check_servers
from device.nats_log import NatsSystem
from device.scenario_export import ExportedSession, sessions
from device.table_key import KEY_FILE_NAME, TableKeyError, read_table_key
from device.uplink_protocol import subject
from engine_lite import rule_sets
from engine_lite.json_text import json_text
from provisioning.central.pit_journal import is_pit_journal, verify_pit_journal
from provisioning.central_server import STREAM
from provisioning.command_failed import CommandFailed
from provisioning.configuration import ConfigurationError, read_configuration
from provisioning.data_option import add_data_option
from provisioning.journal_text import event_lines
from provisioning.json_file import JsonFileError, read_json_file
from provisioning.key_file import reader_access, unreadable
from provisioning.progress import ProgressBar
from provisioning.standard_streams import write_utf8

ONLY_CENTRALLY = "a change there, with all hashes computed anew, shows only in the central log"


def add_journal_command(journal: argparse.ArgumentParser) -> None:
    """Say what `journal` takes."""
    actions = journal.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("verify", help="check every event, the hash chain and the table's signatures")
    add_data_option(action)
    action.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="a checkpoint taken away earlier: nothing before it was cut off"
    )
    action.add_argument(
        "--central",
        metavar="URL",
        help="compare with the central log; a table's configuration file in place of nats://... keeps its password "
        "off the command line",
    )
    action.add_argument("--stream", default=STREAM, metavar="NAME", help="the central log's stream (default: CRAPS)")
    action.add_argument("--key", type=Path, metavar="FILE", help="a central reader's key, where servers ask for one")
    action.set_defaults(
        start=lambda chosen: verify_journal(chosen.data, chosen.checkpoint, chosen.central, chosen.stream, chosen.key)
    )
    action = actions.add_parser("checkpoint", help="write the last checkpoint, to be kept away from the table")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: export_checkpoint(chosen.data))
    action = actions.add_parser("show", help="the latest events, a line each")
    add_data_option(action)
    action.add_argument("--last", type=_count, default=40, metavar="N", help="how many of them (default: 40)")
    action.set_defaults(start=lambda chosen: show_events(chosen.data, chosen.last))
    action = actions.add_parser("export", help="write the events as JSON lines, or a session as a scenario file")
    add_data_option(action)
    action.add_argument("--scenario", action="store_true", help="write a session as a scenario file")
    action.add_argument("--session", type=int, metavar="N", help="which session of the journal (default: the latest)")
    action.set_defaults(
        start=lambda chosen: (
            export_scenario(chosen.data, chosen.session) if chosen.scenario else export_events(chosen.data)
        )
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)


def verify_journal(
    data: Path, checkpoint_file: Path | None, central: str | None, stream: str, key_file: Path | None = None
) -> int:
    """Check every event, the chain and the signatures; exit status 0 when all is well, 1 with what is wrong otherwise.

    Held against the journal as well: the key and the delivery record in the folder, a checkpoint that was taken away
    earlier, and the central log, at a URL or where a table's configuration says.
    """
    checkpoint = _read_checkpoint(checkpoint_file) if checkpoint_file is not None else None
    source = _source(central, stream, data, key_file) if central is not None else None
    compared: ComparisonResult | None = None
    with journal_reader(data) as reader:
        is_tables = any((data / name).exists() for name in (KEY_FILE_NAME, DELIVERY_FILE))
        if checkpoint is None and source is None and not is_tables and is_pit_journal(reader):
            return _verify_pits(reader)
        # Before the events are read: the journal always has one before it is delivered.
        delivered = _delivered(data / DELIVERY_FILE)
        progress = ProgressBar("verifying")
        result = verify(reader, progress, checkpoint)
        progress.close()
        complaint = _complaint(data, result, max(delivered.values(), default=0))
        if complaint is None and source is not None:
            compared = _compare(reader, result, source, key_file)
            complaint = _complaint_of_central(data, compared, delivered.get(source.target, 0))
    vouched_seq = max(checkpoint.seq if checkpoint else 0, compared.alike_seq if compared else 0)
    if complaint is None and result.key_changed_seq > vouched_seq:
        complaint = (
            f"{data / JOURNAL_FILE_NAME}: event {result.key_changed_seq}: the table's key changed here, and whoever "
            "made the new one can have written anew what comes before: give --central, or a --checkpoint from after it"
        )
    if complaint is not None:
        print(complaint, file=sys.stderr)
        return 1
    print("\n".join(_good_news(result, checkpoint, compared)))
    return 0


def _verify_pits(reader: JournalReader) -> int:
    """The pit's journal, of which only the chain can be checked."""
    progress = ProgressBar("verifying")
    try:
        last_seq, last_hash = verify_pit_journal(reader, progress)
    except JournalDamaged as damage:
        print(damage, file=sys.stderr)
        return 1
    finally:
        progress.close()
    print("the pit's journal of who has seen which alert, which nothing signs: its chain was checked, and no more")
    print(f"{last_seq} events, unbroken; the last hash is {last_hash}")
    return 0


def _complaint(data: Path, result: VerificationResult, delivered_seq: int) -> str | None:
    """What is wrong with the journal by itself, its folder's key and the record of what was delivered."""
    path = data / JOURNAL_FILE_NAME
    if not result.is_good:
        where = path if result.first_bad_seq is None else f"{path}: event {result.first_bad_seq}"
        return f"{where}: {result.what_is_wrong}"
    if delivered_seq > result.last_seq:
        return (
            f"{path}: event {result.last_seq + 1}: missing, though event {delivered_seq} was delivered: it was cut off"
        )
    key_path = data / KEY_FILE_NAME
    if result.key is None or not os.access(key_path, os.R_OK):
        return None
    try:
        key = read_table_key(key_path)
    except TableKeyError as error:
        return str(error)
    if key is not None and key.public not in (result.key, result.heir):
        return f"{key_path}: is the key {key.public}, but the journal's last start names {result.key}"
    return None


def _complaint_of_central(data: Path, compared: ComparisonResult, delivered_seq: int) -> str | None:
    path = data / JOURNAL_FILE_NAME
    if compared.what_is_wrong is not None:
        ends = f"the journal ends at event {compared.journal_seq}, the central log at event {compared.central_seq}"
        return f"{path}: event {compared.first_bad_seq}: {compared.what_is_wrong} ({ends})"
    if delivered_seq > compared.central_seq:
        return (
            f"{path}: event {compared.central_seq + 1}: missing in the central log, which acknowledged event "
            f"{delivered_seq}: the log was cut off"
        )
    return None


def _good_news(
    result: VerificationResult, checkpoint: Checkpoint | None, compared: ComparisonResult | None
) -> Iterator[str]:
    if result.pruned_seq:
        pruned, first = result.pruned_seq, result.pruned_seq + 1
        yield f"events 1 to {pruned} were pruned after delivery, signed base; what remains begins with event {first}"
        yield f"{result.last_seq - pruned} events, unbroken; the last hash is {result.last_hash}"
    else:
        yield f"{result.last_seq} events, unbroken; the last hash is {result.last_hash}"
    signed = (
        f"signed up to event {result.signed_seq} with the key {result.key}" if result.signed_seq else "not signed yet"
    )
    match result.last_seq - result.signed_seq:
        case 0:
            yield signed
        case 1:
            yield f"{signed}; 1 event after it is chained only: {ONLY_CENTRALLY}"
        case chained:
            yield f"{signed}; {chained} events after it are chained only: {ONLY_CENTRALLY}"
    if checkpoint is not None:
        yield f"nothing was cut off or changed up to event {checkpoint.seq}, as the checkpoint proves"
    if compared is not None:
        if result.pruned_seq:
            yield f"events 1 to {result.pruned_seq} of the central log, which were pruned here, lead to the base"
            yield f"the central log goes on to event {compared.central_seq}, each the same"
        else:
            yield f"the central log holds events 1 to {compared.central_seq}, each the same"
        if waiting := compared.journal_seq - compared.central_seq:
            yield f"{waiting} events are not in the central log yet"


def _compare(
    reader: JournalReader, result: VerificationResult, source: "_Source", key_file: Path | None
) -> ComparisonResult:
    """The journal, once it is known to be good by itself, against the central log. Raises CommandFailed."""
    if result.table is None or result.site is None:
        raise CommandFailed("the journal does not say yet which table it is of, so the central log cannot be asked")
    progress = ProgressBar("comparing")
    try:
        return asyncio.run(compare_with_central(reader, source.history(result.site, result.table), progress))
    except CentralUnreadable as error:
        raise CommandFailed(f"--central: {unreadable(error, key_file)}") from error
    except ValueError as error:
        raise CommandFailed(f"--central: {error}") from error
    finally:
        progress.close()


@dataclass(frozen=True)
class _Source:
    """A central system: its name in the delivery record, and the log that it has of a site's table."""

    target: str
    history: Callable[[str, str], CentralHistory]


def _source(central: str, stream: str, data: Path, key_file: Path | None) -> _Source:
    """The central system: a URL of NATS, or what a table's configuration names, NATS first. Raises CommandFailed."""
    try:
        if "://" in central:
            return _on_nats(reader_access(check_servers([central]), None, key_file), stream)
        configuration = read_configuration(Path(central))
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error
    except ValueError:
        raise CommandFailed("--central: is no URL like nats://central.example:4222") from None
    if configuration.servers is not None:
        return _on_nats(reader_access(list(configuration.servers), configuration.ca, key_file), stream)
    address, ca = configuration.https, configuration.ca
    if address is None:
        raise CommandFailed(f"--central: {central} names neither uplink.servers nor uplink.https")
    try:
        key = read_table_key(data / KEY_FILE_NAME)
    except TableKeyError as error:
        raise CommandFailed(str(error)) from error
    if key is None:
        raise CommandFailed(f"--central: {data} holds no {KEY_FILE_NAME}, which alone may read over HTTPS")
    # Their packages take a while to read in, and few tables deliver this way.
    from device.https_history import https_history
    from device.https_log import HttpsSystem

    return _Source(HttpsSystem.name, lambda site, table: https_history(address, site, table, key, ca))


def _on_nats(access: NatsAccess, stream: str) -> _Source:
    return _Source(NatsSystem.name, lambda site, table: nats_history(access, stream, subject(site, table)))


def _delivered(path: Path) -> dict[str, int]:
    """The last event of each central log by the delivery record; empty when there is none, or none to be read."""
    if not path.is_file():
        return {}
    takes_files = os.access(path.absolute().parent, os.W_OK)
    access = "mode=ro" if takes_files else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{access}", uri=True)) as database:
            rows = database.execute("SELECT target, seq FROM delivered").fetchall()
    except sqlite3.Error as error:
        print(f"boxman: {path}: cannot be read ({error}), so it is not held against the journal", file=sys.stderr)
        return {}
    return {target: seq for target, seq in rows if type(seq) is int}


def _read_checkpoint(path: Path) -> Checkpoint:
    try:
        fields = read_json_file(path)
        table = fields.pop("table", None) if isinstance(fields, dict) else None
        if isinstance(table, str):
            return parse_checkpoint(table, fields)
    except (JsonFileError, BadCheckpoint) as error:
        raise CommandFailed(f"{path}: {error}") from error
    raise CommandFailed(f"{path}: is no checkpoint, which is what boxman journal checkpoint writes")


def export_checkpoint(data: Path) -> int:
    """The journal's last checkpoint as one line of JSON, to be kept where nobody at the table can reach it."""
    write_data()
    with journal_reader(data) as reader:
        last: Checkpoint | None = None
        for event in reader.events(max(1, reader.last_seq - UNSIGNED_EVENTS_MAX)):
            if event.type == CHECKPOINT:
                try:
                    last = parse_checkpoint(event.table, event.data)
                except BadCheckpoint as error:
                    raise CommandFailed(f"{reader.path}: event {event.seq}: {error}") from error
                if (last.seq, last.hash) != (event.seq - 1, event.prev):
                    raise CommandFailed(f"{reader.path}: event {event.seq}: is a checkpoint of another event")
    if last is None:
        raise CommandFailed(
            f"{data / JOURNAL_FILE_NAME}: holds no checkpoint yet; there is one after {CHECKPOINT_EVENTS} events, and "
            "whenever the table closes or the terminal ends"
        )
    print(canonical({"table": last.table} | last.data()))
    return 0


def show_events(data: Path, count: int) -> int:
    """The last `count` events, a line each, to be read by people."""
    write_data()
    with journal_reader(data) as reader:
        for event in reader.events(max(1, reader.last_seq - count + 1)):
            for line in event_lines(event):
                print(line)
    return 0


def export_events(data: Path) -> int:
    """Every event as one line of JSON, as it stands in the journal."""
    write_data()
    with journal_reader(data) as reader:
        tell_of_pruned(reader)
        for event in reader.events():
            print(event.line())
    return 0


def export_scenario(data: Path, session: int | None) -> int:
    """One session as a scenario file; `session` counts from 1, None is the latest."""
    write_data()
    with journal_reader(data) as reader:
        is_pruned = tell_of_pruned(reader)
        chosen, count = _choose(sessions(reader.events()), session)
    if chosen is None:
        none = "no session begins in what is left of the journal" if is_pruned else "no session yet"
        raise CommandFailed(f"there is no session {session}; the journal holds {count}" if count else none)
    name = chosen.scenario["rules"]
    if name not in rule_sets.NAMES or rule_sets.load(name) != chosen.rule_set:
        print(
            f"boxman: the session was played under another version of {name} than this program holds; "
            "its table_opened event has the rule set",
            file=sys.stderr,
        )
    print(_layout(chosen))
    return 0


def tell_of_pruned(reader: JournalReader) -> bool:
    """Say where the journal begins, when that is not with event 1; whether it is so."""
    base = reader.base()
    if base is None:
        return False
    print(
        f"boxman: {reader.path}: events 1 to {base.seq} were pruned after delivery; the journal begins with event "
        f"{base.seq + 1}",
        file=sys.stderr,
    )
    return True


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
