"""What a commissioning asks for, what it makes of what it sees and is told, and how contacts' bounces are reckoned."""

import string
from dataclasses import replace

import pytest

from device.commissioning.bounce import SettleTime, longest_bounce_us, settle_times, timing_lines
from device.commissioning.machine import Commissioning, Result
from device.commissioning.report import Unit, report_of, signed
from device.commissioning.report_page import report_page
from device.commissioning.steps import steps_of
from device.commissioning.view import commissioning_view
from device.commissioning.words import WORDS, Words
from device.languages.languages import LANGUAGES
from drivers.contact_watch import ContactWatch, Edge
from drivers.header import open_pin_factory
from drivers.virtual_table import DEMO_PINS
from drivers.wiring import DICE_KEYS, Pin, Timing, Wiring
from provisioning.commissioning_dialogue import outcome, take_line
from tests.commissioning_trial_rig import LONG_TABLE, PASSED, Trial, verdict
from tests.journal_rig import KEY

# Steps


def test_every_signal_has_its_step_and_the_power_comes_last() -> None:
    names = [step.name for step in steps_of(LONG_TABLE, has_node=True, has_centre=True)]
    places = ("4", "5", "6", "8", "9", "10", "off")
    pucks = [
        f"{puck}_{place}{turned}" for puck in ("puck", "second_puck") for place in places for turned in ("", "_turned")
    ]
    assert names == [*pucks, "box_4", "lamp_box_4", "lid", "slot_1", "slot_2", "door", "node", "network", "power"]
    bare = steps_of(Wiring({"lid": Pin("header", 2)}), has_node=False, has_centre=False)
    assert [step.name for step in bare] == ["lid", "power"]


def test_every_wired_signal_is_some_step_s() -> None:
    wired = Wiring(DEMO_PINS)
    assert {step.signal for step in steps_of(wired, has_node=True, has_centre=False)} - {None} == set(wired.pins)


# Lamps, and what is tried again


def test_lamps_are_lit_one_at_a_time_and_looked_at() -> None:
    trial = Trial(LONG_TABLE, "lamp_box_4", "lid")
    trial.see()
    assert (trial.commissioning.lit, trial.commissioning.is_asked) == ("lamp_box_4", True)
    assert verdict(trial.commissioning.answer(False)) == ("failed", "not_lit", "")
    assert trial.commissioning.lit is None
    trial.commissioning.back()
    assert trial.commissioning.lit == "lamp_box_4" and trial.commissioning.results == {}
    assert verdict(trial.commissioning.answer(True)) == PASSED


def test_a_step_is_tried_again_before_those_that_are_left() -> None:
    trial = Trial(LONG_TABLE, "lamp_box_4", "lid", "power")
    trial.node = True
    trial.see()
    trial.commissioning.answer(False)
    trial.commissioning.put_aside("skipped", "no time")
    assert trial.commissioning.cut_boot == "boot-1"
    assert trial.commissioning.again("power") is False
    assert trial.commissioning.again("lamp_box_4") is True
    assert trial.commissioning.lit == "lamp_box_4" and trial.commissioning.cut_boot is None
    assert verdict(trial.commissioning.answer(True)) == PASSED
    assert trial.commissioning.step is not None and trial.commissioning.step.name == "power"
    assert [result.verdict for result in trial.commissioning.results.values()] == ["skipped", "passed"]


# Node, network, power


def test_the_node_answers_goes_and_comes_back() -> None:
    trial = Trial(LONG_TABLE, "node", has_node=True)
    trial.node = False
    assert trial.see(1_000) is None
    for node, result in ((True, None), (False, None), (True, PASSED)):
        trial.node = node
        assert verdict(trial.see()) == result


def test_the_centre_is_reached_cut_off_and_reached() -> None:
    trial = Trial(LONG_TABLE, "network", has_centre=True)
    for centre, result in ((None, None), (False, None), (True, None), (None, None), (False, None), (True, PASSED)):
        trial.centre = centre
        assert verdict(trial.see()) == result


def test_the_cut_of_the_power_is_known_by_the_next_start_of_the_machine() -> None:
    trial = Trial(LONG_TABLE, "lid", "power")
    trial.see()
    trial.commissioning.put_aside("skipped", "x")
    # Known before anyone is asked to pull the plug.
    assert trial.commissioning.cut_boot == "boot-1"
    assert trial.see(1_000) is None
    again = Trial(LONG_TABLE, "lid", "power")
    again.commissioning = Commissioning(
        trial.commissioning.steps, "Luis", dict(trial.commissioning.results), trial.commissioning.cut_boot
    )
    assert again.see() is None
    again.boot = "boot-2"
    result = again.see()
    assert verdict(result) == PASSED and result is not None and result.by == "Luis"


# Bounce


def edges(*at_us: int) -> list[Edge]:
    return [Edge("on", at, n % 2 == 0) for n, at in enumerate(at_us)]


@pytest.mark.parametrize(
    ("at_us", "longest"),
    [
        ((), 0),
        ((5,), 0),
        ((0, 900, 2_300), 2_300),
        # A release that comes 40.001 ms later is a movement of its own.
        ((0, 900, 40_901, 41_000), 900),
        ((0, 900, 40_900, 41_000), 41_000),
        ((0, 100, 500_000, 503_000, 900_000), 3_000),
    ],
)
def test_a_movement_lasts_from_its_first_edge_to_its_last(at_us: tuple[int, ...], longest: int) -> None:
    assert longest_bounce_us(edges(*at_us)) == longest


def test_press_and_release_are_two_movements_however_quick() -> None:
    trial = Trial(LONG_TABLE, "box_4")
    trial.node = True
    trial.see()
    trial.see(30, *(Edge("box_4", at, at != 400) for at in (0, 400, 1_500)), box_4=True)
    result = trial.see(100, Edge("box_4", 32_000, False), Edge("door", 32_500, True), box_4=False)
    assert result is not None and (result.bounce_us, result.edges) == (1_500, 4)


def test_a_bounce_of_which_nothing_was_measured_is_not_told() -> None:
    trial = Trial(LONG_TABLE, "puck_4", "puck_4_turned", "door")
    trial.see()
    trial.see(300, Edge("puck_4", 0, True), puck_4=True)
    trial.see(0, Edge("puck_4", 900_000, False), puck_4=False)
    result = trial.commissioning.answer(True)
    assert result is not None and (result.bounce_us, outcome(result)) == (0, "    passed")
    told = {step["name"]: step for step in commissioning_view(trial.commissioning, Words("en"))["steps"]}
    assert told["puck_4"]["bounce_us"] is None and told["puck_4_turned"]["bounce_us"] is None
    # Tenths of a millisecond are told.
    assert outcome(replace(result, bounce_us=49)) == "    passed"
    assert outcome(replace(result, bounce_us=50)) == "    passed (bounces for 0.1 ms)"
    trial.commissioning.results["puck_4"] = replace(result, step="puck_4", bounce_us=1_234)
    assert commissioning_view(trial.commissioning, Words("en"))["steps"][0]["bounce_us"] == 1_234


def test_settle_times_stay_unless_they_are_less_than_twice_the_bounce() -> None:
    wiring = Wiring(DEMO_PINS, Timing(button_settle_ms=15, dice_key_settle_ms=20))
    seen = {"on": 7_500, "box_4": 300, "dice_key_3": 10_001, "slot_2": 130_000, "door": 0, "lid": 25_000}
    times = settle_times(wiring, seen)
    assert times == [
        SettleTime("button_settle_ms", 15, 7_500, 15, None),
        SettleTime("dice_key_settle_ms", 20, 10_001, 25, None),
        SettleTime("lid_settle_ms", 50, 25_000, 50, None),
        SettleTime("slot_settle_ms", 200, 130_000, 250, "slot_2"),
    ]
    assert timing_lines(times) == ["[timing]", "dice_key_settle_ms = 25", "slot_settle_ms = 250"]
    assert timing_lines(times[:1]) == []
    [kept] = settle_times(wiring, {"door": 100})
    assert (kept.in_force_ms, kept.proposed_ms) == (50, 50)


# Words


def test_lines_mean_what_the_technician_was_told() -> None:
    trial = Trial(LONG_TABLE, "lamp_box_4", "lid", "door")
    trial.see()
    told, results, wrong = take_line(trial.commissioning, " N \n")
    assert (told, [verdict(one) for one in results], wrong) == ("nothing", [("failed", "not_lit", "")], None)
    trial.see()
    assert take_line(trial.commissioning, "\n")[2] is not None
    assert take_line(trial.commissioning, "f\n") == ("nothing", [], "say why, such as: f no magnet at hand")
    assert take_line(trial.commissioning, "q\n") == ("left", [], None)
    told, results, _ = take_line(trial.commissioning, "e   closing time \n")
    assert (told, [verdict(one) for one in results]) == ("ended", [("skipped", "said", "closing time")] * 2)
    assert outcome(results[0]) == "    SKIPPED: closing time"
    assert take_line(Trial(LONG_TABLE, "lid").commissioning, "b\n")[2] == "this is the first step"


def parts(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_word_is_in_every_language_with_all_its_parts() -> None:
    for key, said in WORDS.items():
        assert len(said) == len(LANGUAGES) and all(said), key
        assert all(parts(text) == parts(said[0]) for text in said), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_says_every_step_in_every_language(language: str) -> None:
    wiring, words = Wiring({**DEMO_PINS}), Words(language)
    steps = [
        *steps_of(wiring, has_node=True, has_centre=True),
        *steps_of(LONG_TABLE, has_node=False, has_centre=False)[14:28],
    ]
    names = [words.of_step(step) for step in steps]
    assert len(set(names)) == len(names)
    results = {step.name: Result(step.name, "passed", "Ana", "2026-11-30T01:02:03.000Z") for step in steps}
    results["lid"] = replace(results["lid"], verdict="skipped", reason="said", said="<b>\u9583</b>", bounce_us=130_123)
    unit = Unit("casino-1", "craps-1", "0.1.0", "0" * 64, "lgpio", None)
    report = report_of(unit, wiring, steps, results, begun="2026-11-30T01:00:00.000Z", ended="2026-11-30T02:00:00.000Z")
    page = report_page(signed(report, KEY), steps, words)
    assert all(name.replace("'", "&#x27;") in page for name in names)
    assert "&lt;b&gt;\u9583&lt;/b&gt;" in page and "130.1 ms" in page and "lid" in page
    assert page.count('<tr class="sign">') == 2 and "size: A4" in page
    assert "{" not in page.partition("</style>")[2]


def test_english_names_a_step_as_a_technician_does() -> None:
    known = {step.name: step for step in steps_of(Wiring(DEMO_PINS), has_node=True, has_centre=True)}
    words = Words("en")

    def said(name: str) -> str:
        return words.of_step(known[name])

    assert said("puck_off") == "Puck 1 on OFF, OFF up" and said("puck_off_turned") == "Puck 1 on OFF, ON up: not seen"
    assert said("puck_10") == "Puck 1 on 10, ON up" and said("puck_10_turned") == "Puck 1 on 10, OFF up: not seen"
    assert (said("box_10"), said("buy"), said("dice_key_6")) == ("Button of box 10", "BUY button", "Dice key 6")
    assert (said("lamp_box_4"), said("lamp_off")) == ("Lamp of box 4", "Lamp of OFF")
    assert said("lamp_dice_key_1") == "Lamp of dice key 1" and said("slot_6").startswith("Place 6 of the reserve")


# The contacts themselves


def test_contacts_are_watched_with_every_edge_and_lamps_are_lit() -> None:
    factory = open_pin_factory("mock")
    wiring = Wiring({"on": Pin("header", 5), "lid": Pin("header", 2), "lamp_on": Pin("header", 14)})
    watch = ContactWatch(wiring, pin_factory=factory, node_port=None)
    try:
        assert watch.look(0) == [] and watch.levels == {"on": False, "lid": False}
        pin = factory.pin(5)
        for closed in (True, False, True):
            pin.drive_low() if closed else pin.drive_high()
        seen = watch.look(1)
        assert [(edge.name, edge.closed) for edge in seen] == [("on", True), ("on", False), ("on", True)]
        assert 0 == seen[0].at_us <= seen[1].at_us <= seen[2].at_us < 1_000_000
        assert watch.levels == {"on": True, "lid": False} and watch.look(2) == []
        assert (watch.node_online, watch.node_firmware) == (None, None)
        watch.set_lamps({"lamp_on": True})
        assert factory.pin(14).state == 1
        watch.set_lamps({"lamp_on": False})
        assert factory.pin(14).state == 0
    finally:
        watch.close()


def test_a_contact_that_cannot_be_had_is_named_and_has_no_level() -> None:
    factory = open_pin_factory("mock")
    held = ContactWatch(Wiring({"on": Pin("header", 5)}), pin_factory=factory, node_port=None)
    wiring = Wiring({"off": Pin("header", 5), "lid": Pin("header", 2), "lamp_on": Pin("header", 14)})
    watch = ContactWatch(wiring, pin_factory=factory, node_port=None)
    watch.look(0)
    assert watch.levels == {"lid": False} and "GPIO5 (off) is unavailable" in watch.unavailable["off"]
    watch.close()
    held.close()


def test_a_page_needs_nothing_from_elsewhere() -> None:
    wiring = Wiring({name: Pin("header", 2 + n) for n, name in enumerate(DICE_KEYS)})
    steps = steps_of(wiring, has_node=False, has_centre=False)
    results = {step.name: Result(step.name, "failed", "Ana", "", "said", "x", 1_000) for step in steps}
    report = report_of(Unit("s", "t", "1", "0", "mock", "2.0"), wiring, steps, results, begun="", ended="")
    page = report_page(signed(report, KEY), steps, Words("en"))
    assert "http" not in page and "src=" not in page and "<script" not in page
    assert "No central system is configured" in page and "Not everything passed: failed 7, skipped 0." in page
