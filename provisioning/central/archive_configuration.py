"""The archive's TOML file: the central log that it reads, the database that it writes, the tables that it knows.

```toml
[central]
servers = ["tls://central.example:4222"]
stream = "CRAPS"                 # default
ca = "ca.pem"                    # the site's CA
reader = "archive"               # this reader's name in the list that `boxman central config` was given, and
key = "archive.key"              # the file of its key

[archive]
sqlite = "archive.db"            # default; or
postgresql = "archive.dsn"       # a file with a libpq connection string; "": the environment's PG* variables say all

[[tables]]                       # only these, each under its key; without any, every table that signs what it sends
site = "casino-1"
name = "craps-1"
key = "U..."
```
"""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine

from device.nats_connection import NatsAccess, check_ca, check_servers, inbox_of
from device.table_key import TableKey, TableKeyError, read_table_key
from provisioning.central.archive_check import KnownKeys
from provisioning.central.archive_database import postgresql_engine, sqlite_engine
from provisioning.central.table_list import read_tables
from provisioning.standard_streams import visible

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "central": ("servers", "stream", "ca", "reader", "key"),
    "archive": ("sqlite", "postgresql"),
}
_DSN_BYTES_MAX: Final = 4096


class ArchiveConfigurationError(Exception):
    """The file is not sound: one line that names the file, the place and what would be right."""

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))


@dataclass(frozen=True)
class ArchiveConfiguration:
    """What the file says. `sqlite` None: the database is PostgreSQL, and `conninfo` says which."""

    access: NatsAccess
    stream: str
    sqlite: Path | None
    conninfo: str
    keys: KnownKeys | None

    def engine(self) -> Engine:
        """The database, to which nothing is connected yet."""
        return sqlite_engine(self.sqlite) if self.sqlite is not None else postgresql_engine(self.conninfo)


def read_archive_configuration(path: Path) -> ArchiveConfiguration:
    """Read and check the file; its paths start where it lies. Raises ArchiveConfigurationError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArchiveConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise ArchiveConfigurationError(f"{path}: is no TOML: {error}") from error
    try:
        return _configuration(data, path.parent)
    except (ValueError, TableKeyError) as error:
        raise ArchiveConfigurationError(f"{path}: {error}") from error


def _configuration(data: dict[str, Any], folder: Path) -> ArchiveConfiguration:
    for section in data:
        if section not in (*_SECTIONS, "tables"):
            raise ValueError(f"{section} is no section; the sections are [central], [archive], [[tables]]")
    central, archive = (_section(data, name) for name in _SECTIONS)
    if "sqlite" in archive and "postgresql" in archive:
        raise ValueError("archive.sqlite and archive.postgresql: only one of them can be the database")
    conninfo, sqlite = "", None
    if "postgresql" not in archive:
        sqlite = folder / _text(archive, "archive", "sqlite", "a file", "archive.db")
    elif archive["postgresql"] != "":
        conninfo = _secret(folder / _text(archive, "archive", "postgresql", "a file"))
    stream = _text(central, "central", "stream", "the name of the stream", "CRAPS")
    if not _NAME.fullmatch(stream):
        raise ValueError("central.stream must be 1 to 32 letters, digits, - or _")
    keys = None
    if "tables" in data:
        keys = {(table.site, table.name): frozenset({table.key}) for table in read_tables(data["tables"])}
    return ArchiveConfiguration(_access(central, folder), stream, sqlite, conninfo, keys)


def _access(central: dict[str, Any], folder: Path) -> NatsAccess:
    servers = central.get("servers")
    if not isinstance(servers, list) or not all(isinstance(server, str) for server in servers):
        raise ValueError("central.servers must be a list of URLs")
    try:
        checked = check_servers(servers)
    except ValueError as error:
        raise ValueError(f"central.servers: {error}") from None
    ca: Path | None = None
    if "ca" in central:
        ca = folder / _text(central, "central", "ca", "a file of certificates (PEM)")
        check_ca(ca)
    if ("key" in central) != ("reader" in central):
        raise ValueError("central.reader and central.key: name both or neither")
    if "key" not in central:
        return NatsAccess(checked, ca)
    reader = _text(central, "central", "reader", "the reader's name")
    if not _NAME.fullmatch(reader):
        raise ValueError("central.reader must be 1 to 32 letters, digits, - or _")
    return NatsAccess(checked, ca, _key(folder / _text(central, "central", "key", "a file")), inbox_of(reader))


def _key(path: Path) -> TableKey:
    key = read_table_key(path)
    if key is None:
        raise ValueError(f"central.key: there is no file {path}; it should be the reader's key")
    return key


def _secret(path: Path) -> str:
    """The one line of a file that nobody else may read; it is never quoted."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            about = os.fstat(descriptor)
            content = os.read(descriptor, _DSN_BYTES_MAX) if stat.S_ISREG(about.st_mode) else b""
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ValueError(f"archive.postgresql: {path} cannot be read ({error.strerror})") from error
    if about.st_mode & 0o077:
        raise ValueError(f"archive.postgresql: {path} may be read by others; it should have mode 0600")
    try:
        text = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        text = ""
    if not text or "\n" in text:
        raise ValueError(f"archive.postgresql: {path} should hold one line, such as host=db.example dbname=craps")
    return text


def _section(data: dict[str, Any], name: str) -> dict[str, Any]:
    section = data.get(name, {})
    if not isinstance(section, dict):
        raise ValueError(f"{name} must be a section, written [{name}]")  # noqa: TRY004 - as all that is wrong
    for key in section:
        if key not in _SECTIONS[name]:
            raise ValueError(f"{name}.{key} is no key; the keys are {', '.join(_SECTIONS[name])}")
    return section


def _text(section: dict[str, Any], name: str, key: str, what: str, default: str | None = None) -> str:
    value = section.get(key, default)
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"{name}.{key} must be {what}")
    return value
