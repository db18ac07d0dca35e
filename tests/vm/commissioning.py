"""A table that is commissioned on its own page, by a terminal that is a service of a table's computer."""

import time
from collections.abc import Iterator
from typing import Any

import httpx

from tests.vm.booted import Failed, Guest
from tests.vm.replacement import TABLE

TECHNICIAN = "Ana Prova"
_FED = "WatchdogTimestampMonotonic"


def check_commissioning(guest: Guest, release: str) -> Iterator[tuple[str, str]]:
    """Commission the closed table in part, and leave it; `release` is one that would fit. Yields as `check_all` does.

    Raises Failed.
    """
    pid = guest.wait_until_ready()["MainPID"]
    seq = guest.state()["seq"]
    _ask(guest, {"table": TABLE, "name": TECHNICIAN})
    guest.wait_until(lambda: _view(guest)["mode"] == "commissioning", "the page of it is there")
    guest.wait_until(lambda: guest.shows("StatusText")["StatusText"] == "is commissioned", "the service says so")
    told = guest.shows("MainPID", "ActiveState", _FED)
    if (told["MainPID"], told["ActiveState"]) != (pid, "active"):
        raise Failed(f"the service is another one: {told}")
    guest.wait_until(lambda: int(guest.shows(_FED)[_FED]) > int(told[_FED]), "the watchdog is fed")
    said = guest.run(f"boxman update {release}", status=1)
    if "the table at http://127.0.0.1:8080 is being commissioned" not in said:
        raise Failed(f"an update of a table that is commissioned: {said}")
    yield "a closed table is commissioned by the same process, and an update waits", "is commissioned"

    step = _view(guest)["now"]["step"]
    _ask(guest, {"do": "skip", "step": step, "why": "not wired yet"})
    guest.wait_until(lambda: _view(guest)["now"]["step"] != step, "the next step is there")
    then = _view(guest)["now"]["step"]
    guest.run(f"kill -KILL {pid}")
    pid = guest.wait_until_ready(former=pid)["MainPID"]
    if (now := _view(guest)["now"]["step"]) != then:
        raise Failed(f"killed at {then}, it goes on at {now}")
    yield "killed in the middle, it goes on at the same step", then

    began = time.monotonic()
    _ask(guest, {"do": "leave"})
    guest.wait_until(lambda: _view(guest)["mode"] == "terminal", "the terminal is there again")
    if guest.wait_until_ready()["MainPID"] != pid or guest.state()["seq"] < seq:
        raise Failed("the terminal is not where it was")
    yield "left, it is a terminal again", f"after {time.monotonic() - began:.0f} s"


def _ask(guest: Guest, body: dict[str, str]) -> None:
    answer = httpx.post(f"{guest.console}/api/commissioning", json=body, timeout=120)
    if answer.status_code != 200:
        raise Failed(f"{body} is refused: {answer.status_code} {answer.text[:200]}")


def _view(guest: Guest) -> dict[str, Any]:
    """What the page shows; while one program takes the other's place, what waits is closed."""
    while True:
        try:
            view: dict[str, Any] = httpx.get(f"{guest.console}/api/commissioning", timeout=120).json()
        except httpx.TransportError:
            time.sleep(1)
        else:
            return view
