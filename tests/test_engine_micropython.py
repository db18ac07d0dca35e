"""The settlement core says the same, byte for byte, under MicroPython and CPython."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUNNER = HERE / "micropython_settle.py"
MICROPYTHON = Path(sys.executable).with_name("micropython")


def output(python: Path | str, files: list[Path]) -> tuple[int, bytes, bytes]:
    done = subprocess.run([python, RUNNER, HERE.parent, *files], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_every_scenario_gives_the_same_bytes_on_both_runtimes() -> None:
    files = sorted((HERE / "hand").glob("*.json")) + sorted((HERE / "scenarios").glob("*.json"))
    on_micropython = output(MICROPYTHON, files)
    assert on_micropython == output(sys.executable, files)
    assert on_micropython[0] == 0
    assert on_micropython[1].count(b"\n") > len(files)


def test_amounts_beyond_a_machine_word_refusals_and_corrections_are_the_same_on_both_runtimes(tmp_path: Path) -> None:
    """What a small runtime may do otherwise: large whole numbers, names that are not ASCII, the order of a dict."""
    large = 10**14
    scenario = {
        "name": "large",
        "rules": "us-vegas",
        "options": {"vig": "up_front"},
        "unit": 1,
        "limits": {"min": 1, "max": 10**15},
        "steps": [
            {"roll": [4, 5]},
            {"bet": {"player": 'Iñaki "el" 九', "kind": "place", "amount": large, "number": 6}},
            {"bet": {"player": "2", "kind": "buy", "amount": large, "number": 6}},
            {"bet": {"player": "10", "kind": "horn", "amount": large + 1}},
            {"bet": {"player": "10", "kind": "place", "amount": 0, "number": 6}, "refused": "bad_amount"},
            {"roll": [5, 6]},
            {"bet": {"player": "10", "kind": "come", "amount": 10}},
            {"correct": [3, 3]},
            {"correct": [3, 4]},
            {"bet": {"player": "10", "kind": "come", "amount": 10}, "refused": "not_now"},
            {"roll": [0, 9], "refused": "bad_dice"},
        ],
    }
    path = tmp_path / "large.json"
    path.write_text(json.dumps(scenario))
    on_micropython = output(MICROPYTHON, [path])
    assert on_micropython == output(sys.executable, [path])
    assert on_micropython[0] == 0
    # 10**14 x 7 / 6 = 116666666666666 and two thirds; the horn of 10**14 + 1 is three times itself on eleven.
    assert b'"paid":116666666666666,' in on_micropython[1]
    assert b'"paid":300000000000003,' in on_micropython[1]
