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

[[readers]]
name = "archive"
key = "UC..."                    # what `boxman central key` says
```
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from device.table_key import is_public_key
from provisioning.central.table_list import KnownTable

HUB_SERVERS: Final = (1, 3)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_HOST: Final = re.compile(r"[0-9A-Za-z-]{1,63}(\.[0-9A-Za-z-]{1,63})*")
_PATH: Final = re.compile(r"/[^\x00-\x1f\x7f]*")
_NAMES: Final = "1 to 32 letters, digits, - or _"
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
_KEYS: Final = {
    "servers": _SERVER_KEYS,
    "sites": ("name", "server"),
    "tables": ("site", "name", "key"),
    "readers": ("name", "key"),
}


class BadList(Exception):
    """A list that is not sound: one line that names the place in it and what would be right."""


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
class CentralList:
    """The whole central side. `hub` holds one server or three."""

    ca: str
    admin: str
    hub: tuple[Server, ...]
    sites: tuple[Site, ...]
    tables: tuple[KnownTable, ...]
    readers: tuple[Reader, ...]

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
    """Read and check the list. Raises BadList, in one line."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise BadList(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadList(f"{path}: is no UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise BadList(f"{path}: is no TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BadList(f"{path}: is no TOML that can be read ({error})") from error
    try:
        return _Checked(text, data).result()
    except BadList as error:
        raise BadList(f"{path}: {error}") from None


class _Checked:
    """Goes through what the file says, in its order, so that the first thing that is wrong is named."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self._text = text
        self._data = data

    def result(self) -> CentralList:
        allowed = ("ca", "admin", *_KEYS)
        _check_keys(self._data, allowed)
        found = CentralList(
            ca=_matching(self._data, "ca", _PATH, "the whole path of the CA's file on the servers"),
            admin=_public_key(self._data, "admin"),
            hub=tuple(self._each("servers", _server)),
            sites=tuple(self._each("sites", _site)),
            tables=tuple(self._each("tables", _table)),
            readers=tuple(self._each("readers", _reader)),
        )
        if len(found.hub) not in HUB_SERVERS:
            raise BadList(f"there should be one [[servers]], or three for a cluster; there are {len(found.hub)}")
        self._check_against_each_other(found)
        return found

    def _each(self, section: str, read: Any) -> Iterable[Any]:
        entries = self._data.get(section, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise BadList(f"{section} should be written [[{section}]], once for each")
        for number, entry in enumerate(entries, start=1):
            try:
                _check_keys(entry, _KEYS[section])
                yield read(entry)
            except BadList as error:
                raise BadList(f"{self._place(section, number)}: {error}") from None

    def _check_against_each_other(self, found: CentralList) -> None:
        sites = {site.name for site in found.sites}
        servers = [*found.hub, *(site.server for site in found.leaf_sites if site.server is not None)]
        self._check_single("sites", [site.name for site in found.sites])
        self._check_single("tables", [f"{table.site} {table.name}" for table in found.tables])
        self._check_single("readers", [reader.name for reader in found.readers])
        for number, table in enumerate(found.tables, start=1):
            if table.site not in sites:
                raise BadList(f"{self._place('tables', number)}: site {table.site!r} is no [[sites]] of this list")
        names: set[str] = set()
        ports: dict[tuple[str, int], str] = {}
        for server in servers:
            if server.name in names:
                raise BadList(f"two servers are named {server.name!r}")
            names.add(server.name)
            for key in ("port", "cluster_port", "leaf_port"):
                at = (server.host, getattr(server, key))
                if at in ports:
                    raise BadList(f"server {server.name!r}: {key} {at[1]} of {at[0]} is {ports[at]} already")
                ports[at] = f"{key} of server {server.name!r}"
        owners = {found.admin: "the admin"}
        keys = [("tables", table.key, f"table {table.name} of {table.site}") for table in found.tables]
        keys += [("readers", reader.key, f"reader {reader.name}") for reader in found.readers]
        counted = {"tables": 0, "readers": 0}
        for section, key, owner in keys:
            counted[section] += 1
            if key in owners:
                raise BadList(f"{self._place(section, counted[section])}: key is that of {owners[key]} already")
            owners[key] = owner

    def _check_single(self, section: str, names: list[str]) -> None:
        for number, name in enumerate(names, start=1):
            if name in names[: number - 1]:
                raise BadList(f"{self._place(section, number)}: {name!r} is in the list already")

    def _place(self, section: str, number: int) -> str:
        """Where the entry begins: its line, where it is written with a header of its own."""
        begins = [
            line
            for line, words in enumerate(self._text.splitlines(), start=1)
            if re.match(rf"\s*\[\[\s*{section}\s*\]\]", words)
        ]
        where = f"line {begins[number - 1]}, " if len(begins) >= number else ""
        return f"{where}[[{section}]] {number}"


def _server(entry: dict[str, Any]) -> Server:
    return Server(
        name=_matching(entry, "name", _NAME, _NAMES),
        host=_matching(entry, "host", _HOST, "the name or address in its certificate"),
        listen=_matching(entry, "listen", _HOST, "an address of that machine", "127.0.0.1"),
        port=_whole(entry, "port", 1, 65535, 4222),
        cluster_port=_whole(entry, "cluster_port", 1, 65535, 6222),
        leaf_port=_whole(entry, "leaf_port", 1, 65535, 7422),
        certificate=_matching(entry, "certificate", _PATH, "a whole path on that machine"),
        private_key=_matching(entry, "private_key", _PATH, "a whole path on that machine"),
        store=_matching(entry, "store", _PATH, "a whole path on that machine"),
        store_gb=_whole(entry, "store_gb", 1, 1_000_000),
    )


def _site(entry: dict[str, Any]) -> Site:
    name = _matching(entry, "name", _NAME, _NAMES)
    if "server" not in entry:
        return Site(name, None)
    server = entry["server"]
    if not isinstance(server, dict):
        raise BadList("server should be written [sites.server]")
    try:
        _check_keys(server, _SERVER_KEYS)
        return Site(name, _server(server))
    except BadList as error:
        raise BadList(f"server: {error}") from None


def _table(entry: dict[str, Any]) -> KnownTable:
    site, name = (_matching(entry, key, _NAME, _NAMES) for key in ("site", "name"))
    return KnownTable(site, name, _public_key(entry, "key"))


def _reader(entry: dict[str, Any]) -> Reader:
    return Reader(_matching(entry, "name", _NAME, _NAMES), _public_key(entry, "key"))


def _public_key(entry: dict[str, Any], key: str) -> str:
    value = _given(entry, key, None)
    if isinstance(value, str) and value.startswith("S"):
        raise BadList(f"{key} is a secret seed; make a new key, and put its public part here")
    if not isinstance(value, str) or not is_public_key(value):
        raise BadList(f"{key} should be a public key: 56 letters and digits that begin with U")
    return value


def _matching(entry: dict[str, Any], key: str, form: re.Pattern[str], right: str, default: str | None = None) -> str:
    value = _given(entry, key, default)
    if not isinstance(value, str) or not form.fullmatch(value):
        raise BadList(f"{key} should be {right}")
    return value


def _whole(entry: dict[str, Any], key: str, lowest: int, highest: int, default: int | None = None) -> int:
    value = _given(entry, key, default)
    if type(value) is not int or not lowest <= value <= highest:
        raise BadList(f"{key} should be a whole number from {lowest} to {highest}")
    return value


def _given(entry: dict[str, Any], key: str, default: Any) -> Any:
    if key not in entry and default is None:
        raise BadList(f"{key} is missing")
    return entry.get(key, default)


def _check_keys(entry: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in entry:
        if key not in keys:
            near = get_close_matches(key, keys, 1)
            instead = f", did you mean {near[0]}?" if near else f"; the keys are {', '.join(keys)}"
            raise BadList(f"{key} is no key{instead}")
