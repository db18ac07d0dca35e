"""The settlement core on MicroPython with the heap of a Raspberry Pi Pico: the same bytes, and room enough.

The unix port has words of 64 bits where the Pico has 32: what fits into 192 KB here takes about half of it there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engine_lite import rule_sets
from tests.micropython_typeshed import make_typeshed

HERE = Path(__file__).parent
ROOT = HERE.parent
BIN = Path(sys.executable).parent
ON_A_PICO: list[str | Path] = [BIN / "micropython", "-X", "heapsize=192k"]
ON_CPYTHON: list[str | Path] = [sys.executable]
LONG = "BOXMAN_TEST_LONG" in os.environ
# `make test` plays the largest rule set for as long as `make test-long` plays each.
ROLLS = {name: 10_000 if LONG or name == "us-vegas" else 1_000 for name in rule_sets.NAMES}
SENT_TO_A_NODE = [
    *sorted((ROOT / "engine_lite").rglob("*.py")),
    *sorted((ROOT / "drivers" / "node_firmware").glob("*.py")),
    ROOT / "drivers" / "node_codec.py",
    ROOT / "drivers" / "debounce.py",
]


def output(python: list[str | Path], files: list[Path]) -> tuple[int, bytes, bytes]:
    done = subprocess.run([*python, HERE / "micropython_settle.py", ROOT, *files], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_every_scenario_gives_the_same_bytes_on_both_runtimes() -> None:
    files = sorted((HERE / "hand").glob("*.json")) + sorted((HERE / "scenarios").glob("*.json"))
    on_a_pico = output(ON_A_PICO, files)
    assert on_a_pico == output(ON_CPYTHON, files)
    assert on_a_pico[0] == 0
    assert on_a_pico[1].count(b"\n") > len(files) > 50


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
    on_a_pico = output(ON_A_PICO, [path])
    assert on_a_pico == output(ON_CPYTHON, [path])
    assert on_a_pico[0] == 0
    # 10**14 x 7 / 6 = 116666666666666 and two thirds; the horn of 10**14 + 1 is three times itself on eleven.
    assert b'"paid":116666666666666,' in on_a_pico[1]
    assert b'"paid":300000000000003,' in on_a_pico[1]


def full_table(python: list[str | Path], name: str) -> dict[str, Any]:
    done = subprocess.run(
        [*python, HERE / "micropython_full_table.py", ROOT, name, str(ROLLS[name])], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@pytest.fixture(scope="module")
def full_tables() -> Iterator[dict[str, list[Future[dict[str, Any]]]]]:
    """Of each rule set a full table on MicroPython and on CPython; two play at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            name: [pool.submit(full_table, python, name) for python in (ON_A_PICO, ON_CPYTHON)]
            for name in sorted(ROLLS, key=ROLLS.__getitem__, reverse=True)
        }


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_a_full_table_fits_and_its_heap_does_not_grow(
    full_tables: dict[str, list[Future[dict[str, Any]]]], name: str
) -> None:
    """24 players with 12 bets each, what was decided put down again.

    The heap in use is compared after 100 rolls and after all. Like is compared with like: before each measuring five
    fixed rolls bring the table from any state to the same one (`close` in micropython_full_table.py), so that the same
    288 bets lie there with the same point, the same last roll to correct and the same steps since it; then garbage is
    collected. What differs are whole numbers that are no objects of their own.
    """
    on_a_pico, on_cpython = (future.result() for future in full_tables[name])
    assert on_a_pico["lies"]
    assert on_a_pico["rolls"] == ROLLS[name]
    # A seven has decided nearly all of them at once.
    assert on_a_pico["most"] > 200
    assert on_a_pico["first"] > on_a_pico["rules"] > 0
    assert on_a_pico["last"] <= on_a_pico["first"]
    # Both runtimes have paid the same.
    heap = dict.fromkeys(("rules", "first", "last", "free"), 0)
    assert {**on_a_pico, **heap} == on_cpython


@pytest.mark.parametrize("source", SENT_TO_A_NODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_runs_on_a_node_compiles_for_the_pico(source: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "compiled.mpy"
    done = subprocess.run(
        [BIN / "mpy-cross", "-march=armv6m", "-o", compiled, source], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert compiled.read_bytes()[:1] == b"M"


class PicoTypes:
    """mypy with the types of what a Pico's MicroPython has."""

    def __init__(self, folder: Path) -> None:
        self._typeshed = folder / "typeshed"
        self._cache = folder / "cache"
        make_typeshed(self._typeshed, BIN / "micropython")

    def faults(self, *sources: Path) -> str:
        """What mypy finds, empty when nothing is wrong."""
        # What is silenced for CPython's types need not be wrong with these.
        options = ["--strict", "--no-warn-unused-ignores", "--explicit-package-bases", "--no-error-summary"]
        options += ["--python-version", "3.11", "--config-file=", "--custom-typeshed-dir", str(self._typeshed)]
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *options, "--cache-dir", self._cache, *sources],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout


@pytest.fixture(scope="module")
def pico_types(tmp_path_factory: pytest.TempPathFactory) -> PicoTypes:
    return PicoTypes(tmp_path_factory.mktemp("pico-types"))


def test_the_core_uses_nothing_that_micropython_lacks(pico_types: PicoTypes) -> None:
    assert pico_types.faults(ROOT / "engine_lite") == ""


def test_what_micropython_lacks_is_found(pico_types: PicoTypes, tmp_path: Path) -> None:
    source = tmp_path / "beyond.py"
    source.write_text(
        """import dataclasses
import functools
import gc
import json
import math

print(gc.mem_alloc(), "1".isdigit(), [1].copy(), math.floor(1.5), json.dumps({}))
print("1".isdecimal())
print("1".zfill(3))
print((5).bit_count())
print(ascii("1"))
print(math.gcd(4, 6))
print(json.dumps({}, sort_keys=True))
"""
    )
    found = [line.split(":", 2) for line in pico_types.faults(source).splitlines()]
    errors = {int(place): text for _, place, text in found if text.startswith(" error")}
    assert sorted(errors) == [1, 2, 8, 9, 10, 11, 12, 13]
    assert "isdecimal" in errors[8]
