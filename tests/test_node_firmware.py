"""The node's program on a board of the test's own, in simulated time."""

import random
import struct
from typing import NamedTuple

import pytest

from drivers import node_codec as codec
from drivers.node_firmware.board import Board
from drivers.node_firmware.node import REPORTS_MAX, SAMPLE_MS, Node

PINS = (2, 3, 4)
SETTLE_MS = 10
WRAP = 1 << 30
CONFIGURATION = bytes((3, 2, 10, 3, 10, 4, 10, 20, 21))
CRC = codec.crc16(CONFIGURATION)
LAYOUTS = {
    codec.HELLO: codec.HELLO_FORMAT,
    codec.REPORT: codec.REPORT_FORMAT,
    codec.BEAT: codec.NODE_BEAT_FORMAT,
    codec.REFUSED: codec.REFUSED_FORMAT,
}


class BenchBoard(Board):
    """Pins, a line, a flash and a clock in the test's hand; the clock wraps soon, as MicroPython's does."""

    def __init__(self, boot_id: int = 77, kept: bytes = b"") -> None:
        self.ticks = WRAP - 1000
        self.closed: set[int] = set()
        self.pins = b""
        self.bits = 0
        self.incoming = b""
        self.outgoing = b""
        self.room = 1_000_000
        self.boot_id = boot_id
        self.kept = kept
        self.times_kept = 0
        self.flash_fails = False
        self.restarted_for_install = False

    def ticks_ms(self) -> int:
        return self.ticks

    def ticks_diff(self, later: int, earlier: int) -> int:
        return (later - earlier) % WRAP

    def random_u32(self) -> int:
        return self.boot_id

    def keep_configuration(self, data: bytes) -> None:
        if self.flash_fails:
            raise OSError(5)
        self.times_kept += 1
        self.kept = data

    def kept_configuration(self) -> bytes:
        return self.kept

    def restart_for_install(self) -> None:
        self.restarted_for_install = True

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        for pin in inputs + outputs:
            if pin > 28:
                raise codec.ConfigurationRefused(codec.PIN_MISSING, pin)
        self.pins = inputs
        self.bits = 0

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


class Hello(NamedTuple):
    """The numbers of a HELLO."""

    protocol: int
    major: int
    minor: int
    token: int
    boot_id: int
    configuration: int
    first: int
    dropped: int
    levels: int


class Bench:
    """A node, its board and a table that hears everything."""

    def __init__(self, board: BenchBoard | None = None) -> None:
        self.board = board or BenchBoard()
        self.node = Node(self.board)
        self.decoder = codec.Decoder()
        self.sequence = 0

    def run(self, duration_ms: int) -> list[tuple[int, tuple[int, ...]]]:
        """Let time pass; what the node said, as (type, numbers)."""
        for _ in range(duration_ms // SAMPLE_MS):
            self.board.ticks = (self.board.ticks + SAMPLE_MS) % WRAP
            self.node.step()
        frames = self.decoder.feed(self.board.outgoing)
        self.board.outgoing = b""
        return [(kind, codec.unpack(LAYOUTS[kind], payload)) for _, kind, payload in frames]

    def skip(self, duration_ms: int) -> None:
        """Let time pass at once."""
        self.board.ticks = (self.board.ticks + duration_ms) % WRAP

    def say(self, kind: int, payload: bytes = b"") -> None:
        self.board.incoming += codec.encode(self.sequence, kind, payload)
        self.sequence += 1

    def attach(self, token: int = 0) -> None:
        self.say(codec.ATTACH, struct.pack(codec.ATTACH_FORMAT, token))

    def hello(self, duration_ms: int = 20) -> Hello:
        """Attach, and let time pass for the answer."""
        self.attach()
        (hello,) = [Hello(*numbers) for kind, numbers in self.run(duration_ms) if kind == codec.HELLO]
        return hello

    def configured(self) -> "Bench":
        self.attach()
        self.say(codec.CONFIGURE, CONFIGURATION)
        hello = [numbers for kind, numbers in self.run(20) if kind == codec.HELLO]
        assert [Hello(*numbers).configuration for numbers in hello] == [CRC]
        return self

    def beat(self, bits: int = 0) -> None:
        self.say(codec.BEAT, struct.pack(codec.TABLE_BEAT_FORMAT, bits))

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
    bench.attach()
    bench.say(codec.CONFIGURE, CONFIGURATION)
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
    bench.beat()
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
    bench.attach()
    said = bench.run(50)
    assert said[0][0] == codec.HELLO and Hello(*said[0][1]).first == 1
    assert [(n[0], n[2], n[3]) for kind, n in said if kind == codec.REPORT] == [
        (1, 2, 1),
        (2, 2, 0),
        (3, 3, 1),
        (4, 3, 0),
        (5, 2, 1),
        (6, 2, 0),
    ]


def test_a_full_store_counts_what_it_drops_and_ends_with_the_true_level() -> None:
    """The last change of each contact waits for room, with its own time; the pair before it was lost."""
    bench = Bench().configured()
    for _ in range(REPORTS_MAX // 2):
        bench.press(2)
    bench.press(3)
    bench.press(4)
    bench.press(4)
    bench.board.closed.add(4)
    bench.run(40)
    bench.board.closed.add(3)
    bench.run(40)
    bench.attach()
    said = bench.run(200)
    assert Hello(*said[0][1]).dropped == 6, "press and release of 3, and two of 4"
    reports = [numbers for kind, numbers in said if kind == codec.REPORT]
    assert [report[0] for report in reports] == list(range(1, REPORTS_MAX + 1))
    beats = [numbers for kind, numbers in said if kind == codec.BEAT]
    assert beats[-1][1] == REPORTS_MAX + 2, "the table must not take this time for one with nothing before it"
    bench.acknowledge(1)
    (first,) = bench.reports(100)
    bench.acknowledge(REPORTS_MAX)
    (second,) = bench.reports(100)
    assert (first[0], first[2], first[3]) == (129, 4, codec.CLOSED)
    assert (second[0], second[2], second[3]) == (130, 3, codec.CLOSED)
    assert second[1] - first[1] == 40


@pytest.mark.parametrize("seed", range(20))
def test_whatever_there_is_no_room_for_is_counted(seed: int) -> None:
    """Received and dropped make up all changes; what is received alternates, is in order, and ends at the level."""
    chance = random.Random(seed)
    bench = Bench().configured()
    made = 0
    received: list[tuple[int, ...]] = []

    def take(duration_ms: int) -> None:
        for report in bench.reports(duration_ms):
            if report[0] == len(received) + 1:
                received.append(report)

    for _ in range(600):
        bench.board.closed ^= {chance.choice(PINS)}
        made += 1
        take(SETTLE_MS + 2 * SAMPLE_MS)
        if chance.randrange(200) == 0:
            bench.attach()
            take(300)
            bench.acknowledge(len(received) - chance.randrange(3))
    for _ in range(3):
        bench.attach()
        take(300)
        bench.acknowledge(len(received))
    assert bench.hello().dropped > 0
    assert len(received) + bench.hello().dropped == made
    levels = dict.fromkeys(PINS, 0)
    time_ms = 0
    for _, ticks, pin, flags, _ in received:
        assert flags == 1 - levels[pin] and ticks >= time_ms
        levels[pin], time_ms = flags, ticks
    assert {pin for pin in PINS if levels[pin]} == bench.board.closed


def test_a_table_that_does_not_read_costs_no_sample() -> None:
    bench = Bench().configured()
    bench.board.room = 5
    bench.press(2)
    bench.beat()
    bench.press(3)
    bench.board.room = 1_000_000
    bench.attach()
    assert [report[2] for report in bench.reports(100)] == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("configuration", "reason", "pin"),
    [
        (b"", codec.MALFORMED, 0),
        (bytes((2, 3, 10)), codec.MALFORMED, 0),
        (bytes((25, *(n for pin in range(25) for n in (pin, 10)))), codec.TOO_MANY_INPUTS, 25),
        (bytes((1, 29, 10)), codec.PIN_MISSING, 29),
        (bytes((1, 3, 10, 30)), codec.PIN_MISSING, 30),
        (bytes((2, 3, 10, 3, 10)), codec.PIN_TWICE, 3),
        (bytes((1, 3, 10, 7, 3)), codec.PIN_TWICE, 3),
        (bytes((1, 3, 1)), codec.SETTLE_TOO_SHORT, 3),
    ],
)
def test_a_configuration_that_cannot_be_is_refused_with_a_reason(configuration: bytes, reason: int, pin: int) -> None:
    bench = Bench().configured()
    bench.say(codec.CONFIGURE, configuration)
    assert [said for said in bench.run(20) if said[0] != codec.BEAT] == [
        (codec.REFUSED, (codec.crc16(configuration) or 0xFFFF, reason, pin))
    ]
    assert bench.hello().configuration == CRC, "the one before goes on"
    bench.board.closed.add(2)
    assert [report[2] for report in bench.reports(50)] == [2]


def test_hello_waits_for_the_first_settled_levels_and_for_initial_reports() -> None:
    bench = Bench()
    bench.board.closed = {2, 3}
    bench.attach()
    # 250 ms of settling for pin 4; pin 3 opens and pin 5 closes meanwhile.
    bench.say(codec.CONFIGURE, bytes((4, 2, 200, 3, 10, 4, 250, 5, 10)))
    assert bench.run(100) == []
    bench.board.closed = {2, 5}
    assert bench.run(140) == []
    said = bench.run(40)
    assert Hello(*said[0][1]).first == 1
    assert [(n[0], n[2], n[3]) for kind, n in said if kind == codec.REPORT] == [
        (1, 3, codec.CLOSED | codec.INITIAL),
        (2, 2, codec.CLOSED | codec.INITIAL),
        (3, 3, codec.INITIAL),
        (4, 5, codec.CLOSED),
    ]
    times = [n[1] for kind, n in said if kind == codec.REPORT]
    assert times == sorted(times)


def test_an_input_that_never_settles_holds_hello_up_for_half_a_second() -> None:
    bench = Bench()
    bench.attach()
    bench.say(codec.CONFIGURE, CONFIGURATION)
    said_after = 0
    while not any(kind == codec.HELLO for kind, _ in bench.run(4)):
        bench.board.closed ^= {2}
        said_after += 4
        assert said_after <= 510
        if said_after % 100 == 0:
            bench.beat()
    assert said_after >= 490


def test_levels_of_hello_are_those_before_its_first_report() -> None:
    bench = Bench()
    bench.board.closed = {4}
    bench.attach()
    bench.say(codec.CONFIGURE, CONFIGURATION)
    bench.run(40)
    bench.board.closed = {2, 4}
    bench.run(40)
    assert bench.hello().levels == 0, "both reports are still to come"
    bench.acknowledge(1)
    bench.run(20)
    hello = bench.hello()
    assert (hello.first, hello.levels) == (2, 0b100)
    bench.acknowledge(2)
    bench.run(20)
    hello = bench.hello()
    assert (hello.first, hello.levels) == (3, 0b101)
    bench.board.closed = set()
    bench.run(40)
    assert bench.hello().levels == 0b101
    bench.acknowledge(4)
    bench.run(20)
    assert bench.hello().levels == 0


def test_the_configuration_outlives_a_restart_and_presses_need_no_table() -> None:
    bench = Bench().configured()
    assert bench.board.times_kept == 1
    board = BenchBoard(boot_id=78, kept=bench.board.kept)
    again = Bench(board)
    again.run(40)
    again.press(3)
    hello = again.hello()
    assert (hello.boot_id, hello.configuration, hello.first, hello.levels) == (78, CRC, 1, 0)
    again.say(codec.CONFIGURE, CONFIGURATION)
    again.attach()
    assert [(n[0], n[2], n[3]) for n in again.reports(50)] == [(1, 3, codec.CLOSED), (2, 3, 0)]
    assert board.times_kept == 0, "it is the same one"


@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_kept_configuration_is_none(damage: str) -> None:
    kept = codec.seal(CONFIGURATION)
    damaged = {"cut": kept[:-1], "changed": bytes((kept[0],)) + bytes((kept[1] ^ 1,)) + kept[2:], "gone": b""}[damage]
    bench = Bench(BenchBoard(kept=damaged))
    assert bench.hello().configuration == 0
    assert bench.configured().board.kept == kept


def test_a_kept_configuration_that_the_board_refuses_is_none() -> None:
    bench = Bench(BenchBoard(kept=codec.seal(bytes((1, 29, 10)))))
    bench.attach()
    said = bench.run(20)
    assert [kind for kind, _ in said] == [codec.HELLO]
    assert Hello(*said[0][1]).configuration == 0


def test_a_flash_that_fails_costs_the_configuration_only_at_the_next_start() -> None:
    bench = Bench()
    bench.board.flash_fails = True
    bench.configured()
    bench.board.closed.add(2)
    assert [report[2] for report in bench.reports(50)] == [2]


def test_a_new_configuration_drops_and_counts_what_waited() -> None:
    bench = Bench().configured()
    bench.press(2)
    bench.say(codec.CONFIGURE, bytes((1, 5, 10)))
    bench.run(40)
    hello = bench.hello()
    assert (hello.first, hello.dropped, hello.levels) == (3, 2, 0)
    bench.board.closed.add(5)
    assert [(n[0], n[2]) for n in bench.reports(50)] == [(3, 5)]


def test_hello_carries_the_token_of_its_attach() -> None:
    bench = Bench().configured()
    bench.attach(0xBEEF)
    assert [Hello(*n).token for kind, n in bench.run(20) if kind == codec.HELLO] == [0xBEEF]
    bench.say(codec.ATTACH)
    assert [Hello(*n).token for kind, n in bench.run(20) if kind == codec.HELLO] == [0], "a table of protocol 1"


def test_a_node_hears_nobody_who_has_not_attached() -> None:
    """After a restart, a table that has not noticed it must not take new reports for old ones."""
    bench = Bench(BenchBoard(kept=codec.seal(CONFIGURATION)))
    bench.press(2)
    bench.beat(3)
    bench.say(codec.ACKNOWLEDGE, struct.pack(codec.ACKNOWLEDGE_FORMAT, 77, 2))
    assert bench.run(2000) == []
    assert bench.board.bits == 0
    assert bench.hello().first == 1


def test_outputs_follow_the_table_and_are_low_three_seconds_after_its_last_word() -> None:
    bench = Bench().configured()
    bench.beat(2)
    bench.run(10)
    assert bench.board.bits == 2
    bench.run(2980)
    assert bench.board.bits == 2
    bench.run(20)
    assert bench.board.bits == 0
    bench.hello()
    bench.beat(1)
    bench.run(10)
    assert bench.board.bits == 1


def test_a_beat_tells_how_many_frames_of_the_table_were_lost() -> None:
    bench = Bench().configured()
    bench.beat()
    bench.sequence += 3
    bench.beat()
    beats = [numbers for kind, numbers in bench.run(1100) if kind == codec.BEAT]
    assert beats[-1][4] == 3


def test_install_is_for_this_boot_only() -> None:
    bench = Bench().configured()
    bench.say(codec.INSTALL, struct.pack(codec.INSTALL_FORMAT, 78))
    bench.run(10)
    assert not bench.board.restarted_for_install
    bench.say(codec.INSTALL, struct.pack(codec.INSTALL_FORMAT, 77))
    bench.run(10)
    assert bench.board.restarted_for_install


def test_presses_of_an_hour_without_a_table_wait_across_the_wrap_of_the_clock() -> None:
    bench = Bench().configured()
    bench.run(4000)
    for minute in range(60):
        bench.press((2, 3, 4)[minute % 3])
        bench.skip(60_000)
    bench.attach()
    reports = bench.reports(300)
    assert [report[0] for report in reports] == list(range(1, 121))
    assert [report[2] for report in reports] == [pin for _ in range(20) for pin in (2, 2, 3, 3, 4, 4)]
    assert reports[-2][1] - reports[0][1] == 59 * 60_080


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
            bench.attach()
        for kind, numbers in bench.run(40):
            if kind != codec.REPORT or not present or (chance.randrange(3) == 0 and not quiet):
                continue
            if numbers[0] == last + 1:
                last = numbers[0]
                taken.append((numbers[2], numbers[3]))
            if chance.randrange(3) == 0 or quiet:
                bench.acknowledge(last)
    assert taken == [change for pin in pressed for change in ((pin, 1), (pin, 0))]
