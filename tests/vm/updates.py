"""Signed releases on a table's computer that is read only: those that are refused, that hold, and that go back."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.central_rig import Central
from tests.release_rig import served
from tests.vm.booted import HOST, Failed, Guest

# As `rig.sh` has mounted it: a technician's USB stick.
STICK = "/boxman"
PACKAGE = f"{STICK}/boxman_0.1.0_amd64.deb"
TRIAL = "/run/systemd/system/boxman.service.d/zz-boxman-trial.conf"
# How long a terminal may say nothing, on a machine that is as slow as this one; the product's own is 30 s.
SILENCE_S = 120
# What is refused while nothing else stands in the way, and the words that say why.
REFUSED = {
    "stranger": "not with this installation's release key",
    "altered": "has a wrong signature",
    "cut": "is damaged",
    "foreign": "is for arm64, this computer is amd64",
    "blind": "does not read this table's journal",
    "first": "0.1.0 is in force already",
}
_FACTS = "cat /opt/boxman/current/release.json; ls -A /opt/boxman/releases; findmnt -n -o OPTIONS / | cut -c1-3"


def check_updates(guest: Guest, central: Central, releases: Path) -> Iterator[tuple[str, str]]:
    """Update to a sound release, to ones that are not, and back; yields as `check_all` does.

    `releases` is this host's folder of what is on the stick. Raises Failed.
    """
    pid = guest.wait_until_ready()["MainPID"]
    before = guest.run(_FACTS)
    _expect(_refused(guest, "sound"), "the table is open; close it first")
    asked = {"id": "c" * 8}
    closed = httpx.post(f"{guest.console}/api/close", json=asked, timeout=120)
    if closed.status_code != 200:
        raise Failed(f"the table is not closed: {closed.status_code} {closed.text[:200]}")
    for name, why in REFUSED.items():
        _expect(_refused(guest, name), why)
    if guest.run(_FACTS) != before or guest.shows("MainPID")["MainPID"] != pid:
        raise Failed("a refused release changed something")
    yield "releases are refused in one line, and nothing is changed", f"{len(REFUSED) + 1} reasons"

    seq = guest.state()["seq"]
    began = time.monotonic()
    said = guest.run(f"boxman update {STICK}/sound.release && test ! -e {TRIAL}")
    _expect_version(guest, "0.2.0", "ro,")
    if "0.2.0 is in force" not in said:
        raise Failed(f"an update that holds says {said}")
    told = guest.wait_until_ready(former=pid)
    if guest.state()["seq"] <= seq or guest.shows("Restart")["Restart"] != "always":
        raise Failed("after an update the terminal is not where it was")
    yield "a signed release takes over and is in force", f"after {time.monotonic() - began:.0f} s"

    _expect(_refused(guest, "broken"), "0.3.0 has not proven itself, and 0.2.0 is in force")
    told = _expect_back(guest, told["MainPID"], "0.2.0")
    yield "a release that breaks goes back by itself", f"the table stood still for {still_s(told):.0f} s"

    _expect(_refused(guest, "silent"), f"nothing was heard of it for {SILENCE_S} s")
    told = _expect_back(guest, told["MainPID"], "0.2.0")
    yield (
        "a release that says nothing goes back by itself",
        f"the table stood still for {still_s(told):.0f} s, {SILENCE_S} s of them in patience",
    )

    # Whoever has asked for it goes away, and then the power.
    guest.say(f"boxman update {STICK}/silent.release >/dev/null 2>&1 & update=$!")
    running = "/opt/boxman/releases/0.4.0/bin/python3"
    guest.wait_until(lambda: running in guest.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), "0.4.0 is on trial")
    guest.run("kill -HUP $update; wait $update; systemctl is-active boxman-trial.service")
    _expect(_refused(guest, "sound"), "another update is under way")
    guest.start_anew("echo b > /proc/sysrq-trigger")
    guest.wait_until_ready()
    _expect_version(guest, "0.2.0", "ro,")
    yield "a power cut in the middle of a trial starts the former release", "0.2.0"

    # Killed, the trial is no reason to keep what has not proven itself.
    guest.say(f"boxman update {STICK}/silent.release >/dev/null 2>&1 &")
    guest.wait_until(lambda: running in guest.run("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), "0.4.0 is on trial")
    guest.run("systemctl kill --signal=KILL boxman-trial.service")
    guest.wait_until(lambda: not guest.run(f"ls {TRIAL}", status=None).startswith("/"), "the trial is over")
    guest.wait_until_ready()
    _expect_version(guest, "0.2.0", "ro,")
    yield "a trial that is killed ends with the former release", "0.2.0"

    certificate, key = central.authority.issue("releases", f"IP:{HOST}")
    with served(releases, certificate, key) as port:
        guest.run(f"boxman update https://{HOST}:{port}/first.release")
    _expect_version(guest, "0.1.0", "ro,")
    events = guest.run("boxman journal export --data /var/lib/boxman | grep -o '\"downgrade\":true' | sort | uniq -c")
    if events.split() != ["1", '"downgrade":true']:
        raise Failed(f"an older release is not told of as one: {events}")
    if strangers := guest.run("find /var/lib/boxman ! -user boxman ! -name lost+found"):
        raise Failed(f"what an update looked at is another's now: {strangers}")
    yield "an older release, from a server of the site's over HTTPS, takes over and is an event", "downgrade"


def _refused(guest: Guest, name: str) -> str:
    """What an update that is refused says."""
    return guest.run(f"boxman update {STICK}/{name}.release", status=1)


def _expect(said: str, why: str) -> None:
    if why not in said.splitlines()[-1] or not said.splitlines()[-1].startswith("boxman: "):
        raise Failed(f"not refused because {why}: {said}")


def _expect_version(guest: Guest, version: str, root: str) -> None:
    said = guest.run(f"boxman --version; {_FACTS}")
    if f"boxman {version}" not in said or not said.endswith(root):
        raise Failed(f"not {version} is in force: {said}")


def _expect_back(guest: Guest, former_pid: str, version: str) -> dict[str, str]:
    """The release that was before is ready again, and its unit is as it was."""
    told = guest.wait_until_ready(former=former_pid)
    _expect_version(guest, version, "ro,")
    guest.run(f"test ! -e {TRIAL}")
    if guest.shows("Restart")["Restart"] != "always":
        raise Failed("a trial is left behind")
    return told


def still_s(told: dict[str, str]) -> float:
    """From the end of the terminal that ran before to this one's being ready, by the machine's own clock."""
    return (int(told["ActiveEnterTimestampMonotonic"]) - int(told["ActiveExitTimestampMonotonic"])) / 1e6
