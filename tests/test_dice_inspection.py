"""Inspections that cannot be true: refused where they contradict themselves, marked where they are against a rule."""

from typing import Any

import pytest

from engine_lite.refusal import Refused
from tests.dice_table import SERIALS, DiceTable, broken

MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM"}
D1, D2, D3, D4, D5, D6 = SERIALS


@pytest.mark.parametrize("rules", ["es-1979", "pe-1999", "cl-scj", "us-vegas"])
def test_an_inspection_that_contradicts_itself_is_refused(rules: str) -> None:
    table = DiceTable(rules)
    table.receive(**MARKED)
    checks = dict.fromkeys(table.context.rules.checks, True)
    with pytest.raises(Refused, match="die 004713 is called unsound, but the check sound") as refused:
        table.do("inspect", set="A", checks=checks, unsound={D3: "chipped"})
    assert refused.value.code == "contradictory"
    # Here something failed, there the check was not made, so that it may be what is wrong.
    assert table.do("inspect", set="A", checks=checks | {"sound": False}, unsound={D3: "chipped"})["sound"] == [
        D1, D2, D4, D5, D6
    ]  # fmt: skip
    magnet = {"magnet": {"sound": False, "showed": "it moves"}}
    table.do("inspect", set="A", checks=checks, instruments=magnet, unsound={D3: "loaded"})
    table.do("inspect", set="A", checks={}, dice=[D3], unsound={D3: "chipped"})


def test_a_die_may_be_unsound_although_all_is_good_that_the_rules_have_looked_at() -> None:
    # Macau art. 1.2 asks for equal edges, faces that add up to seven, clear pips and balance, and a die may be chipped.
    table = DiceTable("mo-2010")
    table.receive(dice=4)
    checks = dict.fromkeys(table.context.rules.checks, True)
    assert table.do("inspect", set="A", checks=checks, unsound={"4": "chipped"})["sound"] == ["1", "2", "3"]


def test_an_inspection_that_looked_at_nothing_calls_no_die_sound() -> None:
    table = DiceTable("es-1979")
    table.receive(**MARKED)
    edges: dict[str, int] = {}
    for edge_of, unseen in (([], D1), (SERIALS[:5], D6)):
        edges |= dict.fromkeys(edge_of, 2000)
        with pytest.raises(Refused, match=f"nothing was looked at that says how die {unseen} is") as refused:
            table.do("inspect", set="A", checks={}, edges_hundredths_mm=edges)
        assert refused.value.code == "nothing_inspected"
    edges[D6] = 2000
    assert table.do("inspect", set="A", checks={}, edges_hundredths_mm=edges)["sound"] == SERIALS


@pytest.mark.parametrize(
    ("showed", "edge"),
    [
        ("19.05 mm", 1905),
        ("19,05mm on all edges", 1905),
        ("20.00 to 25.01 mm", 2501),
        ("19.99-20.01 mm", 1999),
        ("20.00 mm", None),
        ("25,00 mm, all within 0.02 mm", None),
        ("as it should be", None),
    ],
)
def test_what_a_micrometer_showed_outside_the_bounds_is_against_the_rules(showed: str, edge: int | None) -> None:
    # Spain II.1: "de 20 a 25 mm. de lado".
    table = DiceTable("es-1979")
    table.receive(**MARKED)
    checks = dict.fromkeys(table.context.rules.checks, True)
    instruments = {"micrometer": {"sound": True, "showed": showed}}
    data = table.do("inspect", set="A", checks=checks, instruments=instruments)
    assert broken(data) == ([] if edge is None else [("edge", "II.1")])
    assert data["sound"] == (SERIALS if edge is None else [])
    if edge is not None:
        assert data["against_rule"][0]["detail"] == {
            "set": "A",
            "edge_hundredths_mm": edge,
            "minimum_hundredths_mm": 2000,
            "maximum_hundredths_mm": 2500,
        }
