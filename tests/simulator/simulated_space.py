"""The room on the simulated disk, as the terminal asks for it."""

from pathlib import Path
from typing import Final

from device.disk_space import DiskSpace, SpaceLimits
from tests.simulator.simulated_disk import SimulatedDisk

KIB: Final = 1024
ROOMY_BYTES: Final = 1 << 30
LIMITS: Final = SpaceLimits(reserve=512 * KIB, stop=128 * KIB, resume=512 * KIB)
"""As the product's are to its write-ahead log of 1,000 pages, these are to one of some thirty."""


class SimulatedSpace(DiskSpace):
    """A reserve that is taken from the simulated disk's room; `holds_reserve` outlives a power cut as a file does."""

    def __init__(self, folder: Path, disk: SimulatedDisk, *, holds_reserve: bool) -> None:
        super().__init__(folder, LIMITS)
        self._disk = disk
        self.holds_reserve = holds_reserve

    def free_bytes(self) -> int:
        return ROOMY_BYTES if self._disk.bytes_free is None else self._disk.bytes_free

    def give_up_reserve(self) -> None:
        if self.holds_reserve and self._disk.bytes_free is not None:
            self._disk.bytes_free += LIMITS.reserve
        self.holds_reserve = False

    def _held_bytes(self) -> int:
        return LIMITS.reserve if self.holds_reserve else 0

    def _make_reserve(self) -> bool:
        if self._disk.bytes_free is not None:
            if self._disk.bytes_free < LIMITS.reserve:
                return False
            self._disk.bytes_free -= LIMITS.reserve
        self.holds_reserve = True
        return True
