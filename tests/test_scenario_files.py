"""The worked scenario files hold under the command, and an expectation that does not hold is told."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine_lite.scenario import matching
from provisioning.command_line import main

HERE = Path(__file__).parent
FILES = sorted((HERE / "scenarios").glob("*.json")) + sorted((HERE / "hand").glob("*.json"))


def pass_line_on_six() -> dict[str, Any]:
    """The example of the contract: 7 on the six at 6 to 5 is 8 and two fifths."""
    line = {"player": "A", "kind": "pass_line", "number": 6, "result": "win", "paid": 10, "returned": 10}
    odds = {"player": "A", "kind": "pass_odds", "number": 6, "result": "win", "paid": 8, "returned": 7}
    return {
        "name": "pass line with odds on six",
        "rules": "mo-2010",
        "options": {},
        "unit": 1,
        "limits": {"min": 1, "max": 1000000},
        "steps": [
            {"bet": {"player": "A", "kind": "pass_line", "amount": 10}},
            {"roll": [2, 4], "expect": {"point": 6, "results": []}},
            {"bet": {"player": "A", "kind": "pass_odds", "amount": 7}},
            {"bet": {"player": "A", "kind": "place", "amount": 6, "number": 6}, "refused": "not_offered"},
            {"roll": [3, 3], "expect": {"point": None, "results": [line, {**odds, "remainder": [2, 5]}]}},
        ],
    }


def last_roll(scenario: dict[str, Any]) -> dict[str, Any]:
    expect: dict[str, Any] = scenario["steps"][4]["expect"]
    return expect


def settle(path: Path, scenario: dict[str, Any]) -> int:
    path.write_text(json.dumps(scenario))
    return main(["settle", str(path)])


def test_every_scenario_file_holds_and_says_one_line_for_each_roll_correction_and_refusal() -> None:
    boxman = Path(sys.executable).with_name("boxman")
    done = subprocess.run([boxman, "settle", *FILES], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0
    steps = [step for path in FILES for step in json.loads(path.read_text())["steps"]]
    told = [step for step in steps if "roll" in step or "correct" in step or "refused" in step]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("refused") for line in lines] == [step.get("refused") for step in told]
    assert [line["roll"] for line in lines if "roll" in line] == [
        step["roll"] for step in told if "roll" in step and "refused" not in step
    ]


def test_the_example_of_the_contract_holds_with_its_results_in_any_order(tmp_path: Path) -> None:
    scenario = pass_line_on_six()
    assert settle(tmp_path / "a.json", scenario) == 0
    last_roll(scenario)["results"].reverse()
    assert settle(tmp_path / "b.json", scenario) == 0


def test_a_field_that_an_expected_result_leaves_out_is_not_compared(tmp_path: Path) -> None:
    scenario = pass_line_on_six()
    last_roll(scenario)["results"] = [{"kind": "pass_odds", "remainder": [2, 5]}, {"player": "A"}]
    assert settle(tmp_path / "a.json", scenario) == 0


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "a point": lambda s: last_roll(s).update(point=6),
    "a pay": lambda s: last_roll(s)["results"][0].update(paid=11),
    "a result": lambda s: last_roll(s)["results"][0].update(result="lose"),
    "a player": lambda s: last_roll(s)["results"][0].update(player="B"),
    "a stake returned": lambda s: last_roll(s)["results"][0].update(returned=9),
    "a commission": lambda s: last_roll(s)["results"][0].update(commission=1),
    "a remainder": lambda s: last_roll(s)["results"][1].update(remainder=[3, 5]),
    "a remainder left out": lambda s: last_roll(s)["results"][1].pop("remainder"),
    "a result left out": lambda s: last_roll(s)["results"].pop(),
    "a result too many": lambda s: last_roll(s)["results"].append({"player": "A", "kind": "field", "result": "lose"}),
    "a result twice": lambda s: last_roll(s)["results"].append(last_roll(s)["results"][0]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_expectation_is_told_with_its_step_what_was_expected_and_what_came(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = pass_line_on_six()
    WRONG[wrong](scenario)
    path = tmp_path / "wrong.json"
    assert settle(path, scenario) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{path}: step 5: expected ")
    assert ", came: " in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("step", "refused", "said"),
    [
        (3, "not_now", "step 4: expected to be refused as not_now, came: refused as not_offered"),
        (3, None, "step 4: expected to be done, came: refused as not_offered"),
        (2, "not_now", "step 3: expected to be refused as not_now, came: done"),
    ],
    ids=["another code", "not expected", "not refused"],
)
def test_a_wrong_refusal_is_told(
    step: int, refused: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = pass_line_on_six()
    del scenario["steps"][3]["refused"]
    if refused:
        scenario["steps"][step]["refused"] = refused
    if step != 3:
        scenario["steps"][3]["refused"] = "not_offered"
    assert settle(tmp_path / "wrong.json", scenario) == 1
    assert said in capsys.readouterr().err


def test_one_wrong_file_among_sound_ones_fails_the_run_and_only_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound, wrong = tmp_path / "sound.json", tmp_path / "wrong.json"
    scenario = pass_line_on_six()
    sound.write_text(json.dumps(scenario))
    last_roll(scenario)["point"] = 6
    wrong.write_text(json.dumps(scenario))
    assert main(["settle", str(wrong), str(sound)]) == 1
    told = capsys.readouterr()
    assert [line.split(":")[0] for line in told.err.splitlines()] == [str(wrong)]
    assert len(told.out.splitlines()) == 6


def test_many_results_that_look_alike_are_matched_at_once() -> None:
    """A thousand expectations, each agreeing with each result, and one more than there are results."""
    results = [{"player": str(number), "kind": "field", "result": "lose"} for number in range(1000)]
    loose = [{"kind": "field", "result": "lose"}] * 1000
    assert len(matching(loose, results)) == 1000
    assert len(matching([*loose, results[0]], results)) == 1000
    # The loose one must make room for the exact one.
    assert matching([loose[0], results[0]], results[:2]) == {0: 1, 1: 0}
