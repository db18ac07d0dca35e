"""What the node's reports mean, and which of them it must keep, held against a node that lives in the test."""

from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.node_link import NodeDown, NodeTime, NodeUp, Noisy, Quiet, Report, ReportsDropped
from drivers.node_signals import NodeSignals, Received, ReportId
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    InputFreed,
    InputStuck,
    LineNoisy,
    LineQuiet,
    NodeDropped,
    NodeFound,
    NodeLost,
    PuckFault,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
    ReserveOpened,
    Signal,
    SlotsSeen,
    TakeBackKeyed,
)
from drivers.wiring import BUTTONS, DICE_KEYS, GROUPS, Pin, Wiring

# Two groups of each kind would not fit on the node's pins; pucks are wired where a test needs them.
KEYS_LID_SLOTS = (*DICE_KEYS, "lid", "slot_1", "slot_2", "on", "buy", "box_4", "box_6")
PINS = (*range(23), 26, 27, 28)


def wired(*names: str) -> Wiring:
    return Wiring({name: Pin("node", pin) for name, pin in zip(names, PINS, strict=False)})


class Node:
    """A node in the test's own hand: it numbers its reports and keeps those that are not acknowledged."""

    def __init__(self, wiring: Wiring, *, boot_id: int = 7, closed: tuple[str, ...] = ()) -> None:
        self.pins = wiring.inputs("node")
        self.boot_id = boot_id
        self.now_ms = 0
        self.reports: list[Report] = []
        self.last = 0
        self.closed: dict[str, bool] = dict.fromkeys(self.pins, False)
        # As it was before the first of `reports`.
        self.before = dict(self.closed)
        self.initial: set[str] = set()
        self.changed_ms = dict.fromkeys(self.pins, 0)
        for name in closed:
            self.initial.add(name)
            self.move(name, True)

    def move(self, name: str, closed: bool) -> None:
        self.closed[name] = closed
        self.last += 1
        held_ms = self.now_ms - self.changed_ms[name]
        self.changed_ms[name] = self.now_ms
        initial = name in self.initial
        self.reports.append(Report(self.last, self.now_ms, self.pins[name], closed, initial, held_ms))
        if not closed:
            self.initial.discard(name)

    def press(self, name: str, duration_ms: int = 80) -> None:
        self.move(name, True)
        self.now_ms += duration_ms
        self.move(name, False)

    def forget(self, number: int) -> None:
        name_on_pin = {pin: name for name, pin in self.pins.items()}
        while self.reports and self.reports[0].number <= number:
            report = self.reports.pop(0)
            self.before[name_on_pin[report.pin]] = report.closed

    def up(self, *, gap_ms: int | None = None, restarted: bool = False) -> NodeUp:
        return NodeUp(gap_ms, restarted, 0, {self.pins[name]: closed for name, closed in self.before.items()})


class Host:
    """A program with its journal, of which only `journal` and its watermarks outlive a crash."""

    def __init__(self, wiring: Wiring, node: Node) -> None:
        self.wiring = wiring
        self.journal: list[Received] = []
        self.watermarks: dict[str, ReportId] = {}
        self.used_up_die: ReportId | None = None
        self.begin(node)

    def begin(self, node: Node) -> None:
        """A new process, with the journal of the one before."""
        self.waiting: list[Received] = []
        self.taken = 0
        self.signals = NodeSignals(self.wiring)
        self.signals.resume(self.watermarks, self.used_up_die)
        self.take(node, node.up())

    def take(self, node: Node, *events: NodeUp | NodeTime | Report) -> None:
        for event in events:
            self.waiting += self.signals.take(event, node.boot_id)

    def poll(self, node: Node, *, tell_time: bool = True) -> None:
        for report in node.reports:
            if report.number > self.taken:
                self.take(node, report)
                self.taken = report.number
        if tell_time:
            self.take(node, NodeTime(node.now_ms))

    def commit(self, count: int | None = None) -> None:
        """Journal and acknowledge so many of those that wait, oldest first."""
        committed, self.waiting = self.waiting[:count], self.waiting[len(self.waiting[:count]) :]
        for received in committed:
            self.journal.append(received)
            if received.report is not None:
                self.watermarks[received.origin.removeprefix("node:")] = received.report
            self.signals.acknowledge(received)

    def all(self, node: Node) -> list[Signal]:
        """Take everything, and what it was."""
        self.poll(node)
        taken = [received.signal for received in self.waiting]
        self.commit()
        return taken


def started(*names: str, closed: tuple[str, ...] = ()) -> tuple[Node, Host]:
    """A node and a host that have met, and the state at start told."""
    wiring = wired(*names)
    node = Node(wiring, closed=closed)
    host = Host(wiring, node)
    assert host.all(node)[0] == NodeFound(None, restarted=False, dropped=0)
    node.forget(host.signals.done)
    return node, host


def test_inputs_are_unknown_before_the_first_contact_and_kept_when_the_node_is_lost() -> None:
    wiring = wired("lid", "on")
    signals = NodeSignals(wiring)
    assert signals.level("lid") is None
    assert signals.take(NodeDown("nothing heard"), None) == [Received(NodeLost("nothing heard"), "node", None)]
    assert signals.level("lid") is None
    node = Node(wiring, closed=("lid",))
    signals.take(node.up(), node.boot_id)
    signals.take(node.reports[0], node.boot_id)
    assert (signals.level("lid"), signals.level("on")) == (True, False)
    assert signals.take(NodeDown("unplugged"), node.boot_id) == [Received(NodeLost("unplugged"), "node", None)]
    assert (signals.level("lid"), signals.level("on")) == (True, False)


def test_what_was_closed_when_the_node_began_to_look_is_the_state_at_start() -> None:
    wiring = wired(*GROUPS["puck"], "lid", "slot_1", "slot_2", "on")
    node = Node(wiring, closed=("puck_6", "lid", "slot_2", "on"))
    host = Host(wiring, node)
    host.poll(node, tell_time=False)
    assert [received.signal for received in host.waiting] == [NodeFound(None, restarted=False, dropped=0)]
    assert host.all(node)[1:] == [
        PuckMoved(6, "on", initial=True),
        ButtonHeldAtStart("on"),
        ReserveClosed(initial=True),
        SlotsSeen((2,), initial=True),
    ]
    node.move("on", False)
    assert host.all(node) == []
    node.press("on")
    assert host.all(node) == [BetStatusKeyed("on", None)]


def test_what_concerns_the_line_is_passed_on() -> None:
    signals = NodeSignals(wired("lid"))
    events = (ReportsDropped(3), Noisy(40, 60), Quiet())
    assert [received for event in events for received in signals.take(event, 7)] == [
        Received(NodeDropped(3), "node", None),
        Received(LineNoisy(40, 60), "node", None),
        Received(LineQuiet(), "node", None),
    ]


def test_a_report_of_a_pin_that_is_not_wired_is_nothing() -> None:
    node, host = started("lid")
    host.take(node, Report(1, 5, 20, True, False, 0))
    assert host.waiting == []
    assert host.signals.done == 1


def test_a_lid_that_was_opened_and_shut_while_the_host_was_away_comes_out_twice() -> None:
    node, host = started("lid", closed=("lid",))
    assert host.journal[-1].signal == ReserveClosed(initial=True)
    node.move("lid", False)
    node.now_ms += 2000
    node.move("lid", True)
    host.begin(node)
    assert host.all(node)[1:] == [
        ReserveClosed(initial=True),
        ReserveOpened(initial=False),
        ReserveClosed(initial=False),
    ]
    node.forget(host.signals.done)
    host.begin(node)
    assert host.all(node)[1:] == [ReserveClosed(initial=True)]


def test_other_groups_go_on_and_are_not_doubled_while_a_die_waits() -> None:
    node, host = started(*DICE_KEYS, "lid", closed=("lid",))
    node.press("dice_key_3")
    assert host.all(node) == [DieKeyed(3)]
    assert host.signals.die_report == (7, 3)
    node.move("lid", False)
    assert host.all(node) == [ReserveOpened(initial=False)]
    assert host.watermarks["reserve"] == (7, 4)
    assert host.signals.done == 1, "the die's press and release are needed, and what follows them stays with them"
    node.forget(host.signals.done)
    host.begin(node)
    assert host.all(node)[1:] == [DieKeyed(3), ReserveOpened(initial=True)]
    node.press("dice_key_4")
    assert host.all(node) == [DiceKeyed(3, 4)]
    assert host.signals.done == node.last


def test_a_die_that_the_screen_made_needless_is_not_said_again() -> None:
    node, host = started(*DICE_KEYS)
    node.press("dice_key_3")
    host.all(node)
    report = host.signals.die_report
    assert report == (7, 2)
    host.watermarks["dice_keys"] = report
    # A crash before the node has heard of it.
    host.begin(node)
    assert host.all(node)[1:] == []
    node.press("dice_key_5")
    assert host.all(node) == [DieKeyed(5)]
    used = host.signals.use_up_die()
    assert host.signals.die_report is None
    assert used is not None and used.report is not None
    assert host.signals.done == used.report[1] - 2, "its press and its release"
    host.signals.acknowledge(used)
    assert host.signals.done == used.report[1] - 2, "who starts anew has to know that its second die may come"
    node.now_ms += 3_000
    assert host.all(node) == []
    assert host.signals.done == node.last


@pytest.mark.parametrize("is_heard_before", [False, True])
def test_the_second_die_of_a_roll_that_the_screen_entered_is_none_after_a_restart_either(is_heard_before: bool) -> None:
    node, host = started(*DICE_KEYS)
    node.press("dice_key_3")
    host.all(node)
    used = host.signals.use_up_die()
    assert used is not None
    assert used.report == (7, 2)
    host.watermarks["dice_keys"] = host.used_up_die = used.report
    host.signals.acknowledge(used)
    node.forget(host.signals.done)
    if is_heard_before:
        node.press("dice_key_5")
        assert host.all(node) == [DiceEntryAbandoned(5, "entered_elsewhere")]
    # Twice: the node keeps what tells of the first die for the next one who starts, too.
    for _ in range(2):
        host.taken = 0
        host.begin(node)
        host.poll(node)
        assert host.signals.die_report is None
        node.forget(host.signals.done)
    node.press("dice_key_5")
    host.taken = 0
    host.begin(node)
    assert host.all(node)[1:] == ([DieKeyed(5)] if is_heard_before else [DiceEntryAbandoned(5, "entered_elsewhere")])
    node.press("dice_key_6")
    assert host.all(node) == [DiceKeyed(5, 6) if is_heard_before else DieKeyed(6)]


def test_a_die_after_a_restart_begins_a_new_roll_when_the_one_before_it_was_used_up_long_ago() -> None:
    node, host = started(*DICE_KEYS)
    node.press("dice_key_3")
    host.all(node)
    host.watermarks["dice_keys"] = host.used_up_die = (7, 2)
    host.signals.use_up_die()
    host.taken = 0
    host.begin(node)
    node.now_ms += 3_000
    node.press("dice_key_5")
    assert host.all(node)[1:] == [DieKeyed(5)]


def test_a_box_that_is_picked_waits_for_its_status_over_a_crash() -> None:
    node, host = started(*BUTTONS, "lid")
    node.press("box_6")
    assert host.all(node) == [BoxPicked(6)]
    node.now_ms += 1000
    node.move("lid", True)
    host.all(node)
    node.forget(host.signals.done)
    host.begin(node)
    node.press("buy")
    assert host.all(node)[1:] == [
        BoxPicked(6),
        BetStatusKeyed("buy", 6),
        BoxPicked(None),
        ReserveClosed(initial=True),
    ]
    assert host.signals.done == node.last


def test_what_is_over_is_kept_whole_while_another_group_needs_a_part_of_it() -> None:
    node, host = started(*DICE_KEYS, "buy", "box_4")
    node.press("box_4")
    node.press("dice_key_3")
    # Pressed again, it is picked no more.
    node.press("box_4")
    host.all(node)
    assert host.signals.done == 0, "not 2, for the die: the second press of the box would pick it"
    node.move("buy", True)
    host.poll(node)
    node.forget(host.signals.done)
    host.begin(node)
    assert host.all(node)[1:] == [
        BoxPicked(4),
        DieKeyed(3),
        BoxPicked(None),
        BetStatusKeyed("buy", None),
    ]
    node.press("dice_key_4")
    host.all(node)
    assert host.signals.done == node.last


def test_a_palm_that_is_over_is_kept_whole_while_another_group_needs_a_part_of_it() -> None:
    node, host = started(*DICE_KEYS, "box_4", "on")
    node.move("dice_key_1", True)
    node.press("box_4")
    for closed in (True, False):
        node.move("dice_key_2", closed)
        node.move("dice_key_3", closed)
    node.move("dice_key_1", False)
    assert host.all(node) == [BoxPicked(4)]
    node.forget(host.signals.done)
    host.begin(node)
    assert host.all(node)[1:] == [BoxPicked(4)]


def test_a_puck_that_was_lifted_while_the_host_was_away_is_lifted_in_the_nodes_time() -> None:
    node, host = started(*GROUPS["puck"], closed=("puck_6",))
    node.now_ms = 5000
    node.move("puck_6", False)
    host.poll(node)
    assert host.waiting == []
    assert host.signals.done == 1, "the lift is half done"
    host.begin(node)
    host.poll(node)
    node.now_ms += 300
    assert host.all(node)[1:] == [PuckMoved(6, "on", initial=True), PuckLifted(initial=False)]
    node.move("puck_8", True)
    node.move("puck_9", True)
    node.now_ms += 300
    assert host.all(node) == [PuckMoved(8, "on", initial=False), PuckFault(("8", "9"), initial=False)]


def test_a_key_that_is_down_while_the_host_starts_again_is_said_to_be_nothing_and_still_is_a_die() -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_4", True)
    assert host.all(node) == []
    assert host.signals.done == 0
    node.forget(host.signals.done)
    host.begin(node)
    assert host.all(node)[1:] == []
    node.now_ms += 100
    node.move("dice_key_4", False)
    assert host.all(node) == [DieKeyed(4)]


def test_a_key_that_is_down_while_the_host_starts_again_is_part_of_a_palm() -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_4", True)
    host.all(node)
    node.forget(host.signals.done)
    host.begin(node)
    host.all(node)
    for closed in (True, False):
        node.now_ms += 50
        for name in ("dice_key_1", "dice_key_2"):
            node.move(name, closed)
    assert host.all(node) == []


def test_a_palm_that_lies_on_the_keys_while_the_host_starts_again_is_no_roll_when_it_goes() -> None:
    node, host = started(*DICE_KEYS)
    for name in ("dice_key_1", "dice_key_3", "dice_key_5"):
        node.move(name, True)
        node.now_ms += 30
    host.all(node)
    node.move("dice_key_1", False)
    host.all(node)
    node.forget(host.signals.done)
    # Dead while the other two go up.
    node.now_ms += 300
    node.move("dice_key_3", False)
    node.now_ms += 100
    node.move("dice_key_5", False)
    host.begin(node)
    assert host.all(node)[1:] == []
    assert host.signals.done == node.last
    node.press("dice_key_6")
    assert host.all(node) == [DieKeyed(6)]


def test_a_key_that_the_journal_covers_and_that_is_still_down_is_kept_for_the_palm_it_may_become_part_of() -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_6", True)
    node.press("dice_key_1")
    node.press("dice_key_2")
    assert host.all(node) == [DieKeyed(1), DiceKeyed(1, 2)]
    assert host.watermarks["dice_keys"] == (7, 5)
    for _ in range(2):
        node.forget(host.signals.done)
        host.begin(node)
        assert host.all(node)[1:] == []
        assert host.signals.done == 0
    for closed in (True, False):
        for name in ("dice_key_3", "dice_key_4"):
            node.move(name, closed)
    assert host.all(node) == []
    node.now_ms += 30_000 - 2 * 80
    assert host.all(node) == [InputStuck("dice_key_6")], "since its press, not since the restart"
    assert host.signals.done == node.last


def test_a_stuck_key_holds_no_reports_and_is_stuck_for_the_next_host_as_well() -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_5", True)
    node.now_ms += 29_999
    assert host.all(node) == []
    assert host.signals.done == 0
    node.now_ms += 1
    assert host.all(node) == [InputStuck("dice_key_5")]
    assert host.signals.done == node.last == 1
    node.forget(host.signals.done)
    host.begin(node)
    assert host.all(node)[1:] == [InputStuck("dice_key_5")], "known without another half minute"
    for closed in (True, False):
        for name in ("dice_key_3", "dice_key_4"):
            node.now_ms += 50
            node.move(name, closed)
    assert host.all(node) == [DieKeyed(3), DiceKeyed(3, 4)], "no palm with the stuck one"
    node.move("dice_key_5", False)
    assert host.all(node) == [InputFreed("dice_key_5")]


def test_keys_that_are_never_all_up_hold_no_more_than_half_of_the_nodes_reports() -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_5", True)
    for _ in range(31):
        node.press("dice_key_3")
        host.all(node)
    assert (node.last, host.signals.done) == (63, 0)
    node.press("dice_key_3")
    host.all(node)
    assert host.signals.done == node.last == 65
    node.forget(host.signals.done)
    host.begin(node)
    node.now_ms += 50
    node.move("dice_key_5", False)
    assert DieKeyed(5) not in host.all(node), "whether it is a die is not known any more"


def test_a_key_that_was_down_when_the_node_began_is_journaled_once() -> None:
    node, host = started(*DICE_KEYS, closed=("dice_key_5",))
    assert host.journal[-1] == Received(ButtonHeldAtStart("dice_key_5"), "node:dice_keys", (7, 1))
    host.begin(node)
    assert host.all(node)[1:] == []
    node.now_ms += 100
    node.move("dice_key_5", False)
    assert host.all(node) == [], "its release is no die"


def test_a_key_that_was_down_when_the_node_began_is_kept_until_it_is_journaled() -> None:
    wiring = wired(*DICE_KEYS, "lid")
    node = Node(wiring, closed=("dice_key_5",))
    host = Host(wiring, node)
    for tell_time in (False, True):
        host.poll(node, tell_time=tell_time)
        assert host.signals.done == 0
    host.begin(node)
    assert ButtonHeldAtStart("dice_key_5") in host.all(node)
    assert host.signals.done == 0, "it is still down, and two more would make a palm"
    node.move("dice_key_5", False)
    assert host.all(node) == []
    assert host.signals.done == 2


def test_what_is_acknowledged_twice_or_never_received_does_no_harm() -> None:
    node, host = started("lid")
    node.move("lid", True)
    node.move("lid", False)
    host.poll(node)
    shut, opened = host.waiting
    host.signals.acknowledge(opened)
    assert host.signals.done == 0
    host.signals.acknowledge(opened)
    host.signals.acknowledge(Received(ReserveOpened(initial=False), "node:reserve", (7, 99)))
    assert host.signals.done == 0
    host.signals.acknowledge(shut)
    assert host.signals.done == 2


def test_a_restart_of_the_node_gives_buttons_and_keys_new_decoders_and_lids_and_pucks_real_changes() -> None:
    names = (*GROUPS["puck"], *DICE_KEYS, "lid", "slot_1", "slot_2", "on", "box_4")
    node, host = started(*names, closed=("puck_6", "lid", "slot_1"))
    node.now_ms = 50_000
    node.press("box_4")
    node.press("dice_key_2")
    host.all(node)
    again = Node(wired(*names), boot_id=8, closed=("puck_9", "slot_1", "slot_2", "dice_key_1"))
    host.taken = 0
    host.take(again, again.up(gap_ms=900, restarted=True))
    assert host.all(again) == [
        NodeFound(900, restarted=True, dropped=0),
        DiceEntryAbandoned(2, "node_restarted"),
        PuckMoved(9, "on", initial=False),
        ButtonHeldAtStart("dice_key_1"),
        ReserveOpened(initial=False),
        SlotsSeen((1, 2), initial=False),
    ]
    assert host.signals.done == 3, "the key is still down"
    again.press("on")
    assert host.all(again) == [BetStatusKeyed("on", None)], "the box that was picked before is picked no more"


def test_what_was_not_acknowledged_before_a_restart_of_the_node_holds_nothing_back() -> None:
    node, host = started("lid")
    node.move("lid", True)
    host.poll(node)
    again = Node(wired("lid"), boot_id=8, closed=("lid",))
    host.taken = 0
    host.take(again, again.up(gap_ms=900, restarted=True))
    host.poll(again)
    assert host.signals.done == 1


def test_time_does_not_go_back_when_the_node_restarts() -> None:
    names = (*GROUPS["puck"],)
    node, host = started(*names, closed=("puck_6",))
    node.now_ms = 1_000_000
    host.all(node)
    again = Node(wired(*names), boot_id=8)
    host.taken = 0
    host.take(again, again.up(gap_ms=900, restarted=True))
    assert host.all(again)[1:] == []
    assert host.signals.done == 0
    again.now_ms = 299
    assert host.all(again) == []
    again.now_ms = 300
    assert host.all(again) == [PuckLifted(initial=False)]


def test_a_restart_that_the_journal_did_not_see_is_told_at_the_first_contact() -> None:
    wiring = wired(*DICE_KEYS, "lid")
    node = Node(wiring, boot_id=8)
    for watermarks, restarted in (
        ({}, False),
        ({"reserve": (8, 3), "dice_keys": (5, 900)}, False),
        ({"reserve": (6, 3), "dice_keys": (5, 900)}, True),
    ):
        signals = NodeSignals(wiring)
        signals.resume(watermarks)
        (received,) = signals.take(node.up(restarted=not restarted), node.boot_id)
        assert received.signal == NodeFound(None, restarted=restarted, dropped=0)


def test_the_watermark_of_another_boot_covers_nothing() -> None:
    wiring = wired("lid")
    node = Node(wiring, boot_id=8)
    host = Host(wiring, node)
    host.watermarks = {"reserve": (7, 900)}
    node.move("lid", True)
    host.begin(node)
    assert host.all(node)[1:] == [ReserveOpened(initial=True), ReserveClosed(initial=False)]


def test_a_stuck_key_that_is_up_after_a_restart_of_the_node_is_free() -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_3", True)
    node.now_ms = 30_000
    assert host.all(node) == [InputStuck("dice_key_3")]
    assert host.journal[-1].report is None, "a new program finds out for itself"
    again = Node(wired(*DICE_KEYS), boot_id=8)
    host.taken = 0
    host.take(again, again.up(gap_ms=900, restarted=True))
    assert host.all(again)[1:] == [InputFreed("dice_key_3")]


@pytest.mark.parametrize("committed", [0, 1])
def test_a_hold_that_was_journaled_is_not_said_again(committed: int) -> None:
    node, host = started(*DICE_KEYS)
    node.move("dice_key_1", True)
    host.all(node)
    assert host.signals.done == 0, "the hold is half done"
    node.now_ms = 2000
    host.poll(node)
    assert host.waiting[-1] == Received(TakeBackKeyed(), "node:dice_keys", (7, 1))
    host.commit(committed)
    host.begin(node)
    node.now_ms += 100
    node.move("dice_key_1", False)
    assert host.all(node)[1:] == [TakeBackKeyed()] * (1 - committed)


Step = tuple[str, int, int]
HOST_STEPS = st.one_of(
    st.tuples(st.just("wait"), st.integers(1, 3000), st.just(0)),
    st.tuples(st.just("poll"), st.booleans(), st.just(0)),
    st.tuples(st.just("commit"), st.integers(1, 3), st.just(0)),
    st.tuples(st.just("acknowledged"), st.just(0), st.just(0)),
    st.tuples(st.just("crash"), st.just(0), st.just(0)),
)
STEPS = st.one_of(
    HOST_STEPS,
    # Longer than the half minute after which a key is stuck.
    st.tuples(st.just("wait"), st.just(31_000), st.just(0)),
    st.tuples(st.just("move"), st.integers(0, len(KEYS_LID_SLOTS) - 1), st.integers(1, 400)),
    st.tuples(st.just("press"), st.integers(0, len(KEYS_LID_SLOTS) - 1), st.integers(20, 400)),
)


@st.composite
def palms(draw: st.DrawFn) -> list[Step]:
    """Three dice keys down one after another and up in any order, with whatever the host does in between."""
    keys = draw(st.permutations(range(len(DICE_KEYS))))[:3]
    steps: list[Step] = []
    for key in (*keys, *draw(st.permutations(keys))):
        steps.append(("move", key, draw(st.integers(1, 400))))
        steps += draw(st.lists(HOST_STEPS, max_size=3))
    return steps


WIRED = wired(*KEYS_LID_SLOTS)
# These are said for the screen, or are a state that every program tells anew.
TOLD_ANEW = (DieKeyed, BoxPicked, DiceEntryAbandoned, InputStuck, InputFreed, ButtonHeldAtStart, NodeFound)


def said(journal: list[Received]) -> dict[str, list[object]]:
    """By group what the journal has, with a state that is told again, at a start, taken once."""
    groups: dict[str, list[object]] = {}
    for received in journal:
        signal = received.signal
        if isinstance(signal, TOLD_ANEW):
            continue
        if isinstance(signal, ReserveOpened | ReserveClosed):
            groups.setdefault("reserve", []).append(type(signal))
        elif isinstance(signal, SlotsSeen):
            groups.setdefault("slots", []).append(signal.occupied)
        else:
            groups.setdefault(received.origin, []).append(signal)
    for name in ("reserve", "slots"):
        groups[name] = [state for state, _ in groupby(groups.get(name, []))]
    return groups


@settings(max_examples=1500)
@given(st.lists(st.one_of(st.lists(STEPS, min_size=1, max_size=10), palms()), max_size=5))
def test_whatever_crashes_between_report_and_journal_nothing_is_lost_or_doubled(parts: list[list[Step]]) -> None:
    steps = [step for part in parts for step in part]
    node, host = Node(WIRED), Host(WIRED, Node(WIRED))
    # The same inputs read by a host that never fails.
    steady_node, steady = Node(WIRED), Host(WIRED, Node(WIRED))
    for what, number, duration_ms in steps:
        if what == "wait":
            node.now_ms += number
            steady_node.now_ms += number
        elif what in ("move", "press"):
            name = KEYS_LID_SLOTS[number]
            for one in (node, steady_node):
                one.now_ms += duration_ms
                one.move(name, not one.closed[name])
                if what == "press":
                    one.now_ms += duration_ms
                    one.move(name, not one.closed[name])
        elif what == "poll":
            host.poll(node, tell_time=bool(number))
        elif what == "commit":
            host.commit(number)
        elif what == "acknowledged":
            node.forget(host.signals.done)
        else:
            host.begin(node)
    # Long enough for every hold and every lone die to come to its end.
    for _ in range(3):
        for one, reader in ((node, host), (steady_node, steady)):
            one.now_ms += 31_000
            reader.poll(one)
            reader.commit()
    assert said(host.journal) == said(steady.journal)
    node.forget(host.signals.done)
    assert node.reports == [], "the node may forget everything"
