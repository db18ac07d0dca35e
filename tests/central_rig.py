"""Central servers as a casino would run them: certificates, a list of tables, generated files, real processes."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nats.errors

from device.central_history import CentralUnreadable, read_history
from device.nats_connection import NatsAccess, connected, inbox_of
from device.nats_log import NatsSystem
from device.table_key import TableKey, open_table_key
from device.uplink_protocol import subject
from provisioning.central.central_list import CentralList, Site, read_list
from provisioning.central.server_files import server_files, write_files
from provisioning.central.stream_setup import ensure_journal_stream, wanted_stream
from provisioning.central_server import STREAM, CentralServerError
from provisioning.die_with_parent import die_with_parent
from tests.free_ports import free_port
from tests.nats_rig import AnyJournal, UnitUnderTest, running_uplink

READY_S = 60.0
SITE = "casino-1"
TABLE = "craps-1"


class Authority:
    """A CA of the test's own, and the certificates that it signs."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self.folder = folder
        self.ca = folder / f"{name}.pem"
        self._key = folder / f"{name}.key"
        _openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", f"/CN={name}", "-keyout", self._key, "-out", self.ca,
        )  # fmt: skip

    def issue(self, name: str, names: str = "IP:127.0.0.1", days: int = 30) -> tuple[Path, Path]:
        """A certificate for `names`, and its key; one of a day less than none has expired."""
        certificate, key, request = (self.folder / f"{name}.{kind}" for kind in ("pem", "key", "csr"))
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\n", encoding="ascii")
        _openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={name}", "-keyout", key, "-out", request,
        )  # fmt: skip
        _openssl(
            "x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self._key, "-CAcreateserial",
            "-days", str(days), "-extfile", extensions, "-out", certificate,
        )  # fmt: skip
        return certificate, key

    def issue_for_later(self, name: str, names: str = "IP:127.0.0.1") -> tuple[Path, Path]:
        """As `issue`; it is valid from the year 2040 on, as all are to a clock that is many years behind."""
        certificate, key = self.issue(name, names)
        settings = self.folder / f"{name}.ca"
        (self.folder / f"{name}.index").write_text("", encoding="ascii")
        settings.write_text(
            f"[ca]\ndefault_ca=it\n[it]\ndatabase={self.folder}/{name}.index\nnew_certs_dir={self.folder}\n"
            "rand_serial=yes\ndefault_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n",
            encoding="ascii",
        )
        _openssl(
            "ca", "-batch", "-config", settings, "-in", self.folder / f"{name}.csr", "-cert", self.ca,
            "-keyfile", self._key, "-startdate", "20400101000000Z", "-enddate", "20410101000000Z",
            "-extfile", self.folder / f"{name}.ext", "-out", certificate, "-notext",
        )  # fmt: skip
        return certificate, key


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def key_in(folder: Path, name: str) -> TableKey:
    """A key of its own for whoever has this name; the same again when asked again."""
    folder.mkdir(exist_ok=True)
    return open_table_key(folder / f"{name}.key")


class ServerProcess:
    """One nats-server on its generated file."""

    def __init__(self, configuration: Path, port: int) -> None:
        self.configuration = configuration
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start, without waiting: the servers of a cluster wait for each other."""
        server = Path(sys.executable).with_name("nats-server")
        self._process = subprocess.Popen(
            die_with_parent([str(server), "--config", str(self.configuration)]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.configuration.parent / f"{self.configuration.stem}.stderr").open("ab"),
        )

    def wait(self) -> None:
        """Wait until it greets."""
        deadline = time.monotonic() + READY_S
        while True:
            assert self._process is not None and self._process.poll() is None, f"{self.configuration} ended"
            assert time.monotonic() < deadline, f"{self.configuration} does not greet"
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as link:
                    greeting = link.makefile("rb").readline()
                if json.loads(greeting.removeprefix(b"INFO ")).get("jetstream"):
                    return
            except (OSError, ValueError):
                time.sleep(0.02)

    def kill(self) -> None:
        """End it as losing its power would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End it in good order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(READY_S)
            self._process = None


@dataclass
class Central:
    """A hub of one server or three, with leaf sites, all of it generated. Tables' keys are made as they are named."""

    folder: Path
    hub_servers: int = 1
    leaf_sites: Sequence[str] = ()
    tables: Sequence[tuple[str, str]] = ((SITE, TABLE),)
    # Of these, those that deliver over HTTPS to the one receiver.
    forwarded: Sequence[tuple[str, str]] = ()
    names: str = "IP:127.0.0.1"
    days: int = 30
    servers: dict[str, ServerProcess] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keys = self.folder / "keys"
        self.authority = Authority(self.folder)
        self._ports: dict[str, list[int]] = {}
        self.write()

    def write(self) -> None:
        """The list, and what `boxman central config` makes of it."""
        parts = [f'ca = "{self.authority.ca}"', f'admin = "{self.key("admin").public}"']
        parts += ["[[servers]]\n" + self._server(name) for name in self._hubs]
        sites = sorted({site for site, _ in self.tables} | set(self.leaf_sites))
        for site in sites:
            parts.append(f'[[sites]]\nname = "{site}"')
            if site in self.leaf_sites:
                parts.append("[sites.server]\n" + self._server(site))
        for site, table in self.tables:
            key = self.key(f"{site}.{table}").public
            parts.append(f'[[tables]]\nsite = "{site}"\nname = "{table}"\nkey = "{key}"')
            if (site, table) in self.forwarded:
                parts.append('receiver = "https-1"')
        if self.forwarded:
            parts.append(f'[[receivers]]\nname = "https-1"\nkey = "{self.key("https-1").public}"')
        for name in ("archive", "pit"):
            parts.append(f'[[readers]]\nname = "{name}"\nkey = "{self.key(name).public}"')
        self.list_file.write_text("\n".join(parts) + "\n", encoding="utf-8")
        write_files(self.folder / "files", server_files(self.listed, self.folder / "files"))

    @property
    def _hubs(self) -> list[str]:
        return [f"hub-{number}" for number in range(1, self.hub_servers + 1)]

    def _server(self, name: str) -> str:
        if name not in self._ports:
            self._ports[name] = [free_port() for _ in range(3)]
            self.authority.issue(name, self.names, self.days)
            self.servers[name] = ServerProcess(self.folder / "files" / f"{name}.conf", self._ports[name][0])
        port, cluster_port, leaf_port = self._ports[name]
        return (
            f'name = "{name}"\nhost = "127.0.0.1"\nport = {port}\ncluster_port = {cluster_port}\n'
            f'leaf_port = {leaf_port}\ncertificate = "{self.folder}/{name}.pem"\n'
            f'private_key = "{self.folder}/{name}.key"\nstore = "{self.folder}/store-{name}"\nstore_gb = 1'
        )

    @property
    def list_file(self) -> Path:
        return self.folder / "central.toml"

    @property
    def listed(self) -> CentralList:
        return read_list(self.list_file)

    def key(self, owner: str) -> TableKey:
        """The key of `site.table`, a reader or the admin."""
        return key_in(self.keys, owner)

    def leaf_port(self, name: str) -> int:
        return self._ports[name][2]

    def site(self, name: str) -> Site | None:
        """The leaf site of this name; None when its tables come to the hub."""
        return next((site for site in self.listed.leaf_sites if site.name == name), None)

    def urls(self, site: str) -> list[str]:
        """Where the tables of a site go, or readers of the hub with a name that is no leaf site's."""
        if site in self.leaf_sites:
            return [f"tls://127.0.0.1:{self.servers[site].port}"]
        return [f"tls://127.0.0.1:{self.servers[name].port}" for name in self._hubs]

    def access(self, owner: str, site: str = SITE) -> NatsAccess:
        """For `site.table`, the reader or the admin."""
        key = self.key(owner)
        return NatsAccess(self.urls(site), self.authority.ca, key, inbox_of(owner if "." in owner else key.public))

    def start(self, *names: str) -> None:
        """Start these servers, or all of them, and wait until all of them greet."""
        chosen = [self.servers[name] for name in names or self.servers]
        for server in chosen:
            server.start()
        for server in chosen:
            server.wait()

    async def set_up(self, site: str = SITE) -> str:
        """Set the stream up at the hub, or at a leaf site; a cluster that is still choosing is waited for."""
        return await ensure_journal_stream(self.access("admin", site), wanted_stream(self.listed, self.site(site)))

    def __enter__(self) -> "Central":
        return self

    def __exit__(self, *_: object) -> None:
        for server in self.servers.values():
            server.kill()


async def set_up_when_ready(central: Central, site: str = SITE) -> None:
    """Set the stream up once the servers have agreed who leads."""
    async with asyncio.timeout(READY_S):
        while True:
            try:
                await central.set_up(site)
            except CentralServerError:
                await asyncio.sleep(0.1)
            else:
                return


def system_of(
    central: Central,
    table: str = TABLE,
    site: str = SITE,
    *,
    port: int | None = None,
    ca: Path | None = None,
    key: TableKey | None = None,
) -> NatsSystem:
    """As the table has it configured; `port` may be a proxy's."""
    urls = central.urls(site) if port is None else [f"tls://127.0.0.1:{port}"]
    return NatsSystem(urls, site, table, ca=ca or central.authority.ca, key=key or central.key(f"{site}.{table}"))


@contextlib.asynccontextmanager
async def unit(
    system: NatsSystem, journal: AnyJournal, folder: Path, table: str = TABLE
) -> AsyncIterator[UnitUnderTest]:
    """The uplink of a table, with its delivery record in `folder`."""
    folder.mkdir(exist_ok=True)
    async with running_uplink("", journal, folder, table, system=system) as running:
        yield running


async def history(central: Central, site: str, table: str) -> list[str]:
    """All events of a table at the hub, as a central reader reads them; a cluster that is not ready is asked again."""
    async with asyncio.timeout(60):
        while True:
            lines: list[str] = []
            try:
                await read_history(
                    central.access("archive"),
                    STREAM,
                    subject(site, table),
                    lambda payload, _, lines=lines: lines.extend(payload.decode().split("\n")),  # type: ignore[misc]
                )
            except CentralUnreadable:
                await asyncio.sleep(0.1)
            else:
                return lines


async def line_is_up(central: Central, leaf: str) -> None:
    """Wait until what the hub asks a leaf site's server gets there; only the stream's own questions are answered."""
    async with connected(central.access("admin"), "test") as client, asyncio.timeout(60):
        while True:
            try:
                await client.request(f"$JS.{leaf}.API.INFO", b"")
            except nats.errors.NoRespondersError:
                await asyncio.sleep(0.05)
            except nats.errors.TimeoutError:
                return


async def look_for_sites(central: Central, leaf: str) -> None:
    """Have the hub look for its leaf sites at once, which it does by itself some 20 to 40 s after it lost one."""
    await line_is_up(central, leaf)
    wanted = wanted_stream(central.listed, None)
    async with connected(central.access("admin"), "test") as client:
        manager = client.jetstream(timeout=READY_S)
        await manager.update_stream(wanted.evolve(sources=[]))
        await manager.update_stream(wanted)
