"""The link to the centre: lost and regained are told once they last, and flapping is summarised."""

from typing import Any

from device.link_watch import LinkWatch


class Link:
    """A link in simulated time, looked at every second as the terminal does."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self.watch = LinkWatch(self.now_ms)
        self.is_down("connection refused")

    def is_down(self, reason: str | None = None) -> None:
        self.watch.note(up=False, reason=reason, undelivered=0, now_ms=self.now_ms)

    def is_up(self, undelivered: int = 0) -> None:
        self.watch.note(up=True, reason=None, undelivered=undelivered, now_ms=self.now_ms)

    def after(self, seconds: int) -> list[tuple[str, dict[str, Any]]]:
        told = []
        for _ in range(seconds):
            self.now_ms += 1000
            told += self.watch.look(self.now_ms)
        return told


def test_a_link_that_comes_up_soon_after_the_start_is_not_worth_an_event() -> None:
    link = Link()
    assert link.after(4) == []
    link.is_up()
    assert link.after(100) == []


def test_a_link_that_never_came_up_is_told_once() -> None:
    link = Link()
    assert link.after(4) == []
    assert link.after(1) == [("link_lost", {"reason": "connection refused", "never_connected": True})]
    link.is_down("no route to host")
    assert link.after(1000) == []
    link.is_up(undelivered=12)
    assert link.after(5) == [("link_regained", {"away_ms": 1_005_000, "undelivered": 12})]


def test_lost_and_regained_say_why_for_how_long_and_how_much_waited() -> None:
    link = Link()
    link.is_up()
    link.after(10)
    link.is_down("the server closed the connection")
    assert link.after(4) == []
    assert link.after(60) == [("link_lost", {"reason": "the server closed the connection"})]
    link.is_up(undelivered=34)
    # Until it is told, more was delivered and more came.
    link.is_up(undelivered=0)
    assert link.after(4) == []
    assert link.after(60) == [("link_regained", {"away_ms": 64_000, "undelivered": 34})]


def test_what_is_over_within_five_seconds_is_told_once_and_then_in_sum_every_hour() -> None:
    link = Link()
    link.is_up()
    link.after(10)
    told = []
    # 3,608 s, in which a state is over every 4 s: the first at 4 s and the 901st, the last but one, at 3,604 s.
    for _ in range(451):
        link.is_down("gone")
        told += link.after(4)
        link.is_up()
        told += link.after(4)
    assert told == [("link_unsteady", {"changes": 1}), ("link_unsteady", {"changes": 900})]
    assert link.after(7200) == []


def test_a_link_that_comes_up_after_a_slow_start_and_breaks_at_once_is_counted() -> None:
    link = Link()
    assert link.after(2) == []
    link.is_up()
    assert link.after(2) == []
    link.is_down("gone")
    assert link.after(1) == [("link_unsteady", {"changes": 1})], "the two seconds that it was up"
    link.is_up()
    assert link.after(3599) == []
    assert link.after(1) == [("link_unsteady", {"changes": 1})]


def test_a_flapping_link_is_told_ten_times_an_hour_and_then_summed_up() -> None:
    link = Link()
    link.is_up()
    link.after(10)
    told = []
    # 360 changes an hour, each of which lasts.
    for _ in range(180):
        link.is_down("gone")
        told += link.after(10)
        link.is_up(undelivered=1)
        told += link.after(10)
    assert [kind for kind, _ in told] == ["link_lost", "link_regained"] * 5
    assert all("untold" not in data for _, data in told)
    # The first was told 3,595 s before the end, so there is room for one more soon; 350 were not told.
    link.is_down("gone")
    assert link.after(10) == [("link_lost", {"reason": "gone", "untold": 350})]
    link.is_up(undelivered=1)
    assert link.after(3) == []
    assert link.after(3600) == [("link_regained", {"away_ms": 10_000, "undelivered": 1})]


def test_what_is_told_at_last_is_not_counted_among_what_was_not() -> None:
    link = Link()
    link.is_up()
    link.after(10)
    # The sixth loss and the return after it find no room.
    for _ in range(6):
        link.is_down("gone")
        link.after(10)
        link.is_up()
        link.after(10)
    link.is_down("gone")
    assert link.after(3600) == [("link_lost", {"reason": "gone", "untold": 2})]
