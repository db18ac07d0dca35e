"""The receiver over its own protocol: what it takes, what it refuses and counts, and that its description is true."""

import json
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from device.event import Stamp, canonical, seal
from device.https_protocol import signed_headers
from device.presence import Presence
from device.table_key import TableKey
from provisioning.central import receiver as receiver_module
from provisioning.central.receiver_refusals import STATUS
from tests.conformance_rig import (
    KEY,
    OTHER_KEY,
    OTHER_TABLE,
    SITE,
    TABLE,
    UNKNOWN_KEY,
    Certificates,
    HttpsCentral,
    running,
)
from tests.nats_rig import FakeJournal
from tests.terminal_rig import WAIT_S, wait_for

LAST = f"/v1/tables/{SITE}/{TABLE}/last"
EVENTS = f"/v1/tables/{SITE}/{TABLE}/events"
PRESENCE = f"/v1/tables/{SITE}/{TABLE}/presence"
ZEROS = "0" * 64


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[HttpsCentral]:
    """One receiver for all tests; each starts with the log as it is."""
    central = HttpsCentral(tmp_path_factory.mktemp("receiver") / "central", certificates)
    with running(central):
        yield central


class Caller:
    """Somebody who may say whatever he likes to a receiver. Every answer is held to the description."""

    def __init__(self, central: HttpsCentral, description: dict[str, Any]) -> None:
        trust = ssl.create_default_context(cafile=central.certificates.ca)
        address = f"https://127.0.0.1:{central.port}"
        self._client = httpx.Client(base_url=address, verify=trust, trust_env=False, timeout=60)
        self._description = description
        self.seen: set[tuple[str, str, int]] = set()

    def close(self) -> None:
        self._client.close()

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        answer = self._client.request(method, path, content=body, headers=headers or {})
        said = answer.json()
        assert answer.headers["content-type"] == "application/json"
        self._hold_to_description(method, path, answer.status_code, said, "application/json")
        return answer.status_code, said

    def page(self, query: str, key: TableKey = KEY, signed: str | None = None) -> tuple[int, str]:
        """A page of events, with what else was signed than is asked; the status, and the text or the reason why not."""
        headers = signed_headers(key, "GET", signed or f"{EVENTS}?{query}", "", b"")
        answer = self._client.get(f"{EVENTS}?{query}", headers=headers)
        if answer.status_code != 200:
            self._hold_to_description("GET", EVENTS, answer.status_code, answer.json(), "application/json")
            return answer.status_code, str(answer.json()["reason"])
        assert answer.headers["content-type"] == "application/x-ndjson"
        self._hold_to_description("GET", EVENTS, 200, answer.text, "application/x-ndjson")
        return 200, answer.text

    def tell(self, body: bytes) -> tuple[int, dict[str, Any]]:
        """A sign of life."""
        return self.ask("POST", PRESENCE, body, signed_headers(KEY, "POST", PRESENCE, "", body))

    def last(self, path: str = LAST, key: TableKey = KEY) -> dict[str, Any]:
        status, said = self.ask("GET", path, headers=signed_headers(key, "GET", path, "", b""))
        assert status == 200
        return said

    def send(
        self,
        body: bytes,
        expected: str,
        *,
        path: str = EVENTS,
        key: TableKey = KEY,
        changed: dict[str, str] | None = None,
    ) -> tuple[int, dict[str, Any]]:
        """Send events as a table does, with some headers `changed` after they were signed."""
        headers = {"Content-Type": "application/x-ndjson", "Boxman-Expected-Last-Hash": expected}
        headers |= signed_headers(key, "POST", path, expected, body)
        return self.ask("POST", path, body, headers | (changed or {}))

    def refusals(self) -> dict[str, int]:
        status, said = self.ask("GET", "/v1/refusals")
        assert status == 200
        return dict(said["refusals"])

    def _hold_to_description(self, method: str, path: str, status: int, said: Any, kind: str) -> None:
        template = re.sub(r"^/v1/tables/[^/]+/[^/]+/", "/v1/tables/{site}/{table}/", path)
        operations = self._description["paths"].get(template)
        if operations is None or status == 405:
            return
        responses = operations[method.lower()]["responses"]
        assert str(status) in responses, f"{method} {template} answers {status}, which is not described"
        schema = responses[str(status)]["content"][kind]["schema"]
        Draft202012Validator({**schema, "components": self._description["components"]}).validate(said)
        if status not in (200, 409):
            assert said["reason"] in responses[str(status)]["description"].replace(".", ",").replace(",", " ").split()
        self.seen.add((method, template, status))


DESCRIPTION: dict[str, Any] = json.loads(
    Path(receiver_module.__file__).with_name("openapi.json").read_text(encoding="utf-8")
)


@pytest.fixture
def caller(server: HttpsCentral) -> Iterator[Caller]:
    made = Caller(server, DESCRIPTION)
    yield made
    made.close()


class Writer:
    """A journal that goes on where the log of the running receiver ends."""

    def __init__(self, caller: Caller) -> None:
        end = caller.last()
        self.seq: int = end["seq"]
        self.hash: str = end["hash"]

    def lines(self, count: int, *, table: str = TABLE, data: dict[str, Any] | None = None) -> list[str]:
        seq, hash = self.seq, self.hash
        lines = []
        for _ in range(count):
            stamp = Stamp("boot", seq, "2026-11-29T22:10:56.123Z", "synced")
            event = seal(table, seq + 1, stamp, "rolled", data or {"dice": [2, 4]}, hash)
            seq, hash = event.seq, event.hash
            lines.append(event.line())
        return lines


def hash_in(line: str) -> str:
    return str(json.loads(line)["hash"])


def test_events_are_written_once_however_often_a_request_comes(caller: Caller) -> None:
    writer = Writer(caller)
    lines = writer.lines(3)
    body = "\n".join(lines).encode()
    written = (200, {"seq": writer.seq + 3, "hash": hash_in(lines[2])})
    assert caller.send(body, writer.hash) == written
    before = caller.refusals().get("wrong_expected_hash", 0)
    status, said = caller.send(body, writer.hash)
    assert (status, said["seq"], said["hash"]) == (409, writer.seq + 3, hash_in(lines[2]))
    assert said["reason"] == "wrong_expected_hash"
    assert caller.refusals()["wrong_expected_hash"] == before + 1
    assert caller.last() == {"seq": writer.seq + 3, "hash": hash_in(lines[2]), "event": lines[2]}


def test_another_history_of_the_same_length_is_told_where_the_log_ends(caller: Caller) -> None:
    writer = Writer(caller)
    assert caller.send(writer.lines(1)[0].encode(), writer.hash)[0] == 200
    fork = Writer(caller)
    seq, hash, fork.hash = fork.seq, fork.hash, "f" * 64
    status, said = caller.send(fork.lines(1)[0].encode(), fork.hash)
    assert (status, said["reason"], said["seq"], said["hash"]) == (409, "wrong_expected_hash", seq, hash)
    assert (Writer(caller).seq, Writer(caller).hash) == (seq, hash)


def test_an_empty_log_ends_with_zeros(caller: Caller) -> None:
    path = f"/v1/tables/{SITE}/{OTHER_TABLE}/last"
    assert caller.last(path, OTHER_KEY) == {"seq": 0, "hash": ZEROS, "event": None}


def test_the_last_line_may_have_a_line_end(caller: Caller) -> None:
    writer = Writer(caller)
    (line,) = writer.lines(1)
    assert caller.send(line.encode() + b"\n", writer.hash) == (200, {"seq": writer.seq + 1, "hash": hash_in(line)})


def test_a_table_reads_its_own_log_page_by_page(caller: Caller) -> None:
    writer = Writer(caller)
    first = writer.seq + 1
    small = writer.lines(200)
    assert caller.send("\n".join(small).encode(), writer.hash)[0] == 200
    writer = Writer(caller)
    # Two of them are more than a page of several may have.
    large = writer.lines(3, data={"text": "x" * 150_000})
    for line in large:
        assert caller.send(line.encode(), Writer(caller).hash)[0] == 200
    writer = Writer(caller)
    rest = writer.lines(256)
    assert caller.send("\n".join(rest).encode(), writer.hash)[0] == 200
    lines = small + large + rest
    found: list[list[str]] = []
    while (page := caller.page(f"from={first + sum(map(len, found))}")) != (200, ""):
        found.append(page[1].split("\n"))
    assert [line for lines_of_page in found for line in lines_of_page] == lines
    # Two large ones have more than 256 KiB, and a page has 256 events at most.
    assert [len(lines_of_page) for lines_of_page in found] == [201, 1, 256, 1]


@pytest.mark.parametrize("query", ["from=0", "from=-1", "from=x", "from=1&from=2", "until=3", f"from={2**63}"])
def test_a_page_that_is_not_asked_for_rightly_is_refused(caller: Caller, query: str) -> None:
    assert caller.page(query) == (400, "bad_from")


def test_a_page_is_the_tables_own_and_asked_for_by_its_signature(caller: Caller) -> None:
    assert caller.page("from=1", OTHER_KEY) == (403, "foreign_table")
    assert caller.page("from=1", UNKNOWN_KEY) == (401, "unknown_key")
    assert caller.page("from=2", signed=f"{EVENTS}?from=1") == (401, "bad_signature")
    assert caller.page("from=1", signed=EVENTS) == (401, "bad_signature")


def test_a_sign_of_life_is_taken_and_what_is_none_is_refused_and_counted(caller: Caller) -> None:
    presence = Presence("0a1b2c3d", 7, 5, "online").payload()
    assert caller.tell(presence) == (200, {})
    before = caller.refusals().get("bad_presence", 0)
    for wrong in (b"", b"{}", presence.replace(b"online", b"away"), presence + b" " * 600):
        status, said = caller.tell(wrong)
        assert (status, said["reason"]) == (400, "bad_presence")
    assert caller.refusals()["bad_presence"] == before + 4
    headers = signed_headers(OTHER_KEY, "POST", PRESENCE, "", presence)
    assert caller.ask("POST", PRESENCE, presence, headers)[1]["reason"] == "foreign_table"


def with_version(line: str, version: int) -> str:
    return canonical(json.loads(line) | {"v": version})


BAD_EVENTS: dict[str, tuple[str, Callable[[Writer], bytes]]] = {
    "no JSON": ("malformed", lambda _: b"{"),
    "no UTF-8": ("malformed", lambda _: b"\xff"),
    "not canonical": ("malformed", lambda w: w.lines(1)[0].replace('"seq"', ' "seq"').encode()),
    "a wrong hash": ("malformed", lambda w: w.lines(1)[0].replace("[2,4]", "[2,5]").encode()),
    "an empty line": ("malformed", lambda w: "\n\n".join(w.lines(2)).encode()),
    "brackets without end": ("malformed", lambda _: b"[" * 100_000),
    "another version": ("wrong_version", lambda w: with_version(w.lines(1)[0], 2).encode()),
    "another table's event": ("wrong_table", lambda w: w.lines(1, table=OTHER_TABLE)[0].encode()),
    "a gap": ("broken_chain", lambda w: "\n".join(w.lines(3)[::2]).encode()),
    "a second event that does not follow": ("broken_chain", lambda w: "\n".join(w.lines(1) * 2).encode()),
    "nothing": ("no_events", lambda _: b""),
    "too many": ("too_large", lambda w: "\n".join(w.lines(257)).encode()),
    "several that are too long": (
        "too_large",
        lambda w: "\n".join(w.lines(3, data={"text": "x" * 90_000})).encode(),
    ),
    "one that is too long": ("too_large", lambda w: w.lines(1)[0].encode() + b"x" * 524_288),
}


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_events_that_could_not_follow_are_refused_named_and_counted_and_change_nothing(
    caller: Caller, server: HttpsCentral, name: str
) -> None:
    reason, body = BAD_EVENTS[name]
    writer = Writer(caller)
    before = caller.refusals().get(reason, 0)
    status, said = caller.send(body(writer), writer.hash)
    assert (status, said["reason"]) == (413 if reason == "too_large" else 400, reason)
    assert caller.refusals()[reason] == before + 1
    assert (Writer(caller).seq, Writer(caller).hash) == (writer.seq, writer.hash)
    assert f"refused, {reason}: '{EVENTS}' from 127.0.0.1: {said['text']}" in server.program.output


def test_the_line_that_is_wrong_is_named(caller: Caller) -> None:
    writer = Writer(caller)
    first, _, third = writer.lines(3)
    _, said = caller.send(f"{first}\n{third}".encode(), writer.hash)
    assert said["text"] == f"line 2: seq is {writer.seq + 3}, where {writer.seq + 2} is due"


def test_the_largest_bodies_are_taken(caller: Caller) -> None:
    writer = Writer(caller)
    bare = len(writer.lines(1, data={"text": ""})[0].encode())
    (line,) = writer.lines(1, data={"text": "x" * (512 * 1024 - bare)})
    assert len(line) == 512 * 1024
    assert caller.send(line.encode(), writer.hash)[0] == 200
    assert caller.last()["event"] == line
    writer = Writer(caller)
    lines = writer.lines(256)
    assert caller.send("\n".join(lines).encode(), writer.hash)[0] == 200


def test_a_seq_that_does_not_follow_is_refused_though_the_hash_does(caller: Caller) -> None:
    writer = Writer(caller)
    due = writer.seq + 1
    writer.seq += 5
    status, said = caller.send(writer.lines(1)[0].encode(), writer.hash)
    assert (status, said["reason"]) == (400, "broken_chain")
    assert said["text"] == f"line 1: seq is {due + 5}, where {due} is due"


@pytest.mark.parametrize(
    ("changed", "status", "reason"),
    [
        pytest.param({"Content-Type": "application/json"}, 415, "wrong_content_type", id="another type"),
        pytest.param({"Content-Encoding": "gzip"}, 415, "wrong_content_type", id="compressed"),
        pytest.param({"Boxman-Signature": "0" * 128}, 401, "bad_signature", id="another signature"),
        pytest.param({"Boxman-Signature": "zero"}, 401, "bad_signature", id="no signature"),
        pytest.param({"Boxman-Expected-Last-Hash": "1" * 64}, 401, "bad_signature", id="another expected hash"),
        pytest.param({"Boxman-Key": UNKNOWN_KEY.public}, 401, "unknown_key", id="unknown key"),
        pytest.param({"Boxman-Key": OTHER_KEY.public}, 403, "foreign_table", id="another table's key"),
    ],
)
def test_a_request_that_is_not_the_tables_own_is_refused_and_counted(
    caller: Caller, changed: dict[str, str], status: int, reason: str
) -> None:
    writer = Writer(caller)
    before = caller.refusals().get(reason, 0)
    answered, said = caller.send(writer.lines(1)[0].encode(), writer.hash, changed=changed)
    assert (answered, said["reason"]) == (status, reason)
    assert caller.refusals()[reason] == before + 1
    assert Writer(caller).seq == writer.seq


def test_another_tables_log_can_neither_be_read_nor_written(caller: Caller) -> None:
    foreign = f"/v1/tables/{SITE}/{OTHER_TABLE}"
    status, said = caller.ask("GET", f"{foreign}/last", headers=signed_headers(KEY, "GET", f"{foreign}/last", "", b""))
    assert (status, said["reason"]) == (403, "foreign_table")
    body = FakeJournal(OTHER_TABLE, events=1).lines[0].encode()
    status, said = caller.send(body, ZEROS, path=f"{foreign}/events")
    assert (status, said["reason"]) == (403, "foreign_table")
    assert caller.last(f"{foreign}/last", OTHER_KEY)["seq"] == 0


def test_a_signature_is_good_for_its_own_path_method_and_body_only(caller: Caller) -> None:
    writer = Writer(caller)
    one, two = writer.lines(2)
    signed = signed_headers(KEY, "POST", EVENTS, writer.hash, one.encode())
    status, said = caller.send(f"{one}\n{two}".encode(), writer.hash, changed=signed)
    assert (status, said["reason"]) == (401, "bad_signature")
    status, said = caller.ask("GET", LAST, headers=signed_headers(KEY, "GET", EVENTS, "", b""))
    assert (status, said["reason"]) == (401, "bad_signature")


def test_a_table_that_is_in_no_list_is_told_apart_from_nothing_at_all(caller: Caller) -> None:
    path = "/v1/tables/test/nowhere/last"
    status, said = caller.ask("GET", path, headers=signed_headers(KEY, "GET", path, "", b""))
    assert (status, said["reason"]) == (403, "foreign_table")
    assert caller.ask("GET", path)[1]["reason"] == "no_identity"
    assert caller.ask("GET", "/v2")[1]["reason"] == "no_such_path"
    status, said = caller.ask("PUT", EVENTS)
    assert (said["reason"], said["text"]) == ("wrong_method", "PUT is not taken here, but GET or POST")
    assert caller.ask("POST", LAST)[1]["reason"] == "wrong_method"


def test_an_expected_hash_must_be_one(caller: Caller) -> None:
    writer = Writer(caller)
    status, said = caller.send(writer.lines(1)[0].encode(), "none")
    assert (status, said["reason"]) == (400, "bad_expected_hash")


def test_what_is_not_http_and_what_breaks_off_is_counted(caller: Caller, server: HttpsCentral) -> None:
    before = caller.refusals()
    trust = ssl.create_default_context(cafile=server.certificates.ca)

    def say(text: bytes) -> None:
        with (
            socket.create_connection(("127.0.0.1", server.port), WAIT_S) as plain,
            trust.wrap_socket(plain, server_hostname="127.0.0.1") as link,
        ):
            link.sendall(text)

    say(b"\x00\x01\r\n\r\n")
    headers = {"Content-Type": "application/x-ndjson"} | signed_headers(KEY, "POST", EVENTS, ZEROS, b"")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    say(f"POST {EVENTS} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n{head}\r\n{{".encode())
    for reason in ("not_http", "broke_off"):
        wait_for(lambda reason=reason: caller.refusals().get(reason, 0) != before.get(reason, 0), reason)  # type: ignore[misc]


def test_the_description_is_sound_and_says_the_limits(caller: Caller) -> None:
    status, said = caller.ask("GET", "/openapi.json")
    assert (status, said) == (200, DESCRIPTION)
    validate(said)
    body = said["paths"]["/v1/tables/{site}/{table}/events"]["post"]["requestBody"]
    # 256 KiB, 512 KiB, and one more for a line end.
    assert "256 events and 262,144 bytes; a single event may have 524,288" in body["description"]
    assert body["content"]["application/x-ndjson"]["schema"]["maxLength"] == 524_289


def test_every_reason_is_described_under_its_status() -> None:
    described: dict[str, set[str]] = {}
    for operations in DESCRIPTION["paths"].values():
        for operation in operations.values():
            if isinstance(operation, dict):
                for status, response in operation["responses"].items():
                    reasons = response["description"].partition("Reasons: ")[2].removesuffix(".")
                    described.setdefault(status, set()).update(filter(None, reasons.split(", ")))
    known: dict[str, set[str]] = {"200": set()}
    for reason, status in STATUS.items():
        known.setdefault(str(status), set()).add(reason)
    # There is no operation at a path that leads nowhere.
    del known["404"]
    assert described == known
