"""A day in Chile under the SCJ's Catalogo de Juegos: five or six dice; the text asks for no numbers.

Medios Materiales: five or six dice in perfect state, two in play. Recursos Humanos: the tallador checks them. Juego con
dados nuevos: after a number of rolls, or when the chief decides, "cambio de dados" puts all before the player. Jugadas
irregulares: void are dice on chips, in the cup, leaning, out of the table. On a change amid the series, lost dice and
dice of the day before the text is silent.
"""

from pathlib import Path

from tests.dice_day_rig import BOXMAN, SUPERVISOR, WITNESS, DiceTable, dice_table


def test_a_day_in_chile(tmp_path: Path) -> None:
    with dice_table(tmp_path, "cl-scj") as table:
        expected = [
            "1.0 Table opened | session 1, rule set cl-scj",
            "1.0 Reserve closed | seen when the terminal started",
            *opening(table),
            *request_amid_the_series(table),
            *void_throws(table),
            *die_off_the_table(table),
            *lost_die(table),
            *damage(table),
            *new_set(table),
            *unexplained_during_a_roll(table),
            *left_open(table),
            *closing(table),
            *next_session(table),
        ]
        assert table.log() == expected
        assert (table.alerts(), table.dice_state["openings"]) == (["dice_missing"], []), "die 5 of set A is still lost"
        assert table.status() == {
            "A": "missing: 5; withdrawn: 1, 2, 3, 4, 6",
            "B": "in the store: 1, 2, 3, 4, 5",
        }
        assert table.account() == {
            "A": {
                "Received": 6,
                "At the end": 6,
                "end: Missing, or on the floor": 1,
                "end: Withdrawn": 5,
                "moved: Distributed to the table": 6,
                "moved: Withdrawn": 5,
                "moved: Off the table": 2,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
            "B": {
                "Received": 5,
                "At the end": 5,
                "end: In the store": 5,
                "moved: Distributed to the table": 10,
                "moved: Returned to the store": 10,
            },
            "Sum": {
                "Received": 11,
                "At the end": 11,
                "end: In the store": 5,
                "end: Missing, or on the floor": 1,
                "end: Withdrawn": 5,
                "moved: Distributed to the table": 16,
                "moved: Returned to the store": 10,
                "moved: Withdrawn": 5,
                "moved: Off the table": 2,
                "moved: Gone missing": 1,
                "moved: Found again": 1,
            },
        }
        report = table.report()
        for line in (
            "Los movimientos suman: 0 + 11 − 0 = 11; los dados no concilian, véase arriba.",
            "7 cambios de dados; 1 contra las normas.",
            "12 aperturas; 0 sin explicar; 1 explicada tarde por el jefe de mesa.",
        ):
            assert f"{line}\n" in report


def opening(table: DiceTable) -> list[str]:
    """All six before the player, who takes two."""
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.receive("A", 6, numbered=False)
    table.inspect(set="A")
    with table.reserve(dice_after=4):
        table.dice("place", set="A")
        table.dice("change", taken=["1", "2"])
        table.dice("count", count="opening", seen={"play": ["1", "2"], "reserve": ["3", "4", "5", "6"]})
    table.shooter("1")
    assert table.roll(2, 3) == []
    return [
        "1.0 On duty | Ana | seen by Luis",
        "1.0 Set received | A | 1, 2, 3, 4, 5, 6",
        "1.0 Dice inspected | A | 1, 2, 3, 4, 5, 6 | new set",
        "1.0 Reserve opened o1 | new set (Ana) | explained before it was shut; afterwards: Dice change, Opening count",
        "1.0 Set brought to the table | A | 1, 2, 3, 4, 5, 6: in the store > in the reserve | new set | of o1",
        "1.0 Dice change | A | 1, 2: in the reserve > in play | offered to the shooter | of o1",
        "1.0 Opening count | A | count | of o1",
        "1.0 Reserve closed | of o1",
    ]


def request_amid_the_series(table: DiceTable) -> list[str]:
    """No article forbids the shooter's request; but the chief's change puts five before him instead of six."""
    with table.reserve():
        table.dice("swap", out=["1"], in_=["3"], reason="shooter_request")
    with table.reserve():
        five = ["1", "2", "3", "4", "5"]
        change = table.dice("change", offered=five, taken=["4", "5"], reason="boxman_order", asked_by="supervisor")
    text = table.acknowledge(f"against_rule:{change}")
    assert text == "Against cl-scj: 5 dice of set A were offered; the rules ask for 6 (Juego con dados nuevos)."
    return [
        "1.1/5 Reserve opened o2 | shooter's request (Ana)",
        "1.1/5 Dice swapped | A | 1: in play > in the reserve; 3: in the reserve > in play | shooter's request"
        " | shooter 1 | of o2",
        "1.1/5 Reserve closed | of o2",
        "1.1/5 Reserve opened o3 | boxman's order (Ana)",
        "1.1/5 Dice change b1 | A | 2, 3: in play > in the reserve; 4, 5: in the reserve > in play | boxman's order"
        " | supervisor | Juego con dados nuevos: 5 dice of set A were offered; the rules ask for 6. | of o3",
        "1.1/5 ALERT against_rule:b1",
        "1.1/5 Reserve closed | of o3",
        "1.1/5 Alert noted against_rule:b1 | Eva",
    ]


def void_throws(table: DiceTable) -> list[str]:
    """Jugadas irregulares: a die on chips, a leaning one."""
    table.void_throw("on_chips", "4")
    table.void_throw("leaning", "5")
    return [
        "1.1/5 Void throw v1 | on chips",
        "1.1/5 Dice of a void throw | A | 4 | on chips | of v1",
        "1.1/5 Void throw v2 | leaning",
        "1.1/5 Dice of a void throw | A | 5 | leaning | of v2",
    ]


def die_off_the_table(table: DiceTable) -> list[str]:
    """Recursos Humanos: a die is checked; this one was put back first and checked after."""
    table.void_throw("off_table", "4")
    with table.reserve(dice_after=3):
        table.dice("swap", out=[], in_=["6"], reason="die_off_table")
    with table.reserve(dice_after=4):
        back = table.dice("found", die="4", to="reserve")
        table.inspect(dice=["4"], reason="die_off_table")
    text = table.acknowledge(f"against_rule:{back}")
    assert text == (
        "Against cl-scj: Die 4 of set A back on the table without being inspected and found sound (Recursos Humanos)."
    )
    assert table.roll(3, 4) == [("pass_line", "lose")]
    assert table.alerts() == []
    return [
        "1.1/5 Void throw v3 | off the table",
        "1.1/5 Dice of a void throw | A | 4: in play > on the floor | off the table | of v3",
        "1.1/5 Reserve opened o4 | die off the table (Ana)",
        "1.1/5 Dice swapped | A | 6: in the reserve > in play | die off the table | of o4",
        "1.1/5 Reserve closed | of o4",
        "1.1/5 Reserve opened o5 | die off the table (Ana) | explained before it was shut; afterwards: Dice inspected",
        "1.1/5 Die found b2 | A | 4: on the floor > in the reserve | die off the table"
        " | Recursos Humanos: Die 4 of set A back on the table without being inspected and found sound. | of o5",
        "1.1/5 ALERT against_rule:b2",
        "1.1/5 Dice inspected | A | 4 | die off the table | of o5",
        "1.1/5 Reserve closed | of o5",
        "1.1/5 Alert noted against_rule:b2 | Eva",
    ]


def lost_die(table: DiceTable) -> list[str]:
    """A die falls down while the dice pass on and is not found; five are left, which is enough."""
    table.shooter("2")
    table.dice("off_table", dice=["5"])
    with table.reserve(dice_after=3):
        table.dice("swap", out=[], in_=["1"], reason="die_off_table")
    assert table.alerts() == []
    assert table.roll(5, 6) == [("pass_line", "win")]
    assert table.alert("dice_missing:A") == "Die 5 of set A lost. Search; record what is found."
    table.dice("missing", dice=["5"])
    return [
        "1.2 Die left the table | A | 5: in play > on the floor | die off the table",
        "1.2 Reserve opened o6 | die off the table (Ana)",
        "1.2 Dice swapped | A | 1: in the reserve > in play | die off the table | of o6",
        "1.2 Reserve closed | of o6",
        "1.3 ALERT dice_missing:A",
        "1.3 Die missing | A | 5: on the floor > missing | die off the table",
    ]


def damage(table: DiceTable) -> list[str]:
    """Medios Materiales: in perfect state, and at least five."""
    with table.reserve(dice_after=2):
        table.dice("swap", out=["1"], in_=["2"], reason="damage")
    found = {"dice": ["1"], "checks": {"sound": False}, "unsound": {"1": "cracked"}}
    table.dice("inspect", **found, then="withdrawn", reason="damage")
    text = table.alert("set_to_replace:A")
    assert text == "Set A has 4 dice left; the rules ask for 5 to 6. Bring another set (Medios Materiales, Dados)."
    return [
        "1.3 Reserve opened o7 | damage (Ana)",
        "1.3 Dice swapped | A | 1: in play > under inspection; 2: in the reserve > in play | damage | of o7",
        "1.3 Reserve closed | of o7",
        "1.3 Dice inspected | A | 1: under inspection > withdrawn | damage | die 1 unsound: cracked;"
        " FAILED: in perfect state",
        "1.3 ALERT set_to_replace:A",
    ]


def new_set(table: DiceTable) -> list[str]:
    """A set of five takes the place of that of six."""
    table.receive("B", 5, numbered=False)
    table.inspect(set="B")
    with table.reserve(dice_after=3):
        table.dice("remove", set="A", to="withdrawn", reason="new_set")
        table.no_alert("set_to_replace:A")
        table.dice("place", set="B")
        table.dice("change", taken=["1", "2"], reason="new_set")
    return [
        "1.3 Set received | B | 1, 2, 3, 4, 5",
        "1.3 Dice inspected | B | 1, 2, 3, 4, 5 | new set",
        "1.3 Reserve opened o8 | new set (Ana) | explained before it was shut; afterwards: Set brought to the table,"
        " Dice change",
        "1.3 Withdrawn | A | 2, 6: in play > withdrawn; 3, 4: in the reserve > withdrawn | new set | of o8",
        "1.3 Alert over set_to_replace:A",
        "1.3 Set brought to the table | B | 1, 2, 3, 4, 5: in the store > in the reserve | new set | of o8",
        "1.3 Dice change | B | 1, 2: in the reserve > in play | new set | of o8",
        "1.3 Reserve closed | of o8",
    ]


def unexplained_during_a_roll(table: DiceTable) -> list[str]:
    """Opened while the dice are out, and nobody says why until the supervisor does."""
    table.shooter("2")
    table.no_more_bets()
    with table.reserve() as lid:
        table.alert(f"reserve_open_during_roll:{lid}")
    table.alert(f"reserve_unexplained:{lid}")
    table.dice("explain", opening=lid, reason="boxman_order", as_="supervisor", done_by=SUPERVISOR)
    table.no_alert(f"reserve_unexplained:{lid}")
    table.acknowledge(f"reserve_open_during_roll:{lid}")
    assert table.roll(3, 4) == [("pass_line", "win")]
    return [
        "1.3 Reserve opened o9 | boxman's order (Eva), explained late by a supervisor | during a roll",
        "1.3 ALERT reserve_open_during_roll:o9",
        "1.3 Reserve closed | of o9",
        "1.3 ALERT reserve_unexplained:o9",
        "1.3 Opening explained | boxman's order | of o9 | as supervisor | Eva",
        "1.3 Alert over reserve_unexplained:o9",
        "1.3 Alert noted reserve_open_during_roll:o9 | Eva",
    ]


def left_open(table: DiceTable) -> list[str]:
    """The lid stays open for too long, and somebody takes note of it meanwhile."""
    with table.reserve():
        table.acknowledge("reserve_left_open")
        table.dice("count", count="check", seen={"play": ["1", "2"], "reserve": ["3", "4", "5"]})
    table.no_alert("reserve_left_open")
    return [
        "1.4 Reserve opened o10 | count (Ana)",
        "1.4 ALERT reserve_left_open",
        "1.4 Alert noted reserve_left_open | Eva",
        "1.4 Check count | B | count | of o10",
        "1.4 Reserve closed | of o10",
        "1.4 Alert over reserve_left_open",
    ]


def closing(table: DiceTable) -> list[str]:
    """The first closing count misses a die, the second one sees it."""
    with table.reserve(dice_after=0):
        count = table.dice("count", count="closing", seen={"play": ["1"], "reserve": ["3", "4", "5"]})
        text = table.acknowledge(f"count_differs:{count}")
        assert text == "The closing count of set B differs from the log: die 2 is in play by the log, and was not seen."
        table.dice("count", count="closing", seen={"play": ["1", "2"], "reserve": ["3", "4", "5"]})
        table.dice("remove", set="B", to="store", reason="closing")
    table.close_table()
    return [
        "1.4 Reserve opened o11 | closing (Ana) | explained before it was shut; afterwards: Closing count",
        "1.4 Closing count d1 | B | count | die 2: by the log in play, seen nowhere | of o11",
        "1.4 ALERT count_differs:d1",
        "1.4 Alert noted count_differs:d1 | Eva",
        "1.4 Closing count | B | count | of o11",
        "1.4 Returned to the store | B | 1, 2: in play > in the store; 3, 4, 5: in the reserve > in the store | closing"
        " | of o11",
        "1.4 Reserve closed | of o11",
        "1.4 Table closed | session 1, rule set cl-scj",
    ]


def next_session(table: DiceTable) -> list[str]:
    """No article forbids the dice of the session before."""
    table.open_table()
    table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
    table.inspect(set="B")
    with table.reserve(dice_after=0):
        table.dice("place", set="B")
        table.dice("remove", set="B", to="store", reason="closing")
    table.close_table()
    return [
        "2.0 Table opened | session 2, rule set cl-scj",
        "2.0 On duty | Ana | seen by Luis",
        "2.0 Dice inspected | B | 1, 2, 3, 4, 5 | new set",
        "2.0 Reserve opened o12 | new set (Ana) | explained before it was shut; afterwards: Returned to the store",
        "2.0 Set brought to the table | B | 1, 2, 3, 4, 5: in the store > in the reserve | new set | of o12",
        "2.0 Returned to the store | B | 1, 2, 3, 4, 5: in the reserve > in the store | closing | of o12",
        "2.0 Reserve closed | of o12",
        "2.0 Table closed | session 2, rule set cl-scj",
    ]
