"""A release on trial is good when it is ready and its journal has a self-test that was passed; else it is given up."""

import json
from typing import Any

import pytest

from provisioning.release.trial import TRIAL_S_MAX, Proof, Seen, Trial, Verdict, opened_in, proof_in

SILENCE_S = 30.0
STARTS = Seen(None, False, "", Proof())
READY = Seen(0, True, "accepts play", Proof(True, ()))


def line(kind: str, **data: Any) -> str:
    return json.dumps({"type": kind, "data": data})


def check(name: str, result: str) -> dict[str, str]:
    return {"check": name, "result": result, "said": "as it is"}


def test_a_release_is_good_once_it_is_ready_and_has_passed_its_self_test() -> None:
    trial = Trial(100.0, SILENCE_S)
    steps = [
        STARTS,
        Seen(None, False, "reads its journal", Proof()),
        Seen(None, False, "opens its pages", Proof(True)),
        # Ready, but the self-test still waits for the node.
        Seen(0, True, "accepts play", Proof(True)),
        # The self-test is over, but a start that has not ended is none.
        Seen(None, True, "accepts play", Proof(True, ())),
    ]
    for number, seen in enumerate(steps):
        assert trial.judge(100.0 + number, seen) == Verdict(None)
    assert trial.judge(106.0, READY) == Verdict(True)


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (Seen(1, False, "", Proof()), "it ended before it had proven itself"),
        (Seen(1, False, "reads its journal", Proof()), "the last it said was: reads its journal"),
        # It was ready, and has ended since.
        (Seen(0, False, "accepts play", Proof(True, ())), "it ended before"),
        (Seen(0, True, "accepts play", Proof(True, ("key: is another",))), "its self-test failed: key: is another"),
    ],
)
def test_a_release_that_fails_is_given_up_at_once(seen: Seen, said: str) -> None:
    verdict = Trial(0.0, SILENCE_S).judge(1.0, seen)
    assert verdict.good is False
    assert said in verdict.reason


@pytest.mark.parametrize(
    "seen",
    [
        STARTS,
        Seen(None, False, "The disk is full", Proof()),
        Seen(0, True, "accepts play", Proof(True)),
        # What is ready and has written no start to this journal is another table's.
        Seen(0, True, "accepts play", Proof(False)),
    ],
)
def test_a_release_that_has_nothing_to_say_is_given_up(seen: Seen) -> None:
    trial = Trial(0.0, SILENCE_S)
    assert trial.judge(5.0, seen).good is None
    assert trial.judge(34.9, seen).good is None
    verdict = trial.judge(35.0, seen)
    assert verdict.good is False
    assert "nothing was heard of it for 30 s" in verdict.reason


def test_one_that_goes_on_through_a_long_journal_is_waited_for_but_not_for_ever() -> None:
    trial = Trial(0.0, SILENCE_S)
    for second in range(int(TRIAL_S_MAX)):
        assert trial.judge(second, Seen(None, False, f"reads its journal, {second} of 9999", Proof())).good is None
    assert trial.judge(TRIAL_S_MAX, Seen(None, False, "reads its journal, 1 of 9999", Proof())).good is False


def test_the_journal_proves_a_release() -> None:
    started = line("started", version="1.1.0")
    passed = line("self_test", passed=True, checks=[check("journal", "passed"), check("clock", "warning")])
    failed = line("self_test", passed=False, checks=[check("journal", "passed"), check("key", "failed")])
    assert proof_in([], "1.1.0") == Proof()
    assert proof_in([line("stopped"), started], "1.1.0") == Proof(True)
    assert proof_in([line("stopped"), started, line("clock_step"), passed], "1.1.0") == Proof(True, ())
    assert proof_in([started, failed], "1.1.0") == Proof(True, ("key: as it is",))
    # Another release's start, or its self-test before this one's.
    assert proof_in([line("started", version="1.0.0"), passed], "1.1.0") == Proof(False)
    assert proof_in([line("started", version="1.0.0"), passed, started], "1.1.0") == Proof(True)
    assert proof_in([started, passed, line("started", version="1.0.0")], "1.1.0") == Proof(False)


def test_a_table_that_was_opened_meanwhile_is_seen() -> None:
    assert opened_in([line("alert_raised"), line("table_opened")])
    assert not opened_in([line("stopped"), line("alert_raised", name="table_opened")])
