"""What the node's program needs of the board it runs on."""

import os
import time

# A board that was not fed for so long starts anew. Longer than the flash takes for one step of keeping a configuration
# (a second at worst), shorter than the RP2040's longest (8.3 s), and no longer than the table takes to miss a node.
WATCHDOG_MS = 3000
CONFIGURATION = "node_configuration"
# A board that finds this file when it starts removes it and stays at the prompt.
INSTALL = "node_install"


class Board:
    """The surroundings of a node. No method waits, save `sleep_ms` and those that say so."""

    # Where the board's files are; ends with a slash where it is not the current folder.
    folder = ""

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

    def start_watchdog(self) -> None:
        """From now on, start the board anew once `feed_watchdog` was not called for WATCHDOG_MS."""
        raise NotImplementedError

    def feed_watchdog(self) -> None:
        """The program is well."""
        raise NotImplementedError

    def keep_configuration(self, data: bytes) -> None:
        """Put the configuration where a restart finds it, or the one before. Waits for the flash. OSError: it fails."""
        path = self.folder + CONFIGURATION
        with open(path + ".new", "wb") as file:  # noqa: PTH123
            file.write(data)
        self.feed_watchdog()
        os.rename(path + ".new", path)  # noqa: PTH104
        self.feed_watchdog()

    def kept_configuration(self) -> bytes:
        """What was last kept; empty when there is nothing."""
        try:
            with open(self.folder + CONFIGURATION, "rb") as file:  # noqa: PTH123
                return file.read()
        except OSError:
            return b""

    def restart_for_install(self) -> None:
        """Start anew, to MicroPython's prompt and without a watchdog. OSError: it cannot."""
        with open(self.folder + INSTALL, "wb"):  # noqa: PTH123
            pass
        self.restart()

    def restart(self) -> None:
        """Start the board anew."""
        raise NotImplementedError

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        """Make these pins inputs, and outputs that are low. ConfigurationRefused: the board lacks one of them."""
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
