"""Databases for the archive as a casino would run them, the archive as a process, and tables with histories."""

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from nats.js import JetStreamContext
from sqlalchemy import Engine, Table, select
from sqlalchemy.exc import DBAPIError

from device.checkpoint import is_checkpoint_due, sign
from device.dice_control.dice_rules import load
from device.event import GENESIS_HASH, Event, Stamp, seal
from device.journal_base import ADOPTED, Base
from device.origin import Origin
from device.session import Entry, Session
from device.table_key import TableKey
from device.table_terms import TableTerms
from device.uplink_protocol import PACK_EVENTS_MAX
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from provisioning.central import archive_schema as schema
from provisioning.central.archive_database import postgresql_engine, sqlite_engine
from provisioning.central.archive_schema import metadata
from provisioning.central_server import STREAM
from provisioning.die_with_parent import die_with_parent
from tests.nats_rig import jetstream
from tests.terminal_rig import WAIT_S, wait_for

SITE = "casino-1"
CONSOLE = Origin("console")
KEY = TableKey(bytes(range(32)))
OTHER_KEY = TableKey(bytes(32))


# Databases


class Postgresql:
    """A PostgreSQL server of the test's own, run by another user where this one is root, on a socket in its folder."""

    def __init__(self) -> None:
        self._programs = _postgresql_programs()
        self.folder = Path(tempfile.mkdtemp(prefix="boxman-postgresql-"))
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(self.folder, self._user, self._user)
        self._process: subprocess.Popen[bytes] | None = None
        initialise = [str(self._programs / "initdb"), "-D", str(self.folder / "data"), "-U", "boxman", "-A", "trust"]
        subprocess.run(self._as_user([*initialise, "-E", "UTF8", "--locale=C"]), check=True, capture_output=True)

    def _as_user(self, command: Sequence[str]) -> list[str]:
        """The command, which ends with this process."""
        if self._user is None:
            return die_with_parent(command)
        change = ["setpriv", f"--reuid={self._user}", f"--regid={self._user}", "--init-groups", "--pdeathsig=KILL"]
        return [*change, *command]

    def start(self) -> None:
        """Start and wait until clients can come."""
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "max_connections": "30"}
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data")]
        command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._as_user(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self._answers, "PostgreSQL takes clients")

    def _answers(self) -> bool:
        try:
            with psycopg.connect(self.conninfo("postgres")):
                return True
        except psycopg.OperationalError:
            return False

    def kill(self) -> None:
        """End it at once, as losing its power would; its other processes end when they notice, which is waited for."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            wait_for(self._is_gone, "PostgreSQL's other processes have ended")

    def _is_gone(self) -> bool:
        """Whether nobody writes in the folder any more."""
        return not _processes_in(self.folder / "data")

    def close(self) -> None:
        """End it, and leave nothing."""
        self.kill()
        shutil.rmtree(self.folder)

    def conninfo(self, name: str) -> str:
        return f"host={self.folder} user=boxman dbname={name}"

    def run(self, statement: str) -> None:
        """Outside of any database of the tests."""
        with psycopg.connect(self.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def clients(self, name: str) -> int:
        """How many are connected to a database."""
        counted = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'"
        with psycopg.connect(self.conninfo("postgres")) as connection:
            row = connection.execute(counted, (name,)).fetchone()
        assert row is not None
        return int(row[0])


def _processes_in(folder: Path) -> list[int]:
    """Processes whose working folder it is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


def _postgresql_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    where = str(found[-1]) if found else shutil.which("initdb")
    assert where is not None, "the tests need PostgreSQL: apt-get install postgresql"
    return Path(where).parent


@dataclass
class ArchiveDatabase:
    """One archive's database, in a file or on a server."""

    folder: Path
    server: Postgresql | None
    name: str

    @property
    def path(self) -> Path:
        return self.folder / "archive.db"

    def engine(self) -> Engine:
        return postgresql_engine(self.server.conninfo(self.name)) if self.server else sqlite_engine(self.path)

    def words(self) -> str:
        """What the configuration says of it."""
        if self.server is None:
            return 'sqlite = "archive.db"'
        secret = self.folder / "archive.dsn"
        secret.write_text(self.server.conninfo(self.name), encoding="utf-8")
        secret.chmod(0o600)
        return 'postgresql = "archive.dsn"'

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """All rows, in the order of the key; none where the table is not there yet."""
        with self.engine().connect() as connection, connection.begin():
            found = connection.execute(select(table).order_by(*table.primary_key.columns))
            return [dict(row._mapping) for row in found]

    def count(self, table: Table) -> int:
        """How many rows there are; 0 while the table is not there yet."""
        try:
            return len(self.rows(table))
        except (DBAPIError, OSError):
            return 0

    def ends(self) -> dict[str, int]:
        """The last event of each table that is there; none while the database is not, or away."""
        try:
            return {row["table_name"]: row["last_seq"] for row in self.rows(schema.tables)}
        except (DBAPIError, OSError):
            return {}

    def at_rest(self) -> None:
        """Wait until the server has ended all connections, which are closed: a lock goes with its connection."""
        server = self.server
        if server is not None:
            wait_for(lambda: server.clients(self.name) == 0, "the connections have ended")

    def save(self) -> None:
        """Take a copy."""
        self.at_rest()
        if self.server is None:
            saved = sqlite3.connect(self.folder / "saved.db")
            with contextlib.closing(sqlite3.connect(self.path)) as source, contextlib.closing(saved) as copy:
                source.backup(copy)
        else:
            self.server.run(f"CREATE DATABASE {self.name}_saved TEMPLATE {self.name}")

    def bring_back(self) -> None:
        """Put the copy in the place of the database."""
        if self.server is None:
            for file in self.folder.glob("archive.db*"):
                file.unlink()
            (self.folder / "saved.db").rename(self.path)
        else:
            self.server.run(f"DROP DATABASE {self.name} WITH (FORCE)")
            self.server.run(f"ALTER DATABASE {self.name}_saved RENAME TO {self.name}")


def new_database(folder: Path, server: Postgresql | None) -> ArchiveDatabase:
    """An empty one of a test's own: on the server under a name that follows from the folder, or in a file there."""
    name = "t" + hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    if server is not None:
        server.run(f"CREATE DATABASE {name}")
    return ArchiveDatabase(folder, server, name)


def check_whole(database: ArchiveDatabase, history: "History") -> None:
    """The archive has every event of the history once, as it was sealed and verified, and has nothing against it."""
    same = {"site": history.site, "table_name": history.table}
    rows = [row for row in database.rows(schema.events) if row | same == row]
    assert [(row["seq"], row["type"], row["hash"]) for row in rows] == [
        (event.seq, event.type, event.hash) for event in history.events
    ]
    (table,) = [row for row in database.rows(schema.tables) if row | same == row]
    signed = max((event.data["seq"] for event in history.events if event.type == "checkpoint"), default=0)
    assert (table["last_seq"], table["signed_seq"], table["alarm"]) == (len(history.events), signed, None)


def tables_but_own(database: ArchiveDatabase) -> dict[str, list[dict[str, Any]]]:
    """What an analyst sees: all that follows from the events, without where the archive stands."""
    return {
        table.name: database.rows(table)
        for table in metadata.sorted_tables
        if table.name not in ("archive", "tables", "alarms")
    }


# The program


class ArchiveProcess:
    """`boxman central archive` as a process."""

    def __init__(self, folder: Path, url: str, database: ArchiveDatabase, more: str = "") -> None:
        self.configuration = folder / "central.toml"
        self.configuration.write_text(
            f'[central]\nservers = ["{url}"]\n[archive]\n{database.words()}\n{more}', encoding="utf-8"
        )
        self._log = folder / "archive.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "provisioning.command_line", "central", "archive"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                die_with_parent([*command, "--config", str(self.configuration)]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    @property
    def exit_status(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    def wait_for(self, condition: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
        """Wait until `condition` holds, as long as the process runs."""

        def holds() -> bool:
            assert self.exit_status is None, self.log
            return condition()

        wait_for(holds, what, timeout_s)

    def kill(self) -> None:
        """End it at once."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """End it in good order; its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(WAIT_S)

    def __enter__(self) -> "ArchiveProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.exit_status is None:
            self.kill()

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Another `boxman central` command on the same configuration."""
        command = [sys.executable, "-m", "provisioning.command_line", "central", *words]
        given = [*command, "--config", str(self.configuration)]
        return subprocess.run(given, capture_output=True, text=True, timeout=WAIT_S, check=False)


# Histories


@dataclass
class History:
    """One craps table's journal as its terminal would write it: played by a session, chained and signed."""

    table: str = "craps-1"
    key: TableKey = KEY
    site: str = SITE
    events: list[Event] = field(default_factory=list)
    session: Session = field(default_factory=Session)
    # By the table's clock.
    day: str = "2026-11-29"

    def __post_init__(self) -> None:
        self._since_checkpoint = 0
        configured = {"site": self.site}
        self.add(self.session.start("1.0.0", configured, key=self.key.public, configuration_hash="0" * 64))

    @property
    def last_hash(self) -> str:
        return self.events[-1].hash if self.events else GENESIS_HASH

    def add(self, entries: Sequence[Entry]) -> int:
        """Seal what the session gave, and sign it where it is due; the seq of the first."""
        first = len(self.events) + 1
        for kind, data in entries:
            self._seal(kind, data)
        self._since_checkpoint += len(entries)
        if is_checkpoint_due([kind for kind, _ in entries], self._since_checkpoint + 1):
            self.checkpoint()
        return first

    def checkpoint(self) -> None:
        """Sign what there is."""
        signed = sign(self.key, self.table, len(self.events), self.last_hash)
        for kind, data in self.session.checkpoint(signed.data()):
            self._seal(kind, data)
        self._since_checkpoint = 0

    def _seal(self, kind: str, data: dict[str, Any]) -> None:
        seq = len(self.events) + 1
        wall = f"{self.day}T{seq // 3600 % 24:02}:{seq // 60 % 60:02}:{seq % 60:02}.250Z"
        stamp = Stamp("boot-1", seq * 10**9, wall, "synced")
        self.events.append(seal(self.table, seq, stamp, kind, data, self.last_hash))

    def adopt(self, heir: TableKey) -> int:
        """A unit with this key takes the table over, and starts; the seq of the taking over."""
        said = {
            "through": len(self.events), "hash": self.last_hash, "former_key": self.key.public, "key": heir.public
        }  # fmt: skip
        self._seal(ADOPTED, said)
        first = len(self.events)
        self.session.replay(first, ADOPTED, said)
        self.key = heir
        self.add(self.session.start("1.0.0", {"site": self.site}, key=heir.public, configuration_hash="0" * 64))
        return first

    def open(self, rules: str = "us-vegas", minimum: int = 5, maximum: int = 5000) -> int:
        terms = TableTerms(rule_sets.load(rules), {}, 1, minimum, maximum)
        return self.add(self.session.open_table(terms, CONSOLE))

    def do(self, step: dict[str, Any]) -> int:
        return self.add(self.session.command(step, CONSOLE))

    def dice(self, action: str, **parts: Any) -> int:
        return self.add(self.session.dice_action({action: parts}, load("us-vegas"), CONSOLE))

    def play(self, chance: random.Random, steps: int) -> "History":
        """Play on at random: bets, rolls, corrections, bets taken back, alerts, further sessions."""
        if not self.session.is_open:
            self.open()
        for _ in range(steps):
            with contextlib.suppress(Refused):
                self._play_one(chance)
        return self

    def _play_one(self, chance: random.Random) -> None:
        what = chance.random()
        player = chance.choice(("1", "2", "7"))
        dice = [chance.randint(1, 6), chance.randint(1, 6)]
        if what < 0.4:
            kind, number = chance.choice(_BETS)
            bet = {"player": player, "kind": kind, "amount": chance.choice((10, 12, 60))}
            self.do({"bet": bet if number is None else bet | {"number": number}})
        elif what < 0.75:
            self.do({"roll": dice})
        elif what < 0.83:
            self.do({"correct": dice})
        elif what < 0.9:
            assert self.session.table is not None
            bets = self.session.table.bets()
            if not bets:
                return
            bet = chance.choice(bets)
            self.do({"take_down": {name: bet[name] for name in ("player", "kind", "number") if name in bet}})
        elif what < 0.97:
            self._play_alert(chance)
        else:
            self.add(self.session.close_table(CONSOLE))
            self.open()

    def _play_alert(self, chance: random.Random) -> None:
        alert, latched = chance.choice((("puck_differs", False), ("clock_stepped", True)))
        standing = self.session.alerts.get(alert)
        if standing is None or chance.random() < 0.3:
            self.add(self.session.raise_alert(alert, f"text {chance.randint(1, 9)}", {"n": 1}, latched=latched))
        elif not latched and chance.random() < 0.5:
            self.add(self.session.clear_alert(alert))
        else:
            self.add(self.session.acknowledge_alert(alert, standing["seq"], "Eva", CONSOLE))

    def payload(self, first: int, last: int) -> bytes:
        """Events `first` to `last` as a message."""
        return "\n".join(event.line() for event in self.events[first - 1 : last]).encode()

    def payloads(self, size: int = PACK_EVENTS_MAX, first: int = 1) -> list[bytes]:
        """All events from `first` on, packed."""
        return [self.payload(at, at + size - 1) for at in range(first, len(self.events) + 1, size)]


class PlayedJournal:
    """A history as the journal of a unit under test, played on as events are wanted."""

    def __init__(self, table: str, key: TableKey, *, site: str = SITE, seed: int = 1, events: int = 0) -> None:
        self.history = History(table=table, key=key, site=site)
        self.base: Base | None = None
        self._chance = random.Random(seed)
        self.append(events)

    @property
    def lines(self) -> list[str]:
        return [event.line() for event in self.history.events]

    def append(self, count: int = 1) -> None:
        """Play until there are so many more events, or a few more than that."""
        wanted = self.last_seq() + count
        while self.last_seq() < wanted:
            self.history.play(self._chance, 1)

    def read(self, first: int, limit: int) -> list[str]:
        """Return up to `limit` lines from event `first` on."""
        return [event.line() for event in self.history.events[first - 1 : first - 1 + limit]]

    def last_seq(self) -> int:
        """Return the number of the last event."""
        return len(self.history.events)


_BETS = (
    ("pass_line", None),
    ("dont_pass", None),
    ("field", None),
    ("come", None),
    ("place", 6),
    ("place", 5),
    ("buy", 4),
    ("lay", 10),
    ("hardway", 8),
    ("any_seven", None),
)


# The central log


class Log:
    """The stream, written to by whoever the server lets in."""

    def __init__(self, jetstream: JetStreamContext) -> None:
        self._jetstream = jetstream

    async def consumers(self) -> list[str]:
        """The names of all consumers on the stream."""
        return [info.name for info in await self._jetstream.consumers_info(STREAM)]

    async def delete_consumer(self, name: str) -> bool:
        """End a consumer."""
        return await self._jetstream.delete_consumer(STREAM, name)

    async def send(self, subject_of: History | str, *payloads: bytes) -> int:
        """Publish messages; the stream's number of the last."""
        sequence = 0
        named = subject_of if isinstance(subject_of, str) else f"craps.{subject_of.site}.{subject_of.table}.journal"
        for payload in payloads:
            sequence = (await self._jetstream.publish(named, payload, stream=STREAM)).seq
        return sequence


@contextlib.asynccontextmanager
async def log_at(url: str) -> Any:
    """The stream at a server that lets everybody in."""
    async with jetstream(url) as stream:
        yield Log(stream)


@contextlib.contextmanager
def postgresql() -> Iterator[Postgresql]:
    """A server that is gone afterwards."""
    server = Postgresql()
    try:
        server.start()
        yield server
    finally:
        server.close()
