"""What the node's program needs of the board it runs on."""

import os
import time


class Board:
    """The surroundings of a node. No method waits, save `sleep_ms`."""

    def running(self) -> bool:
        """Whether to go on."""
        raise NotImplementedError

    def ticks_ms(self) -> int:
        """Milliseconds that wrap around somewhere."""
        return time.ticks_ms()  # type: ignore[attr-defined,no-any-return]

    def ticks_diff(self, later: int, earlier: int) -> int:
        """Milliseconds between two readings of `ticks_ms`."""
        return time.ticks_diff(later, earlier)  # type: ignore[attr-defined,no-any-return]

    def sleep_ms(self, duration_ms: int) -> None:
        """Rest."""
        time.sleep_ms(duration_ms)  # type: ignore[attr-defined]

    def random_u32(self) -> int:
        """A number that tells this start from every other."""
        return int.from_bytes(os.urandom(4), "big")

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        """Make these pins inputs and outputs. ValueError: the board lacks one of them."""
        raise NotImplementedError

    def levels(self) -> list[bool]:
        """Read the inputs, in the order of `configure`; True is a contact closed to ground."""
        raise NotImplementedError

    def set_outputs(self, bits: int) -> None:
        """Drive the outputs: bit n is the level of the n-th one."""
        raise NotImplementedError

    def read(self) -> bytes:
        """What came from the table, perhaps nothing."""
        raise NotImplementedError

    def write(self, data: bytes) -> int:
        """Send what can be sent at once; return how many bytes that was."""
        raise NotImplementedError
