"""The journal: a table's sealed events in one SQLite file, flushed to the disk before anyone is told of them.

WAL with `synchronous=FULL`, which syncs at every commit: cut anywhere, the file opens to a prefix that holds
every event `append` has returned. Triggers refuse an update, a deletion and an insertion out of order; the
hash chain finds what was done to the file past them. A tail that was cut off cleanly leaves a chain that is
whole: only what others hold of it (the central log) tells. The oldest events may be pruned; then the journal begins
behind a signed base (`device.journal_base`). The file keeps its length, and what was pruned makes room for new events.

SQLite goes on writing, and reports success, to files that were removed, moved or cut off under it. So every
append also looks whether the paths still lead to what is written.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from device.data_folder import sync_folder
from device.event import GENESIS_HASH, BadEvent, Event, Stamp, parse, seal
from device.journal_base import BadBase, Base, check_base, put_base, read_base
from device.journal_files import FilesChanged, WrittenFiles, bytes_in, log_path, write_log_anew
from device.journal_schema import APPLICATION_ID, SCHEMA_VERSION, SCHEMAS, create, migrate

BUSY_TIMEOUT_SECONDS: Final = 5
READ_LIMIT_MAX: Final = 10_000
"""The most events one `read` gives."""

LOG_PAGES: Final = 1_000
"""When a commit leaves so many pages of 4 KiB in the write-ahead log, they go to the database and it begins anew.

Readers put that off while a query of theirs runs, so none here runs for longer than one `read`: the log grows by what
is written meanwhile. It is never shortened in use, only written anew from its start.
"""

_BATCH_EVENTS: Final = 500
_SYNCHRONOUS_FULL: Final = 2
_INTEGER_MAX: Final = 2**63 - 1


class JournalError(Exception):
    """The journal cannot be used; the text is one line that names the file and says why."""


class JournalFull(JournalError):
    """The disk has no room for the events of this call: none of them is in the journal, and a later call may succeed.

    Until one does, they may be there after a power cut or a kill, all of them: what was written of them before it was
    refused may have been enough.
    """


class JournalFailed(JournalError):
    """Writing failed. Nothing of the call may be told to anyone, and this object takes nothing more.

    After opening again, the events of the failed call are either all there or all missing: look at
    `last_seq`.
    """


class JournalGone(JournalFailed):
    """The files were removed, moved, replaced or cut while in use: what was appended before may be lost as well."""


class JournalDamaged(JournalError):
    """The file is not the whole and unaltered journal of this table."""

    def __init__(self, path: Path, seq: int | None, reason: str) -> None:
        """`seq` is the first bad event, None when the file as a whole is bad."""
        where = f"{path}: event {seq}" if seq is not None else f"{path}"
        super().__init__(f"{where}: {reason}")
        self.path: Final = path
        self.seq: Final = seq
        self.reason: Final = reason


class JournalPruned(JournalError):
    """The events that were asked for are not here any more; the ones that still are begin behind `seq`."""

    def __init__(self, path: Path, seq: int) -> None:
        super().__init__(f"{path}: events 1 to {seq} were pruned after delivery; read again from there on")
        self.seq: Final = seq


class _EventTable:
    """What writer and reader share: reading events through one connection."""

    def __init__(self, path: Path, access: str) -> None:
        """`access` is in the words of SQLite's addresses, such as `mode=ro`."""
        self.path: Final = path
        try:
            # check_same_thread=False: threads may hand the object on, but only one uses it at a time.
            self._connection: Final = sqlite3.connect(
                f"{path.absolute().as_uri()}?{access}",
                uri=True,
                timeout=BUSY_TIMEOUT_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise JournalError(f"{path}: cannot be opened ({error})") from error
        # Bytes, so that text that is not UTF-8 is found as a bad event and not as a failure of the driver.
        self._connection.text_factory = bytes

    def read(self, first: int, limit: int) -> list[str]:
        """The canonical lines of up to `limit` (1 to READ_LIMIT_MAX) events from `first` (1 or more) on.

        None at the end; fewer at the end or before a bad event, so read on from where it stopped. Raises
        JournalPruned when event `first` was pruned, JournalDamaged when it is missing otherwise, not UTF-8 or
        unreadable; content is checked by `events`.
        """
        if first < 1:
            raise ValueError(f"first must be 1 or more, is {first}")
        if not 1 <= limit <= READ_LIMIT_MAX:
            raise ValueError(f"limit must be 1 to {READ_LIMIT_MAX}, is {limit}")
        lines: list[str] = []
        try:
            for line in self._lines(first, limit):
                lines.append(line)
        except JournalDamaged:
            # What is good before it can still be told.
            if not lines:
                raise
        return lines

    def events(self, first: int = 1) -> Iterator[Event]:
        """All events from `first` (1 or more) on, each checked: form, hash, table, `seq`, link to the one before.

        Where it was pruned, from the first that is left. Reads in small batches, so it neither fills the memory nor
        holds up the writer. Raises JournalDamaged at the first bad event, JournalPruned when those that come next are
        pruned meanwhile.
        """
        base = self.base()
        begins = self._begins(base)
        # The event before is read too: `first` must link to it.
        seq = max(begins, first - 1)
        previous: Event | Base | None = base if seq == begins else None
        while lines := self.read(seq, _BATCH_EVENTS):
            for line in lines:
                previous = event = self._checked(line, seq, previous)
                if seq >= first:
                    yield event
                seq += 1

    def base(self) -> Base | None:
        """What stands for the events that were pruned, None where none were. Raises JournalDamaged."""
        pruned = self._pruned_seq()
        if pruned == 0:
            return None
        try:
            return read_base(self._connection)
        except BadBase as error:
            raise JournalDamaged(self.path, pruned, f"the base that stands for it and those before {error}") from None
        except sqlite3.Error as error:
            self._raise_read_error(error, None)

    def close(self) -> None:
        """Closes the file. Closing twice does nothing."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _lines(self, first: int, limit: int) -> Iterator[str]:
        query = "SELECT seq, event FROM events WHERE seq >= ? ORDER BY seq LIMIT ?"
        expected = first
        try:
            # Closed whatever happens: a query that is not at its end keeps the log from beginning anew.
            with closing(self._connection.execute(query, (min(first, _INTEGER_MAX), limit))) as rows:
                for seq, line in rows:
                    if seq != expected:
                        self._raise_missing(expected, seq)
                    if type(line) is not bytes:
                        raise JournalDamaged(self.path, expected, "is not text")
                    yield line.decode("utf-8")
                    expected += 1
        except UnicodeDecodeError as error:
            raise JournalDamaged(self.path, expected, f"not UTF-8 at byte {error.start}") from None
        except sqlite3.Error as error:
            if limit > 1:
                # The driver steps one row ahead, so the row before the unreadable one is still to be had.
                yield from self._lines(expected, 1)
                expected += 1
            self._raise_read_error(error, expected)

    def _raise_missing(self, seq: int, next_seq: int) -> NoReturn:
        if seq <= (pruned := self._pruned_seq()):
            raise JournalPruned(self.path, pruned)
        raise JournalDamaged(self.path, seq, f"missing, the next one is {next_seq}")

    def _pruned_seq(self) -> int:
        """The event that the base is of, 0 where there is none; what else it holds is not looked at."""
        version_without = self._value("PRAGMA user_version") == 1
        return 0 if version_without else self._value("SELECT max(seq) FROM base") or 0

    def _begins(self, base: Base | None) -> int:
        """The first event that is to be there. Raises JournalDamaged when there are others before it."""
        begins = base.seq + 1 if base is not None else 1
        smallest = self._value("SELECT min(seq) FROM events")
        if smallest is None and base is not None:
            raise JournalDamaged(self.path, begins, f"missing, though the base is of event {base.seq}: it was cut off")
        if smallest is not None and smallest < begins:
            reason = "is still there, though the base stands for it" if base else "a journal starts at event 1"
            raise JournalDamaged(self.path, smallest, reason)
        return begins

    def _checked(self, line: str, seq: int, previous: Event | Base | None) -> Event:
        """The event in `line`, which must be number `seq` and follow `previous`, where that is known."""
        try:
            event = parse(line)
        except BadEvent as error:
            raise JournalDamaged(self.path, seq, str(error)) from None
        if event.seq != seq:
            raise JournalDamaged(self.path, seq, f"holds event {event.seq}")
        if previous is not None and event.prev != previous.hash:
            raise JournalDamaged(self.path, seq, f"prev is {event.prev}, but event {seq - 1} is {previous.hash}")
        if previous is not None and event.table != previous.table:
            raise JournalDamaged(self.path, seq, f"is of table {event.table!r}, those before of {previous.table!r}")
        return event

    def _last_event(self) -> Event | None:
        """The last event, checked by itself and against the one before."""
        base = self.base()
        begins = self._begins(base)
        last_seq = self._value("SELECT max(seq) FROM events")
        if last_seq is None:
            return None
        if last_seq < begins:
            raise JournalDamaged(self.path, begins, f"missing, though the file says that it ends at event {last_seq}")
        seq = max(begins, last_seq - 1)
        previous: Event | Base | None = base if seq == begins else None
        last = self._checked(self.read(seq, 1)[0], seq, previous)
        return last if seq == last_seq else self._checked(self.read(last_seq, 1)[0], last_seq, last)

    def _check_identity(self) -> None:
        """Raises JournalDamaged unless the file is a journal, of a known version and with its tables and triggers."""
        application_id = self._value("PRAGMA application_id")
        version = self._value("PRAGMA user_version")
        if application_id != APPLICATION_ID:
            raise JournalDamaged(self.path, None, "is a database, but not a boxman journal")
        if version not in SCHEMAS:
            reason = f"is a journal of version {version}, this program knows version {SCHEMA_VERSION}"
            raise JournalDamaged(self.path, None, reason)
        if self._schema() != sorted(SCHEMAS[version]):
            raise JournalDamaged(self.path, None, "its tables or triggers were changed")

    def _schema(self) -> list[str]:
        try:
            rows = self._connection.execute("SELECT CAST(sql AS TEXT) FROM sqlite_schema WHERE sql IS NOT NULL")
            return sorted(row[0].decode("utf-8", "replace") for row in rows)
        except UnicodeDecodeError:
            # What SQLite says of a statement that it cannot read holds a part of it, which the driver then cannot read.
            raise JournalDamaged(self.path, None, "its tables or triggers were changed to what is not UTF-8") from None
        except sqlite3.Error as error:
            self._raise_read_error(error, None)

    def _value(self, query: str, *parameters: object) -> int | None:
        try:
            with closing(self._connection.execute(query, parameters)) as rows:
                row = rows.fetchone()
        except sqlite3.Error as error:
            self._raise_read_error(error, None)
        return None if row is None or row[0] is None else int(row[0])

    def _raise_read_error(self, error: sqlite3.Error, seq: int | None) -> NoReturn:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            raise JournalDamaged(self.path, None, "is not a database") from error
        if code == sqlite3.SQLITE_CORRUPT:
            raise JournalDamaged(self.path, seq, f"unreadable ({error})") from error
        raise JournalError(f"{self.path}: cannot be read ({error})") from error


class JournalReader(_EventTable):
    """Reads a journal through a connection of its own, read-only, while the writer writes, in this process or
    another.

    May be handed from thread to thread, used by one at a time. SQLite's readers share a small index file beside
    the database. Where the folder takes no files (a read-only medium, another's folder), a journal at rest is read
    without one; at rest it is when nothing waits in the write-ahead log, as after its writer has ended well.
    """

    def __init__(self, path: Path) -> None:
        """Raises JournalDamaged when `path` is no journal, JournalError when it cannot be opened."""
        takes_files = os.access(path.absolute().parent, os.W_OK)
        waits_in_log = bytes_in(log_path(path)) > 0
        super().__init__(path, "mode=ro" if takes_files or waits_in_log else "mode=ro&immutable=1")
        try:
            self._check_identity()
        except JournalDamaged:
            self.close()
            raise
        except JournalError as error:
            self.close()
            if takes_files or not waits_in_log:
                raise
            raise JournalError(
                f"{error}; events wait in {log_path(path).name} and this folder may not be written to: copy both "
                "files to one that may be, and read them there"
            ) from error
        except BaseException:
            self.close()
            raise

    @property
    def last_seq(self) -> int:
        """The number of the last event on the disk, 0 when there is none."""
        return self._value("SELECT max(seq) FROM events") or 0

    @property
    def last_hash(self) -> str:
        """The hash of the last event on the disk, GENESIS_HASH when there is none. Raises JournalDamaged."""
        last = self._last_event()
        return last.hash if last is not None else GENESIS_HASH


class Journal(_EventTable):
    """The one writer of a journal. May be handed from thread to thread, but used by one at a time.

    Whoever opens it holds the data folder's lock (`device.data_folder`).
    """

    def __init__(self, path: Path, table_name: str) -> None:
        """Use `Journal.open`."""
        _create_file(path)
        try:
            write_log_anew(path)
        except OSError as error:
            raise JournalError(f"{log_path(path)}: cannot be written ({error.strerror})") from error
        super().__init__(path, "mode=rw")
        self.table_name: Final = table_name
        self._failure: str | None = None
        try:
            self._prepare()
            last = self._last_event()
            self._check_ends(last)
            self._files: Final = WrittenFiles(path)
        except OSError as error:
            self.close()
            raise JournalError(f"{path}: vanished while it was opened ({error.strerror})") from error
        except BaseException:
            self.close()
            raise
        self._last_seq = last.seq if last is not None else 0
        self._last_hash = last.hash if last is not None else GENESIS_HASH

    @classmethod
    def open(cls, path: Path, table_name: str) -> "Journal":
        """Opens the journal of a table, or starts it when there is none.

        Checks the file's kind, its first and last event and its table; the events between are checked when
        `events` reads them. Raises JournalDamaged when a check fails, JournalError when the file cannot be
        opened or written.
        """
        return cls(path, table_name)

    @property
    def last_seq(self) -> int:
        """The number of the last appended event, 0 when there is none."""
        return self._last_seq

    @property
    def last_hash(self) -> str:
        """The hash of the last appended event, GENESIS_HASH when there is none."""
        return self._last_hash

    def append(self, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp) -> list[Event]:
        """Seals `entries` (type, data) and writes them, all or none. They are on the disk when this returns.

        Raises BadEvent, with nothing written, when an entry cannot be an event; JournalFull when there is no room;
        JournalFailed when writing fails, and on every call after that.
        """
        return self._commit(entries, stamp, None)

    def append_sealed(self, events: Sequence[Event]) -> None:
        """Writes events of this table that another unit sealed, all or none, where they follow the last one here.

        Raises ValueError, with nothing written, where they do not; otherwise like `append`.
        """
        last_seq, last_hash = self._last_seq, self._last_hash
        for event in events:
            if (event.table, event.seq, event.prev) != (self.table_name, last_seq + 1, last_hash):
                raise ValueError(f"event {event.seq} of table {event.table!r} does not follow event {last_seq} here")
            last_seq, last_hash = event.seq, event.hash
        self._write(events, None)

    def prune(self, base: Base, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp) -> list[Event]:
        """Put `base` in the place of every event up to its own and append `entries`, in one commit.

        Cut anywhere, all of it is done or nothing. Raises like `append`; ValueError, with nothing written, unless the
        base is of an event that is here and followed by others.
        """
        check_base(base)
        if base.table != self.table_name or not self._pruned_seq() < base.seq < self._last_seq:
            raise ValueError(f"the base is of event {base.seq} of table {base.table!r}, which cannot be pruned here")
        if self._checked(self.read(base.seq, 1)[0], base.seq, None).hash != base.hash:
            raise ValueError(f"the base is of another event {base.seq} than this journal's")
        return self._commit(entries, stamp, base)

    def _commit(self, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp, base: Base | None) -> list[Event]:
        sealed: list[Event] = []
        last_seq, last_hash = self._last_seq, self._last_hash
        for kind, data in entries:
            event = seal(self.table_name, last_seq + 1, stamp, kind, data, last_hash)
            last_seq, last_hash = event.seq, event.hash
            sealed.append(event)
        self._write(sealed, base)
        return sealed

    def _write(self, sealed: Sequence[Event], base: Base | None) -> None:
        self._refuse_after_failure()
        if not sealed:
            return
        rows = [(event.seq, event.line()) for event in sealed]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            # Before as well: writing makes a log that was cut off as long as it was, with a hole in it.
            self._files.check()
            self._connection.executemany("INSERT INTO events(seq, event) VALUES (?, ?)", rows)
            if base is not None:
                put_base(self._connection, base)
            self._connection.execute("COMMIT")
            self._files.check()
        except (sqlite3.Error, FilesChanged) as error:
            self._fail(error)
        self._last_seq, self._last_hash = sealed[-1].seq, sealed[-1].hash

    def _refuse_after_failure(self) -> None:
        if self._failure is not None:
            raise JournalFailed(
                f"{self.path}: takes nothing more since writing failed ({self._failure}); open it again"
            )

    def _fail(self, error: "sqlite3.Error | FilesChanged") -> NoReturn:
        # Most errors end the transaction by themselves; then there is nothing to roll back.
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")
        # What was written of it is written over by the next call. It may yet be a whole commit to a start that comes
        # before: the refused page's last bytes may be as those that lay there, and it may be the readers' index alone
        # that had no room. Of a flush that failed, nobody knows what it left.
        if _is_full(error) and not self._connection.in_transaction:
            raise JournalFull(f"{self.path}: the disk is full") from error
        self._failure = str(error)
        failed = JournalGone if isinstance(error, FilesChanged) else JournalFailed
        raise failed(f"{self.path}: cannot be written ({error})") from error

    def _prepare(self) -> None:
        """Makes the tables in a new file, checks them in another, and has every commit flushed."""
        try:
            is_new = not self._schema() and self._value("PRAGMA application_id") == 0
            if not is_new:
                self._check_identity()
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
            self._make_log_durable()
            if is_new:
                self._create_tables()
            elif self._value("PRAGMA user_version") != SCHEMA_VERSION:
                migrate(self._connection)
            journal_mode = self._connection.execute("PRAGMA journal_mode").fetchone()[0]
            synchronous = self._connection.execute("PRAGMA synchronous").fetchone()[0]
        except sqlite3.Error as error:
            if _is_full(error):
                raise JournalFull(f"{self.path}: the disk is full") from error
            self._raise_read_error(error, None)
        if journal_mode != b"wal" or synchronous != _SYNCHRONOUS_FULL:
            settings = f"journal_mode={journal_mode.decode()}, synchronous={synchronous}"
            raise JournalError(f"{self.path}: would not flush every commit ({settings}); it should be on a local disk")

    def _make_log_durable(self) -> None:
        """Has what waits in the log of an earlier run written to the database, and that flushed.

        Raises JournalError while another program's reading keeps it from being done, which then goes on too long.
        """
        # After a flush that failed, pages that only the system's memory holds look written, and stay lost when
        # flushed again: only writing them once more makes sure (what PostgreSQL learned of fsync in 2018).
        with closing(self._connection.execute("PRAGMA wal_checkpoint(FULL)")) as rows:
            _, in_log, written = rows.fetchone()
        if written != in_log:
            raise JournalError(
                f"{self.path}: another program has been reading it for more than {BUSY_TIMEOUT_SECONDS} s, so what its "
                "log holds cannot be made durable; end that program and start again"
            )

    def _create_tables(self) -> None:
        """In one transaction: a cut leaves the file either still new or complete."""
        create(self._connection)
        try:
            sync_folder(self.path.absolute().parent)
        except OSError as error:
            raise JournalError(f"{self.path}: its folder cannot be flushed ({error.strerror})") from error

    def _check_ends(self, last: Event | None) -> None:
        if last is None:
            return
        base = self.base()
        begins = self._begins(base)
        self._checked(self.read(begins, 1)[0], begins, base)
        if last.table != self.table_name:
            reason = f"is the journal of table {last.table!r}, not of {self.table_name!r}"
            raise JournalDamaged(self.path, None, reason)


def _is_full(error: Exception) -> bool:
    """Whether there was no room, for the file or for the index that SQLite's readers share."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)


def _create_file(path: Path) -> None:
    """Makes an empty file of mode 0600 unless there is one; SQLite gives its side files the same mode."""
    try:
        # Never opens a file that is there: closing it would end the locks SQLite holds on it in this process.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise JournalError(f"{path}: cannot be made ({error.strerror})") from error
