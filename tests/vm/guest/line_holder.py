"""Another program that has lines of the chip: `python3 -m tests.vm.guest.line_holder 27 18`, until its input ends."""

import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Claim the lines as inputs, say so, and wait."""
    lgpio: Any = import_module("lgpio")
    chip = lgpio.gpiochip_open(0)
    for pin in sys.argv[1:]:
        lgpio.gpio_claim_input(chip, int(pin))
    print("held", flush=True)
    sys.stdin.read()


main()
