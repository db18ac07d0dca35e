"""The archive's TOML file: the central log that it reads, the database that it writes, the tables that it knows.

```toml
[central]
servers = ["tls://central.example:4222"]
stream = "CRAPS"                 # default
ca = "ca.pem"                    # the site's CA
key = "archive.key"              # the file of its key, where the servers ask for one

[archive]
sqlite = "archive.db"            # default; or
postgresql = "archive.dsn"       # a file with a libpq connection string; "": the environment's PG* variables say all

[[tables]]                       # only these, each under its keys; without any, every table under the key it began with
site = "casino-1"
name = "craps-1"
key = "U..."
former_keys = ["U..."]           # of the units that this one took the table over from, the oldest first
```
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine

from device.nats_connection import NatsAccess
from provisioning.central.archive_check import KnownKeys
from provisioning.central.archive_database import postgresql_engine, sqlite_engine
from provisioning.central.central_list import read_tables
from provisioning.central.nats_access import read_access
from provisioning.central.toml_file import Section, TomlFile, read_toml

_DSN_BYTES_MAX: Final = 4096


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
    """Read and check the file; its paths start where it lies. Raises BadFile."""
    return read_toml(path, lambda file: archive_configuration(file.top.values, path.parent, file.text))


def archive_configuration(data: dict[str, Any], folder: Path, text: str = "") -> ArchiveConfiguration:
    """Check what a file with this text says; its paths start at `folder`. Raises BadFile."""
    file = TomlFile(text, Section(data, ""))
    file.top.check_keys("central", "archive", "tables")
    central, archive = file.top.section("central"), file.top.section("archive")
    archive.check_keys("sqlite", "postgresql")
    if "sqlite" in archive.values and "postgresql" in archive.values:
        archive.refuse("sqlite and archive.postgresql: only one of them can be the database")
    conninfo, sqlite = "", None
    if "postgresql" not in archive.values:
        sqlite = folder / archive.text("sqlite", "a file", "archive.db")
    elif archive.values["postgresql"] != "":
        conninfo = _secret(archive, folder / archive.text("postgresql", "a file"))
    access, stream = read_access(central, folder)
    keys = None
    if "tables" in file.top.values:
        keys = {(table.site, table.name): (*table.former_keys, table.key) for table in read_tables(file)}
    return ArchiveConfiguration(access, stream, sqlite, conninfo, keys)


def _secret(archive: Section, path: Path) -> str:
    """The one line of a file that nobody else may read; it is never quoted."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            about = os.fstat(descriptor)
            content = os.read(descriptor, _DSN_BYTES_MAX) if stat.S_ISREG(about.st_mode) else b""
        finally:
            os.close(descriptor)
    except OSError as error:
        archive.refuse(f"postgresql: {path} cannot be read ({error.strerror})")
    if about.st_mode & 0o077:
        archive.refuse(f"postgresql: {path} may be read by others; it should have mode 0600")
    try:
        text = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        text = ""
    if not text or "\n" in text:
        archive.refuse(f"postgresql: {path} should hold one line, such as host=db.example dbname=craps")
    return text
