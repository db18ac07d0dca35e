"""Starts the node: on a Pico, which gives its program no arguments, or in the folder that the argument names."""

import micropython  # type: ignore[import-not-found]

# At once, because what the table says meanwhile may hold the byte that interrupts a program.
micropython.kbd_intr(-1)

import os  # noqa: E402
import sys  # noqa: E402

from drivers.node_firmware.board import INSTALL, Board  # noqa: E402
from drivers.node_firmware.node import Node  # noqa: E402


def start(board: Board) -> None:
    """Run the node, or leave the board at the prompt for once when it was restarted for that."""
    try:
        os.remove(board.folder + INSTALL)  # noqa: PTH107
    except OSError:
        Node(board).run()


if len(sys.argv) > 1:
    from drivers.node_firmware.board_virtual import VirtualBoard

    start(VirtualBoard(sys.argv[1]))
else:
    from drivers.node_firmware.board_pico import PicoBoard

    start(PicoBoard())
