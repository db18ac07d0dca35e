"""A day in Madrid: Decree 32/2004 is silent on dice, and its transitional provision keeps the Order of 1979 in force.

So the articles are those of Spain (II.1, III, IV.3), each named with that provision.
"""

from pathlib import Path

from tests.dice_day_rig import BOXMAN, SUPERVISOR, WITNESS, DiceTable, dice_table

II_1 = "Orden de 9 de octubre de 1979, II.1"


def test_a_day_in_madrid(tmp_path: Path) -> None:
    with dice_table(tmp_path, "es-md-2004") as table:
        expected = [
            "1.0 Table opened | session 1, rule set es-md-2004",
            "1.0 Reserve closed | seen when the terminal started",
            *inspection(table),
            *opening(table),
            *request_amid_the_series(table),
            *lost_and_found(table),
            *dice_change(table),
            *damage(table),
            *new_set(table),
            *void_throws(table),
            *unexplained(table),
            *left_open(table),
            *closing(table),
            *after_closing(table),
        ]
        assert table.log() == expected
        assert (table.alerts(), table.dice_state["openings"]) == ([], [])
        assert table.status() == {
            "A": "destroyed: A1, A2, A3, A4, A5, A6",
            "B": "withdrawn: B1, B2, B3, B4, B5, B6",
            "C": "in the store: C1, C2, C3, C4, C5, C6",
        }
        assert table.account() == {
            "A": {"Received": 6, "Destroyed": 6},
            "B": {
                "Received": 6,
                "At the end": 6,
                "end: Withdrawn": 6,
                "moved: Distributed to the table": 6,
                "moved: Withdrawn": 6,
                "moved: Off the table": 1,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
            "C": {
                "Received": 6,
                "At the end": 6,
                "end: In the store": 6,
                "moved: Distributed to the table": 6,
                "moved: Returned to the store": 6,
            },
            "Sum": {
                "Received": 18,
                "Destroyed": 6,
                "At the end": 12,
                "end: In the store": 6,
                "end: Withdrawn": 6,
                "moved: Distributed to the table": 12,
                "moved: Returned to the store": 6,
                "moved: Withdrawn": 6,
                "moved: Off the table": 1,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
        }
        report = table.report()
        for line in (
            "Los movimientos suman: 0 + 18 − 6 = 12; los dados no concilian, véase arriba.",
            "7 cambios de dados; 2 contra las normas.",
            "11 aperturas; 0 sin explicar; 1 explicada tarde por el jefe de mesa.",
        ):
            assert f"{line}\n" in report


def inspection(table: DiceTable) -> list[str]:
    """II.1: edges of 20 to 25 mm; one of set A has less."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.receive("A", 6)
    micrometer = {"micrometer": {"sound": False, "showed": "19.95 mm"}}
    table.inspect(set="A", instruments=micrometer, edges_hundredths_mm={"A1": 1995, "A2": 2000})
    inspected = table.journal("dice_set_inspected")[0]["seq"]
    text = table.acknowledge(f"against_rule:{inspected}")
    # The edge that was entered, and the one that the micrometer is said to have shown.
    edge = "edge 19.95 mm; the rules ask for 20.00 to 25.00 mm"
    assert text == f"Against es-md-2004: Die A1 of set A: {edge}; the dice of set A: {edge} ({II_1})."
    return [
        "1.0 On duty | Ana | seen by Luis",
        "1.0 Set received | A | A1, A2, A3, A4, A5, A6",
        "1.0 Dice inspected b1 | A | A1, A2, A3, A4, A5, A6 | new set"
        f" | II.1: Die A1 of set A: {edge}. The dice of set A: {edge}."
        f" | die A1 unsound: Die A1 of set A: {edge}; micrometer: 19.95 mm (NOT SOUND); edges (mm): A1 19.95, A2 20.00",
        "1.0 ALERT against_rule:b1",
        "1.0 Alert noted against_rule:b1 | Eva",
    ]


def opening(table: DiceTable) -> list[str]:
    """III: set B goes into play before anybody has looked at it; that is made good."""
    table.receive("B", 6)
    with table.reserve(dice_after=4):
        table.dice("place", set="B")
        change = table.dice("change", taken=["B1", "B2"])
        table.inspect()
        table.dice("count", count="opening", seen={"play": ["B1", "B2"], "reserve": ["B3", "B4", "B5", "B6"]})
    table.acknowledge(f"against_rule:{change}")
    table.shooter("1")
    assert table.roll(2, 2) == []
    return [
        "1.0 Set received | B | B1, B2, B3, B4, B5, B6",
        "1.0 Reserve opened o1 | new set (Ana) | explained before it was shut; afterwards: Dice change, Dice inspected,"
        " Opening count",
        "1.0 Set brought to the table | B | B1, B2, B3, B4, B5, B6: in the store > in the reserve | new set | of o1",
        "1.0 Dice change b2 | B | B1, B2: in the reserve > in play | offered to the shooter"
        " | III: Dice B1 and B2 of set B not inspected before use. | of o1",
        "1.0 ALERT against_rule:b2",
        "1.0 Dice inspected | B | B1, B2, B3, B4, B5, B6 | new set | of o1",
        "1.0 Opening count | B | count | of o1",
        "1.0 Reserve closed | of o1",
        "1.0 Alert noted against_rule:b2 | Eva",
    ]


def request_amid_the_series(table: DiceTable) -> list[str]:
    """IV.3: no change during the series, whoever asks."""
    with table.reserve():
        swap = table.dice("swap", out=["B1"], in_=["B3"], reason="player_request", asked_by_name="7")
    table.acknowledge(f"against_rule:{swap}")
    return [
        "1.1/4 Reserve opened o2 | player's request (Ana)",
        "1.1/4 Dice swapped b3 | B | B1: in play > in the reserve; B3: in the reserve > in play | player's request"
        " | player 7 | IV.3: No change of dice (player request) during the series for point 4. | of o2",
        "1.1/4 ALERT against_rule:b3",
        "1.1/4 Reserve closed | of o2",
        "1.1/4 Alert noted against_rule:b3 | Eva",
    ]


def lost_and_found(table: DiceTable) -> list[str]:
    """IV.3: a die off the table is missing, but is found, checked (III) and back before the series ends."""
    table.void_throw("off_table", "B2")
    with table.reserve(dice_after=3):
        table.dice("swap", out=[], in_=["B4"], reason="die_off_table")
    table.dice("missing", dice=["B2"])
    assert table.alert("dice_missing:B") == "Die B2 of set B lost. Search; record what is found."
    table.dice("found", die="B2")
    table.no_alert("dice_missing:B")
    with table.reserve(dice_after=4):
        table.inspect(dice=["B2"], then="reserve")
    assert table.roll(1, 3) == [("pass_line", "win")]
    return [
        "1.1/4 Void throw v1 | off the table",
        "1.1/4 Dice of a void throw | B | B2: in play > on the floor | off the table | of v1",
        "1.1/4 Reserve opened o3 | die off the table (Ana)",
        "1.1/4 Dice swapped | B | B4: in the reserve > in play | die off the table | of o3",
        "1.1/4 Reserve closed | of o3",
        "1.1/4 Die missing | B | B2: on the floor > missing | die off the table",
        "1.1/4 ALERT dice_missing:B",
        "1.1/4 Die found | B | B2: missing > under inspection | die off the table",
        "1.1/4 Alert over dice_missing:B",
        "1.1/4 Reserve opened o4 | die off the table (Ana)",
        "1.1/4 Dice inspected | B | B2: under inspection > in the reserve | die off the table | of o4",
        "1.1/4 Reserve closed | of o4",
    ]


def dice_change(table: DiceTable) -> list[str]:
    """IV.3, "cambio de dados": all six before the player, who takes two; four go back in sight of everyone."""
    with table.reserve():
        table.dice("offer", reason="boxman_order")
        table.dice("change", taken=["B5", "B6"], reason="boxman_order")
    return [
        "1.2 Reserve opened o5 | boxman's order (Ana) | explained before it was shut; afterwards: Dice change",
        "1.2 Dice offered | B | B1, B2, B5, B6: in the reserve > before the shooter;"
        " B3, B4: in play > before the shooter | boxman's order | boxman Ana | of o5",
        "1.2 Dice change | B | B1, B2, B3, B4: before the shooter > in the reserve;"
        " B5, B6: before the shooter > in play | boxman's order | boxman Ana | of o5",
        "1.2 Reserve closed | of o5",
    ]


def damage(table: DiceTable) -> list[str]:
    """II.1: a worn die is withdrawn; with the next decision the set is one of five."""
    with table.reserve(dice_after=3):
        table.dice("swap", out=["B5"], in_=["B1"], reason="damage")
    found = {"dice": ["B5"], "checks": {"flush_pips": False}, "unsound": {"B5": "worn pip"}}
    table.dice("inspect", **found, then="withdrawn", reason="damage")
    table.shooter("1")
    assert table.roll(5, 6) == [("pass_line", "win")]
    text = table.alert("set_to_replace:B")
    assert text == f"Set B has 5 dice left; the rules ask for 6. Bring another set ({II_1})."
    return [
        "1.2 Reserve opened o6 | damage (Ana)",
        "1.2 Dice swapped | B | B1: in the reserve > in play; B5: in play > under inspection | damage | of o6",
        "1.2 Reserve closed | of o6",
        "1.2 Dice inspected | B | B5: under inspection > withdrawn | damage | die B5 unsound: worn pip;"
        " FAILED: pips flush; not checked: one colour, transparent, faces polished, edges sharp, corners sharp,"
        " numbered, the house's mark, in perfect state",
        "1.3 ALERT set_to_replace:B",
    ]


def new_set(table: DiceTable) -> list[str]:
    """II.1: six dice at the table; C comes while those of B are still there."""
    table.receive("C", 6)
    table.inspect(set="C")
    with table.reserve(dice_after=4):
        placed = table.dice("place", set="C")
        table.dice("remove", set="B", to="withdrawn", reason="damage")
        table.no_alert("set_to_replace:B")
        table.dice("change", taken=["C1", "C2"], reason="new_set")
    table.acknowledge(f"against_rule:{placed}")
    return [
        "1.3 Set received | C | C1, C2, C3, C4, C5, C6",
        "1.3 Dice inspected | C | C1, C2, C3, C4, C5, C6 | new set",
        "1.3 Reserve opened o7 | new set (Ana) | explained before it was shut; afterwards: Withdrawn, Dice change",
        "1.3 Set brought to the table b4 | C | C1, C2, C3, C4, C5, C6: in the store > in the reserve | new set"
        " | II.1: Set C came to the table while set B was there: 11 dice; the rules ask for 6. | of o7",
        "1.3 ALERT against_rule:b4",
        "1.3 Withdrawn | B | B1, B6: in play > withdrawn; B2, B3, B4: in the reserve > withdrawn | damage | of o7",
        "1.3 Alert over set_to_replace:B",
        "1.3 Dice change | C | C1, C2: in the reserve > in play | new set | of o7",
        "1.3 Reserve closed | of o7",
        "1.3 Alert noted against_rule:b4 | Eva",
    ]


def void_throws(table: DiceTable) -> list[str]:
    """IV.3: void are dice one on the other, and a die that rides on a chip."""
    table.shooter("1")
    table.void_throw("stacked", "C1", "C2")
    table.void_throw("on_chips", "C2")
    return [
        "1.3 Void throw v2 | one die on the other",
        "1.3 Dice of a void throw | C | C1, C2 | one die on the other | of v2",
        "1.3 Void throw v3 | on chips",
        "1.3 Dice of a void throw | C | C2 | on chips | of v3",
    ]


def unexplained(table: DiceTable) -> list[str]:
    """The supervisor explains after the alert."""
    with table.reserve() as lid:
        pass
    table.alert(f"reserve_unexplained:{lid}")
    table.dice("explain", reason="boxman_order", as_="supervisor", done_by=SUPERVISOR, note="the lid was tried")
    table.no_alert(f"reserve_unexplained:{lid}")
    return [
        "1.3 Reserve opened o8 | boxman's order (Eva), explained late by a supervisor",
        "1.3 Reserve closed | of o8",
        "1.3 ALERT reserve_unexplained:o8",
        "1.3 Opening explained | boxman's order | of o8 | as supervisor; the lid was tried | Eva",
        "1.3 Alert over reserve_unexplained:o8",
    ]


def left_open(table: DiceTable) -> list[str]:
    """The boxman says why while the lid is still open."""
    with table.reserve():
        table.alert("reserve_left_open")
        table.dice("explain", reason="inspector_request", as_="boxman")
    table.no_alert("reserve_left_open")
    return [
        "1.3 Reserve opened o9 | inspector's request (Ana) | explained before it was shut; nothing recorded afterwards",
        "1.3 ALERT reserve_left_open",
        "1.3 Opening explained | inspector's request | of o9",
        "1.3 Reserve closed | of o9",
        "1.3 Alert over reserve_left_open",
    ]


def closing(table: DiceTable) -> list[str]:
    """The closing count finds a die that is not of the set."""
    assert table.roll(3, 4) == [("pass_line", "win")]
    with table.reserve(dice_after=0):
        seen = {"play": ["C1", "C2"], "reserve": ["C3", "C4", "C5", "C6", "X9"]}
        count = table.dice("count", count="closing", seen=seen)
        text = table.acknowledge(f"count_differs:{count}")
        assert text == (
            "The closing count of set C differs from the log: die X9 is not of this set, and was seen in the reserve."
        )
        table.dice("remove", set="C", to="store", reason="closing")
    table.dice("remove", set="A", to="destroyed", reason="damage")
    table.close_table()
    return [
        "1.4 Reserve opened o10 | closing (Ana)",
        "1.4 Closing count d1 | C | count | die X9: by the log not of this set, seen in the reserve | of o10",
        "1.4 ALERT count_differs:d1",
        "1.4 Alert noted count_differs:d1 | Eva",
        "1.4 Returned to the store | C | C1, C2: in play > in the store; C3, C4, C5, C6: in the reserve > in the store"
        " | closing | of o10",
        "1.4 Reserve closed | of o10",
        "1.4 Destroyed | A | A1, A2, A3, A4, A5, A6: in the store > destroyed | damage",
    ]


def after_closing(table: DiceTable) -> list[str]:
    """The reserve is opened while the table is closed."""
    with table.reserve() as lid:
        table.alert(f"reserve_open_while_closed:{lid}")
    table.dice("explain", reason="closing", as_="boxman")
    table.acknowledge(f"reserve_open_while_closed:{lid}")
    return [
        "1.4 Table closed | session 1, rule set es-md-2004",
        "1.4 Reserve opened o11 | closing (Ana) | while the table was closed",
        "1.4 ALERT reserve_open_while_closed:o11",
        "1.4 Reserve closed | of o11",
        "1.4 Opening explained | closing | of o11",
        "1.4 Alert noted reserve_open_while_closed:o11 | Eva",
    ]
