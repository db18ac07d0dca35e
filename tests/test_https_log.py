"""The table's end of HTTPS: answers that make no sense, refusals in plain words, a log that changes behind its back."""

import asyncio
import json
import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

import device.https_log
from device.https_protocol import (
    ANSWER_BYTES_MAX,
    Answer,
    check_address,
    is_request_signed,
    read_written,
    signed_headers,
)
from device.table_key import TableKey
from device.uplink import UplinkStatus
from device.uplink_protocol import DeliveryError
from tests.conformance_rig import KEY, OTHER_KEY, SITE, TABLE, Certificates, HttpsCentral, delivering, link_to, running
from tests.nats_rig import FakeJournal, wait_until

ZEROS = "0" * 64
NO_SENSE = "the central server's answer makes no sense; it may not be one that takes tables' events"
LINE = FakeJournal(TABLE, events=1).lines[0]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def central(tmp_path: Path, certificates: Certificates) -> Iterator[HttpsCentral]:
    made = HttpsCentral(tmp_path / "central", certificates)
    with running(made):
        yield made


def answer(status: int, body: bytes | dict[str, Any], more: str = "") -> bytes:
    """An answer of a server that may be any."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{more}\r\n".encode() + content


@asynccontextmanager
async def a_server_that_says(said: bytes, certificates: Certificates, central: HttpsCentral) -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        writer.close()

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates.certificate, certificates.key)
    async with await asyncio.start_server(serve, "127.0.0.1", central.port, ssl=tls):
        yield


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        pytest.param(answer(200, b"<html>"), NO_SENSE, id="no JSON"),
        pytest.param(answer(200, b"[]"), NO_SENSE, id="no object"),
        pytest.param(answer(200, {"seq": 0, "hash": "1" * 64, "event": None}), NO_SENSE, id="empty with a hash"),
        pytest.param(answer(200, {"seq": 1, "hash": ZEROS, "event": LINE}), NO_SENSE, id="another hash"),
        pytest.param(
            answer(200, {"seq": 2, "hash": json.loads(LINE)["hash"], "event": LINE}), NO_SENSE, id="another seq"
        ),
        pytest.param(answer(200, {"seq": 1, "hash": ZEROS, "event": 1}), NO_SENSE, id="no event"),
        pytest.param(
            answer(200, b" " * (ANSWER_BYTES_MAX + 1)),
            "the central server's answer is longer than any that could be right",
            id="too long",
        ),
        pytest.param(
            answer(302, b"", "Location: https://127.0.0.1/\r\n"),
            "the central server answers with status 302",
            id="elsewhere",
        ),
        pytest.param(
            answer(404, b""), "the central server takes no tables' events at this address", id="another service"
        ),
        pytest.param(
            answer(403, {"text": "no"}),
            "the central server has this table's key under another table's name, or another site's",
            id="another table",
        ),
        pytest.param(
            answer(503, {"text": "the disk is full"}),
            "the central server is not available at the moment: the disk is full",
            id="not now",
        ),
        pytest.param(
            answer(503, {"text": "a\x1b[2Jb"}), "the central server is not available at the moment", id="no clean words"
        ),
        pytest.param(b"", "the link to the central server broke off", id="nothing"),
        pytest.param(b"no HTTP\r\n\r\n", "the link to the central server broke off", id="no HTTP"),
    ],
)
def test_an_answer_that_is_none_is_said_and_delivers_nothing(
    tmp_path: Path, certificates: Certificates, said: bytes, shown: str
) -> None:
    nowhere = HttpsCentral(tmp_path / "central", certificates)

    async def scenario() -> None:
        async with (
            a_server_that_says(said, certificates, nowhere),
            delivering(nowhere, FakeJournal(TABLE, events=1), tmp_path / "unit") as unit,
        ):
            await wait_until(lambda: unit.status == UplinkStatus("offline", 0, shown), shown)

    asyncio.run(scenario())


def test_a_tail_that_is_lost_while_nothing_happens_at_the_table_is_noticed_and_sent_again(
    central: HttpsCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device.https_log, "PROBE_S", 0.1)
    # What a login's surroundings say of proxies is not for a table.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=4)
        async with delivering(central, journal, tmp_path / "unit") as unit:
            await unit.delivered(4)
            with closing(sqlite3.connect(central.program.store / "events.db", isolation_level=None)) as database:
                database.execute("DELETE FROM event WHERE seq > 2")
            await wait_until(lambda: len(unit.alerts) == 1, "the alert")
            await unit.delivered(4)
            assert [code for code, _ in unit.alerts] == ["log_lost_tail"]
            assert "the central log has changed meanwhile, and now ends at event 2" in [
                status.last_error for status in unit.statuses
            ]
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_connection_that_is_cut_while_idle_is_taken_up_without_a_word(central: HttpsCentral, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with (
            link_to(central) as link,
            delivering(central, journal, tmp_path / "unit", port=link.port) as unit,
        ):
            await unit.delivered(1)
            link.cut()
            # Until the cut has come to the table: both ends of the proxy's connections are closed then.
            await asyncio.sleep(0)
            await wait_until(lambda: not link._writers, "the cut")
            journal.append()
            unit.uplink.notify()
            await unit.delivered(2)
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_ca_file_that_is_gone_is_said(central: HttpsCentral, tmp_path: Path) -> None:
    gone = tmp_path / "ca.pem"
    said = f"{gone}: cannot be read (No such file or directory); it should be the site's CA in PEM form"

    async def scenario() -> None:
        async with delivering(central, FakeJournal(TABLE, events=1), tmp_path / "unit", ca=gone) as unit:
            await wait_until(lambda: unit.status == UplinkStatus("offline", 0, said), said)

    asyncio.run(scenario())


def test_events_count_as_delivered_only_when_the_answer_names_the_last_of_them() -> None:
    said = {"seq": 3, "hash": "3" * 64}
    assert read_written(Answer(200, json.dumps(said).encode()), 3, "3" * 64)
    assert not read_written(Answer(409, json.dumps(said).encode()), 3, "3" * 64)
    for last, hash in ((4, "3" * 64), (3, "4" * 64)):
        with pytest.raises(DeliveryError, match="makes no sense"):
            read_written(Answer(200, json.dumps(said).encode()), last, hash)


def test_a_request_is_signed_whole() -> None:
    path = f"/v1/tables/{SITE}/{TABLE}/events"
    signature = signed_headers(KEY, "POST", path, ZEROS, b"body")["Boxman-Signature"]
    assert is_request_signed(KEY.public, signature, "POST", path, ZEROS, b"body")
    assert not is_request_signed(OTHER_KEY.public, signature, "POST", path, ZEROS, b"body")
    assert not is_request_signed(KEY.public, signature, "PUT", path, ZEROS, b"body")
    assert not is_request_signed(KEY.public, signature, "POST", path + "x", ZEROS, b"body")
    assert not is_request_signed(KEY.public, signature, "POST", path, "1" * 64, b"body")
    assert not is_request_signed(KEY.public, signature, "POST", path, ZEROS, b"bodx")


def test_what_is_signed_is_as_the_description_says() -> None:
    # Written out by hand: SHA-256 of nothing, keys sorted, no blanks.
    message = (
        b"\xffboxman request 1\n"
        b'{"body":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","expected":"",'
        b'"method":"GET","path":"/v1/tables/test/craps-1/last"}'
    )
    key = TableKey(b"\x07" * 32)
    assert signed_headers(key, "GET", "/v1/tables/test/craps-1/last", "", b"") == {
        "Boxman-Key": key.public,
        "Boxman-Signature": key.sign(message),
    }


@pytest.mark.parametrize(
    "address",
    [
        "http://central.example:8443",
        "central.example:8443",
        "https://",
        "https://table:secret@central.example",
        "https://central.example/path",
        "https://central.example?query",
        "https://central.example:99999",
        "https://central.example:0",
        "https://centrál.example",
        "https://[::1",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_quoted(address: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is compared whole
        check_address(address)
    assert str(refused.value) == "is not an address like https://central.example:8443"


def test_an_address_may_end_in_a_slash() -> None:
    assert check_address("https://central.example:8443/") == "https://central.example:8443"
