"""A unit is replaced, with a real central server: its backup, the new unit that takes over, the former one's return.

Two units in one machine: each with a data folder of its own, of which one at a time is the service's.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.central_rig import Central, history, set_up_when_ready
from tests.vm.booted import HOST, Failed, Guest

SITE, TABLE = "casino-1", "craps-7"
_DATA = "/var/lib/boxman"
_FORMER_UNIT, _NEW_UNIT = "/var/lib/former-unit", "/var/lib/new-unit"
_STICK = "/run/stick"
_ADOPTION_KEY = "/run/adoption.key"


@contextmanager
def centre(folder: Path) -> Iterator[Central]:
    """The casino's central server, on this host, under certificates that are good for the guest's name of it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with Central(folder, tables=((SITE, TABLE),), names=f"IP:127.0.0.1,IP:{HOST}") as made:
        yield made


def uplink(central: Central) -> str:
    """What a configuration says of the central server."""
    return f'[uplink]\nservers = ["tls://{HOST}:{central.servers["hub-1"].port}"]\nca = "ca.pem"\n'


def check_replacement(guest: Guest, central: Central, configuration: str) -> Iterator[tuple[str, str]]:
    """Replace the unit that runs, once it has delivered; yields as `check_all` does. Raises Failed."""
    former_key = _listed(guest, central)
    asyncio.run(set_up_when_ready(central))
    guest.run(f"cat > /run/ca.pem <<'END'\n{central.authority.ca.read_text()}END")
    guest.run(f"cat > /run/table.toml <<'END'\n{configuration}END")
    pid = guest.shows("MainPID")["MainPID"]
    guest.run("boxman provision install --config /run/table.toml")
    guest.wait_until_ready(former=pid)
    _wait_for_uplink(guest, "all is delivered", _all_delivered)
    # The link itself is told of by events, which follow.
    seq = guest.state()["seq"]
    guest.wait_until(lambda: len(_at_the_centre(central)) >= seq, "the centre has what was told")
    yield "a configuration with a central server is taken up, and all is delivered", f"{seq} events"

    guest.run(f"mkdir -m 700 {_STICK}")
    said = guest.run(f"boxman table backup {_STICK} --data {_DATA} --config /etc/boxman/table.toml")
    if "read back and found right" not in said:
        raise Failed(f"no backup: {said}")
    # The central log goes farther than the backup.
    guest.command("b" * 8, {"roll": [2, 3]})
    _wait_for_uplink(guest, "all is delivered", _all_delivered)
    guest.run("systemctl stop boxman")
    seq = int(guest.run(f"boxman journal export --data {_DATA} | wc -l"))
    guest.run(f"mv {_DATA} {_FORMER_UNIT} && mkdir -m 700 {_DATA}")
    key = _listed(guest, central)
    guest.run(f"boxman table restore {_STICK}/*.zip --data {_DATA}")
    guest.run(f"install -m 600 /dev/null {_ADOPTION_KEY}")
    guest.run(f"cat > {_ADOPTION_KEY} <<'END'\n{(central.keys / 'archive.key').read_text()}END")
    adopt = f"boxman table adopt --config /etc/boxman/table.toml --data {_DATA} --key {_ADOPTION_KEY}"
    said = guest.run(adopt)
    told = _at_the_centre(central)
    if f"goes on after event {len(told)}" not in said or key not in said or not seq - 2 <= len(told) <= seq:
        raise Failed(f"after event {seq}, of which {len(told)} are at the centre: {said}")
    guest.run("systemctl start boxman")
    state = guest.state()
    if state["seq"] <= len(told) or state["last_roll"]["dice"] != [2, 3]:
        raise Failed(f"the new unit is not where the former one was: {state['seq']}, {state['last_roll']}")
    _wait_for_uplink(guest, "all is delivered", _all_delivered)
    if guest.run(f"find {_DATA} ! -user boxman -o -perm /077"):
        raise Failed("what was taken over is another's than the terminal's")
    guest.run(f"boxman journal verify --data {_DATA} --central /etc/boxman/table.toml --key {_ADOPTION_KEY}")
    yield "a new unit takes over from backup and central log", f"on from event {len(told)}, of the backup and the log"

    told = _at_the_centre(central)
    guest.run(f"systemctl stop boxman && mv {_DATA} {_NEW_UNIT} && mv {_FORMER_UNIT} {_DATA}")
    guest.run("systemctl start boxman")
    words = f"refuses this table's credentials; its list of tables should hold the key {former_key}"
    _wait_for_uplink(guest, words, lambda uplink: words in str(uplink["last_error"]))
    guest.run(f"systemctl stop boxman && cat {_NEW_UNIT}/table.key > {_DATA}/table.key")
    guest.run("systemctl start boxman")
    _wait_for_uplink(guest, "it is fenced", lambda uplink: uplink["state"] == "fenced")
    guest.run(f"systemctl stop boxman && rm -r {_DATA} && mv {_NEW_UNIT} {_DATA} && systemctl start boxman")
    _wait_for_uplink(guest, "all is delivered", _all_delivered)
    if _at_the_centre(central)[: len(told)] != told:
        raise Failed("the former unit has changed the history at the centre")
    yield "the former unit that returns is refused by its key, and fenced with the new one's", "one history"


def check_history(guest: Guest, central: Central) -> str:
    """That the centre has what the journal has, from the first event on; what was seen of it. Raises Failed."""
    _wait_for_uplink(guest, "all is delivered", _all_delivered)
    told = _at_the_centre(central)
    exported = f"boxman journal export --data {_DATA} | head -n {len(told)} | sha256sum"
    if guest.run(exported).split()[0] != hashlib.sha256(("\n".join(told) + "\n").encode()).hexdigest():
        raise Failed("the centre's history is not the journal's")
    return f"{len(told)} events"


def _listed(guest: Guest, central: Central) -> str:
    """The key of the unit with this data folder, which is now the table's at the centre."""
    public = guest.run(f"boxman table key --data {_DATA} 2>/dev/null")
    file = central.keys / f"{SITE}.{TABLE}.key"
    file.write_text(guest.run(f"cat {_DATA}/table.key") + "\n", encoding="ascii")
    if central.key(f"{SITE}.{TABLE}").public != public:
        raise Failed("the unit says another key than it has")
    central.write()
    central.servers["hub-1"].stop()
    central.start()
    return public


def _at_the_centre(central: Central) -> list[str]:
    return asyncio.run(history(central, SITE, TABLE))


def _all_delivered(uplink: dict[str, Any]) -> bool:
    return (uplink["state"], uplink["undelivered"]) == ("online", 0)


def _wait_for_uplink(guest: Guest, what: str, true: Callable[[dict[str, Any]], bool]) -> None:
    guest.wait_until(lambda: true(guest.state()["uplink"]), what)
