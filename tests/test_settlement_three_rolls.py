"""The same bets and the same three rolls under each rule set: 6-6 on the come-out, 2-4 for the point, 3-4 seven-out.

The files hand/three-rolls-*.json hold every result; worked by hand:
  6-6  horn 20: Spain pays 4 to 1 flat, 20 x 4 = 80; by four parts of 5, 5 x 30 - 3 x 5 = 135; Peru has no horn.
       field 10: double is 20; Las Vegas triples its 12, 30.
       don't pass 10: 12 is barred and pushes; with Peru's layout barring 1-1, 12 wins 10.
       c and e 10, Las Vegas only: 5 x 7 - 5 = 30.
  2-4  big 6 for 12: even money is 12; Macau pays 7 to 6, 12 / 6 x 7 = 14.
       place 6 for 12: 14; off on a Las Vegas come-out; Macau has no place bets.
  3-4  any seven 10: 4 to 1 is 40; Madrid prints fifteen times, 150.
       lay 4 for 40: 1 to 2 is 20, less 5 per cent of the win, 1.
"""

import json
from pathlib import Path

import pytest

from provisioning.command_line import main

HAND = Path(__file__).parent / "hand"
# What the winners are paid, by bet; a bet that is not offered, off or pushed is left out.
PAID = {
    "es-1979": {"horn": 80, "field": 20, "big": 12, "place": 14, "any_seven": 40},
    "es-md-2004": {"horn": 80, "field": 20, "big": 12, "place": 14, "any_seven": 150},
    "mo-2010": {"horn": 135, "field": 20, "big": 14, "any_seven": 40},
    "cl-scj": {"horn": 135, "field": 20, "big": 12, "place": 14, "any_seven": 40, "lay": 20},
    "pe-1999": {"dont_pass": 10, "field": 20, "big": 12, "place": 14, "any_seven": 40, "lay": 20},
    "us-vegas": {"horn": 135, "field": 30, "c_and_e": 30, "big": 12, "any_seven": 40, "lay": 20},
}
NOT_OFFERED = {
    "es-1979": ["c_and_e", "lay"],
    "es-md-2004": ["c_and_e", "lay"],
    "mo-2010": ["place", "c_and_e", "lay"],
    "cl-scj": ["c_and_e"],
    "pe-1999": ["horn", "c_and_e", "under_seven"],
    "us-vegas": ["under_seven"],
}


@pytest.mark.parametrize("rules", PAID)
def test_the_same_three_rolls_pay_what_each_regulation_prints(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = HAND / f"three-rolls-{rules}.json"
    assert main(["settle", str(path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rolls = [line for line in lines if "roll" in line]
    assert [line["roll"] for line in rolls] == [[6, 6], [2, 4], [3, 4]]
    assert {
        result["kind"]: result["paid"] for line in rolls for result in line["results"] if result["result"] == "win"
    } == PAID[rules]
    refused = {line["step"] for line in lines if "refused" in line}
    steps = json.loads(path.read_text())["steps"]
    assert [steps[number - 1]["bet"]["kind"] for number in sorted(refused)] == NOT_OFFERED[rules]


def test_only_the_rules_differ_between_the_six_files() -> None:
    played = []
    for rules in PAID:
        steps = json.loads((HAND / f"three-rolls-{rules}.json").read_text())["steps"]
        played.append([{k: v for k, v in step.items() if k not in ("expect", "refused")} for step in steps])
    assert all(steps == played[0] for steps in played)
