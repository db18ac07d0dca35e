"""A day in Macau under Despacho 53/2010: four or five dice, which carry no numbers of their own.

Art. 1.1: four or five dice. Art. 1.2: what they must be. Art. 2.2: the shooter chooses two of those that are offered;
the house asks for three at least. Art. 3.2: a throw off the table is void. Art. 3.4: such a die returns only after the
check of art. 1.2. On changes and lost dice the text is silent.
"""

from pathlib import Path

from tests.dice_day_rig import BOXMAN, SUPERVISOR, WITNESS, DiceTable, dice_table


def test_a_day_in_macau(tmp_path: Path) -> None:
    with dice_table(tmp_path, "mo-2010") as table:
        expected = [
            "1.0 Table opened | session 1, rule set mo-2010",
            "1.0 Reserve closed | seen when the terminal started",
            *opening(table),
            *request_amid_the_series(table),
            *die_off_the_table(table),
            *lost_die(table),
            *damage(table),
            *new_set(table),
            *unexplained(table),
            *left_open(table),
            *closing(table),
        ]
        table.close_table()
        assert table.log() == [*expected, "1.3 Table closed | session 1, rule set mo-2010"]
        assert (table.alerts(), table.dice_state["openings"]) == (["dice_missing"], []), "die 1 of set A is still lost"
        assert table.status() == {
            "A": "missing: 1; cancelled: 2, 3, 4, 5",
            "B": "in the store: 1, 2, 3, 4",
        }
        assert table.account() == {
            "A": {
                "Received": 5,
                "At the end": 5,
                "end: Missing, or on the floor": 1,
                "end: Cancelled": 4,
                "moved: Distributed to the table": 5,
                "moved: Withdrawn": 4,
                "moved: Cancelled": 4,
                "moved: Off the table": 2,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
            "B": {
                "Received": 4,
                "At the end": 4,
                "end: In the store": 4,
                "moved: Distributed to the table": 4,
                "moved: Returned to the store": 4,
            },
            "Sum": {
                "Received": 9,
                "At the end": 9,
                "end: In the store": 4,
                "end: Missing, or on the floor": 1,
                "end: Cancelled": 4,
                "moved: Distributed to the table": 9,
                "moved: Returned to the store": 4,
                "moved: Withdrawn": 4,
                "moved: Cancelled": 4,
                "moved: Off the table": 2,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
        }
        report = table.report()
        for line in (
            "Conferência diária dos dados",
            "Os movimentos somam: 0 + 9 − 0 = 9; mas os dados não conferem, ver acima.",
            "8 mudanças de dados; 1 contra as regras.",
            "11 aberturas; 0 sem explicação; 1 explicada tarde pelo supervisor.",
        ):
            assert f"{line}\n" in report


def opening(table: DiceTable) -> list[str]:
    """Art. 2.2: the shooter chooses from three of the five."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.receive("A", 5, numbered=False)
    table.inspect(set="A")
    with table.reserve(dice_after=3):
        table.dice("place", set="A")
        table.dice("count", count="opening", seen={"reserve": ["1", "2", "3", "4", "5"]})
        table.dice("change", offered=["1", "2", "3"], taken=["1", "2"])
    table.shooter("1")
    assert table.roll(4, 4) == []
    return [
        "1.0 On duty | Ana | seen by Luis",
        "1.0 Set received | A | 1, 2, 3, 4, 5",
        "1.0 Dice inspected | A | 1, 2, 3, 4, 5 | new set",
        "1.0 Reserve opened o1 | new set (Ana) | explained before it was shut; afterwards: Opening count, Dice change",
        "1.0 Set brought to the table | A | 1, 2, 3, 4, 5: in the store > in the reserve | new set | of o1",
        "1.0 Opening count | A | count | of o1",
        "1.0 Dice change | A | 1, 2: in the reserve > in play | offered to the shooter | of o1",
        "1.0 Reserve closed | of o1",
    ]


def request_amid_the_series(table: DiceTable) -> list[str]:
    """The text is silent, so the shooter gets another die; but two are too few to choose from."""
    with table.reserve():
        table.dice("swap", out=["1"], in_=["3"], reason="shooter_request")
    with table.reserve():
        change = table.dice("change", offered=["1", "2"], taken=["1", "2"])
    table.acknowledge(f"against_rule:{change}")
    return [
        "1.1/8 Reserve opened o2 | shooter's request (Ana)",
        "1.1/8 Dice swapped | A | 1: in play > in the reserve; 3: in the reserve > in play | shooter's request"
        " | shooter 1 | of o2",
        "1.1/8 Reserve closed | of o2",
        "1.1/8 Reserve opened o3 | offered to the shooter (Ana)",
        "1.1/8 Dice change b1 | A | 1: in the reserve > in play; 3: in play > in the reserve | offered to the shooter"
        " | art. 2.2:"
        " 2 dice of set A were offered; the rules ask for 3. | of o3",
        "1.1/8 ALERT against_rule:b1",
        "1.1/8 Reserve closed | of o3",
        "1.1/8 Alert noted against_rule:b1 | Eva",
    ]


def die_off_the_table(table: DiceTable) -> list[str]:
    """Art. 3.4: the die returns after the whole check of art. 1.2, not after half of it."""
    table.void_throw("off_table", "2")
    with table.reserve(dice_after=2):
        table.dice("swap", out=[], in_=["4"], reason="die_off_table")
    table.dice("found", die="2")
    half = table.dice("inspect", dice=["2"], checks={"equal_edges": True, "opposite_faces_seven": True})
    text = table.acknowledge(f"against_rule:{half}")
    assert text == (
        "Against mo-2010: Not checked: pips clear and of one diameter (art. 1.2.3). "
        "Not checked: of the same weight and balanced (art. 1.2.4)."
    )
    with table.reserve(dice_after=3):
        table.inspect(dice=["2"], then="reserve")
    assert table.roll(3, 5) == [("pass_line", "win")]
    assert table.alerts() == []
    return [
        "1.1/8 Void throw v1 | off the table",
        "1.1/8 Dice of a void throw | A | 2: in play > on the floor | off the table | of v1",
        "1.1/8 Reserve opened o4 | die off the table (Ana)",
        "1.1/8 Dice swapped | A | 4: in the reserve > in play | die off the table | of o4",
        "1.1/8 Reserve closed | of o4",
        "1.1/8 Die found | A | 2: on the floor > under inspection | die off the table",
        "1.1/8 Dice inspected b2 | A | 2 | die off the table | art. 1.2.3: Not checked: pips clear and of one diameter."
        " art. 1.2.4: Not checked: of the same weight and balanced. | not checked: pips clear, balanced",
        "1.1/8 ALERT against_rule:b2",
        "1.1/8 Alert noted against_rule:b2 | Eva",
        "1.1/8 Reserve opened o5 | die off the table (Ana)",
        "1.1/8 Dice inspected | A | 2: under inspection > in the reserve | die off the table | of o5",
        "1.1/8 Reserve closed | of o5",
    ]


def lost_die(table: DiceTable) -> list[str]:
    """Four of the five are left, which art. 1.1 allows, and no article asks for a new set: the search goes on."""
    table.shooter("1")
    table.void_throw("off_table", "1")
    with table.reserve(dice_after=2):
        table.dice("swap", out=[], in_=["2"], reason="die_off_table")
    table.dice("missing", dice=["1"])
    assert table.alert("dice_missing:A") == "Die 1 of set A lost. Search; record what is found."
    assert table.roll(6, 6) == [("pass_line", "lose")]
    return [
        "1.2 Void throw v2 | off the table",
        "1.2 Dice of a void throw | A | 1: in play > on the floor | off the table | of v2",
        "1.2 Reserve opened o6 | die off the table (Ana)",
        "1.2 Dice swapped | A | 2: in the reserve > in play | die off the table | of o6",
        "1.2 Reserve closed | of o6",
        "1.2 Die missing | A | 1: on the floor > missing | die off the table",
        "1.2 ALERT dice_missing:A",
    ]


def damage(table: DiceTable) -> list[str]:
    """With another one chipped three are left, and art. 1.1 asks for four: another set, once a series has ended."""
    with table.reserve(dice_after=1):
        table.dice("swap", out=["4"], in_=["3"], reason="damage")
    table.inspect(dice=["4"], unsound={"4": "chipped"}, then="withdrawn", reason="damage")
    text = table.alert("set_to_replace:A")
    assert text == "Set A has 3 dice left; the rules ask for 4 to 5. Bring another set (art. 1.1.1)."
    return [
        "1.3 Reserve opened o7 | damage (Ana)",
        "1.3 Dice swapped | A | 3: in the reserve > in play; 4: in play > under inspection | damage | of o7",
        "1.3 Reserve closed | of o7",
        "1.3 Dice inspected | A | 4: under inspection > withdrawn | damage | die 4 unsound: chipped",
        "1.3 ALERT set_to_replace:A",
    ]


def new_set(table: DiceTable) -> list[str]:
    """Set B of four dice takes the place of set A, of which die 1 stays missing."""
    table.receive("B", 4, numbered=False)
    table.inspect(set="B")
    with table.reserve(dice_after=2):
        table.dice("remove", set="A", to="withdrawn", reason="new_set")
        table.no_alert("set_to_replace:A")
        table.dice("place", set="B")
        table.dice("change", taken=["1", "2"], reason="new_set")
    return [
        "1.3 Set received | B | 1, 2, 3, 4",
        "1.3 Dice inspected | B | 1, 2, 3, 4 | new set",
        "1.3 Reserve opened o8 | new set (Ana) | explained before it was shut; afterwards: Set brought to the table,"
        " Dice change",
        "1.3 Withdrawn | A | 2, 3: in play > withdrawn; 5: in the reserve > withdrawn | new set | of o8",
        "1.3 Alert over set_to_replace:A",
        "1.3 Set brought to the table | B | 1, 2, 3, 4: in the store > in the reserve | new set | of o8",
        "1.3 Dice change | B | 1, 2: in the reserve > in play | new set | of o8",
        "1.3 Reserve closed | of o8",
    ]


def unexplained(table: DiceTable) -> list[str]:
    """What the boxman records after the alert belongs to the opening, but only a supervisor ends the alert."""
    with table.reserve() as lid:
        pass
    table.alert(f"reserve_unexplained:{lid}")
    table.dice("swap", out=["1"], in_=["3"], reason="inspector_request")
    assert table.alerts() == ["reserve_unexplained", "dice_missing"]
    table.dice("explain", reason="inspector_request", as_="supervisor", done_by=SUPERVISOR)
    table.no_alert(f"reserve_unexplained:{lid}")
    return [
        "1.3 Reserve opened o9 | inspector's request (Eva), explained late by a supervisor",
        "1.3 Reserve closed | of o9",
        "1.3 ALERT reserve_unexplained:o9",
        "1.3 Dice swapped | B | 1: in play > in the reserve; 3: in the reserve > in play | inspector's request"
        " | inspector | of o9",
        "1.3 Opening explained | inspector's request | of o9 | as supervisor | Eva",
        "1.3 Alert over reserve_unexplained:o9",
    ]


def left_open(table: DiceTable) -> list[str]:
    """The lid stays open for too long, for a count."""
    with table.reserve():
        table.alert("reserve_left_open")
        table.dice("count", count="check", seen={"play": ["2", "3"], "reserve": ["1", "4"]})
    table.no_alert("reserve_left_open")
    return [
        "1.3 Reserve opened o10 | count (Ana)",
        "1.3 ALERT reserve_left_open",
        "1.3 Check count | B | count | of o10",
        "1.3 Reserve closed | of o10",
        "1.3 Alert over reserve_left_open",
    ]


def closing(table: DiceTable) -> list[str]:
    """The closing count finds a die in the reserve that the log has in play; the log is put right."""
    with table.reserve(dice_after=0):
        count = table.dice("count", count="closing", seen={"play": ["2"], "reserve": ["1", "3", "4"]})
        text = table.acknowledge(f"count_differs:{count}")
        assert text == (
            "The closing count of set B differs from the log: die 3 is in play by the log, and was seen in the reserve."
        )
        table.dice("correction", places={"3": "reserve"}, count=count, note="put back by the shooter")
        table.dice("remove", set="B", to="store", reason="closing")
    table.dice("remove", set="A", to="cancelled", reason="new_set")
    return [
        "1.3 Reserve opened o11 | closing (Ana) | explained before it was shut; afterwards: Log put right",
        "1.3 Closing count d1 | B | count | die 3: by the log in play, seen in the reserve | of o11",
        "1.3 ALERT count_differs:d1",
        "1.3 Alert noted count_differs:d1 | Eva",
        "1.3 Log put right | B | 3: in play > in the reserve | count | of o11 | put back by the shooter",
        "1.3 Returned to the store | B | 1, 3, 4: in the reserve > in the store; 2: in play > in the store"
        " | closing | of o11",
        "1.3 Reserve closed | of o11",
        "1.3 Cancelled | A | 2, 3, 4, 5: withdrawn > cancelled | new set",
    ]
