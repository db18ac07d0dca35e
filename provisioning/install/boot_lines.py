"""The boot configuration of a Raspberry Pi: what a table's pins and screen need in config.txt and cmdline.txt.

From the Raspberry Pi documentation, "config.txt" (a later line goes before an earlier one, [all] ends a filter, `gpio`
sets pins before the kernel runs) and "Kernel command line". Both files are changed in such a way that the change can be
taken back, whatever else was changed in them meanwhile.
"""

import re
from collections.abc import Iterable, Sequence

from drivers.wiring import Wiring

BEGIN = '# boxman: begin (by "boxman provision install"; what is changed here is overwritten)'
END = "# boxman: end"
# One block alone, also at the end of a text that was left without a last line end.
_BLOCK = re.compile(rf"\n?{re.escape(BEGIN)}\n(?:(?!{re.escape(BEGIN)}).)*?{re.escape(END)}(?:\n|\Z)", re.DOTALL)

# What else may take a pin of the header, and the line that keeps it from doing so.
_TAKERS = (
    ((2, 3), "dtparam=i2c_arm=off"),
    ((7, 8, 9, 10, 11), "dtparam=spi=off"),
    ((14, 15), "enable_uart=0"),
    ((18, 19, 20, 21), "dtparam=i2s=off"),
)
_SERIAL_PINS = (14, 15)
_SERIAL_CONSOLE = re.compile(r"console=(serial|ttyAMA|ttyS)[0-9].*")


def header_pins(wiring: Wiring) -> set[int]:
    """The pins of the header that are wired."""
    return {pin.number for pin in wiring.pins.values() if pin.board == "header"}


def with_block(config: str, wiring: Wiring) -> str:
    """The text of config.txt with the lines for this wiring at its end."""
    pins = header_pins(wiring)
    lines = ["[all]", "disable_splash=1", "dtparam=watchdog=on"]
    lines += [line for taken, line in _TAKERS if pins & set(taken)]
    # As the terminal will have them, from the first moment: a lamp that nobody drives may glow.
    lines += _gpio(wiring.inputs("header").values(), "ip,pu") + _gpio(wiring.lamps("header").values(), "op,dl")
    return "\n".join([without_block(config), BEGIN, *lines, END, ""])


def without_block(config: str) -> str:
    """The text of config.txt without those lines."""
    return _BLOCK.sub("", config)


def config_fault(config: str) -> str | None:
    """What somebody has done to config.txt so that the lines in it cannot be told from others; None: nothing."""
    left = without_block(config).splitlines()
    if BEGIN in left or END in left:
        return f'has only one of the lines "{BEGIN}" and "{END}"; remove it and what belongs to it'
    return None


def command_line_fault(line: str) -> str | None:
    """What is wrong with cmdline.txt; None: nothing."""
    if sum(bool(each.strip()) for each in line.splitlines()) != 1:
        return "must be one line, which is all that the kernel gets; remove the others"
    return None


def _gpio(pins: Iterable[int], state: str) -> list[str]:
    numbers = ",".join(str(pin) for pin in sorted(pins))
    return [f"gpio={numbers}={state}"] if numbers else []


def words_for(read_only: bool) -> tuple[str, ...]:
    """The words that the kernel's command line needs."""
    words = ("fsck.repair=yes", "consoleblank=0", "quiet", "loglevel=3", "logo.nologo", "vt.global_cursor_default=0")
    return (*words, *(["ro"] if read_only else []))


def command_line(now: str, words: Sequence[str], wiring: Wiring) -> str:
    """The text of cmdline.txt with `words` in it, and without what contradicts them or takes a wired pin."""
    kept = [word for word in now.split() if not _contradicts(word, words, wiring)]
    return " ".join([*kept, *(word for word in words if word not in kept)]) + "\n"


def former_command_line(now: str, former: str, words: Sequence[str]) -> str:
    """The text of cmdline.txt as it was: without `words` that `former` had not, with what was taken out of it."""
    was = former.split()
    kept = [word for word in now.split() if word in was or word not in words]
    lost = [word for word in was if word not in kept]
    both = kept + lost
    return former if sorted(both) == sorted(was) else " ".join(both) + "\n"


def _contradicts(word: str, words: Sequence[str], wiring: Wiring) -> bool:
    if word in words:
        return False
    if word == "rw":
        return "ro" in words
    if _SERIAL_CONSOLE.fullmatch(word):
        return bool(header_pins(wiring) & set(_SERIAL_PINS))
    key, equals, _ = word.partition("=")
    return bool(equals) and any(each.startswith(f"{key}=") for each in words)
