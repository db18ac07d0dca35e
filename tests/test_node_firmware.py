"""The node's program on a board of the test's own, in simulated time."""

import random
import struct

import pytest

from drivers import node_codec as codec
from drivers.node_firmware.board import Board
from drivers.node_firmware.node import REPORTS_MAX, SAMPLE_MS, Node

PINS = (2, 3, 4)
SETTLE_MS = 10
WRAP = 1 << 30


class BenchBoard(Board):
    """Pins, a line and a clock in the test's hand; the clock wraps soon, as MicroPython's does."""

    def __init__(self, boot_id: int = 77) -> None:
        self.ticks = WRAP - 1000
        self.closed: set[int] = set()
        self.pins = b""
        self.bits = 0
        self.incoming = b""
        self.outgoing = b""
        self.room = 1_000_000
        self.boot_id = boot_id

    def ticks_ms(self) -> int:
        return self.ticks

    def ticks_diff(self, later: int, earlier: int) -> int:
        return (later - earlier) % WRAP

    def random_u32(self) -> int:
        return self.boot_id

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        if max(inputs + outputs) > 28:
            raise ValueError("no such pin")
        self.pins = inputs

    def levels(self) -> list[bool]:
        return [pin in self.closed for pin in self.pins]

    def set_outputs(self, bits: int) -> None:
        self.bits = bits

    def read(self) -> bytes:
        data, self.incoming = self.incoming[:64], self.incoming[64:]
        return data

    def write(self, data: bytes) -> int:
        sent = data[: self.room]
        self.outgoing += sent
        self.room -= len(sent)
        return len(sent)


class Bench:
    """A node, its board and a table that hears everything."""

    def __init__(self) -> None:
        self.board = BenchBoard()
        self.node = Node(self.board)
        self.decoder = codec.Decoder()

    def run(self, duration_ms: int) -> list[tuple[int, tuple[int, ...]]]:
        """Let time pass; what the node said, as (type, numbers)."""
        for _ in range(duration_ms // SAMPLE_MS):
            self.board.ticks = (self.board.ticks + SAMPLE_MS) % WRAP
            self.node.step()
        layouts = {codec.HELLO: codec.HELLO_FORMAT, codec.REPORT: codec.REPORT_FORMAT, codec.BEAT: codec.BEAT_FORMAT}
        frames = self.decoder.feed(self.board.outgoing)
        self.board.outgoing = b""
        return [(kind, codec.unpack(layouts[kind], payload)) for _, kind, payload in frames]

    def say(self, kind: int, payload: bytes = b"") -> None:
        self.board.incoming += codec.encode(0, kind, payload)

    def configured(self) -> "Bench":
        self.say(codec.ATTACH)
        self.say(codec.CONFIGURE, bytes((SETTLE_MS, len(PINS), *PINS, 20, 21)))
        hello = [numbers for kind, numbers in self.run(20) if kind == codec.HELLO]
        assert [numbers[4] for numbers in hello] == [codec.crc16(bytes((SETTLE_MS, len(PINS), *PINS, 20, 21)))]
        return self

    def reports(self, duration_ms: int) -> list[tuple[int, ...]]:
        return [numbers for kind, numbers in self.run(duration_ms) if kind == codec.REPORT]

    def acknowledge(self, number: int) -> None:
        self.say(codec.ACKNOWLEDGE, struct.pack(codec.ACKNOWLEDGE_FORMAT, 77, number))

    def press(self, pin: int, hold_ms: int = 40) -> None:
        self.board.closed.add(pin)
        self.run(hold_ms)
        self.board.closed.discard(pin)
        self.run(40)


def test_it_says_nothing_until_a_table_speaks_and_stops_when_the_table_falls_silent() -> None:
    bench = Bench()
    assert bench.run(5000) == []
    bench.configured()
    assert [kind for kind, _ in bench.run(2500)] == [codec.BEAT, codec.BEAT]
    assert [kind for kind, _ in bench.run(5000)] == []


def test_a_press_and_its_release_are_two_numbered_reports_across_a_wrap_of_the_clock() -> None:
    bench = Bench().configured()
    bench.run(900)
    bench.board.closed.add(3)
    (pressed,) = bench.reports(100)
    bench.board.closed.clear()
    (released,) = bench.reports(100)
    assert (pressed[0], pressed[2], pressed[3]) == (1, 3, codec.CLOSED)
    assert (released[0], released[2], released[3], released[4]) == (2, 3, 0, 100)
    assert released[1] - pressed[1] == 100


def test_a_bounce_shorter_than_the_settling_time_is_no_report() -> None:
    bench = Bench().configured()
    for _ in range(10):
        bench.board.closed.add(2)
        bench.run(SETTLE_MS - SAMPLE_MS)
        bench.board.closed.clear()
        assert bench.reports(SETTLE_MS - SAMPLE_MS) == []


def test_a_contact_that_is_closed_from_the_start_is_marked_and_so_is_its_release() -> None:
    bench = Bench()
    bench.board.closed.add(4)
    bench.say(codec.CONFIGURE, bytes((SETTLE_MS, len(PINS), *PINS)))
    ((_, _, pin, flags, _),) = bench.reports(40)
    assert (pin, flags) == (4, codec.CLOSED | codec.INITIAL)
    bench.board.closed.clear()
    assert [report[3] for report in bench.reports(40)] == [codec.INITIAL]
    bench.board.closed.add(4)
    assert [report[3] for report in bench.reports(40)] == [codec.CLOSED]


def test_a_report_is_repeated_every_second_until_it_is_acknowledged() -> None:
    bench = Bench().configured()
    bench.board.closed.add(2)
    assert [report[0] for report in bench.reports(100)] == [1]
    bench.say(codec.BEAT)
    assert [report[0] for report in bench.reports(2000)] == [1, 1]
    bench.acknowledge(1)
    assert bench.reports(2500) == []


def test_an_acknowledgement_for_another_boot_is_not_for_this_one() -> None:
    bench = Bench().configured()
    bench.board.closed.add(2)
    bench.run(100)
    bench.say(codec.ACKNOWLEDGE, struct.pack(codec.ACKNOWLEDGE_FORMAT, 78, 1))
    assert [report[0] for report in bench.reports(1200)] == [1]


def test_what_happened_while_nobody_listened_is_told_to_the_next_table_in_order() -> None:
    bench = Bench().configured()
    bench.run(4000)
    for pin in (2, 3, 2):
        bench.press(pin)
    bench.say(codec.ATTACH)
    said = bench.run(50)
    assert said[0][0] == codec.HELLO and said[0][1][5] == 1
    assert [(n[0], n[2], n[3]) for kind, n in said if kind == codec.REPORT] == [
        (1, 2, 1),
        (2, 2, 0),
        (3, 3, 1),
        (4, 3, 0),
        (5, 2, 1),
        (6, 2, 0),
    ]


def test_a_full_store_counts_what_it_drops_and_ends_with_the_true_level() -> None:
    bench = Bench().configured()
    for _ in range(REPORTS_MAX // 2):
        bench.press(2)
    bench.press(3)
    bench.board.closed.add(4)
    bench.run(40)
    bench.say(codec.ATTACH)
    said = bench.run(200)
    assert said[0][1][6] == 2, "the press of 3 and that of 4"
    reports = [numbers for kind, numbers in said if kind == codec.REPORT]
    assert [report[0] for report in reports] == list(range(1, REPORTS_MAX + 1))
    bench.acknowledge(REPORTS_MAX)
    assert [(report[0], report[2], report[3]) for report in bench.reports(100)] == [(129, 4, 1)]


def test_a_table_that_does_not_read_costs_no_sample() -> None:
    bench = Bench().configured()
    bench.board.room = 5
    bench.press(2)
    bench.say(codec.BEAT)
    bench.press(3)
    bench.board.room = 1_000_000
    bench.say(codec.ATTACH)
    assert [report[2] for report in bench.reports(100)] == [2, 2, 3, 3]


def test_a_pin_that_the_board_lacks_is_not_configured() -> None:
    bench = Bench()
    bench.say(codec.ATTACH)
    bench.say(codec.CONFIGURE, bytes((10, 1, 29)))
    assert [numbers[4] for kind, numbers in bench.run(40) if kind == codec.HELLO] == [codec.crc16(b"")]


def test_outputs_follow_the_table() -> None:
    bench = Bench().configured()
    bench.say(codec.OUTPUTS, struct.pack(codec.OUTPUTS_FORMAT, 2))
    bench.run(10)
    assert bench.board.bits == 2


@pytest.mark.parametrize("seed", range(5))
def test_over_a_bad_line_each_change_arrives_once_and_in_order(seed: int) -> None:
    """Frames are lost both ways and the table comes and goes; it takes reports only in order, as NodeLink does."""
    chance = random.Random(seed)
    bench = Bench().configured()
    pressed: list[int] = []
    taken: list[tuple[int, int]] = []
    last = 0
    present = True
    for step in range(600):
        quiet = step >= 500
        if step % 10 == 0 and not quiet:
            pressed.append(chance.choice(PINS))
            bench.board.closed.add(pressed[-1])
        if step % 10 == 5:
            bench.board.closed.clear()
        if chance.randrange(40) == 0 or quiet:
            present = quiet or not present
        if present and step % 20 == 0:
            bench.say(codec.ATTACH if chance.randrange(4) == 0 else codec.BEAT)
        for kind, numbers in bench.run(40):
            if kind != codec.REPORT or not present or (chance.randrange(3) == 0 and not quiet):
                continue
            if numbers[0] == last + 1:
                last = numbers[0]
                taken.append((numbers[2], numbers[3]))
            if chance.randrange(3) == 0 or quiet:
                bench.acknowledge(last)
    assert taken == [change for pin in pressed for change in ((pin, 1), (pin, 0))]
