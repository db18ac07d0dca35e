"""The receiver's surroundings: its server, its store, its configuration and its command."""

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Message, Scope

from device.event import Event, Stamp, seal
from device.https_protocol import signed_headers
from provisioning.central import receiver as receiver_module
from provisioning.central import receiver_server
from provisioning.central.central_list import KnownTable
from provisioning.central.event_store import EventStore, NotContinued
from provisioning.central.receiver import Receiver
from provisioning.central.receiver_configuration import read_receiver_configuration
from provisioning.central.receiver_refusals import Refusals
from provisioning.central.sqlite_store import StoreError
from provisioning.central.toml_file import BadFile
from tests.conformance_rig import KEY, OTHER_KEY, SITE, TABLE, Certificates, HttpsCentral
from tests.terminal_rig import WAIT_S

LAST = f"/v1/tables/{SITE}/{TABLE}/last"
EVENTS = f"/v1/tables/{SITE}/{TABLE}/events"
ZEROS = "0" * 64


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def central(tmp_path: Path, certificates: Certificates) -> HttpsCentral:
    """Configured, and not started."""
    return HttpsCentral(tmp_path / "central", certificates)


def test_connections_are_bounded_and_an_idle_one_is_closed(
    central: HttpsCentral, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver_server, "CONNECTIONS_MAX", 2)
    configuration = read_receiver_configuration(central.configuration)
    trust = ssl.create_default_context(cafile=certificates.ca)
    refusals = Refusals()

    async def connected() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", central.port, ssl=trust)

    async def scenario() -> None:
        store = EventStore(configuration.store)
        receiver = Receiver(store, configuration.tables, refusals)
        with socket.create_server(("127.0.0.1", central.port)) as listener:
            serving = asyncio.create_task(receiver_server.serve(receiver, refusals, listener, configuration.tls))
            # Neither one that says nothing nor one that never comes to an end stays.
            monkeypatch.setattr(receiver_server, "IDLE_S", 0.5)
            links = [await connected() for _ in range(2)]
            links[1][1].write(b"GET /openapi")
            for link, _ in links:
                assert await closed(link)
            assert refusals.counts == {}
            # These stay, however long the third one takes.
            monkeypatch.setattr(receiver_server, "IDLE_S", 600)
            links += [await connected() for _ in range(3)]
            assert await closed(links[-1][0])
            assert refusals.counts == {"too_many_connections": 1}
            for _, end in links:
                end.transport.abort()
            signal.raise_signal(signal.SIGTERM)
            await asyncio.wait_for(serving, 60)
        receiver.close()
        store.close()

    asyncio.run(scenario())


async def closed(reader: asyncio.StreamReader) -> bool:
    """Whether the other end closes the connection, in good order or not, within a while."""
    try:
        return await asyncio.wait_for(reader.read(), 60) == b""
    except ConnectionError:
        return True


def answer_of(
    tables: list[KnownTable],
    store: EventStore,
    path: str,
    *,
    client: str,
    body_comes: bool = True,
    headers: Any = (),
    query: bytes = b"",
) -> tuple[int, dict[str, Any]]:
    """The answer of a receiver in this process, to somebody at the address `client`."""
    sent: list[Message] = []

    async def receive() -> Message:
        if not body_comes:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "GET" if body_comes else "POST",
        "path": path,
        "query_string": query,
        "headers": headers,
        "client": (client, 1),
    }
    receiver = Receiver(store, tables, Refusals())
    asyncio.run(receiver(scope, receive, send))
    receiver.close()
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_refusals_are_told_on_the_machine_itself_only(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    assert answer_of([], store, "/v1/refusals", client="127.0.0.1") == (200, {"refusals": {}})
    assert answer_of([], store, "/v1/refusals", client="::1")[0] == 200
    status, said = answer_of([], store, "/v1/refusals", client="192.0.2.1")
    assert (status, said["reason"]) == (403, "not_loopback")
    store.close()


def test_a_body_that_does_not_come_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver_module, "BODY_TIMEOUT_S", 0.05)
    store = EventStore(tmp_path / "events.db")
    headers = signed_headers(KEY, "POST", EVENTS, ZEROS, b"") | {"content-type": "application/x-ndjson"}
    given = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    tables = [KnownTable(SITE, TABLE, KEY.public)]
    status, said = answer_of(tables, store, EVENTS, client="127.0.0.1", body_comes=False, headers=given)
    assert (status, said["reason"]) == (408, "too_slow")
    store.close()


def test_a_store_that_fails_is_said_and_nothing_is_taken(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    store.close()
    given = [(n.lower().encode(), v.encode()) for n, v in signed_headers(KEY, "GET", LAST, "", b"").items()]
    tables = [KnownTable(SITE, TABLE, KEY.public)]
    status, said = answer_of(tables, store, LAST, client="127.0.0.1", headers=given)
    assert (status, said["reason"]) == (503, "store_failed")


def test_more_requests_than_can_be_done_in_time_are_told_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiver_module, "WAITING_MAX", 0)
    store = EventStore(tmp_path / "events.db")
    given = [(n.lower().encode(), v.encode()) for n, v in signed_headers(KEY, "GET", LAST, "", b"").items()]
    tables = [KnownTable(SITE, TABLE, KEY.public)]
    status, said = answer_of(tables, store, LAST, client="127.0.0.1", headers=given)
    assert (status, said["reason"]) == (503, "too_busy")
    store.close()


def test_no_more_of_the_store_is_in_memory_than_a_message_takes(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    events: list[Event] = []
    stamp = Stamp("b", 0, "2026-11-29T22:10:56.123Z", "free")
    for seq in range(1, 6):
        prev = events[-1].hash if events else ZEROS
        events.append(seal(TABLE, seq, stamp, "noted", {"text": "x" * 200_000}, prev))
    store.append(SITE, TABLE, ZEROS, events)
    # The second one no longer fits into 256 KiB beside the first.
    assert store.lines(SITE, TABLE, 2, 256) == [event.line() for event in events[1:3]]
    assert len(store.lines(SITE, TABLE, 2, 1)) == 1
    store.close()


def test_a_store_with_a_hole_is_said_and_no_page_made_up(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    stamp = Stamp("b", 0, "2026-11-29T22:10:56.123Z", "free")
    first = seal(TABLE, 1, stamp, "noted", {}, ZEROS)
    store.append(SITE, TABLE, ZEROS, [first, seal(TABLE, 2, stamp, "noted", {}, first.hash)])
    store._database.execute("DELETE FROM event WHERE seq = 1")
    headers = signed_headers(KEY, "GET", f"{EVENTS}?from=1", "", b"")
    given = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    tables = [KnownTable(SITE, TABLE, KEY.public)]
    status, said = answer_of(tables, store, EVENTS, client="127.0.0.1", headers=given, query=b"from=1")
    assert (status, said["reason"], said["text"]) == (
        503,
        "store_failed",
        "the store has a hole at event 1 or behind it",
    )
    store.close()


def test_it_may_have_as_many_connections_as_it_takes() -> None:
    code = (
        "import resource as r; from provisioning.central.receive_command import allow_open_files; "
        "r.setrlimit(r.RLIMIT_NOFILE, (256, 2500)); allow_open_files(2064); print(*r.getrlimit(r.RLIMIT_NOFILE)); "
        "allow_open_files(100); print(r.getrlimit(r.RLIMIT_NOFILE)[0]); "
        "allow_open_files(3000); print(r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == ["2064", "2500", "2064", "2500"]
    assert "only 2500 files and connections may be open at once, not 3000" in ended.stderr


def test_the_store_flushes_every_write_and_refuses_other_files(tmp_path: Path) -> None:
    store = EventStore(tmp_path / "events.db")
    assert store._database.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    (event,) = [seal(TABLE, 1, Stamp("b", 0, "2026-11-29T22:10:56.123Z", "free"), "rolled", {}, ZEROS)]
    store.append(SITE, TABLE, ZEROS, [event])
    with pytest.raises(NotContinued, match=f"the log ends at event 1 with hash {event.hash}"):
        store.append(SITE, TABLE, ZEROS, [event])
    store.close()
    again = EventStore(tmp_path / "events.db")
    assert (again.end(SITE, TABLE).seq, again.end("other", TABLE).seq) == (1, 0)
    again.close()
    (tmp_path / "text").write_text("This is a text, and a long one, as it has to be to be taken for a database." * 9)
    for path in ("text", ".", "missing/events.db"):
        with pytest.raises(StoreError, match="it should be the receiver's store"):
            EventStore(tmp_path / path)


def configured(central: HttpsCentral, folder: Path, *changes: tuple[str, str]) -> str:
    """What is said of the configuration once parts of it are replaced."""
    text = central.configuration.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    (folder / "central.toml").write_text(text)
    with pytest.raises(BadFile) as refused:
        read_receiver_configuration(folder / "central.toml")
    return str(refused.value).removeprefix(f"{folder}/central.toml: ")


def test_a_configuration_that_is_wrong_is_refused_in_one_line(central: HttpsCentral, tmp_path: Path) -> None:
    key = str(central.certificates.key)
    assert configured(central, tmp_path, ("port =", "prot =")) == ("receiver.prot is no key, did you mean port?")
    assert configured(central, tmp_path, (str(central.port), "0")) == (
        "receiver.port should be a whole number from 1 to 65535"
    )
    assert configured(central, tmp_path, (key, key + "x")) == (
        f"receiver.key: {key}x cannot be read (No such file or directory)"
    )
    assert configured(central, tmp_path, (key, str(central.certificates.expired_key))).endswith(
        "are no certificate (PEM) and its key without a passphrase"
    )
    assert "line 6, [[tables]] 1: key should be a public key" in configured(
        central, tmp_path, (KEY.public, KEY.public[:-1])
    )
    assert "already" in configured(central, tmp_path, (OTHER_KEY.public, KEY.public))
    assert configured(central, tmp_path, ("[receiver]", "[reciever]")) == ("reciever is no key, did you mean receiver?")
    assert configured(central, tmp_path, ("[receiver]", "[receiver")).startswith("is no TOML")


def test_the_command_says_where_it_is_ends_on_a_signal_and_refuses_a_port_that_is_taken(central: HttpsCentral) -> None:
    boxman = [
        str(Path(sys.executable).with_name("boxman")), "central", "receive", "--config", str(central.configuration)
    ]  # fmt: skip
    with subprocess.Popen(boxman, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"receiver at https://127.0.0.1:{central.port}, tables: 2\n"
            trust = ssl.create_default_context(cafile=central.certificates.ca)
            address = f"https://127.0.0.1:{central.port}/v1/refusals"
            answer = httpx.get(address, verify=trust, trust_env=False, timeout=WAIT_S)
            assert answer.json() == {"refusals": {}}
            second = subprocess.run(boxman, capture_output=True, text=True, timeout=60)
            assert (second.returncode, second.stderr) == (
                1,
                f"boxman: the receiver cannot listen on 127.0.0.1 port {central.port} (Address already in use); "
                "choose another in its configuration\n",
            )
            process.terminate()
            assert process.wait(WAIT_S) == 0
        finally:
            process.kill()
