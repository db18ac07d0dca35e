"""A card for a new unit: what is on it, how a unit enrols with it at a real receiver, and who is refused."""

import itertools
import os
import re
import sqlite3
import ssl
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from device.https_protocol import signed_headers
from device.nats_connection import check_ca
from device.table_key import TableKey, open_table_key
from provisioning.card import card_files, enrol_command
from provisioning.central import enrolment_commands
from provisioning.central.central_list import KnownTable, read_list
from provisioning.central.enrolment_store import EnrolmentStore
from provisioning.central.receiver_configuration import read_receiver_configuration
from provisioning.central.sqlite_store import StoreError
from provisioning.central.wrong_codes import ADDRESSES_MAX, WrongCodes
from provisioning.command_line import main
from provisioning.enrolment import BadMessage, Enrolled, hash_of, new_code, read_answer, request_body
from tests.conformance_rig import OTHER_KEY, SITE, TABLE, Certificates, HttpsCentral, running
from tests.free_ports import free_port
from tests.test_receiver import DESCRIPTION, Caller

NEW = "craps-9"
PATH = f"/v1/tables/{SITE}/{NEW}/enrolment"
LONG_S = 10**6


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[HttpsCentral]:
    """One receiver for all tests, at which units may enrol."""
    central = HttpsCentral(tmp_path_factory.mktemp("receiver") / "central", certificates)
    text = central.configuration.read_text()
    central.configuration.write_text(text.replace("[receiver]\n", '[receiver]\nenrolments = "enrolments.db"\n'))
    with running(central):
        yield central


@pytest.fixture
def caller(server: HttpsCentral) -> Iterator[Caller]:
    made = Caller(server, DESCRIPTION)
    yield made
    made.close()


def table_file(folder: Path, certificates: Certificates, more: str = "", table: str = NEW) -> Path:
    """The configuration of a new table, with its CA beside it."""
    folder.mkdir()
    (folder / "site-ca.pem").write_text(certificates.ca.read_text())
    path = folder / "table.toml"
    path.write_text(
        f'[table]\nsite = "{SITE}"\nname = "{table}"\n[uplink]\nservers = ["tls://hub.example:4222"]\n'
        f'ca = "site-ca.pem"\n{more}'
    )
    return path


def card_words(server: HttpsCentral, config: Path, output: Path, *more: str) -> list[str]:
    package = config.with_name("boxman_0.1.0_arm64.deb")
    package.write_bytes(b"!<arch>\ndebian-binary   a package")
    words = ["--config", config, "--receiver", server.configuration, "--enrol", f"https://127.0.0.1:{server.port}"]
    words += ["--ca", server.certificates.ca, "--package", package, "--output", output]
    return ["provision", "card", *map(str, words), *more]


def enrol_words(card: Path, unit: Path) -> list[str]:
    config, data = unit / "etc" / "table.toml", unit / "data"
    return ["provision", "enrol", "--from", str(card), "--config", str(config), "--data", str(data)]


def given_out(server: HttpsCentral, table: str = NEW, lasts_s: int = LONG_S, text: str | None = None) -> str:
    """A code that enrols a unit as a table of the house."""
    code = new_code()
    store = EnrolmentStore(server.configuration.with_name("enrolments.db"))
    enrolled = Enrolled(text or f'[table]\nsite = "{SITE}"\nname = "{table}"\nrules = "house.json"\n', {})
    store.add(hash_of(code), SITE, table, int(time.time()) + lasts_s, enrolled)
    store.close()
    return code


def card_file(
    server: HttpsCentral, folder: Path, code: str, *, port: int | None = None, ca: Path | None = None
) -> Path:
    """A card's enrolment file with its CA."""
    folder.mkdir(parents=True)
    (folder / card_files.CA_FILE).write_text((ca or server.certificates.ca).read_text())
    path = folder / card_files.ENROLMENT_FILE
    path.write_text(card_files.enrolment_file(f"https://127.0.0.1:{port or server.port}", SITE, NEW, code))
    return path


def test_a_card_makes_a_table_of_one_unit_and_holds_nothing_afterwards(
    server: HttpsCentral, certificates: Certificates, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = table_file(tmp_path / "centre", certificates)
    assert main(card_words(server, config, tmp_path / "card")) == 0
    card = tmp_path / "card" / "boxman"
    files = {str(path.relative_to(tmp_path / "card")) for path in (tmp_path / "card").rglob("*") if path.is_file()}
    assert files == {"user-data", "meta-data", *(f"boxman/{name}" for name in (
        "boxman.deb", "ca.pem", "enrolment.toml", "first-boot.sh", "boxman-first-boot.service"
    ))}  # fmt: skip
    (code,) = re.findall('code = "([A-Z2-7]{32})"', (card / "enrolment.toml").read_text())
    # The code is in one file, which nobody else may read, and neither in the store nor in what was said.
    assert [name for name in files if code in (tmp_path / "card" / name).read_text()] == ["boxman/enrolment.toml"]
    assert stat.S_IMODE((card / "enrolment.toml").stat().st_mode) == 0o600
    store = server.configuration.with_name("enrolments.db")
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert not any(code.encode() in path.read_bytes() for path in store.parent.glob("enrolments.db*"))
    assert code not in capsys.readouterr().out

    unit = tmp_path / "unit"
    unit.mkdir()
    taken = (card / "enrolment.toml").read_text()
    assert main(enrol_words(card / "enrolment.toml", unit)) == 0
    key = open_table_key(unit / "data" / "table.key").public
    assert capsys.readouterr().out == f"enrolled as table {NEW} of {SITE}, key {key}\n"
    assert (unit / "etc" / "table.toml").read_text() == config.read_text()
    assert (unit / "etc" / "site-ca.pem").read_text() == certificates.ca.read_text()
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in (unit / "etc").iterdir()} == {
        "table.toml": 0o640,
        "site-ca.pem": 0o640,
    }
    assert not (card / "enrolment.toml").exists() and not (card / "ca.pem").exists()
    assert main(enrol_words(card / "enrolment.toml", unit)) == 0
    assert capsys.readouterr().out == "enrolled already\n"

    # Whoever has copied the card comes too late.
    (tmp_path / "copied").mkdir()
    copied = card_file(server, tmp_path / "copied" / "card", "A" * 32)
    copied.write_text(taken)
    assert main(enrol_words(copied, tmp_path / "copied")) == 1
    assert capsys.readouterr().err == (
        f"boxman: https://127.0.0.1:{server.port}: the centre refuses: this code was used by another unit; have a new "
        "card made\n"
    )
    assert code not in server.program.output

    # At the centre the key goes into the list of the servers.
    listed = tmp_path / "central.toml"
    listed.write_text(
        f'ca = "/ca.pem"\nadmin = "{TableKey(b"7" * 32).public}"\n[[servers]]\nname = "hub"\nhost = "hub.example"\n'
        'certificate = "/hub.pem"\nprivate_key = "/hub.key"\nstore = "/store"\nstore_gb = 1\n'
        f'[[sites]]\nname = "{SITE}"\n[[tables]]\nsite = "{SITE}"\nname = "{TABLE}"\nkey = "{OTHER_KEY.public}"'
    )
    receiver = ["--receiver", str(server.configuration)]
    assert main(["central", "enrolment", "list", *receiver]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(rf"{SITE} {NEW} enrolled \d{{4}}-\d\d-\d\d \d\d:\d\d UTC, key {key}", last)
    words = ["central", "enrolment", "accept", SITE, NEW, *receiver, "--tables", str(listed)]
    for says in ("now holds", "holds"):
        assert main(words) == 0
        assert capsys.readouterr().out == f"{listed}: {says} table {NEW} of {SITE} with key {key}\n"
    assert read_list(listed).tables == (KnownTable(SITE, TABLE, OTHER_KEY.public), KnownTable(SITE, NEW, key))


def test_a_key_gets_into_no_list_that_would_be_wrong_or_has_another(
    server: HttpsCentral, caller: Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = request_body(given_out(server))
    assert caller.ask("POST", PATH, body, signed_headers(OTHER_KEY, "POST", PATH, "", body))[0] == 200
    receiver = tmp_path / "central.toml"
    text = server.configuration.read_text().replace('"enrolments.db"', f'"{server.program.folder}/enrolments.db"')
    words = ["central", "enrolment", "accept", SITE, NEW, "--receiver", str(receiver), "--tables", str(receiver)]
    # The receiver's own list has this key under another table's name.
    receiver.write_text(text)
    assert main(words) == 1
    assert "central.toml would be wrong: " in (said := capsys.readouterr().err) and "already\n" in said
    key = TableKey(b"5" * 32).public
    other = f'{text}\n[[tables]]\nsite = "{SITE}"\nname = "{NEW}"\nkey = "{key}"\n'
    receiver.write_text(other)
    assert main(words) == 1
    assert f"has another unit's key; where this one takes its place, put {OTHER_KEY.public} there" in (
        capsys.readouterr().err
    )
    assert receiver.read_text() == other
    assert sorted(path.name for path in tmp_path.iterdir()) == ["central.toml"]
    # Without the other table it is sound, and is the receiver's file all the same.
    alone = text.partition("[[tables]]")[0]
    receiver.write_text(alone)
    receiver.chmod(0o640)
    owner = 1_234 if os.geteuid() == 0 else os.geteuid()
    os.chown(receiver, owner, -1)
    assert main(words) == 0
    # Whose list it is reads it as before.
    assert (receiver.stat().st_uid, receiver.stat().st_mode & 0o777) == (owner, 0o640)
    assert read_receiver_configuration(receiver).tables == (KnownTable(SITE, NEW, OTHER_KEY.public),)
    assert main([*words[:3], SITE, "nowhere", *words[5:]]) == 1
    assert "no unit has enrolled as table nowhere of test" in capsys.readouterr().err


def test_the_ca_of_a_site_is_as_good_on_python_313_as_before(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ssl.create_default_context(cafile=certificates.ca)
    # As Python has it from 3.13 on: this CA does not say what its key is for.
    made.verify_flags |= ssl.VERIFY_X509_STRICT
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: made)
    trusting = check_ca(certificates.ca)
    assert not trusting.verify_flags & ssl.VERIFY_X509_STRICT
    assert (trusting.verify_mode, trusting.check_hostname) == (ssl.CERT_REQUIRED, True)


class PowerCut(BaseException):
    """As sudden."""


def test_a_power_cut_at_any_step_leaves_what_the_same_command_goes_on_from(
    server: HttpsCentral, certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f'[table]\nsite = "{SITE}"\nname = "{NEW}"\n[uplink]\nservers = ["tls://hub.example:4222"]\nca = "ca.pem"\n'
    enrolled = Enrolled(text, {"ca.pem": certificates.ca.read_text()})
    store = EnrolmentStore(server.configuration.with_name("enrolments.db"))
    # Nothing is lost in truth, so nothing need be waited for.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for cut_at in itertools.count():
        code = new_code()
        store.add(hash_of(code), SITE, NEW, int(time.time()) + LONG_S, enrolled)
        unit = tmp_path / str(cut_at)
        card = card_file(server, unit / "card", code)
        was_cut = enrols_until(cut_at, card, unit)
        config = unit / "etc" / "table.toml"
        # What is in its place is whole, and has what it needs.
        assert not config.exists() or (config.read_text() == text and (unit / "etc" / "ca.pem").exists())
        assert enrol_command.enrol(card, config, unit / "data") == 0
        assert (config.read_text(), (unit / "etc" / "ca.pem").read_text()) == (text, certificates.ca.read_text())
        assert sorted(path.name for path in (unit / "etc").iterdir()) == ["ca.pem", "table.toml"]
        assert list((unit / "card").iterdir()) == []
        assert store.enrolments()[-1].key == open_table_key(unit / "data" / "table.key").public
        if not was_cut:
            break
    store.close()
    assert cut_at > 15


def enrols_until(cut_at: int, card: Path, unit: Path) -> bool:
    """Enrol, and lose the power before the step of that number; whether there were so many."""
    steps = itertools.count()

    def stepping(real: Any) -> Any:
        def step(*given: Any, **named: Any) -> Any:
            if next(steps) == cut_at:
                raise PowerCut
            return real(*given, **named)

        return step

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((os, "fsync"), (os, "rmdir"), (enrol_command, "ask"), (Path, "rename"), (Path, "unlink")):
            patch.setattr(owner, name, stepping(getattr(owner, name)))
        try:
            enrol_command.enrol(card, unit / "etc" / "table.toml", unit / "data")
        except PowerCut:
            return True
    return False


def test_a_unit_that_is_refused_keeps_its_card_and_has_no_configuration(
    server: HttpsCentral, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replaced, newest = given_out(server), given_out(server)
    elsewhere = given_out(server, "craps-8")
    port = free_port()
    expired = given_out(server, "craps-8", lasts_s=-1)
    at = f"https://127.0.0.1:{server.port}"
    foreign = given_out(server, text='[table]\nsite = "test"\nname = "craps-8"\n')
    cases: list[tuple[str, dict[str, Any], str]] = [
        (new_code(), {}, f"{at}: the centre refuses: this code was never given out here"),
        (elsewhere, {}, f"{at}: the centre refuses: this code is another table's"),
        (replaced, {}, f"{at}: the centre refuses: a newer card was made for this table; this one is void"),
        (newest, {"ca": server.certificates.other_ca}, (
            f"{at}: the central server's certificate is refused: the site's CA has not signed it"
        )),
        (newest, {"port": port}, (
            f"https://127.0.0.1:{port}: the central server takes no connections; it may be down"
        )),
        (foreign, {}, "the centre's configuration is another table's; nothing was kept of it"),
    ]  # fmt: skip
    for number, (code, where, says) in enumerate(cases):
        unit = tmp_path / str(number)
        card = card_file(server, unit / "card", code, **where)
        assert main(enrol_words(card, unit)) == 1
        assert capsys.readouterr().err == f"boxman: {says}\n"
        assert card.exists() and not list((unit / "etc").glob("**/table.toml"))
    unit = tmp_path / "unfit"
    unfit = given_out(server, text=f'[table]\nsite = "test"\nname = "{NEW}"\nfelt = "green"\n')
    assert main(enrol_words(card_file(server, unit / "card", unfit), unit)) == 1
    said = "the centre's configuration cannot be used: table.toml:4: table.felt is no key; "
    assert capsys.readouterr().err.startswith(f"boxman: {said}")
    assert not list((unit / "etc").iterdir())
    # Of another table, since the newest code of one makes the former void.
    unit = tmp_path / "expired"
    card = card_file(server, unit / "card", expired)
    card.write_text(card.read_text().replace(NEW, "craps-8"))
    assert main(enrol_words(card, unit)) == 1
    assert capsys.readouterr().err == f"boxman: {at}: the centre refuses: this code has expired; have a new card made\n"


@pytest.mark.parametrize(
    "body", [b'{"configuration": "\\ud800", "files": {}}', b'{"configuration": "", "files": {"a": "\\udfff"}}']
)
def test_an_answer_that_no_file_can_hold_is_none(body: bytes) -> None:
    with pytest.raises(BadMessage, match="it holds half a letter"):
        read_answer(body)
    whole = read_answer(b'{"configuration": "\\ud83c\\udfb2", "files": {}}')
    assert whole == Enrolled("\N{GAME DIE}", {})


def test_a_card_that_is_none_or_of_another_table_is_refused_in_one_line(
    server: HttpsCentral, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = card_file(server, tmp_path / "card", "A" * 32)
    text = card.read_text()
    for changed, says in (
        (text.replace("code", "coed"), "coed is no key, did you mean code?"),
        (text.replace('"A', '"a'), "code should be a code of 32 letters and digits"),
        (text.replace("https", "http"), "address is not an address like https://central.example:8443"),
        (text.replace(NEW, "craps 9"), "table should be 1 to 32 letters, digits, - or _"),
    ):
        card.write_text(changed)
        assert main(enrol_words(card, tmp_path)) == 1
        assert capsys.readouterr().err == f"boxman: {card}: {says}\n"
    card.write_text(text)
    config = tmp_path / "etc" / "table.toml"
    config.parent.mkdir()
    config.write_text('[table]\nname = "craps-1"\n')
    assert main(enrol_words(card, tmp_path)) == 1
    assert "is another table's; move it away, or use the card of that table" in capsys.readouterr().err
    card.unlink()
    config.unlink()
    assert main(enrol_words(card, tmp_path)) == 1
    assert f"{card}: is not there" in capsys.readouterr().err


def test_the_same_unit_gets_the_same_answer_also_after_the_centre_lost_its_power(server: HttpsCentral) -> None:
    body = request_body(given_out(server))
    headers = signed_headers(OTHER_KEY, "POST", PATH, "", body)
    answers = []
    for is_again in (False, True):
        if is_again:
            server.program.kill()
            server.start()
        caller = Caller(server, DESCRIPTION)
        answers.append(caller.ask("POST", PATH, body, headers))
        caller.close()
    assert answers[0] == answers[1]
    assert answers[0] == (200, {
        "configuration": f'[table]\nsite = "{SITE}"\nname = "{NEW}"\nrules = "house.json"\n', "files": {}
    })  # fmt: skip


def test_what_is_no_enrolment_is_refused_and_described(server: HttpsCentral, caller: Caller) -> None:
    body = request_body(given_out(server))
    key = TableKey(b"6" * 32)

    def refused(body: bytes, headers: dict[str, str] | None = None) -> tuple[int, str]:
        status, said = caller.ask("POST", PATH, body, headers or signed_headers(key, "POST", PATH, "", body))
        return status, said["reason"]

    for wrong in (b"", b"{}", b"[" * 200, b'{"code": "A"}', body[:-1] + b', "more": 1}', b"\xff"):
        assert refused(wrong) == (400, "bad_enrolment")
    assert refused(b" " * 257) == (413, "too_large")
    assert refused(body, {"Boxman-Key": key.public}) == (401, "no_identity")
    other_path = signed_headers(key, "POST", PATH.replace(NEW, "craps-8"), "", body)
    assert refused(body, other_path) == (401, "bad_signature")
    assert refused(body, signed_headers(key, "POST", PATH, "", b"other")) == (401, "bad_signature")
    assert refused(body, other_path | {"Boxman-Key": "U" * 56}) == (401, "bad_signature")
    assert caller.ask("GET", PATH)[1]["text"] == "GET is not taken here, but POST"
    # None of these has used the code up.
    assert caller.ask("POST", PATH, body, signed_headers(key, "POST", PATH, "", body))[0] == 200


def test_who_guesses_codes_is_not_listened_to_and_others_are(
    server: HttpsCentral, caller: Caller, certificates: Certificates
) -> None:
    # Of this machine's addresses another one than the other tests have.
    trust = ssl.create_default_context(cafile=certificates.ca)
    transport = httpx.HTTPTransport(verify=trust, local_address="127.0.0.9")
    with httpx.Client(base_url=f"https://127.0.0.1:{server.port}", transport=transport, timeout=60) as client:

        def reason(code: str) -> str:
            body = request_body(code)
            answered = client.post(PATH, content=body, headers=signed_headers(OTHER_KEY, "POST", PATH, "", body))
            return str(answered.json().get("reason", answered.status_code))

        assert [reason(new_code()) for _ in range(10)] == ["wrong_code"] * 10
        assert reason(given_out(server)) == "too_many_codes"
    body = request_body(given_out(server))
    assert caller.ask("POST", PATH, body, signed_headers(OTHER_KEY, "POST", PATH, "", body))[0] == 200


def test_wrong_codes_are_forgotten_after_a_minute_and_of_few_addresses_remembered() -> None:
    wrong = WrongCodes()
    for second in range(10):
        assert wrong.may_try("a", second)
        wrong.note("a", second)
    assert not wrong.may_try("a", 59.9) and wrong.may_try("b", 59.9)
    # The first of the ten is a minute old.
    assert wrong.may_try("a", 60.0)
    wrong.note("a", 60.0)
    assert not wrong.may_try("a", 60.5)
    for number in range(ADDRESSES_MAX):
        wrong.note(str(number), 60.5)
    assert wrong.may_try("a", 60.5)


def test_the_store_of_enrolments_flushes_and_refuses_other_files(tmp_path: Path) -> None:
    store = EnrolmentStore(tmp_path / "enrolments.db")
    assert store._database.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    for path in ("other.db", ".", "missing/enrolments.db"):
        with pytest.raises(StoreError, match="it should be a store of enrolments"):
            EnrolmentStore(tmp_path / path)


def test_a_card_that_could_make_no_table_is_not_made(
    server: HttpsCentral, certificates: Certificates, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = server.configuration.with_name("enrolments.db")
    before = len(enrolment_commands._enrolments(server.configuration)), store.exists()
    for number, (more, words, says) in enumerate([
        ('[system]\ndata_partition = "LABEL=x"\n', [], "system.data_partition: a card makes no partition"),
        ('[proposals]\ntoken_file = "word"\n', [], "proposals.token_file: a secret is not handed out"),
        ("", ["--days", "0"], "--days: should be from 1 to 90"),
        ("", ["--enrol", "http://x"], "--enrol: is not an address like https://central.example:8443"),
        ("", ["--ca", "/dev/null"], "--ca: /dev/null: holds no certificate"),
        ("", ["--package", str(tmp_path)], f"--package: {tmp_path} cannot be read (Is a directory)"),
        ("", ["--package", str(certificates.key)], f"--package: {certificates.key} is no Debian package"),
        ("", ["--ssh-key", str(certificates.key)], "should hold one public key for SSH"),
        ("", ["--output", str(tmp_path)], f"--output: {tmp_path} is there already"),
    ]):  # fmt: skip
        config = table_file(tmp_path / str(number), certificates, more)
        assert main([*card_words(server, config, tmp_path / "card"), *words]) == 1
        assert says in capsys.readouterr().err
    config = table_file(tmp_path / "known", certificates, table=TABLE)
    assert main(card_words(server, config, tmp_path / "card")) == 1
    assert f"table {TABLE} of {SITE} has a unit already" in capsys.readouterr().err
    plain = tmp_path / "plain.toml"
    plain.write_text(server.configuration.read_text().replace('enrolments = "enrolments.db"\n', ""))
    config = table_file(tmp_path / "plain", certificates)
    assert main([*card_words(server, config, tmp_path / "card"), "--receiver", str(plain)]) == 1
    assert "receiver.enrolments is missing" in capsys.readouterr().err
    assert not (tmp_path / "card").exists()
    assert (len(enrolment_commands._enrolments(server.configuration)), store.exists()) == before
