"""The line between the table and its virtual node: two pseudo-terminals with a bridge between, and its faults.

The bridge passes bytes on as soon as they come. It takes no more from one side than the other has room for, so a
program that does not read holds the node up as a real line would.
"""

import os
import pty
import select
import tty
from collections.abc import Sequence
from pathlib import Path

from drivers.virtual_faults import RATE_OF, Fault

READ_MAX = 1024
# Noise and doubling can each make two bytes of one; nothing more is read before what is waiting is written.
WAITING_BYTES_MAX = 4 * READ_MAX
_DAMAGING = ("noise", "drop", "duplicate")


class Damage:
    """What the faults of a line do to the bytes of one direction, however these come in pieces."""

    def __init__(self, faults: Sequence[Fault], direction: str) -> None:
        by_kind = {fault.kind: fault for fault in faults if fault.kind in _DAMAGING}
        self._faults = [
            (kind, by_kind[kind].number("rate"), by_kind[kind].random(direction))
            for kind in _DAMAGING
            if kind in by_kind
        ]

    def harm(self, data: bytes) -> bytes:
        """What arrives of `data`; at most four times as many bytes."""
        for kind, rate, random in self._faults:
            harmed = bytearray()
            for byte in data:
                hit = random.randrange(RATE_OF) < rate
                if hit and kind == "drop":
                    continue
                if hit and kind == "duplicate":
                    harmed.append(byte)
                elif hit and random.randrange(2):
                    harmed.append(random.randrange(256))
                elif hit:
                    byte ^= 1 << random.randrange(8)
                harmed.append(byte)
            data = bytes(harmed)
        return data


class Line:
    """The line of one node. `link` names its port for as long as it is plugged in, as /dev/serial/by-id does.

    The table's end stays open here as well, so that programs which open and close it come and go as on a real line.
    """

    def __init__(self, link: Path) -> None:
        self.link = link
        self.device = ""
        self._near = -1
        self._master = self._slave = -1
        self._to_table = self._to_node = b""
        self._silent = False
        self.set_faults([])

    def set_faults(self, faults: Sequence[Fault]) -> None:
        """What is wrong with it from now on; a fault's dice begin anew."""
        self._silent = any(fault.kind == "silent" for fault in faults)
        self._damage_to_table = Damage(faults, "to table")
        self._damage_to_node = Damage(faults, "to node")

    def attach(self, node: int) -> None:
        """Take over the end of the node's own pseudo-terminal."""
        tty.setraw(node)
        os.set_blocking(node, False)
        self._near = node

    def detach(self) -> None:
        """Let go of the node; what it still wanted to say is gone."""
        if self._near >= 0:
            os.close(self._near)
        self._near = -1
        self._to_table = self._to_node = b""

    @property
    def plugged(self) -> bool:
        """Whether there is a port."""
        return self._master >= 0

    def plug(self) -> None:
        """Make a port, under another name than the last one."""
        former, spare = self.device, None
        master, slave = pty.openpty()
        if os.ttyname(slave) == former:
            # Held until there is another one, which then has another name.
            spare = (master, slave)
            master, slave = pty.openpty()
        for descriptor in spare or ():
            os.close(descriptor)
        self._master, self._slave = master, slave
        tty.setraw(slave)
        os.set_blocking(master, False)
        self.device = os.ttyname(slave)
        link = self.link.with_name(f"{self.link.name}.new")
        link.unlink(missing_ok=True)
        link.symlink_to(self.device)
        link.replace(self.link)

    def unplug(self) -> None:
        """Take the port away from whoever has it open; what was on its way is gone."""
        if self._master < 0:
            return
        # Another node may have taken the folder over.
        if self.link.is_symlink() and os.readlink(self.link) == self.device:  # noqa: PTH115
            self.link.unlink(missing_ok=True)
        os.close(self._master)
        os.close(self._slave)
        self._master = self._slave = -1
        self._to_table = self._to_node = b""

    def carry(self, timeout_ms: int, wake: int) -> bool:
        """Wait until there is something to pass on, `wake` is readable or the time is over; False: the node is gone."""
        poll = select.poll()
        poll.register(wake, select.POLLIN)
        ends = ((self._near, self._to_table, self._to_node), (self._master, self._to_node, self._to_table))
        for end, heard, said in ends:
            if end >= 0:
                poll.register(end, (0 if heard else select.POLLIN) | (select.POLLOUT if said else 0))
        ready = dict(poll.poll(timeout_ms))
        if self._near in ready and not self._to_table:
            data = _read(self._near)
            if data is None:
                return False
            if self.plugged and not self._silent:
                self._to_table = self._damage_to_table.harm(data)
        elif ready.get(self._near, 0) & select.POLLHUP:
            return False
        if self._master in ready and not self._to_node:
            data = _read(self._master)
            if data and self._near >= 0 and not self._silent:
                self._to_node = self._damage_to_node.harm(data)
        self._to_table = _written(self._master, self._to_table)
        self._to_node = _written(self._near, self._to_node)
        assert len(self._to_table) <= WAITING_BYTES_MAX and len(self._to_node) <= WAITING_BYTES_MAX
        return True


def _read(descriptor: int) -> bytes | None:
    """What has come; None at the end of the line."""
    try:
        return os.read(descriptor, READ_MAX) or None
    except BlockingIOError:
        return b""
    except OSError:
        # The other end of a pseudo-terminal was closed.
        return None


def _written(descriptor: int, data: bytes) -> bytes:
    """Write what there is room for; what is left."""
    if not data or descriptor < 0:
        return data
    try:
        return data[os.write(descriptor, data) :]
    except BlockingIOError:
        return data
    except OSError:
        # The other end has just gone: what it did not read it will not miss.
        return b""
