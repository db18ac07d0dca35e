"""People and their PINs: the file, the command that writes it, and the desk where they sign in, at any time."""

import asyncio
import os
import pty
import shlex
import stat
import subprocess
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from device import sign_in_desk
from device.people import LOCK_S_MAX, lock_s
from device.people_file import PEOPLE_FILE, Listed, PeopleError, changing, is_pin, pin_fault, read_people
from device.recorder import Recorder
from device.session import Entry, Session
from device.sign_in_desk import Keys, SignInDesk
from engine_lite.refusal import Refused
from provisioning.command_line import main
from tests.terminal_rig import BOXMAN

MARTA = "Marta Gil"
IDLE_S = 120


class AheadLoop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still and is set ahead by a test."""

    ahead_s = 0.0

    def time(self) -> float:
        return self.ahead_s


class Desk:
    """A desk over a session without a journal; `entries` are those that would be in it."""

    def __init__(self, loop: AheadLoop, folder: Path) -> None:
        self.loop = loop
        self.folder = folder
        self.session = Session()
        self.entries: list[Entry] = []
        self.desk = self.started()

    async def submit(self, decide: Callable[[], list[Entry]]) -> list[Any]:
        self.entries += decide()
        return []

    def started(self) -> SignInDesk:
        """A desk as a start makes it, which knows only what is in the journal."""
        recorder = cast(Recorder, SimpleNamespace(session=self.session, submit=self.submit))
        return SignInDesk(recorder, self.folder / PEOPLE_FILE, IDLE_S)

    def write(self, *people: Listed) -> None:
        with changing(self.folder) as write:
            write(people)

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [data for name, data in self.entries if name == kind]

    async def refused(self, pin: str, name: str = MARTA) -> str:
        with pytest.raises(Refused) as refusal:
            await self.desk.sign_in(name, pin)
        return refusal.value.message


@pytest.fixture
def at_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Desk], Coroutine[Any, Any, None]]], None]:
    """Runs a test at a desk where a PIN is proven by itself: hashing takes its time on purpose."""
    monkeypatch.setattr(sign_in_desk, "is_pin", lambda proof, pin: proof == pin)

    def run(test: Callable[[Desk], Coroutine[Any, Any, None]]) -> None:
        async def at() -> None:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, AheadLoop)
            desk = Desk(loop, tmp_path)
            desk.write(Listed(MARTA, "supervisor", 1, "2580"), Listed("Bo Lin", "boxman", 1, "9731"))
            await test(desk)

        with asyncio.Runner(loop_factory=AheadLoop) as runner:
            runner.run(at())

    return run


def test_each_wrong_pin_locks_for_longer_and_no_clock_but_the_monotonic_one_ends_it(at_desk: Any) -> None:
    async def test(at: Desk) -> None:
        for message in (
            "wrong PIN; 4 more tries",
            "wrong PIN; 3 more tries",
            "wrong PIN; 2 more tries",
            "wrong PIN; 1 more try",
            "wrong PIN; nothing is tried for 60 seconds",
        ):
            assert await at.refused("1111") == message
        assert "pin_locked" in at.session.alerts
        at.loop.ahead_s += 59
        assert (await at.refused("2580")).startswith("too many wrong PINs; nothing is tried for another ")
        at.loop.ahead_s += 2
        assert await at.refused("1111") == "wrong PIN; nothing is tried for 2 minutes"
        # What a start finds in the journal is locked anew, from the start on.
        at.loop.ahead_s += 119
        at.desk = at.started()
        at.desk.begin()
        at.loop.ahead_s += 119
        assert (await at.refused("2580")).startswith("too many wrong PINs")
        at.loop.ahead_s += 2
        _, name, role = await at.desk.sign_in("MARTA GIL", "2580")
        assert (name, role) == (MARTA, "supervisor")
        assert [data["wrong"] for data in at.told("pin_wrong")] == [1, 2, 3, 4, 5, 6]
        # The right one ends the count.
        assert await at.refused("1111") == "wrong PIN; 4 more tries"

    at_desk(test)


def test_many_at_once_are_tried_one_after_the_other(at_desk: Any) -> None:
    async def test(at: Desk) -> None:
        for _ in range(4):
            await at.refused("1111")
        # One more is tried, and none of those that came with it.
        answers = await asyncio.gather(
            *(at.desk.sign_in(MARTA, f"{number}222") for number in range(5)), return_exceptions=True
        )
        assert str(answers[0]) == "locked: wrong PIN; nothing is tried for 60 seconds"
        assert all("too many wrong PINs" in str(answer) for answer in answers[1:])
        assert len(at.told("pin_wrong")) == 5
        assert (await at.refused("2580")).startswith("too many wrong PINs")

    at_desk(test)


def test_who_does_nothing_is_signed_out_and_who_works_is_not(at_desk: Any) -> None:
    async def test(at: Desk) -> None:
        keys, _, _ = await at.desk.sign_in(MARTA, "2580")
        for _ in range(3):
            at.loop.ahead_s += IDLE_S - 1
            assert at.desk.still_here(keys) == MARTA
        at.loop.ahead_s += IDLE_S - 10
        # To look who is there is no work, nor is what is done or asked with the keys of somebody who is not there.
        assert (at.desk.view(keys)["name"], at.desk.view(keys)["left_s"]) == (MARTA, 10)
        assert at.desk.person(keys) == at.desk.require(keys, supervisor=True) == MARTA
        at.loop.ahead_s += 11
        assert (at.desk.view(keys)["name"], at.desk.view(keys)["left_s"]) == (None, None)
        assert at.desk.person(keys) is None
        for ask in (at.desk.still_here, partial(at.desk.require, supervisor=True)):
            with pytest.raises(Refused, match="sign in with a PIN first"):
                ask(keys)
        assert at.told("signed_out") == []
        await at.desk.sign_in("Bo Lin", "9731")
        await at.desk.look()
        assert at.told("signed_out") == [{"name": MARTA, "why": "idle"}]
        assert at.session.people.signed_in == ["Bo Lin"]

    at_desk(test)


def test_another_pin_or_none_signs_out_and_ends_the_lock(at_desk: Any) -> None:
    async def test(at: Desk) -> None:
        keys, _, _ = await at.desk.sign_in(MARTA, "2580")
        for _ in range(5):
            await at.refused("1111")
        assert at.desk.person(keys) == MARTA, "whoever guesses signs nobody out"
        at.write(Listed(MARTA, "supervisor", 2, "7531"))
        await at.desk.look()
        assert at.desk.person(keys) is None
        assert at.told("signed_out") == [{"name": MARTA, "why": "changed"}]
        keys, _, _ = await at.desk.sign_in(MARTA, "7531")
        assert await at.refused("9731", "Bo Lin") == "Bo Lin has no PIN at this table"
        (at.folder / PEOPLE_FILE).unlink()
        await at.desk.look()
        assert at.desk.person(keys) is None
        assert at.told("people_listed")[-1] == {"people": []}

    at_desk(test)


def test_a_list_that_cannot_be_read_lets_nobody_in_and_is_no_empty_list(at_desk: Any) -> None:
    async def test(at: Desk) -> None:
        await at.desk.look()
        (at.folder / PEOPLE_FILE).chmod(0o640)
        assert "set its mode to 600" in await at.refused("2580")
        assert at.session.people.supervisors == (MARTA,)
        # Mended, it is read again.
        (at.folder / PEOPLE_FILE).chmod(0o600)
        assert (await at.desk.sign_in(MARTA, "2580"))[1] == MARTA

    at_desk(test)


def test_a_list_that_could_not_be_read_is_read_again_though_nobody_touches_it(
    at_desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_path: Path) -> tuple[Listed, ...]:
        raise PeopleError("cannot be read (Input/output error)")

    async def test(at: Desk) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(sign_in_desk, "read_people", fails)
            assert "Input/output error" in await at.refused("2580")
        assert (await at.desk.sign_in(MARTA, "2580"))[1] == MARTA

    at_desk(test)


def test_the_keys_of_one_page_open_no_other(at_desk: Any) -> None:
    async def test(at: Desk) -> None:
        keys, _, _ = await at.desk.sign_in(MARTA, "2580")
        other, _, _ = await at.desk.sign_in("Bo Lin", "9731")
        assert at.desk.person(Keys(keys.token, other.page)) is None
        assert at.desk.person(Keys(other.token, keys.page)) is None
        again, _, _ = await at.desk.sign_in(MARTA, "2580")
        assert (at.desk.person(keys), at.desk.person(again)) == (None, MARTA)
        assert at.told("signed_out") == [{"name": MARTA, "why": "elsewhere"}]

    at_desk(test)


def test_a_lock_grows_to_an_hour_and_no_further() -> None:
    assert [lock_s(wrong) for wrong in (0, 4, 5, 6, 7, 10, 11, 10**6)] == [0, 0, 60, 120, 240, 1920, 3600, LOCK_S_MAX]


@pytest.mark.parametrize("pin", ["123", "123456789", "12a4", "٤٧١١", "1111", "4567", "9876", ""])
def test_what_is_no_pin_and_what_everybody_tries_first_is_refused(pin: str) -> None:
    assert pin_fault(pin) is not None


@pytest.mark.parametrize("pin", ["2580", "1112", "13579135"])
def test_four_to_eight_digits_are_a_pin(pin: str) -> None:
    assert pin_fault(pin) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ("[" * 200_000, "is no JSON"),
        ("[" * 300_000, "is no JSON"),
        ("[]", "is no list of people"),
        (
            '{"version": 1, "people": [{"name": "A", "role": "boxman", "pins": 9223372036854775808, "hash": "x"}]}',
            "is no list of people",
        ),
        ('{"version": 2, "people": []}', "is no list of people"),
        ('{"version": 1, "people": [{"name": "A", "role": "king", "pins": 0, "hash": null}]}', "is no list of people"),
        (
            '{"version": 1, "people": [{"name": "A", "role": "boxman", "pins": 1, "hash": null}]}',
            "is no list of people",
        ),
    ],
)
def test_a_file_that_is_no_list_of_people_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / PEOPLE_FILE
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(PeopleError, match=f"{PEOPLE_FILE}: {said}"):
        read_people(path)


def test_what_is_no_file_is_named_and_holds_nobody_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        path = tmp_path / PEOPLE_FILE
        make(path)
        with pytest.raises(PeopleError, match=f"{PEOPLE_FILE}: (is no file|cannot be read)"):
            read_people(path)
        status, told = people(capsys, tmp_path, "list")
        assert (status, told.count("\n")) == (1, 1)
        assert told.startswith(f"boxman: {path}: ")
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_disk_that_fails_while_the_list_is_read_is_said() -> None:
    # What a process has in memory is a plain file for its owner whose first bytes cannot be read: EIO.
    with pytest.raises(PeopleError, match="Input/output error"):
        read_people(Path("/proc/self/mem"))


def test_what_fails_while_it_is_written_leaves_the_old_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with changing(tmp_path) as write:
        write((Listed(MARTA, "supervisor"),))

    def fails(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with changing(tmp_path) as write, pytest.raises(PeopleError, match="cannot be written"):
        write(())
    assert read_people(tmp_path / PEOPLE_FILE) == (Listed(MARTA, "supervisor"),)


def typed_pin(data: Path, name: str, *typed: str) -> tuple[int, str]:
    """`boxman people pin` on a terminal; its exit status and all that is seen on the terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BOXMAN, "people", "pin", name, "--data", data],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    for prompt, pin in zip((b"PIN for", b"again"), typed, strict=False):
        while prompt not in seen:
            seen += os.read(ours, 1000)
        os.write(ours, pin.encode() + b"\n")
    # Once the other end is closed, reading fails.
    with suppress(OSError):
        while more := os.read(ours, 1000):
            seen += more
    os.close(ours)
    return process.wait(60), seen.decode()


def people(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> tuple[int, str]:
    """`boxman people` with these words: the exit status, and what it says."""
    status = main(["people", *words, "--data", str(data)])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_people_are_added_given_a_pin_on_the_terminal_and_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert people(capsys, tmp_path, "add", MARTA, "--role", "supervisor")[0] == 0
    assert "no PIN yet" in people(capsys, tmp_path, "list")[1]
    status, seen = typed_pin(tmp_path, "marta gil", "2580", "2580")
    assert status == 0, seen
    assert "2580" not in seen, "what is typed is not shown"
    (person,) = read_people(tmp_path / PEOPLE_FILE)
    assert (person.name, person.role, person.pins) == (MARTA, "supervisor", 1)
    assert person.hash is not None
    assert is_pin(person.hash, "2580")
    assert not is_pin(person.hash, "2581")
    assert "2580" not in (tmp_path / PEOPLE_FILE).read_text()
    assert stat.S_IMODE((tmp_path / PEOPLE_FILE).stat().st_mode) == 0o600
    assert "has a PIN" in people(capsys, tmp_path, "list")[1]
    status, seen = typed_pin(tmp_path, MARTA, "7531", "7532")
    assert (status, "not the same" in seen) == (1, True)
    assert read_people(tmp_path / PEOPLE_FILE) == (person,)
    assert people(capsys, tmp_path, "remove", MARTA) == (0, f"{MARTA} is removed\n")
    assert read_people(tmp_path / PEOPLE_FILE) == ()


def test_the_command_that_sets_a_pin_can_be_pasted_as_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "the data"
    folder.mkdir()
    _, told = people(capsys, folder, "add", "O'Brien", "--role", "boxman")
    assert shlex.split(told.partition("with: ")[2]) == ["boxman", "people", "pin", "O'Brien", "--data", str(folder)]
    # The folder that is meant anyway is not named.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert main(["people", "add", "Marta Gil", "--role", "boxman"]) == 0
    assert capsys.readouterr().out.endswith("with: boxman people pin 'Marta Gil'\n")


def test_what_cannot_be_is_said_in_one_line_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with changing(tmp_path) as write:
        write((Listed(MARTA, "supervisor"),))
    for words, said in (
        (("pin", MARTA), "a PIN is typed on a terminal, so that it is in no file and no list of processes"),
        (("remove", "Eva"), f"nobody here is called Eva; listed: {MARTA}"),
        (("add", "marta GIL", "--role", "boxman"), "there is a person called marta GIL already"),
        (("add", "Mar\u200bta", "--role", "boxman"), "the name must"),
    ):
        status, told = people(capsys, tmp_path, *words)
        assert status == 1
        assert told.startswith(f"boxman: {said}"), told
        assert told.count("\n") == 1
    assert read_people(tmp_path / PEOPLE_FILE) == (Listed(MARTA, "supervisor"),)
