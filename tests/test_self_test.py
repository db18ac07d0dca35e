"""The self-test: each check's verdict, and rules that would pay wrong."""

import copy
from typing import Any

import pytest

from device.rule_edges import EdgesDiffer, check_edges, edges_of, stated_edges
from device.self_test import (
    Check,
    check_clock,
    check_hardware,
    check_journal,
    check_key,
    check_program,
    check_rules,
    check_space,
    have_answered,
    self_test,
)
from device.table_terms import TableTerms
from engine_lite import rule_sets
from tests.test_house_edge import PER_BET, side_bets

MIB = 1024 * 1024


def terms(rule_set: dict[str, Any], options: dict[str, Any] | None = None) -> TableTerms:
    return TableTerms(rule_set, options or {}, 1, 1, 1000)


def vegas(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(rule_sets.load("us-vegas")) | changes


# The rules


def test_what_is_stated_of_las_vegas_is_what_was_reckoned_by_hand() -> None:
    by_hand = {kind if number is None else f"{kind} {number}": list(edge) for (kind, number), edge in PER_BET.items()}
    assert stated_edges()["us-vegas"]["per_bet"] == by_hand


@pytest.mark.parametrize(
    ("name", "bet", "edge"),
    [
        ("es-1979", "pass_line", (7, 495)),
        # Fifteen to one on any seven, as printed: 30 lose and 6 win 15, so the player wins 60 in 36.
        ("es-md-2004", "any_seven", (-5, 3)),
        ("mo-2010", "dont_pass", (3, 220)),
        ("pe-1999", "dont_pass", (3, 220)),
        ("cl-scj", "come", (7, 495)),
    ],
)
def test_what_is_stated_elsewhere_agrees_with_figures_by_hand(name: str, bet: str, edge: tuple[int, int]) -> None:
    assert tuple(stated_edges()[name]["per_bet"][bet]) == edge


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_each_rule_set_that_comes_with_boxman_is_as_stated(name: str) -> None:
    check = check_rules(terms(rule_sets.load(name)))
    count = len(stated_edges()[name]["per_bet"])
    assert check == Check("rules", "passed", f"{name}, version 1: the house edge of each of {count} bets is as stated")


def test_the_options_in_force_do_not_change_what_is_stated() -> None:
    options = {"vig": "up_front", "field_twelve": [2, 1]}
    assert check_rules(terms(vegas(), options)).result == "passed"


def test_a_payout_that_was_changed_is_named() -> None:
    data = vegas()
    # The any seven pays 4 to 1: 5 to 1 would make it fair, (30 - 6 x 5) / 36.
    assert data["bets"]["any_seven"]["win"] == {"7": [4, 1]}
    data["bets"]["any_seven"]["win"] = {"7": [5, 1]}
    check = check_rules(terms(data))
    assert (check.check, check.result) == ("rules", "failed")
    assert check.said == "the house edge of any_seven is 0/1, but 1/6 is stated for us-vegas, version 1"


def test_a_bet_too_many_or_too_few_is_named() -> None:
    data = vegas()
    data["bets"]["any_eight"] = data["bets"]["any_seven"] | {"win": {"8": [4, 1]}}
    data["order"].append("any_eight")
    assert "any_eight is 11/36, but none is stated" in check_rules(terms(data)).said
    data = vegas()
    del data["bets"]["any_craps"]
    data["order"].remove("any_craps")
    assert "any_craps is none, but 1/9 is stated" in check_rules(terms(data)).said


def test_a_house_s_own_rules_are_played_when_each_bet_is_decided() -> None:
    check = check_rules(terms(side_bets()))
    assert check.result == "passed"
    assert check.said.endswith("bets is decided; no figures are stated for these rules")
    assert check_edges(vegas(version=2), {}).endswith("bets is decided; figures are stated for version 1 only")


def test_a_bet_that_is_never_decided_is_refused() -> None:
    data = vegas(name="house-endless")
    data["bets"]["any_seven"] |= {"win": {}, "lose": [], "push": [str(total) for total in range(2, 13)]}
    with pytest.raises(EdgesDiffer, match=r"^any_seven: no throw ever wins or loses this bet$"):
        edges_of(data, {})
    assert check_rules(terms(data)).result == "failed"


# The others


def test_the_journal_check_says_what_was_looked_at() -> None:
    assert check_journal(0, 0).said == "a new journal"
    assert check_journal(12, 0).said == "12 events, each of them checked"
    assert check_journal(5000, 4990).said == (
        "5000 events; checked after event 4990, of which there is a snapshot; those before it are verified beside the "
        "table"
    )


def test_another_key_fails() -> None:
    assert check_key(None, "UA").result == check_key("UA", "UA").result == "passed"
    former, key = "UAAAAAAA" + "Q" * 44 + "AAAA", "UBBBBBBB" + "Q" * 44 + "BBBB"
    said = "is UBBBBBBB…BBBB, but the journal was signed with UAAAAAAA…AAAA"
    assert check_key(former, key) == check_key(former, key, former) == Check("key", "failed", said)


def test_the_key_of_a_unit_that_has_taken_the_table_over_passes() -> None:
    former, key = "UAAAAAAA" + "Q" * 44 + "AAAA", "UBBBBBBB" + "Q" * 44 + "BBBB"
    said = "UBBBBBBB…BBBB of this unit, which has taken the table over from UAAAAAAA…AAAA"
    assert check_key(former, key, key) == Check("key", "passed", said)


def test_what_people_should_see_to_is_a_warning() -> None:
    assert check_space(300 * MIB, holds_reserve=True) == Check("disk", "passed", "300 MiB free, beside the reserve")
    assert check_space(9 * MIB, holds_reserve=False).result == "warning"
    assert (check_clock("synced").result, check_clock("free").result) == ("passed", "warning")
    sound = check_program("1.2", "ab" * 32, newer_before=None)
    assert sound == Check("program", "passed", "version 1.2, configuration abababababab")
    older = check_program("1.2", "ab" * 32, newer_before="1.3")
    assert older.result == "warning"
    assert older.said.endswith("older than version 1.3, which ran before")


def hardware(*inputs: dict[str, Any], node: str = "none", lamps: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    view = {"state": node, "firmware": "2.0", "configuration": "74b6"}
    return {"inputs": list(inputs), "lamps": list(lamps), "node": view}


def seen(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "active": False, "unavailable": None, "stuck": False} | more


def test_hardware_that_answers_is_passed_with_the_nodes_word_on_itself() -> None:
    lamp = {"name": "on", "unavailable": None}
    assert check_hardware(hardware(seen("lid"), seen("on"), lamps=(lamp,))).said == "2 inputs and 1 lamps"
    check = check_hardware(hardware(seen("lid"), node="online"))
    assert check.said == "1 inputs and 0 lamps; the I/O node has firmware 2.0, configuration 74b6"
    assert check.result == "passed"


def test_hardware_that_is_not_as_it_should_be_is_named_and_stops_nothing() -> None:
    view = hardware(
        seen("lid", active=None, unavailable="held by another process"),
        seen("door", active=None),
        seen("puck_6", stuck=True),
        node="offline",
        lamps=({"name": "on", "unavailable": "busy"},),
    )
    assert check_hardware(view) == Check(
        "hardware",
        "warning",
        "the I/O node does not answer; cannot be used: the switch of the lid and the lamp of the ON button; not heard "
        "of yet: the switch of the cabinet's door; stuck: the puck sensor on 6",
    )


def test_it_is_waited_for_inputs_and_a_node_that_have_not_answered() -> None:
    assert have_answered(hardware())
    assert have_answered(hardware(seen("lid"), seen("door", active=None, unavailable="busy"), node="online"))
    assert not have_answered(hardware(seen("lid", active=None)))
    assert not have_answered(hardware(seen("lid"), node="offline"))


def test_a_warning_does_not_keep_the_test_from_being_passed() -> None:
    passed, warned, failed = (Check(name, result, "x") for name, result in RESULTS)
    assert self_test([passed, warned]) == (
        "self_test",
        {
            "passed": True,
            "checks": [
                {"check": "key", "result": "passed", "said": "x"},
                {"check": "disk", "result": "warning", "said": "x"},
            ],
        },
    )
    assert self_test([passed, warned, failed])[1]["passed"] is False


RESULTS: Any = (("key", "passed"), ("disk", "warning"), ("rules", "failed"))
