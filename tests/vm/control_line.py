"""QEMU's own control line, a socket: what an emulated computer is told that no program in it could do."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Many times what it takes, because a host may have much other work.
ANSWER_S = 240.0


class MachineFailed(Exception):
    """A machine that did not come as far as it must; the text says where, or names its console's log."""


@contextmanager
def control_line(path: Path) -> Iterator[Any]:
    """QEMU's own control line: a function that does a command and returns the answer. Raises MachineFailed."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_S)
        connection.connect(str(path))
        with connection.makefile("rw", encoding="utf-8") as line:

            def tell(command: str, **arguments: str) -> Any:
                line.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
                line.flush()
                while True:
                    answer = json.loads(line.readline() or '{"error": "the machine has ended"}')
                    if "error" in answer:
                        raise MachineFailed(f"{command}: {answer['error']}")
                    if "return" in answer:
                        return answer["return"]

            line.readline()
            tell("qmp_capabilities")
            yield tell
