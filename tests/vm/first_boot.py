"""A card for a new unit, for real: `python -m tests.vm.first_boot WORK`, WORK as rig.sh has made it.

One machine, a Debian 13 with cloud-init that takes its boot partition as Raspberry Pi OS does; on that partition lies
what `boxman provision card` has made. Nobody does anything in the machine but look, cut its power, and start it anew.
The receiver runs here, on loopback, which the machine sees as 10.0.2.2.
"""

import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.central_rig import Authority
from tests.conformance_rig import Program
from tests.free_ports import free_port
from tests.vm.booted import DEADLINE_S, HOST, Failed, Guest, print_checks, running

SITE, TABLE = "casino-1", "craps-9"
FIRST_BOOT = "boxman-first-boot.service"
CARD = "/boot/firmware/boxman"
# What Raspberry Pi OS has there, as far as it matters to a table's computer.
BOOT_FILES = {"config.txt": "dtparam=spi=on\n", "cmdline.txt": "console=tty1 root=/dev/vda rootfstype=ext4\n"}
BOOT_MIB = 64
TABLE_FILE = f"""\
[table]
site = "{SITE}"
name = "{TABLE}"
[console]
host = "10.0.2.15"
[hardware]
pins = "mock"
node = "/dev/none"
[uplink]
servers = ["tls://{HOST}:4222"]
ca = "ca.pem"
"""


class Centre:
    """A receiver on loopback, the card that was made with it, and the code on the card."""

    def __init__(self, folder: Path, package: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._program = Program(folder / "receiver")
        authority = Authority(folder)
        certificate, key = authority.issue("receiver", f"IP:{HOST}")
        self.configuration = folder / "receiver.toml"
        self.configuration.write_text(
            f'[receiver]\nport = {self.port}\ncertificate = "{certificate}"\nkey = "{key}"\n'
            'store = "events.db"\nenrolments = "enrolments.db"\n',
            encoding="utf-8",
        )
        self.card = folder / "card"
        (folder / "table.toml").write_text(TABLE_FILE, encoding="utf-8")
        ssh_key = folder / "ana"
        subprocess.run(("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(ssh_key)), check=True)
        self.ssh_key = ssh_key.with_suffix(".pub").read_text(encoding="ascii").strip()
        words: list[str | Path] = ["provision", "card", "--config", folder / "table.toml"]
        words += ["--receiver", self.configuration]
        words += ["--enrol", f"https://{HOST}:{self.port}", "--ca", authority.ca, "--package", package]
        _boxman(*words, "--ssh-key", ssh_key.with_suffix(".pub"), "--output", self.card)
        (self.code,) = re.findall('code = "([A-Z2-7]{32})"', (self.card / "boxman/enrolment.toml").read_text())

    def start(self) -> None:
        """Start the receiver, and wait until units can come."""
        self._program.run([*_BOXMAN, "central", "receive", "--config", str(self.configuration)])
        deadline = time.monotonic() + DEADLINE_S
        while True:
            self._program.check_runs()
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1.0):
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise Failed("the receiver does not start") from None
                time.sleep(0.1)

    def stop(self) -> None:
        """Stop it."""
        self._program.kill()

    def enrolled(self) -> str:
        """What it says of the card."""
        return _boxman("central", "enrolment", "list", "--receiver", self.configuration)


_BOXMAN = (sys.executable, "-m", "provisioning.command_line")


def _boxman(*words: str | Path) -> str:
    done = subprocess.run((*_BOXMAN, *map(str, words)), check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"boxman {' '.join(map(str, words[:3]))}: {done.stderr.strip()}")
    return done.stdout


def boot_partition(card: Path, image: Path) -> None:
    """A FAT file system as the first partition of a Raspberry Pi's card, with what a card for a unit holds."""
    image.unlink(missing_ok=True)
    subprocess.run(("mformat", "-C", "-i", image, "-F", "-T", str(BOOT_MIB << 11), "::"), check=True)
    with tempfile.TemporaryDirectory() as name:
        for file, text in BOOT_FILES.items():
            (Path(name) / file).write_text(text, encoding="ascii")
        for folder in (Path(name), card):
            subprocess.run(("mcopy", "-s", "-i", image, *sorted(folder.iterdir()), "::"), check=True)


@contextmanager
def machine(work: Path, boot: Path) -> Iterator[Guest]:
    """A machine whose disks forget all when it ends."""
    files = {"root": work / "first-boot.img", "stick": work / "releases.img", "boot": boot}
    disks = {name: f"file={file},snapshot=on" for name, file in files.items()}
    with running(work, "first_boot", ["-m", "1024", "-smp", "2"], disks) as guest:
        yield guest


def check_all(guest: Guest, centre: Centre, console: Path) -> Iterator[tuple[str, str]]:
    """Look on; yields what was shown, and what was seen of it. Raises Failed."""
    said = guest.run("cloud-init status --wait --long; hostname", status=None)
    if "DataSourceNoCloud" not in said or "errors: []" not in said or said.splitlines()[-1] != f"{SITE}-{TABLE}":
        raise Failed(f"cloud-init did not do what the card says: {said}")
    if (asks := guest.run("systemctl is-enabled userconfig.service", status=None)) != "masked":
        raise Failed(f"somebody is asked for a first user: {asks}")
    yield "cloud-init takes the card, and nobody is asked for anything", guest.run("cloud-init --version").split()[-1]

    open_to = guest.run("awk -F: '$2 !~ /^[!*]/ { print $1 }' /etc/shadow")
    keys = guest.run("cat /home/*/.ssh/authorized_keys /root/.ssh/authorized_keys", status=None)
    if open_to or keys != centre.ssh_key:
        raise Failed(f"others may come in: {open_to}; {keys}")
    yield "nobody has a password, and the technician comes in with his key", "as technician, by SSH"

    guest.wait_until(lambda: guest.run("ls /opt/boxman/releases", status=None).startswith("0."), "it is unpacked")
    guest.start_anew("echo b > /proc/sysrq-trigger")
    tried = f"journalctl --no-pager -b -u {FIRST_BOOT}"
    guest.wait_until(lambda: f"boxman: https://{HOST}:{centre.port}: " in guest.run(tried), "it asks the centre")
    if guest.run(f"ls {CARD}/enrolment.toml; ls /etc/boxman/table.toml", status=2).splitlines()[0][:5] != "/boot":
        raise Failed("the card has lost what it needs")
    yield "after a power cut in the middle it goes on, up to a centre that does not answer", "no configuration yet"

    began = time.monotonic()
    centre.start()
    # Nobody does this: the unit starts anew, once it is installed.
    guest.wait_for_shell()
    guest.wait_until(lambda: guest.run(f"ls -d {CARD}", status=None) != CARD, "the unit is ready")
    text = console.read_text(encoding="utf-8", errors="replace")
    (key,) = re.findall(rf"enrolled as table {TABLE} of {SITE}, key (U[A-Z2-7]{{55}})", text)
    if not re.search(r"ready to commission\s", text[text.index(key) :]):
        raise Failed("the screen does not say that it is ready")
    yield "it makes its key, enrols, installs itself, starts anew and is ready", f"{time.monotonic() - began:.0f} s"

    if not re.fullmatch(rf"{SITE} {TABLE} enrolled [-0-9]+ [0-9:]+ UTC, key {key}\n", centre.enrolled()):
        raise Failed(f"the centre knows another unit: {centre.enrolled()}")
    if guest.run("cat /etc/boxman/table.toml") != TABLE_FILE.strip():
        raise Failed("the unit has another configuration")
    guest.run(f"mkdir -p /run/copied && cat > /run/copied/enrolment.toml <<'END'\n{_enrolment(centre)}END")
    guest.run("cp /etc/boxman/ca.pem /run/copied/")
    words = "--from /run/copied/enrolment.toml --config /run/copied/table.toml --data /run/copied/data"
    refused = guest.run(f"boxman provision enrol {words}; rm -r /run/copied", status=None)
    if "this code was used by another unit" not in refused:
        raise Failed(f"the code is still good: {refused}")
    yield "the centre has its key, and whoever has copied the card comes too late", key

    looked_at = "/boot /etc /home /opt /root /run /srv /tmp /usr /var"
    if found := guest.run(f"grep -rlsF {centre.code} {looked_at}", status=None):
        raise Failed(f"the code is left in {found}")
    yield "no file has the code any more", "looked through all file systems"

    guest.wait_until_ready()
    boot = "ls -A /boot/firmware; cat /boot/firmware/config.txt /boot/firmware/cmdline.txt"
    units = "systemctl --failed --no-legend --plain; systemctl is-system-running"
    before, state = guest.run(boot), guest.run(units, status=None)
    if state != "running" or "boxman" in before.splitlines()[: before.splitlines().index("config.txt")]:
        raise Failed(f"{state}; {before}")
    events = "boxman journal verify --data /var/lib/boxman | head -1"
    first = int(guest.run(events).split()[0])
    guest.start_anew("systemctl reboot")
    guest.wait_until_ready()
    left = guest.run(f"systemctl show -p LoadState --value {FIRST_BOOT}; cloud-init status", status=None)
    if left.split() != ["not-found", "status:", "disabled"]:
        raise Failed(f"the next start does something again: {left}")
    if guest.run(boot) != before or guest.run(units, status=None) != state:
        raise Failed(f"the next start leaves another system: {guest.run(units, status=None)}")
    if int(guest.run(events).split()[0]) <= first or guest.state()["table"]["rules"] != "us-vegas":
        raise Failed("the terminal is not where it was")
    yield "the next start is that of a table's terminal, and nothing else", guest.run("systemd-analyze time | head -1")


def _enrolment(centre: Centre) -> str:
    return (centre.card / "boxman" / "enrolment.toml").read_text(encoding="utf-8")


def main() -> int:
    """Run all checks; returns the exit status."""
    work = Path(sys.argv[1])
    (work / "log").mkdir(exist_ok=True)
    (package,) = (work / "releases").glob("boxman_*_amd64.deb")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        centre = Centre(Path(name), package)
        boot = Path(name) / "boot.img"
        boot_partition(centre.card, boot)
        try:
            with machine(work, boot) as guest:
                print(f"     the machine is up after {time.monotonic() - began:.0f} s", flush=True)
                status = print_checks(check_all(guest, centre, work / "log" / "first_boot.txt"))
                if status != 0:
                    print(guest.run("journalctl --no-pager -b | tail -60", status=None), flush=True)
                return status
        finally:
            centre.stop()


if __name__ == "__main__":
    sys.exit(main())
