"""Starts the node on the board it finds itself on."""

import sys

from drivers.node_firmware.node import Node

if sys.platform == "rp2":
    from drivers.node_firmware.board_pico import PicoBoard

    Node(PicoBoard()).run()
else:
    from drivers.node_firmware.board_virtual import VirtualBoard

    Node(VirtualBoard(sys.argv[1])).run()
