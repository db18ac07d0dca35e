"""The table's end of the line: against a node in the test's own hand, and against the firmware under MicroPython."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from drivers import node_codec as codec
from drivers.node_firmware.board import WATCHDOG_MS
from drivers.node_firmware.node import REPORTS_MAX
from drivers.node_link import (
    NodeDown,
    NodeLink,
    NodePortBusy,
    NodeTime,
    NodeUp,
    Noisy,
    Quiet,
    Report,
    ReportsDropped,
    make_attach_frame,
)
from tests.node_rig import CRC, DEADLINE_SECONDS, OUTPUTS, Host, NodeRig, Noise, until

HOUR_MS = 3_600_000
# The clock of a Pico wraps here.
WRAP_MS = 1 << 30


class Peer:
    """The node's end of a pseudo-terminal in the test's own hand, and a link to it in simulated time."""

    def __init__(self) -> None:
        self.near, self._far = pty.openpty()
        tty.setraw(self._far)
        os.set_blocking(self.near, False)
        self.link = NodeLink(os.ttyname(self._far), inputs=[(2, 10)], outputs=[])
        assert self.link.open()
        self.now_ms = 0
        self.link.poll(self.now_ms)
        self._sequence = 0
        self._pending = 0
        self._decoder = codec.Decoder()

    def hello(
        self,
        *,
        boot_id: int = 9,
        first: int = 1,
        protocol: int = codec.PROTOCOL,
        dropped: int = 0,
        levels: int = 0,
        token: int | None = None,
    ) -> None:
        """Say HELLO, with the token of the newest ATTACH unless told otherwise."""
        if token is None:
            token = self.token()
        configuration = codec.crc16(bytes((1, 2, 10)))
        numbers = (protocol, 1, 0, token, boot_id, configuration, first, dropped, levels)
        self.say(codec.HELLO, codec.HELLO_FORMAT, *numbers)

    def token(self) -> int:
        """The token of the newest ATTACH, which those of earlier openings may lie before."""
        newest: list[int] = []

        def heard() -> bool:
            newest[:] = codec.unpack(codec.ATTACH_FORMAT, self.heard_up_to(codec.ATTACH)[-1][1])
            return newest == [self.link._token]

        until(heard, "the newest ATTACH")
        return newest[0]

    def report(self, number: int, ticks: int = 1000) -> None:
        self.say(codec.REPORT, codec.REPORT_FORMAT, number, ticks, 2, codec.CLOSED, 0)

    def beat(self, ticks: int, last: int, *, dropped: int = 0, lost: int = 0) -> None:
        self.say(codec.BEAT, codec.NODE_BEAT_FORMAT, ticks, last, dropped, 0, lost)

    def say(self, kind: int, layout: str, *numbers: int) -> None:
        self._sequence += 1
        self._pending += os.write(self.near, codec.encode(self._sequence, kind, struct.pack(layout, *numbers)))

    def miss(self, frames: int) -> None:
        """Frames that the line swallows."""
        self._sequence += frames

    def poll(self, passed_ms: int = 20) -> list[object]:
        """Poll once all that was said has come through: the kernel takes its time."""
        if self.link.fileno() is not None:
            until(lambda: self._waiting() >= self._pending, "the arrival of what was said")
        self._pending = 0
        self.now_ms += passed_ms
        return list(self.link.poll(self.now_ms))

    def _waiting(self) -> int:
        return int.from_bytes(fcntl.ioctl(self._far, termios.FIONREAD, bytes(4)), sys.byteorder)

    def heard_up_to(self, kind: int) -> list[tuple[int, bytes]]:
        """What the link said since this was last asked, up to a frame of this type."""
        heard: list[tuple[int, bytes]] = []

        def said() -> bool:
            if select.select([self.near], [], [], 0)[0]:
                frames = self._decoder.feed(os.read(self.near, 4096))
                heard.extend((kind, payload) for _, kind, payload in frames)
            return bool(heard) and heard[-1][0] == kind

        until(said, f"frame {kind}")
        return heard

    def close(self) -> None:
        self.link.close()
        os.close(self.near)
        os.close(self._far)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that a busy machine opens late is none that hangs."""
    monkeypatch.setattr("drivers.node_link.OPEN_SECONDS", DEADLINE_SECONDS)


@pytest.fixture
def peer() -> Iterator[Peer]:
    peer = Peer()
    yield peer
    peer.close()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[NodeRig]:
    rig = NodeRig(tmp_path)
    rig.start()
    rig.plug()
    yield rig
    rig.close()


UP = NodeUp(None, restarted=False, dropped=0, levels={2: False})


def test_a_report_after_a_lost_one_waits_for_its_repetition(peer: Peer) -> None:
    peer.hello(levels=1)
    assert peer.poll() == [NodeUp(None, restarted=False, dropped=0, levels={2: True})]
    peer.report(1)
    peer.report(3)
    assert [event.number for event in peer.poll() if isinstance(event, Report)] == [1]
    for number in (1, 2, 3):
        peer.report(number)
    assert [event.number for event in peer.poll() if isinstance(event, Report)] == [2, 3]
    counters = peer.link.counters()
    assert (counters["gaps"], counters["repeated"]) == (1, 1)


def test_a_repeated_report_is_acknowledged_again_only_if_it_was(peer: Peer) -> None:
    peer.hello()
    peer.report(1)
    peer.report(2)
    peer.poll()
    peer.link.acknowledge(1)
    peer.poll()
    peer.heard_up_to(codec.ACKNOWLEDGE)
    peer.report(1)
    peer.poll()
    assert peer.heard_up_to(codec.ACKNOWLEDGE) == [(codec.ACKNOWLEDGE, struct.pack(">II", 9, 1))]
    peer.report(2)
    peer.poll()
    peer.poll(1000)
    assert peer.heard_up_to(codec.BEAT) == [(codec.BEAT, bytes(4))]


def test_an_attach_holds_no_byte_that_a_starting_board_takes_as_an_order() -> None:
    tokens = set()
    for _ in range(2000):
        token, frame = make_attach_frame()
        assert b"\x03" not in frame and b"\x04" not in frame
        assert codec.Decoder().feed(frame) == [(0, codec.ATTACH, token.to_bytes(2, "big"))]
        tokens.add(token)
    assert len(tokens) > 1000


def test_the_answer_to_an_attach_of_somebody_before_is_not_taken(peer: Peer) -> None:
    token = peer.token()
    peer.hello(token=token ^ 1, first=9)
    assert peer.poll() == [] and not peer.link.online
    peer.hello(token=token)
    assert peer.poll() == [UP]


def test_a_new_program_gets_all_that_waits_and_a_known_boot_is_no_restart(peer: Peer) -> None:
    peer.link.resume(9, 0)
    peer.hello(first=40)
    peer.report(40)
    up, report = peer.poll()
    assert up == UP
    assert isinstance(report, Report) and report.number == 40


def test_what_was_dropped_is_told_once_however_often_the_program_starts(peer: Peer) -> None:
    peer.link.resume(9, 3)
    peer.hello(dropped=5)
    [up] = peer.poll()
    assert isinstance(up, NodeUp)
    assert (up.dropped, up.total) == (2, 5)


def test_a_boot_that_the_journal_does_not_know_is_a_restart(peer: Peer) -> None:
    peer.link.resume(8, 0)
    peer.hello()
    assert peer.poll() == [NodeUp(None, restarted=True, dropped=0, levels={2: False})]


def test_time_counts_only_when_every_report_before_it_is_there(peer: Peer) -> None:
    peer.hello()
    peer.beat(5000, 1)
    assert not [event for event in peer.poll() if isinstance(event, NodeTime)]
    peer.report(1, ticks=0xFFFFFFF0)
    peer.beat(0x10, 1)
    report, beat = peer.poll()
    assert isinstance(report, Report) and isinstance(beat, NodeTime)
    assert beat.time_ms - report.time_ms == 0x20, "across the wrap of the node's ticks"


def test_time_never_goes_back(peer: Peer) -> None:
    peer.hello()
    peer.report(1, ticks=1000)
    peer.report(2, ticks=990)
    peer.beat(1010, 2)
    peer.poll()
    assert peer.link._time_ms == 1010
    assert [event for event in peer.poll() if isinstance(event, Report)] == []


def test_changes_that_the_node_had_no_room_for_are_told_once(peer: Peer) -> None:
    peer.hello(dropped=2)
    assert peer.poll() == [NodeUp(None, restarted=False, dropped=2, levels={2: False})]
    peer.beat(100, 0, dropped=2)
    assert peer.poll() == [NodeTime(100)]
    peer.beat(200, 0, dropped=7)
    peer.beat(300, 0, dropped=7)
    assert peer.poll() == [ReportsDropped(5), NodeTime(200), NodeTime(300)]
    assert peer.link.counters()["dropped"] == 7


def test_a_silent_node_is_lost_once_and_its_gap_is_told(peer: Peer) -> None:
    peer.hello()
    peer.poll()
    events: list[object] = []
    while peer.now_ms < 10_000:
        events += peer.poll()
    assert events == [NodeDown("nothing heard for 3 seconds")]
    until(lambda: peer.poll(500) == [] and peer.link.fileno() is not None, "the port's opening")
    peer.hello(dropped=2)
    assert peer.poll() == [NodeUp(peer.now_ms - 20, restarted=False, dropped=2, levels={2: False})]


def test_what_a_restarted_node_had_told_of_and_not_handed_over_is_counted(peer: Peer) -> None:
    peer.hello()
    peer.report(1)
    peer.beat(2000, 4)
    peer.poll()
    peer.poll(3000)
    assert not peer.link.online
    until(lambda: peer.poll(500) == [] and peer.link.fileno() is not None, "the port's opening")
    peer.hello(boot_id=10)
    (up,) = peer.poll()
    assert isinstance(up, NodeUp) and up.restarted and up.dropped == 3


def test_what_somebody_else_has_acknowledged_is_counted(peer: Peer) -> None:
    peer.hello()
    peer.report(1)
    peer.poll()
    peer.poll(3000)
    until(lambda: peer.poll(500) == [] and peer.link.fileno() is not None, "the port's opening")
    peer.hello(first=5)
    peer.report(5)
    up, report = peer.poll()
    assert isinstance(up, NodeUp) and not up.restarted and up.dropped == 3
    assert isinstance(report, Report) and report.number == 5


def test_a_line_that_loses_frames_in_either_direction_is_noisy_once_and_quiet_after_five_good_minutes(
    peer: Peer,
) -> None:
    """More than 10 lost frames within 60 seconds."""
    peer.hello()
    peer.beat(0, 0)
    peer.poll()
    peer.miss(6)
    peer.beat(10, 0, lost=4)
    assert peer.poll() == [NodeTime(10)]
    peer.beat(20, 0, lost=5)
    assert peer.poll() == [NodeTime(20), Noisy(frames=11, seconds=60)]
    noisy_ms = peer.now_ms
    peer.miss(3)
    peer.beat(20, 0, lost=5)
    assert peer.poll() == [NodeTime(20)]
    counters = peer.link.counters()
    assert (counters["lost_frames"], counters["node_lost_frames"]) == (9, 5)
    events: list[object] = []
    while not events:
        peer.beat(30, 0, lost=5)
        events = [event for event in peer.poll(1000) if not isinstance(event, NodeTime)]
        assert peer.now_ms < noisy_ms + 400_000
    assert events == [Quiet()]
    # The last second that was noisy is a minute after the last loss.
    assert 355_000 <= peer.now_ms - noisy_ms <= 362_000


def test_a_few_lost_frames_now_and_then_are_no_noise(peer: Peer) -> None:
    peer.hello()
    for n in range(100):
        peer.miss(1)
        peer.beat(n, 0)
        assert not [event for event in peer.poll(7000 if n % 10 else 2000) if isinstance(event, Noisy)]


@pytest.mark.parametrize(("protocol", "layout"), [(1, ">BBBIHII"), (3, ">BBBI")])
def test_a_firmware_of_another_protocol_is_named(peer: Peer, protocol: int, layout: str) -> None:
    numbers = (protocol, 1, 0, 9, 0, 1, 0)[: len(layout) - 1]
    peer.say(codec.HELLO, layout, *numbers)
    peer.poll()
    assert peer.link.error == (
        f"its firmware 1.0 speaks protocol {protocol}, not 2; install it again with: boxman node install"
    )
    assert not peer.link.online and peer.link.fileno() is None


@pytest.mark.parametrize(
    ("reason", "pin", "why"),
    [
        (codec.PIN_MISSING, 29, "its board has no pin 29 for this"),
        (codec.PIN_TWICE, 3, "its pin 3 is used twice"),
        (codec.TOO_MANY_INPUTS, 25, "it reads at most 24 inputs, not 25"),
        (codec.SETTLE_TOO_SHORT, 4, "the settle time of its pin 4 is under 2 ms"),
        (codec.MALFORMED, 0, "it does not understand it"),
        (99, 0, "for its reason 99"),
    ],
)
def test_a_refused_configuration_is_told_with_its_reason(peer: Peer, reason: int, pin: int, why: str) -> None:
    crc = codec.crc16(bytes((1, 2, 10)))
    peer.say(codec.REFUSED, codec.REFUSED_FORMAT, crc ^ 1, reason, pin)
    peer.poll()
    assert peer.link.error is None, "that was somebody else's"
    peer.say(codec.REFUSED, codec.REFUSED_FORMAT, crc, reason, pin)
    peer.poll()
    assert peer.link.error == f"the I/O node refuses its configuration: {why}"
    assert peer.poll(2940) == []
    assert peer.poll() == [NodeDown(f"the I/O node refuses its configuration: {why}")]


def test_a_node_that_does_not_read_stops_nobody(peer: Peer) -> None:
    peer.hello()
    peer.poll()
    for n in range(5000):
        peer.link.set_outputs(n)
        if n % 100 == 0:
            peer.beat(n, 0)
        peer.poll()
    assert peer.link.online


def test_a_device_that_vanishes_is_down_and_no_error_escapes(peer: Peer) -> None:
    peer.hello()
    peer.poll()
    os.close(peer.near)
    peer.near = os.open("/dev/null", os.O_RDONLY)
    peer.link.set_outputs(1)
    events: list[object] = []

    def lost() -> bool:
        events.extend(peer.link.poll(peer.now_ms))
        return bool(events)

    until(lost, "the loss")
    assert len(events) == 1 and isinstance(events[0], NodeDown)
    assert not peer.link.online and peer.link.error


def test_a_second_program_is_refused_with_a_clear_error(peer: Peer) -> None:
    second = NodeLink(peer.link.port, inputs=[(2, 10)], outputs=[])
    with pytest.raises(NodePortBusy, match=r"the I/O node at /dev/pts/\d+ is in use by another program"):
        second.open()
    until(lambda: second.poll(0) == [] and "in use by another" in (second.error or ""), "the error")
    peer.hello()
    assert peer.poll() == [UP]
    second.close()


def test_a_port_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    link = NodeLink(str(tmp_path / "port"), inputs=[(2, 10)], outputs=[])
    assert not link.open()
    assert link.error == (
        f"the I/O node's port {tmp_path}/port cannot be opened: [Errno 2] could not open port {tmp_path}/port: "
        f"[Errno 2] No such file or directory: '{tmp_path}/port'"
    )
    assert link.poll(0) == [] and link.fileno() is None
    assert [type(event) for event in link.poll(3000)] == [NodeDown]
    link.close()


def test_the_firmware_answers_and_its_lamps_follow_and_go_dark_when_the_host_is_silent(rig: NodeRig) -> None:
    host = Host(rig).online()
    assert host.ups() == [NodeUp(None, restarted=False, dropped=0, levels={2: False, 3: False, 4: False})]
    assert (host.link.firmware, host.link.configuration_crc) == ("2.0", CRC)
    assert host.link.device == os.readlink(rig.port)  # noqa: PTH115
    host.link.set_outputs(0b10)
    host.until(lambda: rig.lamps() == b"01", "the lamp")
    rig.set_clock(5000)
    until(lambda: rig.lamps() == b"00", "darkness")
    # The node has forgotten this host, which finds out and attaches again.
    host.ahead_ms = 5000
    host.until(lambda: rig.lamps() == b"01", "the lamp again")
    host.link.close()


def test_over_a_noisy_line_each_change_arrives_once_and_in_order(rig: NodeRig) -> None:
    host = Host(rig).online()
    to_node, to_host = Noise(1, 60), Noise(2, 60)
    rig.to_node, rig.to_host = to_node, to_host
    made: list[tuple[int, bool]] = []
    for n in range(120):
        pin, closed = (2, 3, 4)[n // 2 % 3], n % 2 == 0
        rig.change(pin, closed)
        made.append((pin, closed))
        host.poll()
        # A lost report is repeated after a second; the clocks of both sides may as well go on.
        host.ahead_ms += 50
        rig.set_clock(host.ahead_ms)
    host.until(lambda: to_node.hits > 5 and to_host.hits > 50, "enough noise")
    rig.to_node = rig.to_host = bytes
    host.until(lambda: len(host.changes()) >= len(made), "what is missing")
    assert host.changes() == made
    assert host.dropped() == 0
    assert [report.number for report in host.reports()] == list(range(1, len(made) + 1))
    assert host.link.counters()["lost_frames"] > 0
    host.link.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hosts_come_and_go_on_a_noisy_line_and_no_change_is_lost_or_doubled(rig: NodeRig, seed: int) -> None:
    """Each new host goes on after the last report of the one before, as its journal knows it."""
    chance = Random(seed)
    made: list[tuple[int, bool]] = []
    taken: list[tuple[int, bool]] = []
    levels = dict.fromkeys((2, 3, 4), False)
    host = Host(rig)
    journal = 0

    def take() -> None:
        nonlocal journal
        host.poll()
        for report in host.reports():
            if report.number > journal:
                journal = report.number
                taken.append((report.pin, report.closed))
        host.events = [event for event in host.events if not isinstance(event, Report)]

    # Nobody may see a change before the node has this table's configuration.
    host.online()
    rig.to_node, rig.to_host = Noise(seed, 100), Noise(seed + 100, 100)
    ahead_ms = 0
    for _ in range(100):
        pin = chance.choice((2, 3, 4))
        levels[pin] = not levels[pin]
        rig.change(pin, levels[pin])
        made.append((pin, levels[pin]))
        take()
        ahead_ms += 100
        host.ahead_ms = ahead_ms
        rig.set_clock(ahead_ms)
        if chance.randrange(12) == 0:
            boot_id = host.link.boot_id
            assert host.dropped() == 0 and boot_id is not None
            host.link.close()
            if chance.randrange(2) == 0:
                rig.unplug()
                rig.plug()
            host = Host(rig, resume=boot_id)
            host.ahead_ms = ahead_ms
    rig.to_node = rig.to_host = bytes

    def all_taken() -> bool:
        take()
        return len(taken) >= len(made)

    until(all_taken, "what is missing", lambda: (host.link.error, host.events))
    assert taken == made
    assert host.dropped() == 0 and not any(up.restarted for up in host.ups())
    host.link.close()


@pytest.mark.parametrize("chunk", [1, 63, 64, 65, 128])
def test_frames_of_63_64_and_65_bytes_reach_the_firmware_however_they_are_cut(rig: NodeRig, chunk: int) -> None:
    """Configurations that fill such frames name pins twice, so each is refused under its own CRC. 128 is no frame."""
    outputs = {size: bytes(pin % 24 for pin in range(size - 6 - 49)) for size in (63, 64, 65, 66)}
    payloads = {size: bytes((24, *(n for pin in range(24) for n in (pin, 10)))) + outputs[size] for size in outputs}
    body = bytes((122, 9, codec.CONFIGURE)) + bytes(122)
    oversize = codec.SYNC + body + struct.pack(">H", codec.crc16(body))
    assert len(oversize) == 128
    frames = {size: codec.encode(n, codec.CONFIGURE, payload) for n, (size, payload) in enumerate(payloads.items(), 1)}
    assert [len(frame) for frame in frames.values()] == list(frames)
    port = os.open(rig.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    decoder = codec.Decoder()
    refused: list[tuple[int, ...]] = []

    def say(stream: bytes) -> None:
        for start in range(0, len(stream), chunk):
            os.write(port, stream[start : start + chunk])
            hear()

    def hear() -> None:
        rig.pump()
        if select.select([port], [], [], 0)[0]:
            for _, kind, payload in decoder.feed(os.read(port, 4096)):
                if kind == codec.REFUSED:
                    refused.append(codec.unpack(codec.REFUSED_FORMAT, payload))

    say(codec.encode(0, codec.ATTACH, bytes((1, 2))))
    for size, frame in frames.items():
        expected = (codec.crc16(payloads[size]), codec.PIN_TWICE, 0)

        def answered(frame: bytes = frame, expected: tuple[int, ...] = expected) -> bool:
            # A frame that a busy machine interrupts for longer than the line may rest is none: it is said again.
            say(oversize + frame)
            heard_until = time.monotonic() + 1
            while expected not in refused and time.monotonic() < heard_until:
                hear()
            return expected in refused

        until(answered, f"the refusal of the frame of {size} bytes")
    assert list(dict.fromkeys(refused)) == [(codec.crc16(one), codec.PIN_TWICE, 0) for one in payloads.values()]
    os.close(port)


def test_an_hour_without_a_host_loses_nothing_across_the_wrap_of_the_clock(tmp_path: Path) -> None:
    skip_ms = WRAP_MS - 1_800_000
    rig = NodeRig(tmp_path, skip_ms=skip_ms)
    rig.start()
    rig.plug()
    host = Host(rig).online()
    host.link.close()
    for minute in range(60):
        rig.press((2, 3, 4)[minute % 3])
        skip_ms += 60_000
        rig.set_clock(skip_ms)
    later = Host(rig, resume=host.link.boot_id).online()
    later.until(lambda: len(later.changes()) >= 120, "the backlog")
    assert later.changes() == [(pin, closed) for _ in range(20) for pin in (2, 3, 4) for closed in (True, False)]
    # On a busy machine the link may be lost for a moment and come back.
    first, *others = later.ups()
    assert first == NodeUp(None, restarted=False, dropped=0, levels={2: False, 3: False, 4: False})
    assert not any(up.restarted or up.dropped for up in others)
    passed_ms = later.reports()[-2].time_ms - later.reports()[0].time_ms
    # Besides the minutes that pass at once, the presses take their time.
    assert 59 * 60_000 <= passed_ms <= 2 * HOUR_MS
    later.link.close()
    rig.close()


def test_a_backlog_that_is_too_long_is_counted(rig: NodeRig) -> None:
    host = Host(rig).online()
    host.link.close()
    made = 0
    for n in range(80):
        rig.press((2, 3)[n % 2])
        made += 2
    rig.change(4, True)
    made += 1
    later = Host(rig, resume=host.link.boot_id).online()
    later.until(lambda: bool(later.changes()) and later.changes()[-1] == (4, True), "the newest change")
    later.until(lambda: later.dropped() + len(later.reports()) >= made, "the count")
    assert later.dropped() + len(later.reports()) == made
    assert len(later.reports()) == REPORTS_MAX + 1, "the last change of a contact waits outside the store"
    assert [report.number for report in later.reports()] == list(range(1, REPORTS_MAX + 2))
    later.link.close()


def test_a_node_that_restarts_tells_so_and_says_everything_since_its_restart_once(rig: NodeRig) -> None:
    host = Host(rig, acknowledging=False).online()
    rig.press(2)
    host.until(lambda: len(host.reports()) == 2, "the press")
    boot_id = host.link.boot_id
    rig.change(4, True)
    host.until(lambda: len(host.reports()) == 3, "the closing")
    rig.kill()
    rig.start()
    # Nobody but the node has seen this: the host does not know of the restart yet.
    rig.press(3)
    host.until(lambda: len(host.reports()) == 6, "the press after the restart")
    [up] = [up for up in host.ups() if up.restarted]
    assert up.dropped == 0 and up.levels == {2: False, 3: False, 4: False}
    assert host.link.boot_id != boot_id
    assert [(report.number, report.pin, report.closed, report.initial) for report in host.reports()] == [
        (1, 2, True, False),
        (2, 2, False, False),
        (3, 4, True, False),
        (1, 4, True, True),
        (2, 3, True, False),
        (3, 3, False, False),
    ]
    host.link.close()


def test_a_host_that_restarts_gets_what_was_not_acknowledged_and_the_levels_before_it(rig: NodeRig) -> None:
    host = Host(rig, acknowledging=False).online()
    rig.change(2, True)
    rig.change(3, True)
    host.until(lambda: len(host.reports()) == 2, "both")
    host.link.acknowledge(1)
    host.until(lambda: host.link.counters()["waiting"] == 1, "the acknowledgement's effect")
    host.link.close()
    later = Host(rig, resume=host.link.boot_id).online()
    assert later.ups() == [NodeUp(None, restarted=False, dropped=0, levels={2: True, 3: False, 4: False})]
    later.until(lambda: len(later.reports()) == 1, "the rest")
    assert later.changes() == [(3, True)]
    assert later.reports()[0].number == 2
    later.link.close()


def test_a_node_that_nobody_reads_goes_on_sampling_and_loses_nothing(rig: NodeRig) -> None:
    host = Host(rig).online()
    made = []
    for n in range(60):
        pin, closed = (2, 3)[n // 2 % 2], n % 2 == 0
        # The line is not carried: the node's own buffer is all there is.
        rig.change(pin, closed)
        made.append((pin, closed))
    host.until(lambda: len(host.changes()) >= 60, "all of them")
    assert host.changes() == made and host.dropped() == 0
    host.link.close()


def test_a_pulled_cable_is_taken_up_again_under_another_name_within_five_seconds(rig: NodeRig) -> None:
    host = Host(rig)
    began_ms = host.now_ms()
    host.online()
    device = host.link.device
    host.events.clear()
    # The link's own time, which stands: what is not due after five seconds of it will not be at all.
    host.held_ms = host.now_ms()
    rig.unplug()
    host.until(lambda: not host.link.online, "the loss")
    rig.press(2)
    rig.plug()
    host.held_ms += 5000
    host.until(lambda: host.link.online, "the return")
    assert host.link.device != device
    down, up = [event for event in host.events if isinstance(event, NodeDown | NodeUp)]
    assert isinstance(down, NodeDown) and isinstance(up, NodeUp)
    assert not up.restarted and up.gap_ms is not None and 5000 <= up.gap_ms <= host.held_ms - began_ms
    host.ahead_ms, host.held_ms = 5000, None
    host.until(lambda: len(host.changes()) == 2, "what it saw meanwhile")
    host.link.close()


def test_a_program_that_hangs_is_ended_by_the_watchdog_and_the_next_start_loses_no_press(rig: NodeRig) -> None:
    host = Host(rig).online()
    rig.press(2)
    host.until(lambda: len(host.reports()) == 2, "the press")
    start = time.monotonic()
    rig.set_pin(3, b"h")
    host.until(lambda: rig.status() is not None, "the watchdog")
    assert rig.status() == -9
    assert time.monotonic() - start >= WATCHDOG_MS / 1000 - 0.2
    rig.set_pin(3, b"0")
    rig.kill()
    rig.start()
    rig.press(3)
    host.until(lambda: len(host.reports()) == 4, "the press after the restart")
    assert any(up.restarted for up in host.ups())
    assert host.changes() == [(2, True), (2, False), (3, True), (3, False)]
    host.link.close()


def test_a_configuration_that_the_firmware_refuses_is_told_with_the_pin(rig: NodeRig) -> None:
    link = NodeLink(str(rig.port), inputs=[(2, 2), (30, 2)], outputs=OUTPUTS)

    def refused() -> bool:
        rig.pump()
        link.poll(time.monotonic_ns() // 1_000_000)
        return link.error is not None

    until(refused, "the refusal")
    assert link.error == "the I/O node refuses its configuration: its board has no pin 30 for this"
    link.close()
