"""Puts a terminal together: journal, replay, key, snapshots, inputs and uplink, on what it is given to stand on."""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from device.clock import Clock
from device.data_folder import DataFolder
from device.delivery_record import DELIVERY_FILE, DeliveryRecord, alert_if_journal_is_shorter
from device.disk_space import DiskSpace
from device.journal import Journal, JournalFull, JournalReader
from device.pruner import Pruner
from device.recovery import OnProgress, Recovered, recover
from device.session import ReplayError, Session
from device.settings import Settings
from device.snapshot_file import SnapshotFile
from device.snapshot_keeper import SnapshotKeeper
from device.table_key import KEY_FILE_NAME, TableKey, TableKeyError, open_table_key
from device.table_terms import TableTerms
from device.terminal import Terminal
from device.uplink import CentralSystem, Uplink, UplinkStatus
from device.uplink_overall import overall
from device.waiting_since import WaitingSince
from drivers.table_inputs import TableInputs

SNAPSHOT_FILE = "snapshot"


class StartError(Exception):
    """The terminal cannot start; the message is one line that says what would be right."""


@dataclass(frozen=True)
class Surroundings:
    """What a terminal stands on, the real things or others that behave like them.

    `open_inputs` is given the hint that an input may have changed, which may come from any thread. `central` gives the
    systems that a table with this key delivers to; none: nothing is delivered. `random` is for the jitter of
    reconnecting, no secret.
    """

    clock: Clock
    space: DiskSpace
    open_inputs: Callable[[Callable[[], None]], TableInputs]
    central: Callable[[TableKey], Sequence[CentralSystem]]
    random: random.Random


@dataclass(frozen=True)
class Assembled:
    """A terminal that has journaled its start and waits for its `run`, as its uplinks do and what prunes its journal.

    There is one uplink for each central system. `snapshot_seq` is the event of the snapshot that it came from; those
    before it were not looked at. 0: from none. `snapshots` keeps the next ones.
    """

    terminal: Terminal
    uplinks: Sequence[Uplink]
    pruner: Pruner | None
    snapshot_seq: int
    snapshots: SnapshotKeeper


def assemble(
    stack: ExitStack,
    settings: Settings,
    folder: DataFolder,
    version: str,
    surroundings: Surroundings,
    on_progress: OnProgress,
) -> Assembled:
    """Put a terminal together in the running event loop; what it opens is closed with `stack`.

    `on_progress` gets (events read, events in all) while the journal is replayed. Raises StartError, JournalError,
    PinFactoryError or NodePortBusy, each with one clear line.
    """
    journal = stack.enter_context(_open_journal(folder, settings.table, surroundings.space))
    try:
        key = open_table_key(folder.path / KEY_FILE_NAME)
    except TableKeyError as error:
        raise StartError(str(error)) from error
    snapshots = SnapshotFile(folder.path / SNAPSHOT_FILE, version, settings.table, key)
    try:
        recovered = recover(journal, snapshots, on_progress)
    except ReplayError as error:
        raise StartError(f"{folder.journal_path}: {error}") from error
    configured = _configured(settings)
    opening = terms_to_open(recovered.session, settings.terms, configured)

    recover_again: Callable[[], Recovered] = partial(recover, journal, snapshots, _no_progress)
    terminal = Terminal(
        recovered,
        journal,
        surroundings.clock,
        settings,
        key,
        space=surroundings.space,
        recover_again=recover_again,
    )
    keeper = SnapshotKeeper(snapshots, recovered.snapshot_seq)
    stack.callback(keeper.close)
    terminal.keep_snapshots(keeper)

    def open_inputs(session: Session) -> TableInputs:
        inputs = surroundings.open_inputs(terminal.hint)
        hardware = session.hardware
        inputs.resume(hardware.reports, hardware.node_dropped, hardware.used_up_die)
        return inputs

    stack.callback(terminal.disconnect)
    terminal.connect(open_inputs)
    last_seq_before = journal.last_seq
    try:
        terminal.begin(version, configured, opening)
    except JournalFull as error:
        raise StartError(str(error)) from error
    uplinks: list[Uplink] = []
    pruner = None
    systems = surroundings.central(key)
    if systems:
        reader = stack.enter_context(JournalReader(folder.journal_path))
        record = stack.enter_context(closing(DeliveryRecord(folder.path / DELIVERY_FILE)))
        uplinks = _uplinks(systems, terminal, reader, record, surroundings.random, last_seq_before)
        pruner = Pruner(
            terminal,
            folder.journal_path,
            settings.table,
            key,
            version,
            surroundings.clock,
            settings.retention_days,
            partial(_delivered, uplinks),
        )
    return Assembled(terminal, uplinks, pruner, recovered.snapshot_seq, keeper)


def _delivered(uplinks: Sequence[Uplink]) -> int | None:
    """What every central log has, as they said themselves in this run; None while one of them cannot be asked."""
    status = overall({uplink.target: uplink.status for uplink in uplinks})
    return status.delivered if status.state == "online" else None


def _no_progress(_done: int, _of: int) -> None:
    pass


def _open_journal(folder: DataFolder, table: str, space: DiskSpace) -> Journal:
    try:
        return Journal.open(folder.journal_path, table)
    except JournalFull:
        # Putting the log of the last run into the database takes room; what is kept for the record of a stop is enough.
        space.give_up_reserve()
        return Journal.open(folder.journal_path, table)


def _configured(settings: Settings) -> dict[str, Any]:
    terms = settings.terms.check()
    listed = {} if settings.supervisors is None else {"supervisors": list(settings.supervisors)}
    return listed | {
        "site": settings.site,
        "rules": terms.name,
        "rules_version": terms.version,
        "options": terms.options,
        "unit": settings.terms.unit,
        "limits": {"min": settings.terms.minimum, "max": settings.terms.maximum},
    }


def terms_to_open(session: Session, terms: TableTerms, configured: dict[str, Any]) -> TableTerms | None:
    """The terms to open the table under at this start, or None where it goes on as it was.

    The configuration rules at the first start and when it has changed; otherwise what was opened last stays in force,
    but for a rule set that was put right without a new version. Raises StartError when the configuration has changed
    while bets lie on the layout.
    """
    as_before = _of_game(session.configured) == _of_game(configured)
    if as_before and session.table is not None and not _is_put_right(session, terms):
        return None
    if session.table is not None and session.table.layout():
        raise StartError(
            f"the configuration of the table has changed to {configured['rules']}, but bets lie on the layout under "
            f"{session.table.rules.name}; start with the former configuration and finish the hand first"
        )
    return terms


def _of_game(configured: dict[str, Any] | None) -> dict[str, Any]:
    """The configuration but for the names of people, which no game depends on."""
    return {name: said for name, said in (configured or {}).items() if name != "supervisors"}


def _is_put_right(session: Session, terms: TableTerms) -> bool:
    """Whether the rule set in force says otherwise than the one of its name and version now, and no bet is under it."""
    if session.terms is None or session.table is None or session.table.layout():
        return False
    before, now = session.terms.rule_set, terms.rule_set
    return before != now and all(before[name] == now[name] for name in ("name", "version"))


def _uplinks(
    systems: Sequence[CentralSystem],
    terminal: Terminal,
    reader: JournalReader,
    record: DeliveryRecord,
    chance: random.Random,
    last_seq_before: int,
) -> list[Uplink]:
    """The uplinks of a terminal whose journal ended at event `last_seq_before` when it was opened."""
    alerts: set[asyncio.Task[None]] = set()

    def on_alert(code: str, text: str) -> None:
        task = asyncio.ensure_future(terminal.alert(code, text))
        alerts.add(task)
        task.add_done_callback(alerts.discard)

    def on_alert_of(name: str, code: str, text: str) -> None:
        on_alert(code, text if len(systems) == 1 else f"{name}: {text}")

    def on_change(_status: UplinkStatus) -> None:
        statuses = {uplink.target: uplink.status for uplink in uplinks}
        told = overall(statuses)
        states = {name: status.state for name, status in statuses.items()}
        terminal.set_uplink(told.state, told.delivered, told.last_error, states)

    uplinks = [
        Uplink(
            read_events=reader.read,
            last_seq=lambda: reader.last_seq,
            base=reader.base,
            record=record,
            system=system,
            on_change=on_change,
            on_alert=partial(on_alert_of, system.name),
            random=chance,
        )
        for system in systems
    ]
    terminal.tell_waiting(WaitingSince(reader.read))
    on_change(uplinks[0].status)
    for uplink in uplinks:
        terminal.follow(uplink)
    alert_if_journal_is_shorter(
        max((record.read(system.name) for system in systems), key=lambda delivered: delivered.seq),
        last_seq_before,
        on_alert,
    )
    return uplinks
