"""boxman installed on a whole Debian, for real: `python -m tests.vm.installation WORK`, WORK as rig.sh has made it.

One machine, from its first start to the end: package, installation, watchdog, kills, a unit that is replaced, a system
that is read only, updates that hold and others that go back, a commissioning on the table's page, and all of it taken
back. A shell on its second serial port does what a technician would; the console is asked from outside.
"""

import hashlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.central_rig import Central
from tests.vm.booted import SERVICE, Failed, Guest, machine, print_checks
from tests.vm.commissioning import check_commissioning
from tests.vm.replacement import centre, check_history, check_replacement, uplink
from tests.vm.updates import PACKAGE, SILENCE_S, STICK, check_updates

SECRET = "the-password-of-the-uplink"
TABLE = f"""\
[table]
site = "casino-1"
name = "craps-7"
[console]
host = "10.0.2.15"
[hardware]
pins = "mock"
node = "/dev/none"
[uplink]
servers = ["nats://table:{SECRET}@127.0.0.1:4222"]
"""
# An emulated machine on a busy host takes minutes where a table's computer takes seconds.
PATIENCE = f"[Service]\nTimeoutStartSec=1h\nWatchdogSec={SILENCE_S}\n"
PARTITION = '[system]\ndata_partition = "LABEL=boxman-data"\n'
DROP_IN = f"/etc/systemd/system/{SERVICE}.d"
# systemd-analyze calls up to this OK.
EXPOSURE_MAX = 4.9
# Everything that an installation may change: names, modes, owners, targets and contents.
_LOOKED_AT = "! -name '*-' ! -name .pwd.lock ! -path 'etc/boxman*'"
LISTING = (
    f"cd / && find etc usr/local boot lib/systemd {_LOOKED_AT} -printf '%p %m %U:%G %l\\n' | LC_ALL=C sort; "
    f"find etc usr/local -type f {_LOOKED_AT} -exec sha256sum {{}} + | LC_ALL=C sort -k2"
)


def check_all(guest: Guest, central: Central, releases: Path) -> Iterator[tuple[str, str]]:
    """Do one thing after the other; yields what was shown, and what was seen of it.

    `releases` is this host's folder of what is on the machine's disk of packages and releases. Raises Failed.
    """
    guest.run(f"mkdir -p {DROP_IN} && cat > {DROP_IN}/patience.conf <<'END'\n{PATIENCE}END")
    before = guest.run(LISTING)
    table = TABLE.partition("[uplink]")[0] + uplink(central)
    yield from check_package(guest, before)
    yield from check_service(guest)
    yield from check_kills(guest)
    yield from check_replacement(guest, central, table)
    yield from check_read_only(guest, table)
    yield from check_updates(guest, central, releases)
    yield from check_commissioning(guest, f"{STICK}/sound.release")
    yield "through all of it the centre has what the table told", check_history(guest, central)
    yield from check_end(guest, before)


def check_package(guest: Guest, before: str) -> Iterator[tuple[str, str]]:
    """The package, and what an installation would do; `before` is the system's listing."""
    began = time.monotonic()
    guest.run(f"dpkg -i {PACKAGE}")
    if guest.run("boxman --version") != "boxman 0.1.0":
        raise Failed("the package's boxman does not run")
    yield "the package is installed without a network", f"{time.monotonic() - began:.0f} s"

    guest.run(f"cat > /run/table.toml <<'END'\n{TABLE}END")
    shown = guest.run("boxman provision install --config /run/table.toml --dry-run")
    if guest.run(LISTING) != before or "+Type=notify" not in shown or SECRET in shown:
        raise Failed("a dry run changed the system, or did not show it, or showed a password")
    yield "a dry run shows every change and makes none", f"{len(shown.splitlines())} lines"

    yield "an image below a folder is installed and taken back, too", check_image(guest)


def check_service(guest: Guest) -> Iterator[tuple[str, str]]:
    """The terminal as a service: ready, without rights, without a trace of its secrets."""
    said = guest.run("boxman provision install --config /run/table.toml")
    if "take that back first" not in guest.run("dpkg -r boxman", status=1):
        raise Failed("the package goes away beneath a table's computer")
    told = guest.wait_until_ready()
    if told["StatusText"] != "accepts play" or guest.state()["table"]["rules"] != "us-vegas":
        raise Failed(f"the service does not play: {told}")
    yield "installed, it starts and is ready when it accepts play", said.splitlines()[-1]

    pid = told["MainPID"]
    if guest.run(
        f"stat -c %U:%G /proc/{pid}; stat -c '%U:%G %a' /var/lib/boxman /etc/boxman /etc/boxman/table.toml"
    ) != ("boxman:boxman\nboxman:boxman 700\nroot:boxman 750\nroot:boxman 640"):
        raise Failed("the process or its files belong to another, or are open to others")
    strangers = guest.run("find /var/lib/boxman ! -user boxman -o -perm /077")
    if strangers:
        raise Failed(f"of others, or open to them: {strangers}")
    capable = guest.run(f"grep -E 'CapEff|NoNewPrivs|Seccomp:' /proc/{pid}/status").split()
    if capable[1::2] != ["0000000000000000", "1", "2"]:
        raise Failed(f"the process has rights: {capable}")
    yield "it runs as a user without rights, and its files are its own", "no capabilities, seccomp"

    verified = guest.run("systemd-analyze verify /etc/systemd/system/boxman.service")
    exposed = guest.run("systemd-analyze security --no-pager boxman.service").splitlines()[-1]
    exposure = float(exposed.split(":")[1].split()[0])
    if verified or exposure > EXPOSURE_MAX:
        raise Failed(f"{exposed}; {verified}")
    yield "systemd finds the unit sound and its exposure OK", exposed.strip("→ ")

    told_of = guest.run(
        "journalctl --no-pager -b; cat /etc/systemd/system/boxman*.*; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; "
        f"systemctl status --no-pager {SERVICE}",
        status=None,
    )
    if SECRET in told_of:
        raise Failed("the password of the uplink stands in a log, a unit or a process list")
    yield "the password stands in no log, unit or process list", f"looked through {len(told_of)} characters"

    if guest.run("boxman provision install --config /run/table.toml").splitlines()[-1] != "nothing to change":
        raise Failed("a second installation changes something")
    if guest.shows("MainPID")["MainPID"] != pid:
        raise Failed("a second installation that changes nothing starts the terminal anew")
    yield "twice is the same as once", "nothing to change, the terminal plays on"


def check_kills(guest: Guest) -> Iterator[tuple[str, str]]:
    """Whatever ends the terminal, it returns."""
    pid = guest.shows("MainPID")["MainPID"]
    guest.command("a" * 8, {"roll": [3, 1]})
    seq = guest.state()["seq"]
    for how, what in (("STOP", "hangs is killed by the watchdog"), ("KILL", "is killed"), ("SEGV", "crashes")):
        began = time.monotonic()
        guest.run(f"kill -{how} {pid}")
        told = guest.wait_until_ready(former=pid)
        if guest.state()["seq"] < seq or guest.state()["table"]["rules"] != "us-vegas":
            raise Failed(f"after SIG{how} the terminal is not where it was")
        if how == "STOP" and "watchdog" not in guest.run(f"journalctl --no-pager -u {SERVICE}").lower():
            raise Failed("it was not the watchdog")
        pid, seq = told["MainPID"], guest.state()["seq"]
        yield f"a terminal that {what} and returns where it was", f"ready again after {time.monotonic() - began:.0f} s"


def check_read_only(guest: Guest, table: str) -> Iterator[tuple[str, str]]:
    """With a partition for the data, a system that is read only, and starts after whatever end; `table` without it."""
    seq = guest.state()["seq"]
    guest.run(f"cat > /run/table.toml <<'END'\n{table}{PARTITION}END")
    refused = guest.run("boxman provision install --config /run/table.toml", status=1)
    if "holds a table's data" not in refused:
        raise Failed(f"data would be hidden: {refused}")
    guest.run("systemctl stop boxman && mount /dev/vdc /mnt && cp -a /var/lib/boxman/. /mnt && umount /mnt")
    guest.run("rm -r /var/lib/boxman")
    guest.run("boxman provision install --config /run/table.toml")
    guest.wait_until_ready()
    if guest.state()["seq"] < seq:
        raise Failed("the history is not on the partition")
    guest.start_anew("systemctl reboot")
    told = guest.wait_until_ready()
    state = guest.state()
    if state["seq"] < seq or state["table"]["rules"] != "us-vegas":
        raise Failed("after the start the terminal is not where it was")
    guest.run("touch /usr/local/x", status=1)
    guest.run("touch /etc/x /var/x /tmp/x")
    mounted = guest.run("for place in / /var/lib/boxman; do findmnt -n -o SOURCE,OPTIONS $place; done")
    failed = guest.run("systemctl --failed --no-legend --plain")
    if "/dev/vda ro" not in " ".join(mounted.split()) or "/dev/vdc rw" not in " ".join(mounted.split()) or failed:
        raise Failed(f"{mounted}; failed: {failed}")
    ready_s = int(told["ActiveEnterTimestampMonotonic"]) / 1e6
    memory = int(guest.shows("MemoryCurrent")["MemoryCurrent"]) >> 20
    yield (
        "with a data partition the system is read only from the next start on",
        f"ready {ready_s:.0f} s after the kernel",
    )
    yield "what it takes", f"{memory} MiB; {guest.run('systemd-analyze time').splitlines()[0]}"

    # What a technician changes is in memory only; an installation writes it through to the card.
    guest.run("echo '# changed by hand' >> /etc/boxman/table.toml")
    if guest.run("boxman provision install").splitlines()[-1] != "2 changes made":
        raise Failed("an installation does not see what was changed in memory")
    guest.start_anew("echo b > /proc/sysrq-trigger")
    guest.wait_until_ready()
    guest.run("! test -e /etc/x && ! test -e /var/x && grep -q 'changed by hand' /etc/boxman/table.toml")
    if guest.state()["seq"] < state["seq"]:
        raise Failed("after a start without an end the terminal is not where it was")
    if guest.run("systemctl is-active boxman-data-check.service") != "active":
        raise Failed("the data's file system was not looked at")
    yield "after an end without notice it starts with all that was told and installed", f"event {guest.state()['seq']}"


def check_end(guest: Guest, before: str) -> Iterator[tuple[str, str]]:
    """All of it taken back; `before` is the listing of the system before it."""
    if guest.run("boxman provision install").splitlines()[-1] != "nothing to change":
        raise Failed("an installation of what is in place changes something")
    guest.run("boxman provision uninstall")
    guest.start_anew("systemctl reboot")
    after = guest.run(LISTING)
    if after != before:
        was, now = set(before.splitlines()), set(after.splitlines())
        raise Failed(f"left: {sorted(now - was)[:8]}; lost: {sorted(was - now)[:8]}")
    guest.run("id boxman", status=1)
    left = guest.run("mount -o ro /dev/vdc /mnt && find /mnt /etc/boxman -printf '%p %U:%G\\n'; umount /mnt")
    if "/mnt/journal.db" not in left or "/etc/boxman/table.toml 0:0" not in left or "/mnt/journal.db 0:0" not in left:
        raise Failed(f"the data is gone: {left}")
    if guest.run("boxman provision uninstall") != "nothing to take back":
        raise Failed("taking back twice is not the same as once")
    guest.run("dpkg -r boxman && ! test -e /opt/boxman && ! test -e /usr/bin/boxman")
    yield "uninstalled, the system is what it was, and the data stays", hashlib.sha256(after.encode()).hexdigest()[:12]


def check_image(guest: Guest) -> str:
    """Install on a Raspberry Pi's image with a screen, as far as it can be without one. Raises Failed."""
    guest.run(
        "mkdir -p /run/image && cd /run/image && mkdir -p usr/bin usr/local/share opt/boxman/current/bin && "
        "mkdir -p usr/lib/polkit-1 boot/firmware etc/modules-load.d etc/tmpfiles.d etc/udev/rules.d && "
        "mkdir -p etc/systemd/system/multi-user.target.wants && "
        "cp -a /etc/passwd /etc/group /etc/shadow /etc/gshadow etc/ && "
        "for program in usr/bin/cage usr/bin/chromium usr/lib/polkit-1/polkitd opt/boxman/current/bin/boxman; "
        "do cp /bin/true $program; done && "
        "echo dtparam=spi=on > boot/firmware/config.txt && "
        "echo console=serial0,115200 console=tty1 root=/dev/mmcblk0p2 rw > boot/firmware/cmdline.txt && "
        f'printf \'[hardware]\\npins = "lgpio"\\nnode = "usb:e6601"\\n{PARTITION.strip()}\\n\' > /run/pi.toml'
    )
    listing = (
        "cd /run/image && find . ! -name '*-' ! -name .pwd.lock -printf '%p %m %U:%G\\n' | sort && cat boot/firmware/* "
    )
    listing += "etc/passwd etc/group etc/shadow"
    before = guest.run(listing)
    guest.run("boxman provision install --root /run/image --config /run/pi.toml")
    if guest.run("boxman provision install --root /run/image").splitlines()[-1] != "nothing to change":
        raise Failed("a second installation of an image changes something")
    # By number: the machine knows no user of that name yet, or knows him by another one.
    number = guest.run("grep ^boxman: /run/image/etc/group | cut -d: -f3")
    modes = guest.run("cd /run/image/etc/boxman && stat -c '%a %g' . table.toml")
    if not number or modes != f"750 {number}\n640 {number}":
        raise Failed("the image's users are not made, or its configuration is not theirs")
    exposures = []
    for unit in ("boxman", "boxman-kiosk"):
        path = f"/run/image/etc/systemd/system/{unit}.service"
        line = guest.run(f"systemd-analyze security --no-pager --offline=yes {path}").splitlines()[-1]
        exposures.append(line.split(":")[1].split()[0])
        if float(exposures[-1]) > EXPOSURE_MAX:
            raise Failed(line)
    guest.run("boxman provision uninstall --root /run/image && rm -r /run/image/etc/boxman")
    after = guest.run(listing)
    if after != before:
        was, now = set(before.splitlines()), set(after.splitlines())
        raise Failed(f"an image is left with {sorted(now - was)[:8]}, without {sorted(was - now)[:8]}")
    return f"exposure of the terminal {exposures[0]}, of the screen {exposures[1]}"


def main() -> int:
    """Run all checks; returns the exit status."""
    work = Path(sys.argv[1])
    (work / "log").mkdir(exist_ok=True)
    began = time.monotonic()
    with centre(work / "centre") as central, machine(work) as guest:
        print(f"     the machine is up after {time.monotonic() - began:.0f} s", flush=True)
        status = print_checks(check_all(guest, central, work / "releases"))
        if status != 0:
            print(guest.run(f"journalctl --no-pager -b -u {SERVICE} | tail -30", status=None), flush=True)
        return status


if __name__ == "__main__":
    sys.exit(main())
