"""The table's own screen, for real: `python -m tests.vm.screen WORK`, WORK as rig.sh has made it.

A machine with a display of seven inches, on which the installed service has Debian's cage and Chromium show the
console, from a root that is read only. It is touched by the machine's own pointer, its picture is held against the one
that a browser elsewhere makes of the same page, and all that shows it is ended without notice. The machine's clock
counts instructions, a billion a second, so that the product's own patience is in force however busy the host is.
"""

import base64
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page

from device.screen_watch import SCREEN
from provisioning.install.places import KIOSK_USER
from provisioning.install.plan import KIOSK_SERVICE
from tests.browser_rig import SCREEN as DISPLAY
from tests.browser_rig import browser, show_state, touch_page
from tests.vm.booted import SERVICE, Failed, Guest, machine, print_checks
from tests.vm.control_line import control_line
from tests.vm.installation import PARTITION, TABLE
from tests.vm.updates import PACKAGE

# A page tells every two seconds that it paints.
_PAINTS_S = 6.0
_DROP_IN = f"/etc/systemd/system/{KIOSK_SERVICE}.d"
# Where letters are smoothed a little otherwise, a pixel differs; a dialog, or another page, is far more.
_OTHER_PIXELS_MAX = 0.04
# QEMU's pointer has so many steps across the display.
_POINTER_STEPS = 0x7FFF
# The share of pixels in which two pictures of one size differ in what an eye sees.
_OTHER_PIXELS = """async (pictures) => {
  const pixels = [];
  for (const picture of pictures) {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    pixels.push(context.getImageData(0, 0, image.width, image.height).data);
  }
  const [one, other] = pixels;
  if (one.length !== other.length) return 1;
  let differ = 0;
  for (let at = 0; at < one.length; at += 4)
    if ([0, 1, 2].some((part) => Math.abs(one[at + part] - other[at + part]) > 64)) differ += 1;
  return (differ * 4) / one.length;
}"""


class Screen:
    """The machine's display and pointer."""

    def __init__(self, tell: Any, pictures: Path) -> None:
        self._tell = tell
        self._pictures = pictures

    def picture(self, name: str) -> bytes:
        """What it shows, as PNG; also put down as `name`, to be looked at."""
        path = self._pictures / f"screen-{name}.png"
        self._tell("screendump", filename=str(path), format="png")
        return path.read_bytes()

    def touch(self, x: float, y: float) -> None:
        """Touch it there, in pixels."""
        across = [("x", x, DISPLAY["width"]), ("y", y, DISPLAY["height"])]
        places = [
            {"type": "abs", "data": {"axis": axis, "value": round(at / length * _POINTER_STEPS)}}
            for axis, at, length in across
        ]
        self._tell("input-send-event", events=places)
        for down in (True, False):
            self._tell("input-send-event", events=[{"type": "btn", "data": {"button": "left", "down": down}}])

    def cut_the_power(self) -> None:
        """The machine starts anew, without notice."""
        self._tell("system_reset")


def check_screen(guest: Guest, screen: Screen, elsewhere: Page) -> Iterator[tuple[str, str]]:
    """Do one thing after the other; yields what was shown, and what was seen of it. Raises Failed."""
    guest.run(f"dpkg -i {PACKAGE}")
    guest.run(f"cat > /run/table.toml <<'END'\n{TABLE.partition('[uplink]')[0]}{PARTITION}END")
    # The machine has no display's processor.
    guest.run(
        f"mkdir -p {_DROP_IN} && printf '[Service]\\nEnvironment=WLR_RENDERER=pixman\\n' > {_DROP_IN}/renderer.conf"
    )
    # Its data's place is the partition, from the first start on.
    guest.run(f"systemctl mask --runtime {SERVICE} {KIOSK_SERVICE}")
    guest.run("boxman provision install --config /run/table.toml")
    guest.start_anew("systemctl reboot")
    wait_until_painted(guest)
    ready = f"{uptime_s(guest):.0f} s after the kernel's start"
    yield "a start ends with the console on the table's own screen", ready

    elsewhere.goto(guest.console)
    yield "it shows what a browser elsewhere makes of the page", looks_like(guest, screen, elsewhere, "console")

    for die in ("die-6", "die-5"):
        box = elsewhere.get_by_test_id(die).bounding_box()
        assert box is not None
        untouched = screen.picture("roll")
        screen.touch(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        # A button that moves again at once is taken to bounce.
        wait_until_otherwise(guest, screen, untouched)
    guest.wait_until(lambda: guest.state()["last_roll"] is not None, "a roll by two touches of the screen")
    yield "two touches are a roll", looks_like(guest, screen, elsewhere, "roll")

    guest.run("ip address del 10.0.2.15/24 dev eth0")
    guest.run(f"systemctl restart {SERVICE}")
    told = guest.wait_until_ready()["StatusText"]
    shown = looks_like(guest, screen, elsewhere, "without-network", anew=False)
    guest.run("ip address add 10.0.2.15/24 dev eth0")
    if guest.state()["last_roll"]["dice"] != [6, 5]:
        raise Failed("the console is not at the address that the machine was given")
    yield f"the terminal starts without its address ({told}), and the screen shows it", shown

    yield "what is computed beside the table is there", computed_beside(guest)

    main = f"systemctl show {KIOSK_SERVICE} -p MainPID --value"
    for what, how in (
        ("its browser is killed", "pkill -KILL -o chromium"),
        ("its compositor is killed", "pkill -KILL -x cage"),
        ("its browser hangs", "pkill -STOP chromium"),
        ("the service is killed", f"kill -KILL $({main})"),
    ):
        began_s = uptime_s(guest)
        before = guest.run(main)
        guest.run(how)
        wait_until_another(guest, main, before)
        wait_until_painted(guest, since_s=uptime_s(guest))
        yield f"{what}, and it is back", f"after {uptime_s(guest) - began_s:.0f} s"

    screen.cut_the_power()
    guest.wait_for_shell()
    wait_until_painted(guest)
    yield "after a cut of the power it asks nothing", looks_like(guest, screen, elsewhere, "cut")

    # What is in /tmp is in memory, as all is that is written to a root that is read only.
    written = guest.run(f"find / -xdev -user {KIOSK_USER} ! -path '/tmp/*' ! -path '/var/tmp/*' | head")
    if written:
        raise Failed(f"the browser writes to the disk: {written}")
    yield "nothing of the browser is on the disk", guest.run(f"du -sh /run/{KIOSK_USER} | cut -f1")

    guest.run("boxman provision uninstall")
    guest.start_anew("systemctl reboot")
    yield "uninstalled, its user is gone", guest.run(f"id {KIOSK_USER}", status=1)


def computed_beside(guest: Guest) -> str:
    """Ask for what programs of their own compute, below the service's filter of system calls. Raises Failed."""
    asked = ("/api/statistics", "/api/dice/fairness", "/dice/log")
    for path in asked:
        told = httpx.get(f"{guest.console}{path}", timeout=300)
        if told.status_code != 200:
            raise Failed(f"{path}: {told.status_code} {told.text[:300]}")
    # A start from a snapshot has the journal verified meanwhile; the node is the only thing that this machine lacks.
    alerts = [alert["code"] for alert in guest.state()["alerts"]]
    if alerts != ["node_offline"]:
        raise Failed(f"alerts: {alerts}")
    return ", ".join(asked)


def wait_until_another(guest: Guest, command: str, before: str) -> None:
    """Wait until a command prints another process than `before`. Raises Failed."""
    guest.wait_until(lambda: guest.run(command) not in (before, "0"), f"another process than {before}")


def wait_until_painted(guest: Guest, since_s: float = 0.0) -> None:
    """Wait until the console is painted on the table's own screen, after that time of its clock. Raises Failed."""

    def painted() -> bool:
        try:
            told = httpx.get(f"{guest.console}/api/painted?screen={SCREEN}", timeout=120)
        except httpx.TransportError:
            return False
        ago_s = told.json()["ago_s"] if told.status_code == 200 else None
        return ago_s is not None and ago_s < min(_PAINTS_S, uptime_s(guest) - since_s)

    guest.wait_until(painted, "the console is painted")


def wait_until_otherwise(guest: Guest, screen: Screen, before: bytes) -> None:
    """Wait until the screen shows another picture than `before`. Raises Failed."""
    guest.wait_until(lambda: screen.picture("roll") != before, "another picture")


def looks_like(guest: Guest, screen: Screen, elsewhere: Page, name: str, *, anew: bool = True) -> str:
    """Wait until the screen shows what the page elsewhere does: at each look `anew`, or as it was. Raises Failed."""
    share = 1.0

    def alike() -> bool:
        nonlocal share
        if anew:
            show_state(elsewhere, guest.state())
        wanted = base64.b64encode(elsewhere.screenshot()).decode()
        shown = base64.b64encode(screen.picture(name)).decode()
        share = float(elsewhere.evaluate(_OTHER_PIXELS, [wanted, shown]))
        return share <= _OTHER_PIXELS_MAX

    guest.wait_until(alike, f"the screen looks like {name}")
    return f"{share:.1%} of its pixels differ"


def uptime_s(guest: Guest) -> float:
    """The machine's own clock."""
    return float(guest.run("cut -d' ' -f1 /proc/uptime"))


def main() -> int:
    """Run all checks; returns the exit status."""
    work = Path(sys.argv[1])
    (work / "log").mkdir(exist_ok=True)
    control = work / "screen.control"
    control.unlink(missing_ok=True)
    display = f"virtio-gpu-pci,xres={DISPLAY['width']},yres={DISPLAY['height']}"
    # Of two words for one thing, QEMU takes the last one.
    more = [
        "-m",
        "1536",
        "-device",
        display,
        "-device",
        "virtio-tablet-pci",
        "-qmp",
        f"unix:{control},server=on,wait=off",
    ]
    with (
        machine(work, counts_instructions=True, system="screen", more=more) as guest,
        control_line(control) as tell,
        browser() as chromium,
        touch_page(chromium) as elsewhere,
    ):
        return print_checks(check_screen(guest, Screen(tell, work / "log"), elsewhere))


if __name__ == "__main__":
    sys.exit(main())
