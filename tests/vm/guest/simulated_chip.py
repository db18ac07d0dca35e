"""The header of a table's computer as the kernel's gpio-sim makes it: contacts and lamps are files in sysfs."""

from pathlib import Path

_CONFIGURATION = Path("/sys/kernel/config/gpio-sim/header")
_BANK = _CONFIGURATION / "bank0"
# What lgpio opens on a Raspberry Pi.
_DEVICE = Path("/dev/gpiochip0")
# A Raspberry Pi brings out BCM 0 to 27.
_LINES = 28


def create() -> None:
    """Make the chip, all contacts open. It stays when the process ends."""
    _BANK.mkdir(parents=True)
    (_BANK / "num_lines").write_text(str(_LINES))
    (_BANK / "label").write_text("pinctrl-rp1")
    plug()
    for pin in range(_LINES):
        move(pin, closed=False)


def plug() -> None:
    """Bring the chip to life, as /dev/gpiochip0.

    Kernel 6.1 never gives the number of a chip again whose lines were open when it went: the next one is gpiochip1.
    """
    (_CONFIGURATION / "live").write_text("1")
    device = Path("/dev") / (_BANK / "chip_name").read_text().strip()
    if device != _DEVICE:
        _DEVICE.unlink(missing_ok=True)
        _DEVICE.symlink_to(device)


def unplug() -> None:
    """Take the chip away, whoever has it open."""
    (_CONFIGURATION / "live").write_text("0")


def move(pin: int, *, closed: bool) -> None:
    """Close or open the contact between a pin and ground. Claiming the pin with a pull-up opens it, too."""
    (_line(pin) / "pull").write_text("pull-down" if closed else "pull-up")


def lit(pin: int) -> bool:
    """Whether the lamp on an output pin has current."""
    return (_line(pin) / "value").read_text().strip() == "1"


def _line(pin: int) -> Path:
    platform_device = (_CONFIGURATION / "dev_name").read_text().strip()
    chip = (_BANK / "chip_name").read_text().strip()
    return Path("/sys/devices/platform") / platform_device / chip / f"sim_gpio{pin}"
