"""What runs on the I/O node, a Raspberry Pi Pico with MicroPython, and under MicroPython's unix port in its place.

On a Pico, where `boxman node install` puts it: `main.py` in the root of its file system, and under `drivers/` the files
`debounce.py` and `node_codec.py` and `node_firmware/` with `node.py`, `board.py` and `board_pico.py`. Beside `main.py`
the board keeps its configuration, in `node_configuration`.
"""
