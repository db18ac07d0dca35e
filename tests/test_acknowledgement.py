"""Who may acknowledge an alert: anyone, but none of those whom an alert about dice and their reserve is about."""

from typing import Any

import pytest

from device.alert_book import ANOTHER_PERSON
from device.dice_control import dice_rules
from device.event import GENESIS_HASH, Stamp, parse, seal
from device.event_times import EventTimes
from device.screen import alerts
from engine_lite.refusal import Refused
from tests.test_alerts import CONSOLE, Table


def test_those_on_duty_do_not_acknowledge_what_is_about_themselves() -> None:
    table = Table()

    def duty(boxman: str, witness: str) -> None:
        action = {"on_duty": {"boxman": boxman, "witness": witness}}
        table.keep(table.session.dice_action(action, dice_rules.load("us-vegas"), CONSOLE))

    # What the dice log reads of them.
    changed = {"event": 1, "last": 1, "changes": 1, "before": [1], "after": [], "initial": False}
    details: dict[str, dict[str, Any]] = {"no_opening_count": {"session": 1}, "slots_changed_shut": changed}
    for family in sorted(ANOTHER_PERSON):
        duty("Ana", "Luis")
        detail = details.get(family, {})
        table.keep(table.session.raise_alert(f"{family}:1", "This.", detail, latched=True, people=["Tom", "Ana"]))
        assert table.entries[-1][1]["not_by"] == ["Tom", "Ana", "Luis"]
        assert [alert["needs_another"] for alert in alerts(table.session, {}) if alert["id"] == f"{family}:1"] == [True]
        duty("Carla", "Luz")
        # Said anew, it is still about those it was about, and about those who are there now.
        table.keep(table.session.raise_alert(f"{family}:1", "That.", detail, latched=True))
        duty("Max", "Mia")
        for name in ("Ana", "luis", "Tom", "Carla", "Luz", "Max", "Mia"):
            with pytest.raises(Refused) as refused:
                table.acknowledge(f"{family}:1", name)
            assert refused.value.code == "same_name"
        table.acknowledge(f"{family}:1", "Eva")
    duty("Ana", "Luis")
    for anyones in ("node_offline", "puck_misplaced", "late_key:7", "node_dropped"):
        table.keep(table.session.raise_alert(anyones, "This.", {}, latched=True, people=["Ana"]))
        assert [alert["needs_another"] for alert in alerts(table.session, {}) if alert["id"] == anyones] == [False]
        table.acknowledge(anyones, "Ana")
    assert table.session.alerts == {}


def test_a_broken_rule_is_not_acknowledged_by_those_who_signed_it() -> None:
    table = Table()
    rules = dice_rules.load("us-vegas")
    people = {"done_by": "Eva", "seen_by": "Tom"}
    for action in (
        {"receive": {"set": "A", "dice": 5, "maker": "Bold", "colour": "red"} | people},
        {"inspect": {"set": "A", "checks": {"sound": True}} | people},
    ):
        table.keep(table.session.dice_action(action, rules, CONSOLE))
    (name,) = table.session.alerts
    for signed in ("Eva", "Tom"):
        with pytest.raises(Refused, match=f"{signed} was on duty or signed then"):
            table.acknowledge(name, signed)
    table.acknowledge(name, "Ana")


def test_an_alert_that_is_raised_again_after_its_acknowledgement_began_then() -> None:
    times = EventTimes()

    def note(kind: str, second: int, **data: Any) -> None:
        stamp = Stamp("boot", second, f"2026-11-30T10:00:{second:02}.000Z", "synced")
        times.note(parse(seal("craps-1", second, stamp, kind, data, GENESIS_HASH).line()))

    note("alert_raised", 1, alert="node_dropped", text="1", detail={}, latched=True)
    note("alert_raised", 2, alert="node_dropped", text="2", detail={}, latched=True)
    note("alert_raised", 3, alert="node_offline", text="1", detail={}, latched=False)
    assert times.alerts == {"node_dropped": "2026-11-30T10:00:01.000Z", "node_offline": "2026-11-30T10:00:03.000Z"}
    note("alert_acknowledged", 4, alert="node_dropped", raised=2, name="Ana")
    note("alert_acknowledged", 5, alert="node_offline", raised=3, name="Ana")
    assert times.alerts == {"node_offline": "2026-11-30T10:00:03.000Z"}
    note("alert_raised", 6, alert="node_dropped", text="3", detail={}, latched=True)
    note("alert_raised", 7, alert="node_offline", text="2", detail={}, latched=False)
    assert times.alerts == {"node_dropped": "2026-11-30T10:00:06.000Z", "node_offline": "2026-11-30T10:00:03.000Z"}
    note("alert_cleared", 8, alert="node_offline")
    assert list(times.alerts) == ["node_dropped"]
