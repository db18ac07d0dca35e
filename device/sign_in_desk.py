"""Signing in and out: PINs are checked one at a time, and what came of each is on the disk before anyone hears of it.

Whoever cuts the power before a wrong try is recorded has not heard either whether it was wrong. A sign-in holds for one
page, for as long as somebody touches it, and never beyond the end of the process. No time of day comes into it: locks
and idleness are measured by the monotonic clock, and a lock that a start finds begins anew.
"""

import asyncio
import hashlib
import hmac
import secrets
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Final

from device.people import SUPERVISOR, TRIES_MAX, People, lock_s
from device.people_file import Listed, PeopleError, is_pin, read_people
from device.recorder import Busy, Halted, Recorder
from engine_lite.refusal import Refused

LOOK_S: Final = 1.0
"""How often to look who has been idle, and whether people were added or removed."""

WAITING_MAX: Final = 4
"""One PIN is checked at a time; so many more may wait."""

SIGN_IN: Final = "sign in with a PIN first"

_TOKEN_BYTES: Final = 32
_PIN_LENGTH_MAX: Final = 8


@dataclass(frozen=True)
class Keys:
    """What shows that a request comes from the page where somebody signed in: a cookie's value and a header's."""

    token: str
    page: str


@dataclass
class _SignedIn:
    name: str
    pins: int
    page: bytes
    used_s: float


class SignInDesk:
    """Who is signed in on which page. All methods belong to the event loop that runs `watch`."""

    def __init__(self, recorder: Recorder, file: Path, idle_s: int) -> None:
        """`file` is that of `people_file`; after `idle_s` without a touch on their page, people are signed out."""
        self._recorder = recorder
        self._file = file
        self._idle_s = idle_s
        self._loop = asyncio.get_running_loop()
        # By the digest of the token, so that a comparison tells nothing of it.
        self._here: dict[bytes, _SignedIn] = {}
        self._locked_until_s: dict[str, float] = {}
        # Who was signed in when nothing could be recorded any more.
        self._interrupted: list[str] = []
        self._one = asyncio.Lock()
        self._waiting = 0
        self._seen: tuple[int, int, int] | None = None
        self._listed: tuple[Listed, ...] = ()
        # Why the list of people cannot be read; nobody signs in then.
        self.fault: str | None = None

    # Signing in and out

    async def sign_in(self, name: str, pin: str) -> tuple[Keys, str, str]:
        """Check a PIN; the keys, the name as it is listed, and the role. Raises Refused, Halted or Busy."""
        if self._waiting > WAITING_MAX:
            raise Busy("too many people sign in at once; wait a moment")
        self._waiting += 1
        try:
            async with self._one:
                return await self._sign_in(name, pin)
        finally:
            self._waiting -= 1

    async def _sign_in(self, name: str, pin: str) -> tuple[Keys, str, str]:
        await self._read_anew()
        if self.fault is not None:
            raise Refused("no_people", self.fault)
        listed = {person.name: person for person in self._listed if person.hash is not None}
        known = self._people.known_as(name)
        person = listed.get(known or "")
        if person is None or person.hash is None:
            raise Refused("unknown_person", f"{name} has no PIN at this table")
        left_s = self._locked_until_s.get(person.name, 0.0) - self._loop.time()
        if left_s > 0:
            raise Refused("locked", f"too many wrong PINs; nothing is tried for another {_minutes(left_s)}")
        if not await asyncio.to_thread(is_pin, person.hash, pin[:_PIN_LENGTH_MAX]) or len(pin) > _PIN_LENGTH_MAX:
            await self._note_wrong(person.name)
        data = {"name": person.name, "role": person.role}
        # Signed in elsewhere before: that page is signed out.
        for token, signed_in in list(self._here.items()):
            if signed_in.name == person.name:
                await self._sign_out(token, "elsewhere")
        await self._record("signed_in", data)
        keys = Keys(new_token(), new_token())
        self._here[digest(keys.token)] = _SignedIn(person.name, person.pins, digest(keys.page), self._loop.time())
        return keys, person.name, person.role

    async def _note_wrong(self, name: str) -> None:
        wrong = self._people.wrong.get(name, 0) + 1
        locked_s = lock_s(wrong)
        # Before it is written: whoever does not wait for the answer gains nothing.
        self._locked_until_s[name] = self._loop.time() + locked_s
        await self._record("pin_wrong", {"name": name, "wrong": wrong, "locked_s": locked_s})
        if locked_s:
            raise Refused("locked", f"wrong PIN; nothing is tried for {_minutes(locked_s)}")
        left = TRIES_MAX - wrong
        raise Refused("wrong_pin", f"wrong PIN; {left} more {'try' if left == 1 else 'tries'}")

    async def sign_out(self, keys: Keys) -> None:
        """Sign out who is signed in under these keys, if anyone is. Raises Halted or Busy."""
        if self.person(keys) is not None:
            await self._sign_out(digest(keys.token), "asked")

    def person(self, keys: Keys | None) -> str | None:
        """Who is signed in under these keys; None: nobody.

        That somebody is known by them is no work of theirs: the game goes on, and pages ask, without them.
        """
        signed_in = self._signed_in(keys)
        return None if signed_in is None else signed_in.name

    def still_here(self, keys: Keys | None) -> str:
        """Whoever is signed in under these keys has touched their page, and stays so. Raises Refused: nobody is."""
        signed_in = self._signed_in(keys)
        if signed_in is None:
            raise Refused("needs_sign_in", SIGN_IN)
        signed_in.used_s = self._loop.time()
        return signed_in.name

    def _signed_in(self, keys: Keys | None) -> _SignedIn | None:
        if keys is None:
            return None
        signed_in = self._here.get(digest(keys.token))
        if signed_in is None or not hmac.compare_digest(signed_in.page, digest(keys.page)):
            return None
        return signed_in if self._loop.time() - signed_in.used_s < self._idle_s else None

    def view(self, keys: Keys | None) -> dict[str, Any]:
        """Who can sign in, and who is signed in under these keys and for how many more seconds without a touch."""
        signed_in = self._signed_in(keys)
        return {
            "people": [{"name": one.name, "role": one.role} for one in self._listed if one.hash is not None],
            "required": self._people.supervisors is not None,
            "fault": self.fault,
            "name": None if signed_in is None else signed_in.name,
            "role": None if signed_in is None else self._people.role_of(signed_in.name),
            "left_s": None if signed_in is None else ceil(signed_in.used_s + self._idle_s - self._loop.time()),
        }

    def require(self, keys: Keys | None, *, supervisor: bool) -> str:
        """Who is signed in under these keys. Raises Refused where nobody is, or no supervisor who is asked for."""
        person = self.person(keys)
        if person is None:
            raise Refused("needs_sign_in", SIGN_IN)
        if supervisor and self._people.role_of(person) != SUPERVISOR:
            raise Refused("needs_sign_in", "a supervisor must sign in with a PIN to do this")
        return person

    # Watching

    async def watch(self) -> None:
        """Look now and then, until it is cancelled."""
        self.begin()
        while True:
            # Whoever is idle is nobody to `person` all the same.
            with suppress(Halted, Busy):
                await self.look()
            await asyncio.sleep(LOOK_S)

    def begin(self) -> None:
        """Nobody is signed in. Who is locked is so from now on: nothing tells how much time has passed since."""
        now_s = self._loop.time()
        self._locked_until_s = {name: now_s + self._people.lock_s(name) for name in self._people.wrong}
        self._here = {}
        self._interrupted = list(self._people.signed_in)

    async def look(self) -> None:
        """Sign out who is idle, and take on who was added, removed or given another PIN. Raises Halted or Busy."""
        while self._interrupted:
            await self._record("signed_out", {"name": self._interrupted.pop(), "why": "interrupted"})
        async with self._one:
            await self._read_anew()
        for token, signed_in in list(self._here.items()):
            if self._loop.time() - signed_in.used_s >= self._idle_s:
                await self._sign_out(token, "idle")

    async def _read_anew(self) -> None:
        """Look whether the file has changed, and journal what it says now. Raises Halted or Busy."""
        seen = _state_of(self._file)
        # What could not be read may be read the next time, though nothing about the file differs.
        if seen != self._seen or self.fault is not None:
            try:
                self._listed, self.fault = read_people(self._file), None
            except PeopleError as error:
                self._listed, self.fault = (), str(error)
            self._seen = seen
        people = [{"name": one.name, "role": one.role, "pins": one.pins} for one in self._listed]
        now = [{"name": name} | vars(person) for name, person in self._people.people.items()]
        # A list that cannot be read is no list of nobody: those who are supervisors by it stay so.
        if people != now and self.fault is None:
            await self._record("people_listed", {"people": people})
            # A new PIN ends the lock of the former one.
            self._locked_until_s = {
                name: until for name, until in self._locked_until_s.items() if name in self._people.wrong
            }
        pins = {one.name: one.pins for one in self._listed}
        for token, signed_in in list(self._here.items()):
            if pins.get(signed_in.name) != signed_in.pins:
                await self._sign_out(token, "changed" if signed_in.name in pins else "removed")

    async def _sign_out(self, token: bytes, why: str) -> None:
        # First, so that it holds whatever becomes of its record.
        signed_in = self._here.pop(token, None)
        if signed_in is not None:
            await self._record("signed_out", {"name": signed_in.name, "why": why})

    async def _record(self, kind: str, data: dict[str, Any]) -> None:
        await self._recorder.submit(partial(self._entries, kind, data))

    def _entries(self, kind: str, data: dict[str, Any]) -> Any:
        return self._recorder.session.person_seen(kind, data)

    @property
    def _people(self) -> People:
        return self._recorder.session.people


def new_token() -> str:
    """What nobody guesses."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def digest(text: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _minutes(seconds: float) -> str:
    """A time to wait, in words, never less than it is."""
    if seconds <= 60:
        return f"{int(seconds) + (seconds > int(seconds))} seconds"
    return f"{-int(-seconds // 60)} minutes"


def _state_of(file: Path) -> tuple[int, int, int] | None:
    """What differs when the file was written anew; None where there is none."""
    try:
        seen = file.stat()
    except OSError:
        return None
    return seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns
