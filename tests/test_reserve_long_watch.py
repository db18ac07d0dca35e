"""The reserve while the node of its slots is away, and over many starts of the program: in simulated time."""

from device.origin import Origin
from tests.test_shut_reserve import SHUT, Reserve

NODE = Origin("node:slots")


class FarSlots(Reserve):
    """The lid is wired to the header, the slots to the node, which answers from the start on."""

    def start(self) -> None:
        super().start()
        self.node_is_found()

    def node_is_found(self, boot_id: int = 1) -> None:
        self.input(
            "node_found", gap_ms=10_000, restarted=False, dropped=0, boot_id=boot_id, dropped_in_all=0, via="node"
        )

    def node_is_lost(self) -> None:
        self.input("node_lost", reason="silent", via="node")

    def slots(self, *occupied: int, initial: bool = False) -> int:
        self.keep(self.session.slots_seen(list(occupied), initial, NODE))
        return self.session.seq

    def standing(self) -> list[str]:
        """All alerts but that of the node."""
        self.alerts()
        return [name for name in self.session.alerts if name != "node_offline"]


def test_a_die_that_is_taken_out_by_the_log_while_the_node_is_away_is_no_alarm_when_it_is_back() -> None:
    table = FarSlots()
    table.node_is_lost()
    table.lid(True)
    table.do("remove", set="A", to="withdrawn", reason="damage", dice=["5"])
    closed = table.lid(False)
    table.after(60_000)
    assert table.kinds("reserve_settled")[1:] == [{"closed": closed, "unread": True, "asked_anew": None}]
    assert table.standing() == []
    table.node_is_found()
    table.after(500)
    # It had kept the change.
    table.slots(1, 2)
    table.after(60_000)
    assert table.standing() == []
    assert table.kinds("reserve_settled")[2:] == [
        {"closed": closed, "occupied": [1, 2], "surplus": 0, "asked_anew": None}
    ]


def test_the_slots_have_time_to_settle_again_when_the_node_is_back() -> None:
    table = FarSlots()
    opened = table.lid(True)
    table.do("remove", set="A", to="withdrawn", reason="damage", dice=["5"])
    table.lid(False)
    table.after(900)
    table.node_is_lost()
    table.after(60_000)
    table.node_is_found()
    table.after(900)
    table.slots(1, 2)
    table.after(60_000)
    assert table.standing() == []
    assert table.session.dice.state.last_opening == {"seq": opened, "reason": "damage"}


def test_what_was_out_of_sight_at_one_closing_is_not_at_the_next() -> None:
    table = FarSlots()
    table.node_is_lost()
    table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.lid(False)
    table.after(5_000)
    table.node_is_found()
    table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.lid(False)
    table.start()
    table.lid(False, initial=True)
    changed = table.slots(1, 2, initial=True)
    table.after(2_000)
    assert f"{SHUT}:{changed}" in table.standing()


def test_so_it_is_if_the_node_was_started_anew_or_the_program_too() -> None:
    for restarts in (False, True):
        table = FarSlots()
        table.lid(True)
        table.do("remove", set="A", to="withdrawn", reason="damage", dice=["5"])
        # It goes away with the lid shut, and before the slots have settled.
        table.lid(False)
        table.node_is_lost()
        table.after(60_000)
        if restarts:
            table.start()
            table.lid(False, initial=True)
            table.after(5_000)
        else:
            table.node_is_found(boot_id=2)
        table.slots(1, 2, initial=True)
        table.after(60_000)
        assert table.standing() == []


def test_a_die_that_is_taken_while_the_node_is_away_and_the_reason_was_given_before_is_asked_about_anew() -> None:
    table = FarSlots()
    table.node_is_lost()
    opened = table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.lid(False)
    table.after(60_000)
    assert table.standing() == []
    table.node_is_found()
    changed = table.slots(1, 2)
    table.after(2_000)
    settled = table.kinds("reserve_settled")[-1]
    assert (settled["occupied"], settled["surplus"], settled["asked_anew"]) == ([1, 2], -1, opened)
    table.after(35_000)
    assert sorted(table.standing()) == [f"reserve_unexplained:{opened}", "slots_disagree"]
    assert f"{SHUT}:{changed}" not in table.standing()


def test_a_die_that_is_taken_under_a_shut_lid_while_the_node_is_away_is_told_when_it_is_back() -> None:
    table = FarSlots()
    table.node_is_lost()
    table.after(60_000)
    table.node_is_found(boot_id=2)
    changed = table.slots(1, 2, initial=True)
    table.after(10_000)
    assert sorted(table.standing()) == [f"{SHUT}:{changed}", "slots_disagree"]


def test_pulling_the_nodes_cable_does_not_end_the_alert_that_the_slots_disagree() -> None:
    table = FarSlots()
    table.lid(True)
    table.slots(1, 2)
    table.lid(False)
    table.after(10_000)
    assert "slots_disagree" in table.standing()
    table.node_is_lost()
    table.after(60_000)
    assert "slots_disagree" in table.standing()
    table.node_is_found()
    table.slots(1, 2, 3)
    table.after(2_000)
    assert "slots_disagree" not in table.standing()


def test_slots_that_were_wired_to_the_header_since_are_seen_without_the_node() -> None:
    table = FarSlots()
    Reserve.start(table)
    table.lid(False, initial=True)
    Reserve.slots(table, 1, 2, initial=True)
    assert not table.session.hardware.slots_unseen
    table.after(10_000)
    assert "slots_disagree" in table.standing()


def restart(table: Reserve, *, lid_open: bool) -> None:
    table.start()
    table.lid(lid_open, initial=True)
    table.slots(1, 2, 3, initial=True)


def test_one_start_gives_the_time_for_a_reason_anew_and_the_next_does_not() -> None:
    table = Reserve()
    opened = table.lid(True)
    table.lid(False)
    table.after(25_000)
    restart(table, lid_open=False)
    table.after(25_000)
    assert table.alerts() == []
    restart(table, lid_open=False)
    table.after(200)
    assert table.alerts() == [f"reserve_unexplained:{opened}"]


def test_after_one_start_the_time_for_a_reason_ends() -> None:
    table = Reserve()
    opened = table.lid(True)
    table.lid(False)
    table.after(25_000)
    restart(table, lid_open=False)
    table.after(29_900)
    assert table.alerts() == []
    table.after(300)
    assert table.alerts() == [f"reserve_unexplained:{opened}"]


def test_an_open_lid_is_told_from_the_second_start_on_as_soon_as_it_is_seen() -> None:
    table = Reserve()
    table.lid(True)
    table.after(50_000)
    restart(table, lid_open=True)
    table.after(50_000)
    assert table.alerts() == []
    table.start()
    table.after(1_000)
    assert table.alerts() == [], "nobody has looked yet"
    table.lid(True, initial=True)
    table.after(200)
    assert table.alerts() == ["reserve_left_open"]


def test_a_lid_that_is_found_shut_at_the_second_start_is_no_open_one() -> None:
    table = Reserve()
    table.lid(True)
    table.after(5_000)
    restart(table, lid_open=True)
    table.start()
    table.after(1_000)
    table.lid(False, initial=True)
    table.after(1_000)
    assert "reserve_left_open" not in table.alerts()


def test_a_disk_that_fills_up_again_and_again_puts_nothing_off_either() -> None:
    table = Reserve()
    opened = table.lid(True)
    table.lid(False)
    for _ in range(2):
        table.after(10_000)
        table.keep(table.session.stop_recording("disk_full", 0))
        table.keep(table.session.resume_recording(10**9))
        table.lid(False, initial=True)
        table.slots(1, 2, 3, initial=True)
    table.after(200)
    assert f"reserve_unexplained:{opened}" in table.alerts()
