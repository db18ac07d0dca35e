"""Central systems as a table finds them, NATS and HTTPS: real processes with TLS that know tables by their keys."""

import asyncio
import contextlib
import json
import random
import shutil
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import nats
import nats.errors
import nkeys
import pytest
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

import device.central_history
import device.central_reader
import device.https_connection
import device.https_log
import device.nats_connection
import device.nats_log
from device.central_history import CentralHistory, nats_history
from device.delivery_record import DeliveryRecord
from device.https_history import https_history
from device.https_log import HttpsSystem
from device.nats_connection import NatsAccess, inbox_of
from device.nats_log import NatsSystem
from device.table_key import TableKey
from device.uplink import CentralSystem, Uplink, UplinkStatus
from provisioning.central_server import STREAM, stream_config
from provisioning.die_with_parent import die_with_parent
from tests.central_rig import Authority
from tests.free_ports import free_port
from tests.nats_rig import WAIT_S, AnyJournal, FailingLink, QuickRandom, UnitUnderTest

SITE = "test"
TABLE = "craps-1"
KEY = TableKey(b"\x01" * 32)
OTHER_TABLE = "craps-2"
OTHER_KEY = TableKey(b"\x02" * 32)
UNKNOWN_KEY = TableKey(b"\x03" * 32)
KNOWN = {TABLE: KEY.public, OTHER_TABLE: OTHER_KEY.public}

START_TIMEOUT_S = 60.0


class Certificates:
    """A CA of the test's own, and a certificate of 127.0.0.1 under it, in files."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        self.ca = authority.ca
        self.other_ca = Authority(folder, "other-ca").ca
        self.certificate, self.key = authority.issue("server")
        self.expired_certificate, self.expired_key = authority.issue("expired", days=-1)


class NatsCentral:
    """One nats-server, which tables and the test sign in to with a key."""

    kind = "nats"

    def __init__(self, folder: Path, certificates: Certificates) -> None:
        self.program = Program(folder)
        self.port = free_port()
        self.certificates = certificates
        self._reader_seed = folder / "reader.seed"
        seed = nkeys.encode_seed(b"\x09" * 32, nkeys.PREFIX_BYTE_USER)
        self._reader_seed.write_bytes(seed)
        self._reader_key = nkeys.from_seed(bytearray(seed)).public_key.decode()
        self.know(KNOWN)

    def know(self, tables: Mapping[str, str]) -> None:
        """Let it know these tables, by name, and their public keys from its next start on."""
        users = [{"nkey": key} for key in (*tables.values(), self._reader_key)]
        settings = {
            "host": "127.0.0.1",
            "port": self.port,
            "jetstream": {"store_dir": str(self.program.store), "sync_interval": "always"},
            "tls": {"cert_file": str(self.certificates.certificate), "key_file": str(self.certificates.key)},
            "authorization": {"users": users},
        }
        text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
        (self.program.folder / "server.conf").write_text(text)

    def start(self) -> None:
        """Start and wait until tables can come."""
        server = Path(sys.executable).with_name("nats-server")
        self.program.run([str(server), "-c", str(self.program.folder / "server.conf")])
        # In a loop of its own, since whoever calls may be in one.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, self._ready()).result()

    async def _ready(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            self.program.check_runs()
            try:
                async with self._reader() as stream:
                    try:
                        await stream.stream_info(STREAM)
                    except NotFoundError:
                        await stream.add_stream(stream_config())
                    return
            except (nats.errors.Error, OSError):
                assert time.monotonic() < deadline, self.program.output
                await asyncio.sleep(0.02)

    @contextlib.asynccontextmanager
    async def _reader(self) -> AsyncIterator[JetStreamContext]:
        client = await nats.connect(
            f"tls://127.0.0.1:{self.port}",
            tls=ssl.create_default_context(cafile=self.certificates.ca),
            nkeys_seed=str(self._reader_seed),
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=round(WAIT_S),
        )
        try:
            yield client.jetstream(timeout=WAIT_S)
        finally:
            await client.close()

    def system(self, table: str, key: TableKey, *, port: int, ca: Path) -> CentralSystem:
        """As a table of this name has it configured, with this key."""
        return NatsSystem([f"tls://127.0.0.1:{port}"], SITE, table, ca=ca, key=key)

    def history(self, table: str, _key: TableKey) -> CentralHistory:
        """The table's log, as a unit takes it over; what reads it on NATS has a key of its own."""
        reader = TableKey(b"\x09" * 32)
        access = NatsAccess([f"tls://127.0.0.1:{self.port}"], self.certificates.ca, reader, inbox_of(reader.public))
        return nats_history(access, STREAM, f"craps.{SITE}.{table}.journal")

    async def log(self, table: str) -> list[str]:
        """All events in the table's log, in order."""
        lines: list[str] = []
        sequence = 1
        async with self._reader() as stream:
            with contextlib.suppress(NotFoundError):
                while True:
                    subject = f"craps.{SITE}.{table}.journal"
                    message = await stream.get_msg(STREAM, seq=sequence, subject=subject, direct=True, next=True)
                    assert message.data is not None and message.seq is not None
                    lines += message.data.decode().split("\n")
                    sequence = message.seq + 1
        return lines


class HttpsCentral:
    """`boxman central receive`."""

    kind = "https"

    def __init__(self, folder: Path, certificates: Certificates) -> None:
        self.program = Program(folder)
        self.configuration = folder / "central.toml"
        self.port = free_port()
        self.certificates = certificates
        # What else its configuration says.
        self.more = ""
        self.know(KNOWN)

    def know(self, tables: Mapping[str, str]) -> None:
        """Let it know these tables, by name, and their public keys from its next start on."""
        said = {
            "port": self.port,
            "certificate": str(self.certificates.certificate),
            "key": str(self.certificates.key),
            "store": str(self.program.store / "events.db"),
        }
        text = "[receiver]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in said.items())
        for name, key in tables.items():
            text += f'[[tables]]\nsite = "{SITE}"\nname = "{name}"\nkey = "{key}"\n'
        self.configuration.write_text(text + self.more)

    def start(self) -> None:
        """Start and wait until tables can come."""
        # Without what else the command `boxman` brings with it, which takes a second to load.
        receive = "from provisioning.central.receive_command import receive"
        code = f"import pathlib, sys; {receive}; sys.exit(receive(pathlib.Path(sys.argv[1])))"
        self.program.run([sys.executable, "-c", code, str(self.configuration)])
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            self.program.check_runs()
            try:
                # It listens before it serves; one that is connected is served.
                with socket.create_connection(("127.0.0.1", self.port), 1.0):
                    return
            except OSError:
                assert time.monotonic() < deadline, self.program.output
                time.sleep(0.02)

    def system(self, table: str, key: TableKey, *, port: int, ca: Path) -> CentralSystem:
        """As a table of this name has it configured, with this key."""
        return HttpsSystem(f"https://127.0.0.1:{port}", SITE, table, key, ca)

    def history(self, table: str, key: TableKey) -> CentralHistory:
        """The table's log, as the unit with this key takes it over."""
        return https_history(f"https://127.0.0.1:{self.port}", SITE, table, key, self.certificates.ca)

    async def log(self, table: str) -> list[str]:
        """All events in the table's log, in order."""
        with closing(sqlite3.connect(f"file:{self.program.store}/events.db?mode=ro", uri=True)) as database:
            rows = database.execute(
                "SELECT line FROM event JOIN log ON log.id = event.log WHERE site = ? AND name = ? ORDER BY seq",
                (SITE, table),
            ).fetchall()
        return [line for (line,) in rows]


AnyCentral = NatsCentral | HttpsCentral


class Program:
    """A central system's process, and the folder in which `store` is all that it keeps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "store"
        self.store.mkdir(parents=True)
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, command: list[str]) -> None:
        """Start it."""
        assert self._process is None
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                die_with_parent(command), stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    def check_runs(self) -> None:
        """Fail with its last words when it has ended."""
        assert self._process is not None and self._process.poll() is None, self.output

    @property
    def output(self) -> str:
        """What it has said since the first start."""
        return (self.folder / "output").read_text()

    def stop(self) -> int:
        """Stop it in good order; its exit status."""
        assert self._process is not None
        self._process.terminate()
        return self._ended()

    def kill(self) -> None:
        """End it as losing its power would; nothing when it does not run."""
        if self._process is not None:
            self._process.kill()
            self._ended()

    def _ended(self) -> int:
        assert self._process is not None
        status = self._process.wait(START_TIMEOUT_S)
        self._process = None
        return status

    def keep_store(self) -> None:
        """Keep the store as it is, for `roll_back`; while it is stopped."""
        shutil.copytree(self.store, self.folder / "kept")

    def roll_back(self) -> None:
        """Put the store back as it was kept; while it is stopped."""
        shutil.rmtree(self.store)
        shutil.copytree(self.folder / "kept", self.store)


@contextlib.contextmanager
def running(central: AnyCentral) -> Iterator[None]:
    """Start it, and end it at last."""
    try:
        central.start()
        yield
    finally:
        central.program.kill()


class FaultyLink(FailingLink):
    """A proxy that can also freeze the connections that it has, and cut one in the middle of what is sent."""

    def __init__(self, server_port: int) -> None:
        super().__init__(server_port)
        self._frozen: set[asyncio.StreamWriter] = set()
        # So many more bytes go to the server; the connection is cut then.
        self.sends_bytes: int | None = None
        # What the server was sent so far.
        self.sent_bytes = 0

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def freeze(self) -> None:
        """Let nothing pass any more on the connections that there are, whose ends are told nothing."""
        self._frozen |= self._writers

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_answer: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(8192):
                if writer in self._frozen or (is_answer and self.swallows_answers):
                    continue
                if not is_answer and self.sends_bytes is not None:
                    self.sends_bytes -= len(data)
                    if self.sends_bytes <= 0:
                        self.sends_bytes = None
                        self.cut()
                        return
                writer.write(data)
                await writer.drain()
                self.sent_bytes += 0 if is_answer else len(data)
        if writer not in self._frozen:
            writer.close()


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an answer be waited for no longer than half a second, and an idle link be looked at as often."""
    for module in (device.https_connection, device.nats_log, device.nats_connection):
        monkeypatch.setattr(module, "REQUEST_TIMEOUT_S", 0.5)
    monkeypatch.setattr(device.https_log, "PROBE_S", 0.5)
    monkeypatch.setattr(device.nats_connection, "PING_INTERVAL_S", 0.25)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an answer be waited for as long as it takes a busy machine, so that no link breaks off for that."""
    monkeypatch.setattr(device.nats_connection, "CONNECT_TIMEOUT_S", round(WAIT_S))
    for module in (device.https_connection, device.nats_log, device.central_history, device.central_reader):
        monkeypatch.setattr(module, "REQUEST_TIMEOUT_S", WAIT_S)


@contextlib.asynccontextmanager
async def link_to(central: AnyCentral) -> AsyncIterator[FaultyLink]:
    """A proxy before a central system."""
    link = FaultyLink(central.port)
    async with link.listening():
        yield link


@contextlib.asynccontextmanager
async def delivering(
    central: AnyCentral,
    journal: AnyJournal,
    folder: Path,
    *,
    table: str = TABLE,
    key: TableKey = KEY,
    port: int | None = None,
    ca: Path | None = None,
    on_change: Callable[[UplinkStatus], None] | None = None,
    chance: random.Random | None = None,
) -> AsyncIterator[UnitUnderTest]:
    """Run the uplink of a table; `folder` keeps its delivery record, `port` may be a proxy's."""
    folder.mkdir(exist_ok=True)
    record = DeliveryRecord(folder / "delivery.db")

    def told(status: UplinkStatus) -> None:
        unit.statuses.append(status)
        if on_change is not None:
            on_change(status)

    uplink = Uplink(
        read_events=journal.read,
        last_seq=journal.last_seq,
        base=lambda: journal.base,
        record=record,
        system=central.system(table, key, port=port or central.port, ca=ca or central.certificates.ca),
        on_change=told,
        on_alert=lambda code, text: unit.alerts.append((code, text)),
        random=chance or QuickRandom(),
    )
    unit = UnitUnderTest(uplink)
    task = asyncio.create_task(uplink.run())
    try:
        yield unit
        assert not task.done(), "the uplink has ended"
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        record.close()
