"""A day in Peru under the regulation of 1999: five new dice, numbered and with the house's name.

Art. 2.b: five dice, numbered, naming the operator; all are offered. Art. 3: new and checked before use; changed at the
request of players, inspector or staff on grounds, and tested by the inspector with instruments at any time. Art. 4.c:
three rest before the boxman, and the shooter may ask for other dice, in the series too. The text has no lost dice.
"""

from pathlib import Path

from tests.dice_day_rig import BOXMAN, SUPERVISOR, WITNESS, DiceTable, dice_table


def test_a_day_in_peru(tmp_path: Path) -> None:
    with dice_table(tmp_path, "pe-1999") as table:
        expected = [
            "1.0 Table opened | session 1, rule set pe-1999",
            "1.0 Reserve closed | seen when the terminal started",
            *opening(table),
            *request_amid_the_series(table),
            *inspectors_test(table),
            *die_off_the_table(table),
            *lost_die(table),
            *new_set(table),
            *damage(table),
            *unexplained(table),
            *left_open(table),
            *closing(table),
            *brought_again(table),
        ]
        assert table.log() == expected
        assert (table.alerts(), table.dice_state["openings"]) == (["dice_missing"], []), "die B5 is still lost"
        assert table.status() == {
            "A": "withdrawn: A1, A2, A3, A4, A5",
            "B": "missing: B5; withdrawn: B1, B2, B3, B4",
            "C": "cancelled: C1, C2, C3, C4, C5",
        }
        assert table.account() == {
            "A": {
                "Received": 5,
                "At the end": 5,
                "end: Withdrawn": 5,
                "moved: Distributed to the table": 10,
                "moved: Returned to the store": 5,
                "moved: Withdrawn": 5,
            },
            "B": {
                "Received": 5,
                "At the end": 5,
                "end: Missing, or on the floor": 1,
                "end: Withdrawn": 4,
                "moved: Distributed to the table": 5,
                "moved: Withdrawn": 4,
                "moved: Off the table": 2,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
            "C": {
                "Received": 5,
                "At the end": 5,
                "end: Cancelled": 5,
                "moved: Distributed to the table": 5,
                "moved: Returned to the store": 4,
                "moved: Withdrawn": 1,
                "moved: Cancelled": 5,
            },
            "Sum": {
                "Received": 15,
                "At the end": 15,
                "end: Missing, or on the floor": 1,
                "end: Withdrawn": 9,
                "end: Cancelled": 5,
                "moved: Distributed to the table": 20,
                "moved: Returned to the store": 9,
                "moved: Withdrawn": 10,
                "moved: Cancelled": 5,
                "moved: Off the table": 2,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
        }
        report = table.report()
        for line in (
            "Los movimientos suman: 0 + 15 − 0 = 15; los dados no concilian, véase arriba.",
            "8 cambios de dados; 0 contra las normas.",
            "13 aperturas; 0 sin explicar; 1 explicada tarde por el jefe de mesa.",
        ):
            assert f"{line}\n" in report


def opening(table: DiceTable) -> list[str]:
    """Art. 2.b: set A does not name the house and goes back; the shooter takes two of the five of set B."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.receive("A", 5, house_mark=None)
    table.receive("B", 5)
    table.inspect(set="B")
    with table.reserve(dice_after=3):
        placed = table.dice("place", set="A")
        table.dice("remove", set="A", to="store", reason="new_set")
        table.dice("place", set="B")
        table.dice("change", taken=["B1", "B2"])
        table.dice("count", count="opening", seen={"play": ["B1", "B2"], "reserve": ["B3", "B4", "B5"]})
    text = table.acknowledge(f"against_rule:{placed}")
    assert text == "Against pe-1999: The dice of set A do not carry the house's mark (art. 2.b)."
    table.shooter("1")
    assert table.roll(5, 5) == []
    return [
        "1.0 On duty | Ana | seen by Luis",
        "1.0 Set received | A | A1, A2, A3, A4, A5",
        "1.0 Set received | B | B1, B2, B3, B4, B5",
        "1.0 Dice inspected | B | B1, B2, B3, B4, B5 | new set",
        "1.0 Reserve opened o1 | new set (Ana) | explained before it was shut; afterwards: Returned to the store,"
        " Set brought to the table, Dice change, Opening count",
        "1.0 Set brought to the table b1 | A | A1, A2, A3, A4, A5: in the store > in the reserve | new set"
        " | art. 2.b: The dice of set A do not carry the house's mark. | of o1",
        "1.0 ALERT against_rule:b1",
        "1.0 Returned to the store | A | A1, A2, A3, A4, A5: in the reserve > in the store | new set | of o1",
        "1.0 Set brought to the table | B | B1, B2, B3, B4, B5: in the store > in the reserve | new set | of o1",
        "1.0 Dice change | B | B1, B2: in the reserve > in play | offered to the shooter | of o1",
        "1.0 Opening count | B | count | of o1",
        "1.0 Reserve closed | of o1",
        "1.0 Alert noted against_rule:b1 | Eva",
    ]


def request_amid_the_series(table: DiceTable) -> list[str]:
    """Art. 4.c: the shooter may ask for other dice."""
    with table.reserve():
        table.dice("swap", out=["B1"], in_=["B3"], reason="shooter_request")
    assert table.alerts() == []
    return [
        "1.1/10 Reserve opened o2 | shooter's request (Ana)",
        "1.1/10 Dice swapped | B | B1: in play > in the reserve; B3: in the reserve > in play | shooter's request"
        " | shooter 1 | of o2",
        "1.1/10 Reserve closed | of o2",
    ]


def inspectors_test(table: DiceTable) -> list[str]:
    """Art. 3: the inspector tests the dice with instruments, amid the series."""
    asked = {"reason": "inspector_request", "to": "inspection", "asked_by_name": "Ruiz"}
    with table.reserve(dice_after=1):
        table.dice("swap", out=["B2", "B3"], in_=["B4", "B5"], **asked)
    instruments = {
        "micrometer": {"sound": True, "showed": "19.05 mm"},
        "balancing_caliper": {"sound": True, "showed": "level"},
    }
    with table.reserve(dice_after=3):
        table.inspect(dice=["B2", "B3"], instruments=instruments, then="reserve", reason="inspector_request")
    return [
        "1.1/10 Reserve opened o3 | inspector's request (Ana)",
        "1.1/10 Dice swapped | B | B2, B3: in play > under inspection; B4, B5: in the reserve > in play"
        " | inspector's request | inspector Ruiz | of o3",
        "1.1/10 Reserve closed | of o3",
        "1.1/10 Reserve opened o4 | inspector's request (Ana)",
        "1.1/10 Dice inspected | B | B2, B3: under inspection > in the reserve | inspector's request | of o4"
        " | balancing caliper: level; micrometer: 19.05 mm",
        "1.1/10 Reserve closed | of o4",
    ]


def die_off_the_table(table: DiceTable) -> list[str]:
    """The text is silent: found within the series and checked, the die is back in the reserve."""
    table.void_throw("off_table", "B4")
    with table.reserve(dice_after=2):
        table.dice("swap", out=[], in_=["B1"], reason="die_off_table")
    table.dice("found", die="B4")
    with table.reserve(dice_after=3):
        table.inspect(dice=["B4"], then="reserve")
    assert table.roll(3, 4) == [("pass_line", "lose")]
    assert table.alerts() == []
    return [
        "1.1/10 Void throw v1 | off the table",
        "1.1/10 Dice of a void throw | B | B4: in play > on the floor | off the table | of v1",
        "1.1/10 Reserve opened o5 | die off the table (Ana)",
        "1.1/10 Dice swapped | B | B1: in the reserve > in play | die off the table | of o5",
        "1.1/10 Reserve closed | of o5",
        "1.1/10 Die found | B | B4: on the floor > under inspection | die off the table",
        "1.1/10 Reserve opened o6 | die off the table (Ana)",
        "1.1/10 Dice inspected | B | B4: under inspection > in the reserve | die off the table | of o6",
        "1.1/10 Reserve closed | of o6",
    ]


def lost_die(table: DiceTable) -> list[str]:
    """Art. 2.b asks for five: with the next decision four are too few."""
    table.shooter("2")
    table.void_throw("off_table", "B5")
    with table.reserve(dice_after=2):
        table.dice("swap", out=[], in_=["B2"], reason="die_off_table")
    table.dice("missing", dice=["B5"])
    assert table.alert("dice_missing:B") == "Die B5 of set B lost. Search; record what is found."
    assert table.roll(5, 6) == [("pass_line", "win")]
    text = table.alert("set_to_replace:B")
    assert text == "Set B has 4 dice left; the rules ask for 5. Bring another set (art. 2.b)."
    return [
        "1.2 Void throw v2 | off the table",
        "1.2 Dice of a void throw | B | B5: in play > on the floor | off the table | of v2",
        "1.2 Reserve opened o7 | die off the table (Ana)",
        "1.2 Dice swapped | B | B2: in the reserve > in play | die off the table | of o7",
        "1.2 Reserve closed | of o7",
        "1.2 Die missing | B | B5: on the floor > missing | die off the table",
        "1.2 ALERT dice_missing:B",
        "1.3 ALERT set_to_replace:B",
    ]


def new_set(table: DiceTable) -> list[str]:
    """Art. 3: five new dice, checked before use."""
    table.receive("C", 5)
    table.inspect(set="C")
    with table.reserve(dice_after=3):
        table.dice("remove", set="B", to="withdrawn", reason="new_set")
        table.no_alert("set_to_replace:B")
        table.dice("place", set="C")
        table.dice("change", taken=["C1", "C2"], reason="new_set")
    return [
        "1.3 Set received | C | C1, C2, C3, C4, C5",
        "1.3 Dice inspected | C | C1, C2, C3, C4, C5 | new set",
        "1.3 Reserve opened o8 | new set (Ana) | explained before it was shut; afterwards: Set brought to the table,"
        " Dice change",
        "1.3 Withdrawn | B | B1, B2: in play > withdrawn; B3, B4: in the reserve > withdrawn | new set | of o8",
        "1.3 Alert over set_to_replace:B",
        "1.3 Set brought to the table | C | C1, C2, C3, C4, C5: in the store > in the reserve | new set | of o8",
        "1.3 Dice change | C | C1, C2: in the reserve > in play | new set | of o8",
        "1.3 Reserve closed | of o8",
    ]


def damage(table: DiceTable) -> list[str]:
    """Art. 3: a die is changed for a defect amid the series, and withdrawn."""
    table.shooter("2")
    assert table.roll(2, 2) == []
    with table.reserve(dice_after=2):
        table.dice("swap", out=["C1"], in_=["C3"], reason="damage")
    table.dice("inspect", dice=["C1"], checks={"sound": False}, unsound={"C1": "notched"}, reason="damage")
    table.dice("remove", set="C", dice=["C1"], to="withdrawn", reason="damage")
    assert table.roll(1, 3) == [("pass_line", "win")]
    text = table.acknowledge("set_to_replace:C")
    assert text == "Set C has 4 dice left; the rules ask for 5. Bring another set (art. 2.b)."
    return [
        "1.4/4 Reserve opened o9 | damage (Ana)",
        "1.4/4 Dice swapped | C | C1: in play > under inspection; C3: in the reserve > in play | damage | of o9",
        "1.4/4 Reserve closed | of o9",
        "1.4/4 Dice inspected | C | C1 | damage | die C1 unsound: notched;"
        " FAILED: in perfect state; not checked: not of metal, transparent, edges sharp, corners sharp, pips flush,"
        " of another colour than the cloth, the house's mark, new, numbered, calibrated",
        "1.4/4 Withdrawn | C | C1: under inspection > withdrawn | damage",
        "1.5 ALERT set_to_replace:C",
        "1.5 Alert noted set_to_replace:C | Eva",
    ]


def unexplained(table: DiceTable) -> list[str]:
    """The inspector opened the reserve, and nobody said so; a throw too short (art. 4.d) follows."""
    with table.reserve() as lid:
        pass
    table.alert(f"reserve_unexplained:{lid}")
    table.dice("explain", reason="inspector_request", as_="supervisor", done_by=SUPERVISOR)
    table.no_alert(f"reserve_unexplained:{lid}")
    table.void_throw("short")
    return [
        "1.5 Reserve opened o10 | inspector's request (Eva), explained late by a supervisor",
        "1.5 Reserve closed | of o10",
        "1.5 ALERT reserve_unexplained:o10",
        "1.5 Opening explained | inspector's request | of o10 | as supervisor | Eva",
        "1.5 Alert over reserve_unexplained:o10",
        "1.5 Void throw v3 | too short",
    ]


def left_open(table: DiceTable) -> list[str]:
    """The lid stays open for too long, for a player's request."""
    with table.reserve():
        table.alert("reserve_left_open")
        table.dice("swap", out=["C2"], in_=["C4"], reason="player_request", asked_by_name="7")
    table.no_alert("reserve_left_open")
    return [
        "1.5 Reserve opened o11 | player's request (Ana)",
        "1.5 ALERT reserve_left_open",
        "1.5 Dice swapped | C | C2: in play > in the reserve; C4: in the reserve > in play | player's request"
        " | player 7 | of o11",
        "1.5 Reserve closed | of o11",
        "1.5 Alert over reserve_left_open",
    ]


def closing(table: DiceTable) -> list[str]:
    """The closing count has two dice in each other's place; since art. 3 wants new dice, those are cancelled."""
    with table.reserve(dice_after=0):
        count = table.dice("count", count="closing", seen={"play": ["C2", "C3"], "reserve": ["C4", "C5"]})
        text = table.acknowledge(f"count_differs:{count}")
        assert text == (
            "The closing count of set C differs from the log: die C2 is in the reserve by the log, and was seen in "
            "play; die C4 is in play by the log, and was seen in the reserve."
        )
        table.dice("remove", set="C", to="store", reason="closing")
        table.no_alert("set_to_replace:C")
    table.dice("remove", set="C", to="cancelled", reason="closing")
    table.close_table()
    return [
        "1.5 Reserve opened o12 | closing (Ana)",
        "1.5 Closing count d1 | C | count | die C2: by the log in the reserve, seen in play;"
        " die C4: by the log in play, seen in the reserve | of o12",
        "1.5 ALERT count_differs:d1",
        "1.5 Alert noted count_differs:d1 | Eva",
        "1.5 Returned to the store | C | C2, C5: in the reserve > in the store; C3, C4: in play > in the store"
        " | closing | of o12",
        "1.5 Alert over set_to_replace:C",
        "1.5 Reserve closed | of o12",
        "1.5 Cancelled | C | C1: withdrawn > cancelled; C2, C3, C4, C5: in the store > cancelled | closing",
        "1.5 Table closed | session 1, rule set pe-1999",
    ]


def brought_again(table: DiceTable) -> list[str]:
    """Before the next session set A is brought again, still without the house's name; it has not been in play."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    with table.reserve(dice_after=0) as lid:
        table.alert(f"reserve_open_while_closed:{lid}")
        placed = table.dice("place", set="A")
        table.dice("remove", set="A", to="withdrawn", reason="new_set")
    table.acknowledge(f"reserve_open_while_closed:{lid}")
    text = table.acknowledge(f"against_rule:{placed}")
    assert text == "Against pe-1999: The dice of set A do not carry the house's mark (art. 2.b)."
    return [
        "2.5 On duty | Ana | seen by Luis",
        "1.5 Reserve opened o13 | new set (Ana) | while the table was closed; explained before it was shut; afterwards:"
        " Withdrawn",
        "1.5 ALERT reserve_open_while_closed:o13",
        "2.5 Set brought to the table b2 | A | A1, A2, A3, A4, A5: in the store > in the reserve | new set"
        " | art. 2.b: The dice of set A do not carry the house's mark. | of o13",
        "1.5 ALERT against_rule:b2",
        "1.5 Withdrawn | A | A1, A2, A3, A4, A5: in the reserve > withdrawn | new set | of o13",
        "1.5 Reserve closed | of o13",
        "1.5 Alert noted reserve_open_while_closed:o13 | Eva",
        "1.5 Alert noted against_rule:b2 | Eva",
    ]
