"""What the virtual table's interface takes and refuses, on a table without a terminal."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.console.requests import (
    BadRequest,
    parse_acknowledge,
    parse_bare,
    parse_dice,
    parse_open,
    parse_step,
    parse_take_back,
)
from device.console.virtual_table import DRAWN_SEEDS, VirtualControls
from drivers.virtual_faults import CATALOGUE
from drivers.virtual_node import LAMPS
from drivers.virtual_pins import VirtualPinFactory
from drivers.virtual_table import VirtualTable
from drivers.wiring import GROUPS, SLOTS, Pin, Wiring

# One puck and no reserve on the one; two pucks, keys, buttons and three slots on the other.
BARE = Wiring({name: Pin("header", pin) for pin, name in enumerate(GROUPS["puck"], 2)})
LONG = Wiring(
    {
        **{name: Pin("header", pin) for pin, name in enumerate(GROUPS["puck"], 2)},
        **{name: Pin("header", pin) for pin, name in enumerate(GROUPS["second_puck"], 9)},
        **{name: Pin("node", pin) for pin, name in enumerate(GROUPS["dice_keys"], 2)},
        "box_6": Pin("header", 16),
        "buy": Pin("header", 17),
        "lid": Pin("header", 18),
        "door": Pin("header", 19),
        **{name: Pin("node", pin) for pin, name in enumerate(SLOTS[:3], 10)},
    }
)


def controls(folder: Path, wiring: Wiring = LONG) -> VirtualControls:
    (folder / LAMPS).write_bytes(b"")
    return VirtualControls(VirtualTable(wiring, pin_factory=VirtualPinFactory(), folder=folder))


def do(control: VirtualControls, **body: Any) -> None:
    asyncio.run(control.apply(body))


def test_it_says_what_one_would_see_and_what_could_go_wrong(tmp_path: Path) -> None:
    view = controls(tmp_path).view()
    assert list(view) == [
        "puck",
        "second_puck",
        "lid",
        "door",
        "slots",
        "lamps",
        "buttons",
        "dice_keys",
        "faults",
        "fault_kinds",
    ]
    off = {"position": "off", "face": "off"}
    assert (view["puck"], view["second_puck"], view["slots"], view["faults"]) == (off, off, [True] * 3, [])
    assert [kind["kind"] for kind in view["fault_kinds"]] == list(CATALOGUE)
    assert all(kind["about"] for kind in view["fault_kinds"])
    bare = controls(tmp_path, BARE).view()
    assert (bare["second_puck"], bare["door"], bare["slots"], bare["lamps"]) == (None, None, [], {})


def test_the_door_is_opened_and_shut_where_it_has_a_switch(tmp_path: Path) -> None:
    control = controls(tmp_path)
    assert control.view()["door"] == "closed"
    do(control, door="open")
    assert (control.view()["door"], control.view()["lid"]) == ("open", "closed")
    do(control, door="closed")
    assert control.view()["door"] == "closed"
    with pytest.raises(BadRequest, match="has no switch on this table"):
        do(controls(tmp_path, BARE), door="open")


def test_pucks_dice_and_lid_are_moved(tmp_path: Path) -> None:
    control = controls(tmp_path)
    do(control, second_puck={"position": 9, "face": "on"})
    do(control, puck={"position": None, "face": "on"})
    do(control, slot=3, occupied=False)
    do(control, lid="open")
    view = control.view()
    assert (view["puck"], view["second_puck"], view["slots"], view["lid"]) == (
        {"position": None, "face": "on"},
        {"position": 9, "face": "on"},
        [True, True, False],
        "open",
    )


def test_a_fault_without_a_seed_gets_one_that_is_shown(tmp_path: Path) -> None:
    control = controls(tmp_path)
    seeds = set()
    for _ in range(5):
        do(control, fault={"kind": "noise", "rate": 20})
        (fault,) = control.view()["faults"]
        assert {**fault, "seed": 0} == {"kind": "noise", "name": None, "seed": 0, "rate": 20}
        seeds.add(fault["seed"])
    assert len(seeds) > 1 and max(seeds) < DRAWN_SEEDS


def test_faults_are_made_shown_and_mended(tmp_path: Path) -> None:
    control = controls(tmp_path)
    do(control, fault={"kind": "stuck", "name": "lid", "active": False, "seed": 1})
    do(control, fault={"kind": "stuck", "name": "slot_2", "seed": 2})
    do(control, fault={"kind": "silent", "seed": 3})
    assert control.view()["faults"] == [
        {"kind": "stuck", "name": "lid", "seed": 1, "active": False},
        {"kind": "stuck", "name": "slot_2", "seed": 2, "active": True},
        {"kind": "silent", "name": None, "seed": 3},
    ]
    do(control, mend="stuck", name="lid")
    assert [fault["name"] for fault in control.view()["faults"]] == ["slot_2", None]
    do(control, mend="noise")
    do(control, mend="silent")
    assert [fault["name"] for fault in control.view()["faults"]] == ["slot_2"]
    do(control, fault={"kind": "dead"})
    do(control, mend="all")
    assert control.view()["faults"] == []


def test_a_fault_that_ends_by_itself_is_over_when_it_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ms = 1_000
    monkeypatch.setattr("drivers.virtual_table.monotonic_ms", lambda: now_ms)
    control = controls(tmp_path)
    do(control, fault={"kind": "unplug", "away_ms": 200})
    now_ms += 199
    assert [fault["kind"] for fault in control.view()["faults"]] == ["unplug"]
    now_ms += 1
    assert control.view()["faults"] == []


@pytest.mark.parametrize("key", ["press", "dice_key"])
def test_a_press_that_bounces_comes_to_rest_before_it_is_answered(tmp_path: Path, key: str) -> None:
    control = controls(tmp_path)
    do(control, fault={"kind": "bounce", "seed": 1, "bounces": 40, "spread_ms": 100})
    began = time.monotonic()
    do(control, **{key: "box_6" if key == "press" else 3, "hold_ms": 150})
    assert time.monotonic() - began >= 0.15
    assert (tmp_path / "keys").read_bytes()[4:5] == b"0"
    do(control, slot=1, occupied=False)
    assert (tmp_path / "keys").read_bytes()[10:11] == b"0"


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, "body", "must name exactly one of puck, second_puck, press"),
        ({"puck": {"position": 6, "face": "on"}, "lid": "open"}, "body", "must name exactly one of"),
        ({"lid": "open", "hold_ms": 5}, "hold_ms", "is not known"),
        ({"door": "ajar"}, "door", "must be open or closed"),
        ({"second_puck": {"position": 7, "face": "on"}}, "position", "must be a box, off or null"),
        ({"puck": {"position": 6.0, "face": "on"}}, "position", "must be a box, off or null"),
        ({"puck": {"position": True, "face": "on"}}, "position", "must be a box, off or null"),
        ({"second_puck": 6}, "second_puck", "must be an object"),
        ({"press": "box_4"}, "press", "must be one of box_6, buy"),
        ({"dice_key": 0}, "dice_key", "must be 1 to 6"),
        ({"dice_key": True}, "dice_key", "must be 1 to 6"),
        ({"slot": 4, "occupied": True}, "slot", "must be 1 to 3"),
        ({"slot": True, "occupied": True}, "slot", "must be 1 to 3"),
        ({"slot": 1}, "occupied", "is missing"),
        ({"slot": 1, "occupied": 1}, "occupied", "must be true or false"),
        ({"fault": "noise"}, "fault", "must be an object"),
        ({"fault": {"kind": "flood"}}, "fault.kind", "must be one of bounce"),
        ({"fault": {"kind": "noise", "rate": 0}}, "fault.rate", "from 1 to 2000"),
        ({"fault": {"kind": "stuck"}}, "fault.name", "is missing"),
        ({"fault": {"kind": "noise", "seed": "x"}}, "fault.seed", "must be a whole number"),
        ({"mend": "flood"}, "mend", "must be one of bounce"),
        ({"mend": ["all"]}, "mend", "must be one of bounce"),
        ({"mend": "stuck", "name": "lid"}, "name", "must be one that has this fault"),
        ({"mend": "stuck", "name": ["lid"]}, "name", "must be one that has this fault"),
        ({"fault": {"kind": "silent"}, "name": "lid"}, "name", "is not known"),
    ],
)
def test_what_no_hand_can_do_is_refused_and_changes_nothing(
    tmp_path: Path, body: dict[str, Any], field: str, message: str
) -> None:
    control = controls(tmp_path)
    before = control.view()
    with pytest.raises(BadRequest) as refused:
        asyncio.run(control.apply(body))
    assert refused.value.field == field
    assert message in refused.value.message
    assert control.view() == before


def test_what_a_small_table_does_not_have_is_refused(tmp_path: Path) -> None:
    control = controls(tmp_path, BARE)
    for body, told in (
        ({"second_puck": {"position": 6, "face": "on"}}, "second_puck is not on this table"),
        ({"slot": 1, "occupied": False}, "slot has no sensor on this table"),
        ({"dice_key": 1}, "dice_key is not on this table"),
        ({"press": "on"}, "press cannot be done: no buttons are wired"),
    ):
        with pytest.raises(BadRequest) as refused:
            asyncio.run(control.apply(body))
        assert str(refused.value) == told


OPENING = {"id": "12345678", "rules": "us-vegas", "unit": 1, "limits": {"min": 5, "max": 500}}


@pytest.mark.parametrize(
    ("parse", "body", "field"),
    [
        *((parse, {"\ud800": 1}, r"\ud800") for parse in (parse_step, parse_open, parse_take_back, parse_dice)),
        *((parse, {"\ud800": 1}, r"\ud800") for parse in (parse_bare, parse_acknowledge)),
        (parse_step, {"id": "12345678", "step": {"roll": [1, 2], "\udfff": 1}}, None),
        (parse_dice, {"id": "12345678", "action": {"receive": {"\ud800": 1}}}, r"action.receive.\ud800"),
        (parse_open, OPENING | {"limits": {"\ud800": 1}}, r"limits.\ud800"),
        (parse_open, OPENING | {"options": {"\ud800": 1}}, "options"),
    ],
)
def test_a_name_that_is_no_text_is_refused_with_an_answer_that_is(
    parse: Callable[[dict[str, Any]], object], body: dict[str, Any], field: str | None
) -> None:
    with pytest.raises(BadRequest) as refused:
        parse(body)
    (refused.value.field + refused.value.message).encode("utf-8")
    if field is not None:
        assert refused.value.field == field


def test_a_name_that_is_no_text_is_refused_by_the_virtual_table_too(tmp_path: Path) -> None:
    control = controls(tmp_path)
    for body in ({"lid": "open", "\ud800": 1}, {"fault": {"kind": "noise", "\ud800": 1}}):
        with pytest.raises(BadRequest) as refused:
            asyncio.run(control.apply(body))
        assert refused.value.field.endswith(r"\ud800")


def test_a_line_fault_in_a_folder_that_is_gone_is_refused_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "virtual"
    folder.mkdir()
    control = controls(folder)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    with pytest.raises(BadRequest, match=r"fault cannot be done: .*No such file"):
        do(control, fault={"kind": "noise"})
    assert control.view()["faults"] == []
