"""Standard output and error as they may be given: closed, full, in an encoding that lacks letters."""

import io
import os
import sys


def prepare() -> None:
    """Make sure that what is printed can do no harm; a standard output that is closed stays None in `sys`."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number, so this very one: otherwise the journal's or a socket's would take its place,
            # and what is printed would end there.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def visible(text: str) -> str:
    """One line, whatever the text holds."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def complain(text: str) -> None:
    """One line on standard error, whatever the text holds."""
    print(visible(text), file=sys.stderr)


def write_utf8() -> None:
    """From now on standard output is UTF-8, whatever the locale: what is written is data for other programs."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def give_up_output() -> None:
    """Print to nowhere from now on: standard output has failed, and what waits for it would fail again at the end."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
