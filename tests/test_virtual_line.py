"""The virtual node's line: a real line while nothing is wrong with it, and damage that a seed repeats."""

import os
import pty
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.virtual_faults import Fault
from drivers.virtual_line import WAITING_BYTES_MAX, Damage, Line

# Far more than two pseudo-terminals and the bridge between them hold.
MUCH = 300_000
EVERY_BYTE = {"rate": 10_000}


class Ends:
    """A line with both of its ends in one hand: the node's pseudo-terminal, and the port as a table opens it."""

    def __init__(self, folder: Path) -> None:
        self.line = Line(folder / "node")
        self.node, far = pty.openpty()
        os.set_blocking(self.node, False)
        self.line.attach(far)
        self.line.plug()
        self.woken, self.wake = os.pipe()
        self.table = self.open()

    def open(self) -> int:
        """Open the port through its link."""
        table = os.open(self.line.link, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(table)
        return table

    def carry(self) -> bool:
        return self.line.carry(0, self.woken)

    def close(self) -> None:
        self.line.unplug()
        self.line.detach()
        for descriptor in (self.node, self.table, self.woken, self.wake):
            os.close(descriptor)


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[Ends]:
    made = Ends(tmp_path)
    yield made
    made.close()


def write(descriptor: int, data: bytes) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0


def read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:
        return b""


def passed(ends: Ends, data: bytes) -> bytes:
    """What the table gets of what the node says."""
    assert write(ends.node, data) == len(data)
    got = b""
    for _ in range(20):
        ends.carry()
        got += read(ends.table)
    return got


def test_a_good_line_passes_every_byte_in_both_directions(ends: Ends) -> None:
    random = Random(4)
    to_table, to_node = random.randbytes(MUCH), random.randbytes(MUCH)
    at_table = at_node = b""
    said = asked = idle = 0
    while len(at_table) + len(at_node) < 2 * MUCH:
        before = len(at_table) + len(at_node) + said + asked
        said += write(ends.node, to_table[said : said + 997])
        asked += write(ends.table, to_node[asked : asked + 613])
        assert ends.carry()
        at_table += read(ends.table)
        at_node += read(ends.node)
        idle = idle + 1 if before == len(at_table) + len(at_node) + said + asked else 0
        assert idle < 100_000, f"it stands still at {len(at_table)} and {len(at_node)}"
    assert (at_table, at_node) == (to_table, to_node)


def test_a_byte_is_passed_on_by_the_very_call_that_sees_it(ends: Ends) -> None:
    write(ends.node, b"?")
    assert ends.line.carry(1000, ends.woken)
    assert read(ends.table) == b"?"
    write(ends.table, b"!")
    assert ends.line.carry(1000, ends.woken)
    assert read(ends.node) == b"!"


def test_a_table_that_does_not_read_holds_the_node_up_and_misses_nothing(ends: Ends) -> None:
    data = Random(5).randbytes(MUCH)
    said = 0
    for _ in range(5_000):
        said += write(ends.node, data[said : said + 1000])
        ends.carry()
    assert 0 < said < MUCH // 2, "a line holds a little, and then no more"
    began = time.monotonic()
    ends.line.carry(200, ends.woken)
    assert time.monotonic() - began >= 0.15, "it rests until there is room again"
    got = b""
    for _ in range(1_000):
        got += read(ends.table)
        ends.carry()
    assert got == data[:said]
    assert said > WAITING_BYTES_MAX


def test_programs_come_and_go_on_one_port(ends: Ends) -> None:
    os.close(ends.table)
    assert ends.carry()
    ends.table = ends.open()
    assert passed(ends, b"still there") == b"still there"


def test_a_pulled_cable_takes_the_port_away_and_brings_it_back_under_another_name(ends: Ends, tmp_path: Path) -> None:
    first = ends.line.device
    write(ends.node, b"on its way")
    ends.line.unplug()
    assert not (tmp_path / "node").is_symlink()
    assert not ends.line.plugged
    with pytest.raises(OSError, match="Input/output error"):
        os.write(ends.table, b"x")
    assert ends.carry(), "the node is still there, and what it says meanwhile is gone"
    os.close(ends.table)
    ends.line.plug()
    assert ends.line.device != first
    assert (tmp_path / "node").readlink() == Path(ends.line.device)
    ends.table = ends.open()
    assert passed(ends, b"back") == b"back"


def test_the_link_of_another_node_is_left_alone(ends: Ends, tmp_path: Path) -> None:
    (tmp_path / "node").unlink()
    (tmp_path / "node").symlink_to("/dev/pts/none")
    ends.line.unplug()
    assert (tmp_path / "node").is_symlink()


def test_a_node_that_ends_is_noticed(ends: Ends) -> None:
    os.close(ends.node)
    assert ends.carry() is False
    ends.node, _far = pty.openpty()


def test_a_silent_line_passes_nothing_and_holds_nobody_up(ends: Ends) -> None:
    ends.line.set_faults([Fault("silent")])
    for _ in range(200):
        assert write(ends.node, bytes(1000)) == 1000
        assert write(ends.table, bytes(1000)) == 1000
        while ends.carry() and read(ends.node) + read(ends.table):
            pytest.fail("something came through")
    ends.line.set_faults([])
    assert passed(ends, b"again") == b"again"


def test_faults_of_a_line_harm_both_directions(ends: Ends) -> None:
    ends.line.set_faults([Fault("duplicate", parameters=EVERY_BYTE)])
    assert passed(ends, b"abc") == b"aabbcc"
    write(ends.table, b"xyz")
    ends.carry()
    assert read(ends.node) == b"xxyyzz"


def test_every_byte_can_be_lost_or_doubled() -> None:
    assert Damage([Fault("drop", parameters=EVERY_BYTE)], "to table").harm(b"abc") == b""
    assert Damage([Fault("duplicate", parameters=EVERY_BYTE)], "to table").harm(b"abc") == b"aabbcc"
    assert Damage([], "to table").harm(b"abc") == b"abc"


def test_noise_flips_one_bit_of_a_byte_or_puts_another_byte_before_it() -> None:
    damage = Damage([Fault("noise", seed=3, parameters=EVERY_BYTE)], "to table")
    flipped = added = 0
    for byte in range(256):
        harmed = damage.harm(bytes((byte,)))
        if len(harmed) == 1:
            flipped += 1
            assert (harmed[0] ^ byte).bit_count() == 1
        else:
            added += 1
            assert len(harmed) == 2 and harmed[1] == byte
    assert flipped > 90 and added > 90


@pytest.mark.parametrize(("kind", "left"), [("drop", 99_000), ("duplicate", 101_000), ("noise", 100_500)])
def test_a_rate_is_of_ten_thousand_bytes(kind: str, left: int) -> None:
    # One of a hundred bytes: a thousand of a hundred thousand, with a spread of some thirty.
    harmed = Damage([Fault(kind, seed=1, parameters={"rate": 100})], "to table").harm(bytes(100_000))
    assert left - 200 < len(harmed) < left + 200


@given(
    st.binary(max_size=300),
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.integers(0, 2**32 - 1),
    st.sets(st.sampled_from(("noise", "drop", "duplicate")), min_size=1),
)
def test_the_same_seed_harms_the_same_bytes_however_they_come(
    data: bytes, sizes: list[int], seed: int, kinds: set[str]
) -> None:
    faults = [Fault(kind, seed=seed, parameters={"rate": 2_000}) for kind in sorted(kinds)]
    whole = Damage(faults, "to node").harm(data)
    damage, pieces, start = Damage(faults, "to node"), b"", 0
    while start < len(data):
        size = sizes[start % len(sizes)]
        pieces += damage.harm(data[start : start + size])
        start += size
    assert pieces == whole
    assert len(whole) <= 4 * len(data)


def test_another_seed_or_the_other_direction_harms_other_bytes() -> None:
    data = bytes(2_000)

    def harmed(seed: int, direction: str) -> bytes:
        return Damage([Fault("noise", seed=seed, parameters={"rate": 500})], direction).harm(data)

    assert len({harmed(1, "to table"), harmed(2, "to table"), harmed(1, "to node")}) == 3
