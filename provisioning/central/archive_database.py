"""The archive's database: opened, locked for one writer, and brought to this program's schema."""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, NullPool, create_engine, event, insert, select, text

from device.event import canonical
from provisioning.central.archive_schema import archive

# Of the whole database server's clients only archives know it: 64 bits, from "boxman".
_ADVISORY_LOCK: Final = 0x626F786D616E
_BUSY_TIMEOUT_MS: Final = 10_000
# A database server that vanished without a word is noticed in about half a minute. Times of all rows are UTC.
_POSTGRESQL: Final[dict[str, Any]] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "options": "-c TimeZone=UTC",
    "application_name": "boxman archive",
}


class ArchiveDatabaseError(Exception):
    """The database cannot be used, and waiting will not help; the text says what would be right."""


class ArchiveHeld(Exception):
    """Another archive writes into this database."""


def sqlite_engine(path: Path) -> Engine:
    """An engine for a database in a file."""
    # A thread of its own does the archive's writing, but the one that started it opens and closes.
    engine = create_engine(
        f"sqlite:///{path}", json_serializer=canonical, poolclass=NullPool, connect_args={"check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        # Transactions begin where SQLAlchemy says so, those that change the schema among them.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        # A transaction that reads and then writes would fail, were another one's writing between.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def postgresql_engine(conninfo: str) -> Engine:
    """An engine for a PostgreSQL database: a libpq connection string; what it leaves out, PG* variables say."""

    def connected() -> psycopg.Connection[Any]:
        return psycopg.connect(conninfo, **_POSTGRESQL)

    return create_engine("postgresql+psycopg://", creator=connected, json_serializer=canonical, poolclass=NullPool)


@contextlib.contextmanager
def held_for_writing(engine: Engine) -> Iterator[Connection]:
    """The one connection that the archive writes by, while no other process does; it holds the lock itself.

    So whoever loses the lock, by losing the connection, writes nothing any more. The schema is brought up to date.
    Raises ArchiveHeld, ArchiveDatabaseError, and sqlalchemy.exc.OperationalError.
    """
    with contextlib.ExitStack() as stack:
        if engine.dialect.name == "sqlite":
            path = Path(str(engine.url.database))
            stack.enter_context(_locked_file(path.with_name(f"{path.name}.lock")))
            os.close(_file(path))
        connection = stack.enter_context(engine.connect())
        if engine.dialect.name == "postgresql":
            with connection.begin():
                lock = text("SELECT pg_try_advisory_lock(:key)")
                if not connection.execute(lock, {"key": _ADVISORY_LOCK}).scalar_one():
                    raise ArchiveHeld
        _migrate(connection)
        with connection.begin():
            if connection.execute(select(archive.c.id)).first() is None:
                start = {"id": 1, "consumer": new_consumer_name(), "position": 0, "position_hash": None}
                connection.execute(insert(archive).values(start))
        yield connection


@contextlib.contextmanager
def opened(engine: Engine) -> Iterator[Connection]:
    """A connection for whoever does not archive. Raises ArchiveDatabaseError unless the schema is this program's."""
    if engine.dialect.name == "sqlite" and not Path(str(engine.url.database)).is_file():
        raise ArchiveDatabaseError(f"there is no file {engine.url.database}; boxman central archive makes the database")
    with engine.connect() as connection:
        with connection.begin():
            revision = MigrationContext.configure(connection).get_current_revision()
        scripts = _scripts()
        _check_known(scripts, revision)
        if revision != scripts.get_current_head():
            found = "is empty" if revision is None else "is of an older version"
            raise ArchiveDatabaseError(f"the archive's database {found}; boxman central archive brings it up to date")
        yield connection


def new_consumer_name() -> str:
    """A name for a consumer on the central log that no other archive has."""
    return f"boxman-archive-{secrets.token_hex(4)}"


def _migrate(connection: Connection) -> None:
    """All steps in one transaction: a cut leaves the schema as it was. Whoever calls holds the lock."""
    scripts = _scripts()
    with connection.begin():
        revision = MigrationContext.configure(connection).get_current_revision()
        _check_known(scripts, revision)
        if revision == scripts.get_current_head():
            return
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _check_known(scripts: ScriptDirectory, revision: str | None) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    if revision is not None and revision not in known:
        raise ArchiveDatabaseError(
            f"the archive's database has schema {revision}, which this version of boxman does not know: "
            "a newer one has written it; use that, or one that is newer still"
        )


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("archive_migrations")).replace("%", "%%"))
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


@contextlib.contextmanager
def _locked_file(path: Path) -> Iterator[None]:
    descriptor = _file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ArchiveHeld from None
    try:
        yield
    finally:
        os.close(descriptor)


def _file(path: Path) -> int:
    """A file for this user alone, made if it is missing. Raises ArchiveDatabaseError."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ArchiveDatabaseError(
            f"{path}: cannot be used ({error.strerror}); its folder must be this user's"
        ) from error
