"""The list of a central side: its servers, sites, tables and readers, from one TOML file, checked whole.

```toml
ca = "/etc/boxman/ca.pem"        # the site's CA, as a path on every server
admin = "UA..."                  # the public key that may set the stream up

[[servers]]                       # one, or three for a cluster
name = "hub-1"
host = "hub-1.casino.example"    # as in its certificate, and as tables and the other servers reach it
listen = "0.0.0.0"               # default 127.0.0.1
certificate = "/etc/boxman/hub-1.pem"
private_key = "/etc/boxman/hub-1.key"
store = "/var/lib/boxman-central"
store_gb = 100

[[sites]]
name = "casino-1"                # its tables come to the servers above

[[sites]]
name = "casino-2"
[sites.server]                    # a server of its own, a leaf node of those above; keys as in [[servers]]
name = "casino-2"

[[tables]]
site = "casino-1"
name = "craps-1"
key = "UB..."                    # what `boxman table key` says
former_keys = ["UD..."]          # of the units that this one took the table over from, the oldest first
receiver = "https-1"             # where it delivers over HTTPS, and that receiver forwards what it takes

[[receivers]]
name = "https-1"
key = "UG..."                    # what `boxman central key` says

[[readers]]
name = "archive"
key = "UC..."                    # what `boxman central key` says
```
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.dice_control.names import folded_mark
from provisioning.central.toml_file import HOST, NAME, NAME_FORM, BadFile, Section, TomlFile, read_toml

HUB_SERVERS: Final = (1, 3)
_PATH: Final = re.compile(r"/[^\x00-\x1f\x7f]*")
_SERVER_KEYS: Final = (
    "name",
    "host",
    "listen",
    "port",
    "cluster_port",
    "leaf_port",
    "certificate",
    "private_key",
    "store",
    "store_gb",
)


@dataclass(frozen=True)
class KnownTable:
    """A table, and the public key of the unit that it is now; those of the units before it, the oldest first.

    `receiver` may write what the table delivers over HTTPS.
    """

    site: str
    name: str
    key: str
    former_keys: tuple[str, ...] = ()
    receiver: str | None = None


@dataclass(frozen=True)
class Server:
    """One nats-server: where it listens, what it shows, where it keeps the log and how large that may become."""

    name: str
    host: str
    listen: str
    port: int
    cluster_port: int
    leaf_port: int
    certificate: str
    private_key: str
    store: str
    store_gb: int

    @property
    def url(self) -> str:
        """For tables and readers."""
        return f"tls://{self.host}:{self.port}"


@dataclass(frozen=True)
class Site:
    """A casino. `server` None: its tables come to the hub; otherwise to a leaf node of their own."""

    name: str
    server: Server | None


@dataclass(frozen=True)
class Reader:
    """A central program that reads every table's journal and writes none."""

    name: str
    key: str


@dataclass(frozen=True)
class ReceiverKey:
    """A central program that takes tables' events over HTTPS, and writes them on for these tables."""

    name: str
    key: str


@dataclass(frozen=True)
class CentralList:
    """The whole central side. `hub` holds one server or three."""

    ca: str
    admin: str
    hub: tuple[Server, ...]
    sites: tuple[Site, ...]
    tables: tuple[KnownTable, ...]
    readers: tuple[Reader, ...]
    receivers: tuple[ReceiverKey, ...]

    @property
    def leaf_sites(self) -> tuple[Site, ...]:
        """Those with a server of their own."""
        return tuple(site for site in self.sites if site.server is not None)

    def tables_at(self, site: Site | None) -> tuple[KnownTable, ...]:
        """Those that come to a leaf site's server, or with None to the hub."""
        leaves = {leaf.name for leaf in self.leaf_sites}
        return tuple(
            table
            for table in self.tables
            if (table.site == site.name if site is not None else table.site not in leaves)
        )


def read_list(path: Path) -> CentralList:
    """Read and check the list. Raises BadFile, in one line."""
    return read_toml(path, _checked)


def read_tables(file: TomlFile) -> tuple[KnownTable, ...]:
    """A file's [[tables]], each table and each key once. Raises BadFile."""
    return _read_tables(file, {})


def _checked(file: TomlFile) -> CentralList:
    """Goes through what the file says, in its order, so that the first thing that is wrong is named."""
    file.top.check_keys("ca", "admin", "servers", "sites", "tables", "readers", "receivers")
    admin = file.top.public_key("admin")
    owners = {admin: "the admin"}
    found = CentralList(
        ca=file.top.matching("ca", _PATH, "the whole path of the CA's file on the servers"),
        admin=admin,
        hub=tuple(_server(entry) for entry in file.each("servers")),
        sites=tuple(_site(entry) for entry in file.each("sites")),
        tables=_read_tables(file, owners),
        readers=tuple(Reader(*each) for each in _read_programs(file, "readers", "reader", owners)),
        receivers=tuple(ReceiverKey(*each) for each in _read_programs(file, "receivers", "receiver", owners)),
    )
    if len(found.hub) not in HUB_SERVERS:
        raise BadFile(f"there should be one [[servers]], or three for a cluster; there are {len(found.hub)}")
    _check_single(file, "sites", [site.name for site in found.sites])
    _check_unlike(file, "sites", [((), site.name) for site in found.sites])
    _check_unlike(file, "tables", [((table.site,), table.name) for table in found.tables])
    sites = {site.name for site in found.sites}
    for number, table in enumerate(found.tables, start=1):
        if table.site not in sites:
            raise BadFile(f"{file.place('tables', number)}: site {table.site!r} is no [[sites]] of this list")
        if table.receiver is not None and table.receiver not in {receiver.name for receiver in found.receivers}:
            raise BadFile(
                f"{file.place('tables', number)}: receiver {table.receiver!r} is no [[receivers]] of this list"
            )
    _check_servers([*found.hub, *(site.server for site in found.leaf_sites if site.server is not None)])
    return found


def _check_servers(servers: list[Server]) -> None:
    names: set[str] = set()
    ports: dict[tuple[str, int], str] = {}
    for server in servers:
        if server.name in names:
            raise BadFile(f"two servers are named {server.name!r}")
        names.add(server.name)
        for key in ("port", "cluster_port", "leaf_port"):
            at = (server.host, getattr(server, key))
            if at in ports:
                raise BadFile(f"server {server.name!r}: {key} {at[1]} of {at[0]} is {ports[at]} already")
            ports[at] = f"{key} of server {server.name!r}"


def _read_tables(file: TomlFile, owners: dict[str, str]) -> tuple[KnownTable, ...]:
    """`owners` holds who has each key already; those of the tables are added."""
    tables = []
    for entry in file.each("tables"):
        table = _table(entry)
        for key, owner in (
            (table.key, f"table {table.name} of {table.site}"),
            *((former, f"a former unit of table {table.name} of {table.site}") for former in table.former_keys),
        ):
            _own(entry, "key is" if key == table.key else "former_keys holds", key, owner, owners)
        tables.append(table)
    _check_single(file, "tables", [f"{table.site} {table.name}" for table in tables])
    return tuple(tables)


def _read_programs(file: TomlFile, section: str, what: str, owners: dict[str, str]) -> list[tuple[str, str]]:
    """Name and key of each central program in a section."""
    programs = []
    for entry in file.each(section):
        entry.check_keys("name", "key")
        name, key = entry.matching("name", NAME, NAME_FORM), entry.public_key("key")
        _own(entry, "key is", key, f"{what} {name}", owners)
        programs.append((name, key))
    _check_single(file, section, [name for name, _ in programs])
    return programs


def _own(entry: Section, begins: str, key: str, owner: str, owners: dict[str, str]) -> None:
    if key in owners:
        entry.refuse(f"{begins} that of {owners[key]} already")
    owners[key] = owner


def _check_single(file: TomlFile, section: str, names: list[str]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise BadFile(f"{file.place(section, number)}: {name!r} is in the list already")
        seen.add(name)


def _check_unlike(file: TomlFile, section: str, names: Iterable[tuple[tuple[str, ...], str]]) -> None:
    """`names`, each within its group, must be told apart at a glance: not craps-l beside craps-1, nor craps_1."""
    seen: dict[tuple[tuple[str, ...], str], str] = {}
    for number, (group, name) in enumerate(names, start=1):
        looks = (group, folded_mark(name).replace("_", "-"))
        if looks in seen:
            raise BadFile(f"{file.place(section, number)}: name {name!r} looks like {seen[looks]!r}; choose another")
        seen[looks] = name


def _server(entry: Section) -> Server:
    entry.check_keys(*_SERVER_KEYS)
    return Server(
        name=entry.matching("name", NAME, NAME_FORM),
        host=entry.matching("host", HOST, "the name or address in its certificate"),
        listen=entry.matching("listen", HOST, "an address of that machine", "127.0.0.1"),
        port=entry.whole("port", 1, 65535, 4222),
        cluster_port=entry.whole("cluster_port", 1, 65535, 6222),
        leaf_port=entry.whole("leaf_port", 1, 65535, 7422),
        certificate=entry.matching("certificate", _PATH, "a whole path on that machine"),
        private_key=entry.matching("private_key", _PATH, "a whole path on that machine"),
        store=entry.matching("store", _PATH, "a whole path on that machine"),
        store_gb=entry.whole("store_gb", 1, 1_000_000),
    )


def _site(entry: Section) -> Site:
    entry.check_keys("name", "server")
    name = entry.matching("name", NAME, NAME_FORM)
    return Site(name, _server(entry.section("server")) if "server" in entry.values else None)


def _table(entry: Section) -> KnownTable:
    entry.check_keys("site", "name", "key", "former_keys", "receiver")
    site, name = (entry.matching(key, NAME, NAME_FORM) for key in ("site", "name"))
    former = entry.texts("former_keys", "a list of public keys", [])
    receiver = entry.matching("receiver", NAME, NAME_FORM) if "receiver" in entry.values else None
    keys = tuple(entry.checked_key("former_keys", key) for key in former)
    return KnownTable(site, name, entry.public_key("key"), keys, receiver)
