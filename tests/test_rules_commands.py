"""`boxman rules`: edges, soundness, pay tables and limits, as one types them."""

import copy
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.house_edge import bets_as_made
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import BetRule
from engine_lite.table import Table
from provisioning.command_line import main
from provisioning.rule_check import ERROR, WARNING, check_rules
from provisioning.rules_commands import accepted
from tests.browser_rig import browser

SIDE_BETS = Path(__file__).parent / "rules" / "house-side-bets.json"
ADVANTAGE = "PLAYER HAS THE ADVANTAGE"
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs `boxman rules` and gives exit status, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        status = main(["rules", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def side_bets() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SIDE_BETS.read_text())
    return data


# Edges


def test_edges_as_json_are_a_list_of_exact_fractions(said: Said) -> None:
    status, out, err = said("edge", "us-vegas", "--json")
    assert (status, err) == (0, "")
    edges = json.loads(out)
    assert edges[0] == {
        "kind": "pass_line",
        "number": None,
        "per_bet": [7, 495],
        "per_decision": [7, 495],
        "per_roll": [7, 1671],
    }
    place_six = {"kind": "place", "number": 6, "per_bet": [1, 66], "per_decision": [1, 66], "per_roll": [1, 216]}
    assert place_six in edges
    assert all(list(edge) == ["kind", "number", "per_bet", "per_decision", "per_roll"] for edge in edges)


def test_the_table_of_edges_is_aligned_and_gives_fraction_and_per_cent(said: Said) -> None:
    _, out, _ = said("edge", "us-vegas")
    lines = out.splitlines()
    heading = next(line for line in lines if line.startswith("bet "))
    dont_pass = next(line for line in lines if line.startswith("Don't Pass "))
    assert re.split(r"\s{2,}", dont_pass) == [
        *("Don't Pass", "dont_pass", "1.364 %", "1.403 %", "0.404 %", "3/220", "27/1925", "9/2228")
    ]
    assert dont_pass.index("dont_pass") == heading.index("kind")
    assert dont_pass.index("1.364 %") + len("1.364 %") == heading.index("per bet") + len("per bet")
    assert ADVANTAGE not in out


def test_a_bet_that_favours_the_player_is_marked_loudly_under_the_rule_sets_warnings(said: Said) -> None:
    _, out, _ = said("edge", "es-md-2004")
    lines = out.splitlines()
    assert lines[2].startswith("WARNING: Juego de 7 pays fifteen times")
    assert lines[3] == f"{ADVANTAGE}: Juego de 7, -166.667 % per bet"
    (row,) = [line for line in lines if line.startswith("Juego de 7 ")]
    assert row.endswith(f"-5/3  <== {ADVANTAGE}")


def test_an_option_changes_the_edge(said: Said) -> None:
    _, out, _ = said("edge", "us-vegas", "--json", "--option", "vig=up_front", "--option", "field_twelve=[2, 1]")
    found = {(edge["kind"], edge["number"]): edge["per_bet"] for edge in json.loads(out)}
    assert found["buy", 4] == [1, 21]
    assert found["field", None] == [1, 18]


def test_a_fraction_too_long_for_the_table_stands_below_it(said: Said) -> None:
    _, out, _ = said("edge", SIDE_BETS)
    (row,) = [line for line in out.splitlines() if line.startswith("Fire ")]
    assert row.split() == ["Fire", "fire", *("20.763", "%", "20.763", "%", "2.436", "%"), *["below"] * 3]
    assert "\nFire, per bet: 3155010189076512755518373649266277142847/151955310032422599628" in out


# Bad input


BAD_INPUT: dict[str, tuple[list[str], list[str]]] = {
    "an unknown name": (["edge", "gb-1968"], ["gb-1968", "us-vegas"]),
    "a file that is not there": (["show", "no/such.json"], ["no/such.json", "neither a file"]),
    "a folder": (["check", "."], ["."]),
    "a name of a thousand letters": (["check", "n" * 1000], ["cannot be read"]),
    "an option without value": (["edge", "us-vegas", "--option", "vig"], ["--option vig", "name=value"]),
    "an option twice": (["edge", "us-vegas", "--option", "vig=on_win", "--option", "vig=on_win"], ["twice"]),
    "an unknown option": (["show", "us-vegas", "--option", "bar=2"], ["bar", "field_twelve"]),
    "a wrong value": (["limits", "pe-1999", "--min", "1", "--max", "9", "--option", "bar=3"], ["bar", "12"]),
    "a minimum of zero": (["limits", "us-vegas", "--min", "0", "--max", "5"], ["--min 0", "from 1"]),
    "a maximum in words": (["limits", "us-vegas", "--min", "1", "--max", "five"], ["--max five"]),
    "a unit that is a fraction": (["limits", "us-vegas", "--min", "1", "--max", "5", "--unit", "0.5"], ["--unit"]),
    "too many digits": (["limits", "us-vegas", "--min", "1", "--max", "9" * 5000], ["--max"]),
    "a minimum over the maximum": (["limits", "us-vegas", "--min", "6", "--max", "5"], ["--max 5", "--min 6"]),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_one_clear_line(name: str, said: Said) -> None:
    arguments, named = BAD_INPUT[name]
    status, out, err = said(*arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert all(part in err for part in named), err


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"{", "line 1"),
    "not UTF-8": (b'{"name": "\xff"}', "UTF-8"),
    "a key twice": (b'{"name": "a", "name": "b"}', "name twice"),
    "nested too deeply": (b"[" * 900 + b"]" * 900, "nested"),
    "a number of twenty digits": (b'{"version": 10000000000000000000}', "whole number beyond"),
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("command", ["edge", "check", "show", "limits"])
def test_a_file_that_cannot_be_used_is_one_clear_line(name: str, command: str, said: Said, tmp_path: Path) -> None:
    content, named = BAD_FILES[name]
    path = tmp_path / "rules.json"
    path.write_bytes(content)
    status, out, err = said(command, path, *(["--min", "1", "--max", "9"] if command == "limits" else []))
    assert (status, out) == (2, "")
    assert err.startswith(f"{path}: ")
    assert err.count("\n") == 1
    assert named in err


@pytest.mark.parametrize("command", ["edge", "show"])
def test_a_file_that_is_not_sound_is_named_with_the_place(command: str, said: Said, tmp_path: Path) -> None:
    data = side_bets()
    data["bets"]["field"]["win"]["2"] = [2, 0]
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(data))
    status, out, err = said(command, path)
    assert (status, out) == (2, "")
    assert err.startswith(f"{path}: bets.field.win.2 must be a ratio")


def test_the_command_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, named in (([], "edge"), (["limits"], "--min"), (["show"], "--html"), (["edge"], "--json")):
        with pytest.raises(SystemExit) as left:
            main(["rules", *arguments, "--help"])
        assert left.value.code == 0
        assert named in capsys.readouterr().out


# Soundness


@pytest.mark.parametrize("name", [*rule_sets.NAMES, str(SIDE_BETS)])
def test_the_rule_sets_at_hand_are_sound(name: str, said: Said) -> None:
    status, out, err = said("check", name)
    assert (status, err) == (0, "")
    *warnings, last = out.splitlines()
    assert last == f"{name}: sound"
    if name == "es-md-2004":
        (warning,) = warnings
        assert warning.startswith(f"{name}: bets.any_seven: warning: the player has the advantage")
        assert "-5/3 (-166.667 %)" in warning
    else:
        assert warnings == []


Change = Callable[[dict[str, Any]], object]


def put(path: str, value: object) -> Change:
    """A change of the data at a place such as bets.field.source."""

    def change(data: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for key in parents:
            data = data[key]
        data[last] = value

    return change


def drop(path: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for key in parents:
            data = data[key]
        del data[last]

    return change


def rename_bet(old: str, new: str) -> Change:
    def change(data: dict[str, Any]) -> None:
        data["bets"][new] = data["bets"].pop(old)
        data["order"][data["order"].index(old)] = new

    return change


# A change, the place of the one error that it makes, and what is said there of the fault and of what would be right.
FAULTS: dict[str, tuple[Change, str, list[str]]] = {
    "no name": (drop("name"), "name", ["missing"]),
    "a version of zero": (put("version", 0), "version", ["is 0", "positive whole number"]),
    "an unknown section": (put("odds", {}), "odds", ["no key here", "options"]),
    "no source of the whole": (drop("source"), "source", ["missing", "or house"]),
    "a blank source": (put("source", " "), "source", ['is " "', "or house"]),
    "a bet without source": (drop("bets.field.source"), "bets.field.source", ["missing", "or house"]),
    "a commission without source": (drop("bets.buy.commission.source"), "bets.buy.commission.source", ["or house"]),
    "a choice without source": (drop("shooter.source"), "shooter.source", ["missing", "or house"]),
    "working without source": (drop("working.place.source"), "working.place.source", ["missing", "or house"]),
    "a maximum without source": (
        put("bets.hardway.numbers.4.max", [1, 2]),
        "bets.hardway.numbers.4.max",
        ["max_source", "or house"],
    ),
    "a ratio of zero": (put("bets.any_seven.win.7", [0, 1]), "bets.any_seven.win.7", ["is [0, 1]", "[3, 2]"]),
    "a negative ratio": (put("bets.small.pays", [34, -1]), "bets.small.pays", ["is [34, -1]", "positive"]),
    "a float": (put("bets.two.win.2", 30.5), "bets.two.win.2", ["is 30.5", "ratio"]),
    "totals left out": (put("bets.two.lose", ["3"]), "bets.two", ["36 throws"]),
    "a throw of 13": (put("bets.two.lose", ["13"]), "bets.two", ["13", "2 to 12"]),
    "an unknown key of a bet": (put("bets.two.odds", 3), "bets.two.odds", ["no key here", "stage, name"]),
    "an unknown stage": (put("bets.two.stage", "two_roll"), "bets.two.stage", ['is "two_roll"', "one_roll"]),
    "a default that is no value": (put("options.vig.default", "never"), "options.vig", ["default", "values"]),
    "an option without meaning": (drop("options.vig.about"), "options.vig.about", ["missing"]),
    "a value that is no ratio": (
        put("options.field_twelve.values", [[2, 1], [3, 1], [0, 1]]),
        "bets.field.win.12",
        ["ratio"],
    ),
    "an option that is not there": (
        put("bets.buy.commission.taken", "option:tax"),
        "bets.buy.commission.taken",
        ["option:tax", "must name an option"],
    ),
    "an option of another sense": (
        put("bets.buy.commission.taken", "option:field_twelve"),
        "bets.buy.commission.taken",
        ["field_twelve", "on_win and up_front"],
    ),
    "a name in capitals": (rename_bet("two", "Two"), "bets.Two", ["lower_snake_case"]),
    "a name used twice": (rename_bet("two", "hop_1_1"), "bets.hop_1_1", ["hop_1_1", "bets.hop.each.1-1"]),
    "a bet left out of the order": (
        lambda data: data["order"].remove("horn"),
        "order",
        ["does not name horn", "each bet once"],
    ),
    "a stranger in the order": (lambda data: data["order"].append("odd"), "order", ["names odd", "each bet once"]),
    "odds before their line": (
        lambda data: data["order"].sort(reverse=True),
        "bets.pass_odds.parent",
        ["pass_line", "before it"],
    ),
    "working of no bet": (
        put("working.odd", {"come_out": True, "point": True, "source": "house"}),
        "working.odd",
        ["no key here"],
    ),
    "a reason left out": (drop("no_roll.slid"), "no_roll.slid", ["missing", "void"]),
    "an unknown reason": (put("no_roll.lost", {"void": True, "source": "house"}), "no_roll.lost", ["off_table"]),
    "a reason without a word": (put("no_roll.slid.void", 1), "no_roll.slid.void", ["is 1", "true or false"]),
    "bounds the wrong way round": (
        put("limits", {"maximum_in_minima": [1000, 100], "source": "house"}),
        "limits.maximum_in_minima",
        ["[1000, 100]", "lower bound"],
    ),
    "a result that wins and pushes": (put("bets.two.push", ["2"]), "bets.two.win", ["names 2", "once"]),
    "a total that can never be collected": (
        put("bets.small.collect", ["1-1", "2", "3", "4", "5", "6"]),
        "bets.small.collect",
        ["names 1-1", "once"],
    ),
    "a first roll that also travels": (
        put("bets.come.first_roll.win.4", [1, 1]),
        "bets.come.first_roll.win",
        ["names 4", "once"],
    ),
    "a bet that is never decided": (
        lambda data: data["bets"]["twelve_before_seven"].update(win={}, lose=[]),
        "bets.twelve_before_seven",
        ["never decided", "must win or lose"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_place_and_what_would_be_right(name: str, said: Said, tmp_path: Path) -> None:
    change, place, named = FAULTS[name]
    data = side_bets()
    change(data)
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(data))
    status, out, err = said("check", path)
    assert (status, err) == (1, "")
    errors = [line for line in out.splitlines() if ": warning: " not in line]
    mine = [line for line in errors if line.startswith(f"{path}: {place}: ")]
    assert mine, out
    assert any(all(part in line for part in named) for line in mine), out
    if "order" not in place and "parent" not in place:
        assert {line.split(": ")[1] for line in errors} <= {place, place.rpartition(".")[0]}, out


def test_all_faults_are_found_at_once_and_not_only_the_first() -> None:
    data = side_bets()
    places = []
    for name in ("a version of zero", "a bet without source", "a ratio of zero", "a reason left out", "a float"):
        change, place, _ = FAULTS[name]
        change(data)
        places.append(place)
    found = check_rules(data)
    assert sorted(finding.place for finding in found) == sorted(places)
    assert {finding.severity for finding in found} == {ERROR}


# A change that makes a warning, its place, and what is said.
DOUBTS: dict[str, tuple[Change, str, str]] = {
    "for the player": (put("bets.two.win.2", [40, 1]), "bets.two", "-5/36 (-13.889 %)"),
    "over a quarter": (put("bets.two.win.2", [25, 1]), "bets.two", "5/18 (27.778 %)"),
    "for the player under an option only": (
        put("options.field_twelve.values", [[3, 1], [5, 1]]),
        "bets.field",
        "-1/36 (-2.778 %) with field_twelve [5, 1]",
    ),
    "at one number": (put("bets.hardway.numbers.4.win.2-2", [9, 1]), "bets.hardway.numbers.4", "-1/9"),
    "one of each": (put("bets.hop.each.1-1", [36, 1]), "bets.hop.each.1-1", "-1/36"),
    "another set's name": (put("name", "us-vegas"), "name", "comes with boxman"),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_a_doubt_is_a_warning_and_the_file_is_sound(name: str) -> None:
    change, place, text = DOUBTS[name]
    data = side_bets()
    change(data)
    (finding,) = check_rules(data)
    assert (finding.severity, finding.place) == (WARNING, place)
    assert text in finding.text


def test_a_quarter_is_still_no_doubt() -> None:
    data = side_bets()
    data["bets"]["two"]["win"]["2"] = [26, 1]
    assert check_rules(data) == []


@pytest.mark.parametrize("value", [None, 1.5, "x", [], [[1]], {"a": 1}])
def test_whatever_stands_where_a_part_should_be_is_a_finding_and_no_crash(value: object) -> None:
    whole = side_bets()
    assert all(isinstance(finding.text, str) for finding in check_rules(value))
    places: list[tuple[str, ...]] = [(section,) for section in whole]
    places += [("bets", kind) for kind in ("pass_line", "pass_odds", "buy", "hardway", "hop", "small", "fire", "world")]
    places += [("bets", "buy", "commission"), ("bets", "hardway", "numbers"), ("bets", "hop", "each")]
    places += [("bets", "small", "collect"), ("bets", "fire", "pays"), ("options", "vig"), ("no_roll", "slid")]
    for place in places:
        data = copy.deepcopy(whole)
        put(".".join(place), value)(data)
        assert all(isinstance(finding.text, str) for finding in check_rules(data))


# Pay tables


def test_a_pay_table_groups_the_bets_under_their_own_names(said: Said) -> None:
    status, out, err = said("show", "es-1979")
    assert (status, err) == (0, "")
    lines = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    for row in (
        ["Win", "7 or 11 on its first roll", "1 to 1"],
        ["then its number before 7", "1 to 1"],
        ["Asociada al Don't Win", "7 before 4 or 10", "1 to 2"],
        ["Wrong Bet", "7 before 4 or 10", "5 to 11"],
        ["6 or 8 before 7", "7 to 6"],
        ["Hard Ways", "2-2 before 7 or any other 4", "7 to 1"],
        ["2 or 12", "2 to 1"],
        ["Under 7", "2, 3, 4, 5 or 6", "1 to 1"],
    ):
        assert row in lines, row
    assert "BETS ON THE NEXT ROLL" in out
    assert "Source: Orden de 9 de octubre de 1979" in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_pay_table_shows_commission_options_and_side_bets(said: Said) -> None:
    _, out, _ = said("show", SIDE_BETS, "--option", "field_twelve=[2,1]", "--option", "vig=up_front")
    flat = re.sub(r"\s+", " ", out)
    assert "Commission 5 % of the bet, rounded down, at least 1 chip unit, taken when the bet is put down" in flat
    assert "field_twelve = 2 to 1" in flat
    assert "1-1, 2-2, 3-3, 4-4, 5-5 or 6-6 30 to 1" in flat
    assert "each of 2, 3, 4, 5 and 6 before 7 34 to 1" in flat
    assert "all six points 999 to 1" in flat
    assert "Off on a come-out unless the player calls it on." in flat


def test_madrids_pay_table_warns(said: Said) -> None:
    assert "WARNING: Juego de 7 pays fifteen times" in said("show", "es-md-2004")[1]
    assert '<p class="warning"><strong>Warning.</strong> Juego de 7' in said("show", "es-md-2004", "--html")[1]


class Page(HTMLParser):
    """The attributes that would fetch something, and the tags left open."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [name for name, _ in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_shows_texts_as_they_are(said: Said, tmp_path: Path) -> None:
    data = side_bets()
    data["title"] = "Dados <i>& cuernos</i> \ud800 ñ"
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(data))
    _, out, _ = said("show", path, "--html")
    page = Page()
    page.feed(out)
    assert (page.fetched, page.open) == ([], [])
    assert "url(" not in out
    assert out.isascii()
    assert "<h1>Dados &lt;i&gt;&amp; cuernos&lt;/i&gt; &#55296; &#241;</h1>" in out


def test_every_pay_table_prints_on_one_sheet(said: Said) -> None:
    """Chromium prints it on A4 and, larger, on A3; nothing is wider than the sheet."""
    with browser() as chromium:
        page = chromium.new_page()
        for name in (*rule_sets.NAMES, str(SIDE_BETS)):
            page.set_content(said("show", name, "--html")[1])
            for sheet in ("A4", "A3") if name == str(SIDE_BETS) else ("A4",):
                sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(format=sheet))
                assert len(sheets) == 1, (name, sheet)
            page.set_viewport_size({"width": 800, "height": 1100})
            assert page.evaluate("document.documentElement.scrollWidth") <= 800, name


# Limits


def ready(table: Table, rule: BetRule, flat: int) -> Table:
    """The table with all that a bet needs before it can be put down."""
    if rule.stage == "odds":
        assert rule.parent is not None and rule.number is not None
        if not rule.parent.silent_move:
            table.roll(2, 3)
        table.place("A", rule.parent.kind, flat)
        half = rule.number // 2
        table.roll(half, rule.number - half)
    elif rule.placed == "point":
        table.roll(2, 2)
    return table


CASES: list[tuple[str, int, int, int, dict[str, object]]] = [
    ("es-md-2004", 5, 500, 1, {}),
    ("es-1979", 10, 3000, 5, {}),
    ("us-vegas", 5, 503, 5, {}),
    ("us-vegas", 5, 500, 1, {"exact_amounts": True}),
    ("mo-2010", 10, 155, 1, {"exact_amounts": True}),
    ("pe-1999", 5, 500, 1, {}),
    ("cl-scj", 5, 500, 1, {}),
]


@pytest.mark.parametrize(("name", "minimum", "maximum", "unit", "options"), CASES)
def test_what_is_printed_is_what_the_table_takes_and_no_more(
    name: str, minimum: int, maximum: int, unit: int, options: dict[str, object]
) -> None:
    rules = compile_rules(rule_sets.load(name), options)
    for rule in bets_as_made(rules):
        whole = maximum
        if rule.parent is not None:
            whole = accepted(rules, rule.parent, minimum, maximum, unit)[1]
        least, most = accepted(rules, rule, minimum, whole, unit)
        assert 0 < least <= most, rule.key

        def refusal(amount: int, rule: BetRule = rule, whole: int = whole) -> Refused | None:
            table = ready(Table(rules, unit, minimum, maximum), rule, whole)
            try:
                table.place("A", rule.kind, amount, rule.number)
            except Refused as refused:
                return refused
            return None

        assert refusal(least) is None, rule.key
        assert refusal(most) is None, rule.key
        # One step more is refused, and the limit is named; less than the least is refused too.
        over = next(
            refused
            for step in range(1, 6 * minimum * unit)
            if (refused := refusal(most + step)) and refused.code == "above_max"
        )
        assert over.message == f"the maximum here is {most}"
        under = refusal(least - unit) if least > unit else None
        assert least == unit or (under and under.code in ("below_min", "not_multiple")), rule.key


def test_madrids_limits_by_hand(said: Said) -> None:
    """Art. 22 with a line maximum of 500: 120 % on a right 6, 220 % on a wrong 4, three times 500 for 7, 15 and 30."""
    status, out, err = said("limits", "es-md-2004", "--min", 5, "--max", 500)
    assert (status, err) == (0, "")
    lines = [re.split(r"\s{2,}", line)[:4] for line in out.splitlines()]
    for row in (
        ["Win", "5", "500", "the table's limits, art. 22.2"],
        ["Right Bet", "4, 5, 9, 10", "5", "500"],
        ["Right Bet", "6, 8", "5", "600"],
        ["Wrong Bet", "4, 10", "5", "1100"],
        ["Wrong Bet", "5, 9", "5", "800"],
        ["Wrong Bet", "6, 8", "5", "625"],
        ["Asociada al Win", "4, 5, 6, 8, 9, 10", "1", "5: 1 to 5, 500: 1 to 500"],
        ["Asociada al Don't Win", "4, 10", "2", "5: 1 to 10, 500: 1 to 1000"],
        ["Asociada al Don't Win", "5, 9", "3/2", "5: 1 to 7, 500: 1 to 750"],
        ["Asociada al Don't Win", "6, 8", "6/5", "5: 1 to 6, 500: 1 to 600"],
    ):
        assert row in lines, row
    for name, most in (("Juego de 7", "100"), ("Craps 2", "50"), ("Any Craps", "214"), ("Horn", "375")):
        assert [name, "5", most] in [line[:3] for line in lines], name
    assert "art. 22 (between once and three times" in out


def test_the_house_names_where_its_odds_come_from(said: Said) -> None:
    _, out, _ = said("limits", "us-vegas", "--min", 5, "--max", 500, "--unit", 5)
    assert re.search(r"Pass Odds +6, 8 +5 +5: 5 to 25, 500: 5 to 2500 +house: Las Vegas Strip convention, 3-4-5", out)
    _, out, _ = said("limits", "mo-2010", "--min", 10, "--max", 155)
    assert "Amounts are multiples of the minimum (art. 5.6)." in out
    assert re.search(r"Pass Line +10 +150 ", out)


@pytest.mark.parametrize(("maximum", "status"), [(499, 1), (500, 0), (5000, 0), (5001, 1)])
@pytest.mark.parametrize(("name", "article"), [("es-1979", "IV.2"), ("es-md-2004", "art. 22.2")])
def test_a_maximum_outside_the_regulation_is_one_line_that_names_the_article(
    name: str, article: str, maximum: int, status: int, said: Said
) -> None:
    came, out, err = said("limits", name, "--min", 5, "--max", maximum)
    assert came == status
    assert out
    if status:
        assert err == (
            f"{name}, {article}: the maximum {maximum} is outside what the regulation allows; "
            "where the minimum is 5 it must be from 500 to 5000\n"
        )
    else:
        assert err == ""


def test_a_bet_that_the_limits_rule_out_is_said_so(said: Said) -> None:
    """Three thirtieths of 400 are 40, under the minimum of 50."""
    _, out, _ = said("limits", "es-1979", "--min", 50, "--max", 400)
    assert re.search(r"Craps 2 +none +40, below the minimum ", out)
