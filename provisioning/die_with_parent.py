"""A program that another one starts, and that must not be left behind when that one ends, however it ends (Linux)."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

# Asks the kernel to be killed with the parent, then becomes the program. A program of its own, not preexec_fn,
# which may lock up in a process with threads. The parent may be gone already before the request: look once.
_DIE_WITH_PARENT: Final = """
import ctypes, os, sys
PR_SET_PDEATHSIG = 1
if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(sys.argv[2])) != 0:
    sys.exit("prctl: " + os.strerror(ctypes.get_errno()))
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent has ended")
os.execv(sys.argv[3], sys.argv[3:])
"""


def die_with_parent(command: Sequence[str]) -> list[str]:
    """The command line that runs `command`, a path and its arguments, until the thread that starts it ends.

    Elsewhere than on Linux it is `command` itself.
    """
    if sys.platform != "linux":
        return list(command)
    wrapper = [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT]
    return [*wrapper, str(os.getpid()), str(int(signal.SIGKILL)), *command]
