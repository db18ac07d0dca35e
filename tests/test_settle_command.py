"""What `boxman settle` does with files that cannot be played, and with rule sets given beside them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine_lite import rule_sets
from provisioning.command_line import main

BOXMAN = Path(sys.executable).with_name("boxman")
BET = {"bet": {"player": "A", "kind": "field", "amount": 10}}


def scenario(*steps: object, **fields: object) -> dict[str, Any]:
    whole = {"name": "a file", "rules": "us-vegas", "options": {}, "unit": 1, "limits": {"min": 1, "max": 1000}}
    return {**whole, "steps": list(steps), **fields}


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in scenario().items() if key != field}


def field_bet(**parts: object) -> dict[str, Any]:
    return {"bet": {**BET["bet"], **parts}}


def expecting(**result: object) -> dict[str, Any]:
    return {"roll": [1, 1], "expect": {"point": None, "results": [result]}}


def nested(text: str) -> str:
    return json.dumps(scenario(BET, expecting(paid="DEEP"))).replace('"DEEP"', text)


# File content, and what its one line on standard error must name beside the file.
BAD_FILES: dict[str, tuple[str | bytes | dict[str, Any], list[str]]] = {
    "empty": ("", ["JSON", "line 1"]),
    "not JSON": ('{"name": "x",\n oops}', ["JSON", "line 2"]),
    "not UTF-8": (b'{"name": "\xff"}', ["UTF-8", "byte 10"]),
    "a list": ("[]", ["object"]),
    "a key twice": ('{"name": "x", "name": "y"}', ["name twice"]),
    "a key twice in a step": ('{"steps": [{"roll": [1, 1], "roll": [2, 2]}]}', ["roll twice"]),
    "NaN": ('{"unit": NaN}', ["NaN"]),
    "nested too deeply to read": ("[" * 100_000, ["nested"]),
    "nested lists in an expectation": (nested("[" * 600 + "]" * 600), ["nested"]),
    "a number of 5000 digits": (nested("9" * 5000), ["digits"]),
    "an amount of 4300 digits": (
        json.dumps(scenario(field_bet(amount=77), {"roll": [1, 1]}, limits={"min": 1, "max": 88}))
        .replace("77", "9" * 4300)
        .replace("88", "9" * 4300),
        ["limits"],
    ),
    "an infinite amount": (json.dumps(scenario(field_bet(amount=77))).replace("77", "1e999"), ["step 1", "amount"]),
    **{f"no {name}": (without(name), [name, "missing"]) for name in ("name", "rules", "unit", "limits", "steps")},
    "a field too many": (scenario(odds=1), ["odds", "fields are name, rules"]),
    "a name that is a number": (scenario(name=1), ["name"]),
    "an unknown rule set": (scenario(rules="gb-1968"), ["gb-1968"]),
    "a rule set that is a number": (scenario(rules=5), ["rules"]),
    "an unknown option": (scenario(options={"bar": 2}), ["bar", "field_twelve"]),
    "an option with a wrong value": (scenario(options={"vig": "never"}), ["vig", "on_win, up_front"]),
    "an option that is a number for a flag": (scenario(options={"winners_stay_up": 1}), ["winners_stay_up"]),
    "options that are a list": (scenario(options=[]), ["options"]),
    "a unit of zero": (scenario(unit=0), ["unit"]),
    "a unit that is true": (scenario(unit=True), ["unit"]),
    "a unit that is a float": (scenario(unit=1.0), ["unit"]),
    "limits without max": (scenario(limits={"min": 1}), ["limits"]),
    "a minimum over the maximum": (scenario(limits={"min": 10, "max": 5}), ["maximum"]),
    "a minimum of zero": (scenario(limits={"min": 0, "max": 5}), ["limits.min"]),
    "steps that are null": (scenario(steps=None), ["steps"]),
    "a step that is a list": (scenario(BET, []), ["step 2", "object"]),
    "a step of nothing": (scenario(BET, {}), ["step 2", "bet, reduce"]),
    "an unknown step": (scenario(BET, {"throw": [1, 1]}), ["step 2", "bet, reduce"]),
    "two steps in one": (scenario({"roll": [1, 1], "shooter": "A"}), ["step 1", "exactly one"]),
    "a step with something else": (scenario({"roll": [1, 1], "note": "x"}), ["step 1", "note"]),
    "a bet without amount": (scenario({"bet": {"player": "A", "kind": "field"}}), ["step 1", "bet.amount", "missing"]),
    "a bet with a part too many": (scenario(field_bet(odds=2)), ["step 1", "bet.odds"]),
    "a bet that is a list": (scenario({"bet": []}), ["step 1", "bet"]),
    "a player that is a number": (scenario(field_bet(player=3)), ["step 1", "bet.player"]),
    "a player without a name": (scenario(field_bet(player="")), ["step 1", "bet.player"]),
    "a player with half a character": (scenario(field_bet(player="\ud800")), ["step 1", "bet.player"]),
    "an unknown kind": (scenario(field_bet(kind="feild")), ["step 1", "bet.kind", "feild"]),
    "a kind that is a number": (scenario(field_bet(kind=4)), ["step 1", "bet.kind"]),
    "a float amount": (scenario(BET, field_bet(amount=1.5)), ["step 2", "bet.amount", "whole number"]),
    "a round float amount": (scenario(field_bet(amount=5.0)), ["step 1", "bet.amount", "whole number"]),
    "a negative amount": (scenario(field_bet(amount=-5)), ["step 1", "bet.amount", "positive"]),
    "an amount of zero": (scenario(field_bet(amount=0)), ["step 1", "bet.amount", "positive"]),
    "an amount that is true": (scenario(field_bet(amount=True)), ["step 1", "bet.amount"]),
    "an amount that is a text": (scenario(field_bet(amount="5")), ["step 1", "bet.amount"]),
    "a number that is a text": (scenario(field_bet(number="6")), ["step 1", "bet.number"]),
    "a number that is true": (scenario(field_bet(number=True)), ["step 1", "bet.number"]),
    "dice of 0": (scenario(BET, BET, {"roll": [0, 1]}), ["step 3", "1 to 6"]),
    "dice of 7": (scenario({"correct": [1, 7]}), ["step 1", "1 to 6"]),
    "a die that is true": (scenario({"roll": [True, 1]}), ["step 1", "1 to 6"]),
    "three dice": (scenario({"roll": [1, 1, 1]}), ["step 1", "two dice"]),
    "an unknown reason for no roll": (scenario({"no_roll": "windy"}), ["step 1", "off_table"]),
    "a button that is 1": (scenario({"working": {"on": 1}}), ["step 1", "working.on"]),
    "an unknown refusal": (scenario({**BET, "refused": "no"}), ["step 1", "refused", "bad_amount"]),
    "a refusal of null": (scenario({**BET, "refused": None}), ["step 1", "refused"]),
    "an expectation of a bet": (scenario({**BET, "expect": {"point": None, "results": []}}), ["step 1", "expect"]),
    "an expected field that is none": (scenario(expecting(payed=5)), ["step 1", "payed"]),
    "an expected fraction": (scenario(expecting(paid=5.5)), ["step 1", "paid"]),
    "a kind over two lines": (scenario(field_bet(kind="a\nb")), ["step 1", "bet.kind"]),
    "a kind that is no text": (
        scenario(field_bet(kind="a \ud800") | {"refused": "unknown_kind"}),
        ["step 1", "bet.kind"],
    ),
    "a rule set over two lines": (scenario(rules="a\nb"), ["rules"]),
    "an option over two lines": (scenario(options={"a\nb": 1}), ["option"]),
    "a field over two lines": (scenario(**{"a\nb": 1}), ["field"]),
    "a part over two lines": (scenario(field_bet(**{"a\nb": 1})), ["step 1"]),
    "a key over two lines twice": ('{"a\\nb": 1, "a\\nb": 2}', ["twice"]),
}


def write(path: Path, content: str | bytes | dict[str, Any]) -> Path:
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_not_played(path: Path, named: list[str], capsys: pytest.CaptureFixture[str], *more: str) -> None:
    assert main(["settle", *more, str(path)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.endswith("\n")
    assert told.err.count("\n") == 1
    for word in [str(path), *named]:
        assert word in told.err


@pytest.mark.parametrize("bad", BAD_FILES)
def test_a_file_that_cannot_be_played_is_told_in_one_line_and_nothing_is_played(
    bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, named = BAD_FILES[bad]
    assert_not_played(write(tmp_path / "bad.json", content), named, capsys)


def test_a_file_that_is_not_there_and_a_folder_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert_not_played(tmp_path / "none.json", ["No such file"], capsys)
    assert_not_played(tmp_path, ["directory"], capsys)


def test_nothing_of_a_sound_file_is_played_when_a_later_one_is_bad(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = write(tmp_path / "sound.json", scenario(BET, {"roll": [1, 1]}))
    bad = write(tmp_path / "bad.json", scenario(BET, {"roll": [1, 7]}))
    assert_not_played(bad, ["bad.json: step 2"], capsys, str(sound))


def test_the_installed_command_says_the_same_in_its_own_process(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.json", scenario(BET, {"roll": [1, 7]}))
    done = subprocess.run([BOXMAN, "settle", bad], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{bad}: step 2: roll must be two whole numbers from 1 to 6\n"


def test_a_reader_that_goes_away_gets_no_traceback(tmp_path: Path) -> None:
    path = write(tmp_path / "long.json", scenario(*[{"roll": [1, 1]}] * 20_000))
    with subprocess.Popen([BOXMAN, "settle", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_file_without_steps_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settle", str(write(tmp_path / "a.json", scenario()))]) == 0
    assert main(["settle", str(write(tmp_path / "b.json", without("options")))]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


NO_AMOUNTS: list[object] = [-5, 0, 1.5, True, "5", None]
NO_NUMBERS: list[object] = ["6", 7, True, 6.0, [6], {}]
NO_DICE: list[object] = [0, 7, 1.0, "1", True, None]
REFUSED_AS_SAID: list[tuple[dict[str, Any], str]] = [
    *((field_bet(amount=amount), "bad_amount") for amount in NO_AMOUNTS),
    (field_bet(kind="feild"), "unknown_kind"),
    *((field_bet(kind="place", number=number), "unknown_number") for number in NO_NUMBERS),
    *(({"roll": [first, 1]}, "bad_dice") for first in NO_DICE),
    ({"correct": [0, 0]}, "nothing_to_correct"),
]


@pytest.mark.parametrize(("step", "code"), REFUSED_AS_SAID, ids=str)
def test_a_bad_value_that_is_to_be_refused_is_played_and_holds(
    step: dict[str, Any], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.json", scenario({**step, "refused": code}, BET, {"roll": [3, 4]}))
    assert main(["settle", str(path)]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert [json.loads(line).get("refused") for line in told.out.splitlines()] == [code, None]


# Rule sets beside the files


def any_seven_file(path: Path) -> Path:
    seven = {"player": "A", "kind": "any_seven", "result": "win", "paid": 150}
    bet = {"bet": {"player": "A", "kind": "any_seven", "amount": 10}}
    return write(path, scenario(bet, {"roll": [3, 4], "expect": {"point": None, "results": [seven]}}, rules="es-1979"))


def test_the_named_rule_set_stands_in_for_that_of_the_file(tmp_path: Path) -> None:
    path = str(any_seven_file(tmp_path / "a.json"))
    assert main(["settle", path]) == 1
    assert main(["settle", path, "--rules", "es-md-2004"]) == 0


def test_a_rule_file_stands_in_for_the_rule_set_of_the_file(tmp_path: Path) -> None:
    data = rule_sets.load("us-vegas")
    data["bets"]["any_seven"]["win"] = {"7": [15, 1]}
    rules = write(tmp_path / "house.json", data)
    assert main(["settle", str(any_seven_file(tmp_path / "a.json")), "--rules", str(rules)]) == 0


BAD_RULES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a missing field": lambda d: d.pop("version"),
    "an unknown stage": lambda d: d["bets"]["field"].update(stage="ever"),
    "no option for winners": lambda d: d["options"].pop("winners_stay_up"),
    "a bet on numbers without any": lambda d: d["bets"]["place"].update(numbers={}),
    "a misspelt name in working": lambda d: d["working"].update(plaec={"come_out": True, "source": "house"}),
    "a misspelt right to change": lambda d: d["bets"]["pass_line"]["change"].update(first_roll=["incraese"]),
    "a misspelt field of a bet": lambda d: d["bets"]["buy"].update(comission=d["bets"]["buy"].pop("commission")),
}


@pytest.mark.parametrize("bad", BAD_RULES)
def test_a_rule_file_that_is_not_sound_is_named_in_one_line(
    bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = rule_sets.load("us-vegas")
    BAD_RULES[bad](data)
    rules = write(tmp_path / "house.json", data)
    sound = write(tmp_path / "sound.json", scenario(BET, {"roll": [1, 1]}))
    assert main(["settle", str(sound), "--rules", str(rules)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert str(rules) in told.err
    assert "known here" not in told.err


@pytest.mark.parametrize("content", ["{", "[]", b"\xff"], ids=["not JSON", "a list", "not UTF-8"])
def test_a_rule_file_that_cannot_be_read_is_named_and_the_scenario_is_not_blamed(
    content: str | bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = write(tmp_path / "house.json", content)
    sound = write(tmp_path / "sound.json", scenario())
    assert main(["settle", str(sound), "--rules", str(rules)]) == 2
    told = capsys.readouterr()
    assert str(rules) in told.err
    assert told.err.count("\n") == 1


def test_a_rule_file_that_cannot_be_looked_for_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "scenario.json", scenario())
    assert main(["settle", "--rules", "a" * 5000, str(path)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith("a: cannot be read: File name too long\n")


def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "scenario.json", scenario(BET, {"roll": [1, 1]}))
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([BOXMAN, "settle", path], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "No space left on device" in ended.stderr


def test_a_rule_file_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = write(tmp_path / "sound.json", scenario())
    assert main(["settle", str(sound), "--rules", str(tmp_path / "none.json")]) == 2
    assert str(tmp_path / "none.json") in capsys.readouterr().err


def test_what_an_expectation_leaves_out_altogether_is_not_compared(tmp_path: Path) -> None:
    point_only = write(tmp_path / "point.json", scenario({"roll": [2, 2], "expect": {"point": 4}}))
    results_only = write(tmp_path / "results.json", scenario(BET, {"roll": [3, 4], "expect": {"results": []}}))
    assert main(["settle", str(point_only)]) == 0
    # The bet is decided, so that some result is surplus.
    assert main(["settle", str(results_only)]) == 1
