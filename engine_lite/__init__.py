"""Rules and settlement of craps in whole numbers; runs on CPython and MicroPython."""
