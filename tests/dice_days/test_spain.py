"""A day in Spain under the Order of 9 October 1979 (heading 06): six dice of which two play.

II.1: six dice in perfect state, other ones than in the session before, with number and initials of the house, edges of
20 to 25 mm. III: the stickman checks them. IV.3: a change before a throw, but not during the series for a point, except
where a die falls off the table: then the shooter picks one of the reserve, and a set whose die is not back when the
series ends is withdrawn for a new one; "cambio de dados" puts all six before the player.
"""

from pathlib import Path

from tests.dice_day_rig import BOXMAN, SUPERVISOR, WITNESS, DiceTable, dice_table


def test_a_day_in_spain(tmp_path: Path) -> None:
    with dice_table(tmp_path, "es-1979") as table:
        expected = [
            "1.0 Table opened | session 1, rule set es-1979",
            "1.0 Reserve closed | seen when the terminal started",
            *session_before(table),
            *dice_of_the_session_before(table),
            *opening(table),
            *during_a_roll(table),
            *request_amid_the_series(table),
            *die_off_the_table(table),
            *void_throws(table),
            *still_missing_when_the_series_ends(table),
            *unexplained(table),
            *damage(table),
            *left_open(table),
            *closing(table),
        ]
        table.close_table()
        assert table.log() == [*expected, "2.5 Table closed | session 2, rule set es-1979"]
        assert (table.alerts(), table.dice_state["openings"]) == ([], [])
        assert table.status() == {
            "A": "in the store: A1, A2, A3, A4, A5, A6",
            "B": "withdrawn: B1; destroyed: B2, B3, B4, B5, B6",
            "C": "in the store: C2, C3, C4, C5, C6; withdrawn: C1",
        }
        # A came to the table twice. B lost a die, five were destroyed, the sixth was found. One of C was chipped.
        assert table.account() == {
            "A": {
                "Received": 6,
                "At the end": 6,
                "end: In the store": 6,
                "moved: Distributed to the table": 12,
                "moved: Returned to the store": 12,
            },
            "B": {
                "Received": 6,
                "Destroyed": 5,
                "At the end": 1,
                "end: Withdrawn": 1,
                "moved: Distributed to the table": 6,
                "moved: Withdrawn": 6,
                "moved: Cancelled": 5,
                "moved: Off the table": 1,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
            "C": {
                "Received": 6,
                "At the end": 6,
                "end: In the store": 5,
                "end: Withdrawn": 1,
                "moved: Distributed to the table": 6,
                "moved: Returned to the store": 5,
                "moved: Withdrawn": 1,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
            "Sum": {
                "Received": 18,
                "Destroyed": 5,
                "At the end": 13,
                "end: In the store": 11,
                "end: Withdrawn": 2,
                "moved: Distributed to the table": 24,
                "moved: Returned to the store": 17,
                "moved: Withdrawn": 7,
                "moved: Cancelled": 5,
                "moved: Off the table": 1,
                "moved: Gone missing": 2,
                "moved: Found again": 2,
            },
        }
        report = table.report()
        for line in (
            "Conciliación diaria de los dados",
            "Los movimientos suman: 0 + 18 − 5 = 13; los dados no concilian, véase arriba.",
            "6 cambios de dados; 1 contra las normas.",
            "14 aperturas; 0 sin explicar; 1 explicada tarde por el jefe de mesa.",
        ):
            assert f"{line}\n" in report


def session_before(table: DiceTable) -> list[str]:
    """Set A serves the first session."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.receive("A", 6, edge_hundredths_mm=2000)
    table.inspect(set="A")
    with table.reserve(dice_after=4):
        table.dice("place", set="A")
        table.dice("change", taken=["A1", "A2"])
        table.dice("count", count="opening", seen={"play": ["A1", "A2"], "reserve": ["A3", "A4", "A5", "A6"]})
    table.shooter("1")
    assert table.roll(3, 4) == [("pass_line", "win")]
    with table.reserve(dice_after=0):
        table.dice("count", count="closing", seen={"play": ["A1", "A2"], "reserve": ["A3", "A4", "A5", "A6"]})
        table.dice("remove", set="A", to="store", reason="closing")
    table.close_table()
    return [
        "1.0 On duty | Ana | seen by Luis",
        "1.0 Set received | A | A1, A2, A3, A4, A5, A6",
        "1.0 Dice inspected | A | A1, A2, A3, A4, A5, A6 | new set",
        "1.0 Reserve opened o1 | new set (Ana) | explained before it was shut; afterwards: Dice change, Opening count",
        "1.0 Set brought to the table | A | A1, A2, A3, A4, A5, A6: in the store > in the reserve | new set | of o1",
        "1.0 Dice change | A | A1, A2: in the reserve > in play | offered to the shooter | of o1",
        "1.0 Opening count | A | count | of o1",
        "1.0 Reserve closed | of o1",
        "1.1 Reserve opened o2 | closing (Ana)",
        "1.1 Closing count | A | count | of o2",
        "1.1 Returned to the store | A | A1, A2: in play > in the store; A3, A4, A5, A6: in the reserve > in the store"
        " | closing | of o2",
        "1.1 Reserve closed | of o2",
        "1.1 Table closed | session 1, rule set es-1979",
    ]


def dice_of_the_session_before(table: DiceTable) -> list[str]:
    """While the table is closed, set A is brought again, which II.1 forbids; set B takes its place."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.receive("B", 6)
    table.inspect(set="B")
    with table.reserve(dice_after=6) as lid:
        text = table.acknowledge(f"reserve_open_while_closed:{lid}")
        assert text == "The dice reserve was open while the table was closed. Close it, and say why it was opened."
        again = table.dice("place", set="A")
        text = table.acknowledge(f"against_rule:{again}")
        assert text == "Against es-1979: Set A served in the session before; the dice must be others (II.1)."
        table.dice("remove", set="A", to="store", reason="new_set")
        table.dice("place", set="B")
    table.open_table()
    return [
        "2.1 On duty | Ana | seen by Luis",
        "1.1 Set received | B | B1, B2, B3, B4, B5, B6",
        "1.1 Dice inspected | B | B1, B2, B3, B4, B5, B6 | new set",
        "1.1 Reserve opened o3 | new set (Ana) | while the table was closed; explained before it was shut; afterwards:"
        " Returned to the store, Set brought to the table",
        "1.1 ALERT reserve_open_while_closed:o3",
        "1.1 Alert noted reserve_open_while_closed:o3 | Eva",
        "2.1 Set brought to the table b1 | A | A1, A2, A3, A4, A5, A6: in the store > in the reserve | new set"
        " | II.1: Set A served in the session before; the dice must be others. | of o3",
        "1.1 ALERT against_rule:b1",
        "1.1 Alert noted against_rule:b1 | Eva",
        "1.1 Returned to the store | A | A1, A2, A3, A4, A5, A6: in the reserve > in the store | new set | of o3",
        "2.1 Set brought to the table | B | B1, B2, B3, B4, B5, B6: in the store > in the reserve | new set | of o3",
        "1.1 Reserve closed | of o3",
    ]


def opening(table: DiceTable) -> list[str]:
    """The shooter takes two of six (IV.3); four are in the reserve (II.1)."""
    with table.reserve(dice_after=4):
        table.dice("change", taken=["B1", "B2"])
        table.dice("count", count="opening", seen={"play": ["B1", "B2"], "reserve": ["B3", "B4", "B5", "B6"]})
    table.shooter("1")
    return [
        "2.0 Table opened | session 2, rule set es-1979",
        "2.0 Reserve opened o4 | offered to the shooter (Ana) | explained before it was shut; afterwards:"
        " Opening count",
        "2.0 Dice change | B | B1, B2: in the reserve > in play | offered to the shooter | of o4",
        "2.0 Opening count | B | count | of o4",
        "2.0 Reserve closed | of o4",
    ]


def during_a_roll(table: DiceTable) -> list[str]:
    """The reserve is opened while the dice are out, and the boxman says why in time; another person takes note."""
    table.no_more_bets()
    with table.reserve() as lid:
        text = table.alert(f"reserve_open_during_roll:{lid}")
        assert text == "The dice reserve was open during a roll. Close it, and say why it was opened."
    table.dice("explain", reason="inspector_request", as_="boxman")
    table.acknowledge(f"reserve_open_during_roll:{lid}")
    assert table.roll(2, 4) == []
    return [
        "2.0 Reserve opened o5 | inspector's request (Ana) | during a roll",
        "2.0 ALERT reserve_open_during_roll:o5",
        "2.0 Reserve closed | of o5",
        "2.0 Opening explained | inspector's request | of o5",
        "2.0 Alert noted reserve_open_during_roll:o5 | Eva",
    ]


def request_amid_the_series(table: DiceTable) -> list[str]:
    """IV.3: the shooter may ask before throwing, not during the series for a point."""
    with table.reserve():
        swap = table.dice("swap", out=["B2"], in_=["B3"], reason="shooter_request")
    text = table.acknowledge(f"against_rule:{swap}")
    assert text == "Against es-1979: No change of dice (shooter request) during the series for point 6 (IV.3)."
    return [
        "2.1/6 Reserve opened o6 | shooter's request (Ana)",
        "2.1/6 Dice swapped b2 | B | B2: in play > in the reserve; B3: in the reserve > in play | shooter's request"
        " | shooter 1 | IV.3: No change of dice (shooter request) during the series for point 6. | of o6",
        "2.1/6 ALERT against_rule:b2",
        "2.1/6 Reserve closed | of o6",
        "2.1/6 Alert noted against_rule:b2 | Eva",
    ]


def die_off_the_table(table: DiceTable) -> list[str]:
    """IV.3: to finish the series the shooter picks one of the reserve."""
    table.void_throw("off_table", "B1")
    with table.reserve(dice_after=3):
        table.dice("swap", out=[], in_=["B4"], reason="die_off_table")
    assert table.roll(1, 2) == []
    return [
        "2.1/6 Void throw v1 | off the table",
        "2.1/6 Dice of a void throw | B | B1: in play > on the floor | off the table | of v1",
        "2.1/6 Reserve opened o7 | die off the table (Ana)",
        "2.1/6 Dice swapped | B | B4: in the reserve > in play | die off the table | of o7",
        "2.1/6 Reserve closed | of o7",
    ]


def void_throws(table: DiceTable) -> list[str]:
    """IV.3: void are dice in the basket of the reserve dice, from which one is taken back, and a die on a chip."""
    throw = table.void_throw("in_dice_cup")
    with table.reserve():
        table.dice("void_throw", no_roll=throw, dice=["B3"])
    table.void_throw("on_chips", "B4")
    assert table.alerts() == [], "the series goes on, and B1 is looked for"
    return [
        "2.2/6 Void throw v2 | in the reserve",
        "2.2/6 Reserve opened o8 | die off the table (Ana)",
        "2.2/6 Dice of a void throw | B | B3 | in the reserve | of v2",
        "2.2/6 Reserve closed | of o8",
        "2.2/6 Void throw v3 | on chips",
        "2.2/6 Dice of a void throw | B | B4 | on chips | of v3",
    ]


def still_missing_when_the_series_ends(table: DiceTable) -> list[str]:
    """IV.3: the lost die is not back when the series ends: a whole new set, and the old one is withdrawn."""
    assert table.roll(3, 4) == [("pass_line", "lose")]
    assert table.alert("dice_missing:B") == "Die B1 of set B lost. Search; record what is found."
    text = table.alert("set_to_replace:B")
    assert text == "Die B1 of set B not found when the series ended: withdraw the set and bring a new one (IV.3)."
    table.dice("missing", dice=["B1"])
    table.receive("C", 6)
    table.inspect(set="C")
    with table.reserve(dice_after=4):
        table.dice("remove", set="B", to="withdrawn", reason="die_off_table")
        table.no_alert("set_to_replace:B")
        table.dice("place", set="C")
        table.dice("change", taken=["C1", "C2"], reason="new_set")
    return [
        "2.3 ALERT dice_missing:B",
        "2.3 ALERT set_to_replace:B",
        "2.3 Die missing | B | B1: on the floor > missing | die off the table",
        "2.3 Set received | C | C1, C2, C3, C4, C5, C6",
        "2.3 Dice inspected | C | C1, C2, C3, C4, C5, C6 | new set",
        "2.3 Reserve opened o9 | die off the table (Ana) | explained before it was shut; afterwards:"
        " Set brought to the table, Dice change",
        "2.3 Withdrawn | B | B2, B5, B6: in the reserve > withdrawn; B3, B4: in play > withdrawn | die off the table"
        " | of o9",
        "2.3 Alert over set_to_replace:B",
        "2.3 Set brought to the table | C | C1, C2, C3, C4, C5, C6: in the store > in the reserve | new set | of o9",
        "2.3 Dice change | C | C1, C2: in the reserve > in play | new set | of o9",
        "2.3 Reserve closed | of o9",
    ]


def unexplained(table: DiceTable) -> list[str]:
    """Nobody says why in time: after the alert the boxman's word does not end it, the supervisor's does."""
    with table.reserve() as lid:
        pass
    text = table.alert(f"reserve_unexplained:{lid}")
    assert text == (
        "The dice reserve was opened after roll 3 (shooter 1) and no reason was given. A supervisor must say why."
    )
    table.dice("explain", reason="player_request", as_="boxman")
    assert table.alerts() == ["reserve_unexplained", "dice_missing"]
    status, answer = table.refused("explain", reason="inspector_request", as_="supervisor", done_by=BOXMAN)
    assert (status, answer["message"]) == (409, "Ana is the boxman on duty; a supervisor must explain this opening")
    table.dice("explain", reason="inspector_request", as_="supervisor", done_by=SUPERVISOR)
    table.no_alert(f"reserve_unexplained:{lid}")
    return [
        "2.3 Reserve opened o10 | inspector's request (Eva), explained late by a supervisor",
        "2.3 Reserve closed | of o10",
        "2.3 ALERT reserve_unexplained:o10",
        "2.3 Opening explained | player's request | of o10",
        "2.3 Opening explained | inspector's request | of o10 | as supervisor | Eva",
        "2.3 Alert over reserve_unexplained:o10",
    ]


def damage(table: DiceTable) -> list[str]:
    """II.1 wants dice in perfect state, so a chipped one goes amid the series; afterwards five are too few."""
    table.shooter("2", "dont_pass")
    table.roll(4, 5)
    with table.reserve(dice_after=3):
        table.dice("swap", out=["C1"], in_=["C3"], reason="damage")
    found = {"dice": ["C1"], "checks": {"sound": False}, "unsound": {"C1": "chipped corner"}}
    table.dice("inspect", **found, then="withdrawn", reason="damage")
    assert table.alerts() == ["dice_missing"], "that of B1"
    assert table.roll(3, 6) == [("dont_pass", "lose")]
    text = table.acknowledge("set_to_replace:C")
    assert text == "Set C has 5 dice left; the rules ask for 6. Bring another set (II.1)."
    return [
        "2.4/9 Reserve opened o11 | damage (Ana)",
        "2.4/9 Dice swapped | C | C1: in play > under inspection; C3: in the reserve > in play | damage | of o11",
        "2.4/9 Reserve closed | of o11",
        "2.4/9 Dice inspected | C | C1: under inspection > withdrawn | damage | die C1 unsound: chipped corner;"
        " FAILED: in perfect state; not checked: one colour, transparent, faces polished, edges sharp, corners sharp,"
        " pips flush, numbered, the house's mark",
        "2.5 ALERT set_to_replace:C",
        "2.5 Alert noted set_to_replace:C | Eva",
    ]


def left_open(table: DiceTable) -> list[str]:
    """The lid stays open for too long; then a die leaves its slot although the lid is shut."""
    with table.reserve():
        assert table.alert("reserve_left_open") == "The dice reserve is open for more than 10 s. Close it."
        table.dice("count", count="check", seen={"play": ["C2", "C3"], "reserve": ["C4", "C5", "C6"]})
    table.no_alert("reserve_left_open")
    table.settled()
    table.slots(2)
    changed = table.journal("slots")[-1]["seq"]
    assert table.alert("slots_disagree") == (
        "The slots of the reserve hold 2 dice, but by the log there are 3: C4 of set C, C5 of set C, C6 of set C. "
        "Count them and record the count."
    )
    table.acknowledge(f"slots_changed_shut:{changed}")
    with table.reserve(dice_after=3):
        table.no_alert("slots_disagree")
        table.dice("explain", reason="inspector_request", as_="supervisor", done_by=SUPERVISOR)
    return [
        "2.5 Reserve opened o12 | count (Ana)",
        "2.5 ALERT reserve_left_open",
        "2.5 Check count | C | count | of o12",
        "2.5 Reserve closed | of o12",
        "2.5 Alert over reserve_left_open",
        "2.5 RESERVE CHANGED UNDER A SHUT LID s1 | slots with a die: 1, 2, 3 > 1, 2",
        "2.5 ALERT slots_disagree",
        "2.5 ALERT slots_changed_shut:s1",
        "2.5 Alert noted slots_changed_shut:s1 | Eva",
        "2.5 Reserve opened o13 | inspector's request (Eva, as supervisor) | explained before it was shut; afterwards:"
        " slots with a die: 1, 2 > 1, 2, 3",
        "2.5 Alert over slots_disagree",
        "2.5 Opening explained | inspector's request | of o13 | as supervisor | Eva",
        "2.5 Reserve closed | of o13",
    ]


def closing(table: DiceTable) -> list[str]:
    """The closing count finds a die less; it is found before the set goes back. B is cancelled and destroyed."""
    with table.reserve(dice_after=0):
        count = table.dice("count", count="closing", seen={"play": ["C2", "C3"], "reserve": ["C4", "C5"]})
        text = table.acknowledge(f"count_differs:{count}")
        assert text == (
            "The closing count of set C differs from the log: die C6 is in the reserve by the log, and was not seen."
        )
        table.dice("missing", dice=["C6"])
        table.alert("dice_missing:C")
        text = table.alert("set_to_replace:C")
        assert text == "Set C has 4 dice left; the rules ask for 6. Bring another set (II.1)."
        table.dice("found", die="C6")
        table.no_alert("dice_missing:C")
        table.dice("remove", set="C", to="store", reason="closing")
        table.no_alert("set_to_replace:C")
    for to in ("cancelled", "destroyed"):
        table.dice("remove", set="B", to=to, reason="die_off_table")
    table.dice("found", set="B", die="B1")
    table.no_alert("dice_missing:B")
    table.dice("remove", set="B", to="withdrawn", reason="die_off_table")
    return [
        "2.5 Reserve opened o14 | closing (Ana) | explained before it was shut; afterwards: Die missing",
        "2.5 Closing count d1 | C | count | die C6: by the log in the reserve, seen nowhere | of o14",
        "2.5 ALERT count_differs:d1",
        "2.5 Alert noted count_differs:d1 | Eva",
        "2.5 Die missing | C | C6: in the reserve > missing | count | of o14",
        "2.5 ALERT dice_missing:C",
        "2.5 ALERT set_to_replace:C",
        "2.5 Die found | C | C6: missing > under inspection | die off the table",
        "2.5 ALERT set_to_replace:C",
        "2.5 Alert over dice_missing:C",
        "2.5 Returned to the store | C | C2, C3: in play > in the store; C4, C5: in the reserve > in the store;"
        " C6: under inspection > in the store | closing | of o14",
        "2.5 Alert over set_to_replace:C",
        "2.5 Reserve closed | of o14",
        "2.5 Cancelled | B | B2, B3, B4, B5, B6: withdrawn > cancelled | die off the table",
        "2.5 Destroyed | B | B2, B3, B4, B5, B6: cancelled > destroyed | die off the table",
        "2.5 Die found | B | B1: missing > under inspection | die off the table",
        "2.5 Alert over dice_missing:B",
        "2.5 Withdrawn | B | B1: under inspection > withdrawn | die off the table",
    ]
