"""What an installed terminal takes: `python -m tests.vm.figures WORK`, WORK as rig.sh has made it.

The machine's clock counts instructions, a billion a second, on one processor, so that a busy host delays the whole and
no part of it: its seconds are those of a computer that does so much, with a disk that takes no time. The product's own
patience is in force.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.vm.booted import SERVICE, Failed, Guest, machine, print_checks
from tests.vm.card_wear import check_card_wear
from tests.vm.installation import PARTITION, TABLE
from tests.vm.updates import PACKAGE, STICK, still_s

# Within which the former release is to be back.
_BACK_S_MAX = 60.0


def figures(guest: Guest) -> Iterator[tuple[str, str]]:
    """Yields what was looked at, and what was seen. Raises Failed."""
    guest.run(f"dpkg -i {PACKAGE}")
    guest.run(f"cat > /run/table.toml <<'END'\n{TABLE.partition('[uplink]')[0]}{PARTITION}END")
    # Its data's place is the partition, from the first start on.
    guest.run(f"systemctl mask --runtime {SERVICE}")
    guest.run("boxman provision install --config /run/table.toml", status=None)
    guest.start_anew("systemctl reboot")
    guest.wait_until_ready()
    guest.start_anew("systemctl reboot")
    told = guest.wait_until_ready()
    ready_s = int(told["ActiveEnterTimestampMonotonic"]) / 1e6
    starts_s = ready_s - int(guest.shows("ExecMainStartTimestampMonotonic")["ExecMainStartTimestampMonotonic"]) / 1e6
    yield "from the kernel's start to the terminal's being ready", f"{ready_s:.1f} s, {starts_s:.1f} s of them its own"
    resident = int(guest.run(f"awk '/^VmRSS/ {{ print $2 }}' /proc/{told['MainPID']}/status")) >> 10
    yield "memory of the terminal", f"{resident} MiB"
    yield "what is written to the data's disk", check_card_wear(guest)

    closed = httpx.post(f"{guest.console}/api/close", json={"id": "c" * 8}, timeout=120)
    if closed.status_code != 200:
        raise Failed(f"the table is not closed: {closed.status_code} {closed.text[:200]}")
    for name in ("broken", "silent"):
        asked_s = float(guest.run("cut -d' ' -f1 /proc/uptime"))
        guest.run(f"boxman update {STICK}/{name}.release", status=1)
        told = guest.wait_until_ready(former=told["MainPID"])
        still, whole = still_s(told), int(told["ActiveEnterTimestampMonotonic"]) / 1e6 - asked_s
        if still > _BACK_S_MAX:
            raise Failed(f"the former release is back after {still:.0f} s")
        yield (
            f"a {name} release, until the former one is ready again",
            f"{still:.1f} s without a terminal, {whole:.1f} s from the command on",
        )


def main() -> int:
    """Print all of them; returns the exit status."""
    work = Path(sys.argv[1])
    (work / "log").mkdir(exist_ok=True)
    with machine(work, counts_instructions=True) as guest:
        return print_checks(figures(guest))


if __name__ == "__main__":
    sys.exit(main())
