"""Which contacts a step of a commissioning waits for, which ones hands may move, and which ones it names."""

import pytest

from device.commissioning.machine import Result
from drivers.contact_watch import Edge
from drivers.virtual_table import DEMO_PINS
from drivers.wiring import Wiring
from provisioning.commissioning_dialogue import hint, prompt
from tests.commissioning_trial_rig import LONG_TABLE, PASSED, Trial, verdict


def test_a_puck_is_seen_on_its_place_alone_once_it_lies_there() -> None:
    trial = Trial(LONG_TABLE, "puck_6", "puck_6_turned")
    trial.see(puck_4=True)
    assert trial.see(290, puck_4=False, puck_6=True) is None
    assert verdict(trial.see(10)) == PASSED
    # Its other face: the sensor lets go, and the technician says so.
    assert trial.commissioning.is_asked
    trial.see(puck_6=False)
    assert verdict(trial.commissioning.answer(True)) == PASSED
    assert trial.commissioning.step is None and trial.commissioning.wanted is None


def test_a_sensor_that_sees_both_faces_or_a_second_sensor_is_found() -> None:
    trial = Trial(LONG_TABLE, "puck_6", "puck_6_turned", "second_puck_4")
    trial.see()
    assert verdict(trial.see(300, puck_6=True, puck_9=True)) == ("failed", "also", "puck_9")
    trial.see(puck_9=False)
    assert verdict(trial.commissioning.answer(True)) == ("failed", "both_faces", "puck_6")
    # The other puck lies where it likes.
    assert verdict(trial.see(300, second_puck_4=True)) == PASSED


def test_a_press_is_down_and_up_and_no_other_contact_closes() -> None:
    trial = Trial(LONG_TABLE, "box_4", "lid")
    trial.node = True
    trial.see()
    assert trial.see(20, box_4=True) is None and trial.see(100, box_4=False) is None
    assert trial.see(30, box_4=True) is None
    assert trial.see(90, box_4=False) is None
    assert verdict(trial.see(10)) == PASSED
    trial = Trial(LONG_TABLE, "box_4")
    trial.see()
    assert verdict(trial.see(30, box_4=True, door=True)) == ("failed", "also", "door")


def test_hands_open_and_shut_the_lid_as_they_reach_for_the_dice_and_for_the_door() -> None:
    trial = Trial(LONG_TABLE, "lid", "slot_1", "slot_2", "door")
    trial.see(lid=True, slot_1=True, slot_2=True, door=True)

    def done(*moves: dict[str, bool]) -> Result | None:
        """Let one movement follow the other, and the last one last."""
        result = None
        for move in moves:
            result = trial.see(150, **move)
            assert trial.commissioning.step is None or hint(trial.commissioning) is None, move
        return result or trial.see(300)

    def said() -> str:
        return prompt(trial.commissioning, None)

    assert done({"lid": False}) is None
    assert verdict(done({"lid": True})) == PASSED
    assert said() == "With the lid open, take the die out of place 1 of the reserve."
    assert done({"lid": False}, {"slot_1": False}) is None
    assert said() == "Put the die back."
    # The lid falls while the die comes to rest.
    assert verdict(done({"slot_1": True}, {"lid": True})) == PASSED
    assert done({"lid": False}, {"slot_2": False}, {"lid": True}, {"lid": False}) is None
    assert said() == "Put the die back, and shut the lid."
    assert verdict(done({"slot_2": True})) == PASSED
    assert done({"door": False}, {"lid": True}) is None
    # A die that was put down elsewhere.
    assert verdict(done({"slot_1": False}, {"door": True}, {"slot_1": True})) == PASSED
    # One place that is tried again is the last one too.
    trial.commissioning.again("slot_1")
    done({"slot_1": False})
    assert said() == "Put the die back, and shut the lid."


def test_a_lid_that_falls_and_shakes_the_dice_is_no_second_answer() -> None:
    trial = Trial(LONG_TABLE, "lid", "slot_1", "door")
    trial.see(lid=True, slot_1=True, slot_2=True)
    trial.see(300, lid=False)
    trial.see(10, lid=True, slot_1=False)
    assert verdict(trial.see(290, slot_1=True)) == PASSED
    trial.see(200, lid=False)
    trial.see(300, slot_1=False)
    trial.see(200, slot_1=True)
    trial.see(10, lid=True, slot_1=False)
    assert verdict(trial.see(300, slot_1=True)) == PASSED


@pytest.mark.parametrize("later_ms", [0, 90])
@pytest.mark.parametrize(("first", "second"), [("slot_1", "lid"), ("lid", "slot_1")])
def test_a_place_that_moves_the_lid_s_contact_too_fails(first: str, second: str, later_ms: int) -> None:
    trial = Trial(LONG_TABLE, "lid", "slot_1")
    trial.see(lid=True, slot_1=True)
    trial.see(300, lid=False)
    assert verdict(trial.see(300, lid=True)) == PASSED
    # One wire of the two is on the node, which tells later.
    trial.see(later_ms, **{first: False})
    assert verdict(trial.see(300, **{second: False})) == ("failed", "also", "lid")
    # As well where it is found only as the die is put back.
    trial.commissioning.back()
    trial.see(300, lid=False, slot_1=True)
    trial.see(300, slot_1=False)
    trial.see(200, lid=False)
    trial.see(later_ms, **{first: True})
    trial.see(150, **{second: True})
    # That the die rocks once more changes nothing.
    trial.see(10, slot_1=False)
    assert verdict(trial.see(300, slot_1=True)) == ("failed", "also", "lid")


def test_a_place_on_the_lid_s_pin_does_not_pass_and_the_lid_is_named() -> None:
    trial = Trial(LONG_TABLE, "lid", "slot_1")
    trial.see(lid=True, slot_1=True)
    assert trial.see(1_000) is None
    trial.commissioning.put_aside("failed", "does not answer")
    for _ in range(2):
        assert trial.see(1_000, lid=False) is None
        assert trial.see(1_000, lid=True) is None
    assert hint(trial.commissioning) == "Something else has answered: the switch of the lid."


def test_two_inputs_that_one_button_closes_are_found_and_those_that_hands_moved_before_are_not() -> None:
    trial = Trial(Wiring(DEMO_PINS), "on", "off")
    trial.see(lid=False, slot_1=False)
    trial.see(20, on=True)
    assert verdict(trial.see(10, lay=True)) == ("failed", "also", "lay")
    trial.see(200, on=False, lay=False)
    trial.see(200, lid=True)
    trial.see(110, slot_1=True)
    trial.see(30, off=True)
    assert verdict(trial.see(100, off=False)) == PASSED


def test_what_is_so_already_has_to_be_otherwise_first() -> None:
    trial = Trial(LONG_TABLE, "lid")
    assert trial.see(1_000) is None and trial.commissioning.begins_wrong
    assert hint(trial.commissioning) == "It is so already: do the contrary first."
    trial.see(1_000, lid=True)
    assert not trial.commissioning.begins_wrong
    trial.see(300, lid=False)
    assert prompt(trial.commissioning, None) == "Shut the lid of the reserve."
    assert verdict(trial.see(300, lid=True)) == PASSED
    # In an empty reserve the first die is put in and taken out of a place that is another one's.
    trial = Trial(LONG_TABLE, "slot_1")
    trial.see(200)
    trial.see(500, slot_2=True)
    trial.see(500, slot_2=False)
    assert hint(trial.commissioning) == "Something else has answered: the sensor of place 2 in the reserve."


def test_an_edge_shows_that_it_was_otherwise_between_two_looks() -> None:
    trial = Trial(LONG_TABLE, "puck_4")
    assert verdict(trial.see(300, Edge("puck_4", 5, True), puck_4=True)) == PASSED


def test_what_cannot_be_read_is_told_and_ends_by_the_technician_s_word() -> None:
    trial = Trial(LONG_TABLE, "lid", "box_4", "puck_4_turned")
    trial.unavailable = {"lid": "GPIO20 (lid) is unavailable", "puck_4": "gone"}
    assert trial.see(1_000) is None
    assert hint(trial.commissioning) == "It cannot be used: GPIO20 (lid) is unavailable."
    assert verdict(trial.commissioning.put_aside("failed", "no plug")) == ("failed", "said", "no plug")
    trial.node = False
    trial.see()
    assert hint(trial.commissioning) == "It cannot be used: the I/O node does not answer."
    trial.commissioning.put_aside("skipped", "no node")
    trial.see()
    # Nobody can say that it does not answer.
    assert trial.commissioning.answer(True) is None


def test_what_answers_in_its_place_is_told() -> None:
    trial = Trial(LONG_TABLE, "lid")
    trial.see(lid=True, door=True)
    trial.see(door=False)
    assert hint(trial.commissioning) == "Something else has answered: the switch of the cabinet's door."
    trial = Trial(LONG_TABLE, "puck_6")
    trial.see(200)
    trial.see(500, puck_9=True)
    trial.see(500, puck_9=False)
    assert trial.commissioning.others == ("puck_9",)


def test_a_short_press_of_the_wrong_button_is_told_until_the_right_one_answers() -> None:
    trial = Trial(Wiring(DEMO_PINS), "on", "off", "lay")
    trial.see(200)

    def told() -> str | None:
        return hint(trial.commissioning)

    trial.see(50, lay=True)
    trial.see(5_000, lay=False)
    assert told() == "Something else has answered: the LAY button."
    # The last one, even if it was over before anyone looked.
    trial.see(5_000, Edge("off", 1, True), Edge("off", 900, False))
    assert told() == "Something else has answered: the OFF button."
    # One that stays is told beside it.
    trial.see(50, box_4=True)
    trial.see(50, buy=True)
    assert told() == "Something else has answered: the button of box 4, the BUY button."
    trial.see(20, on=True)
    assert told() is None
    trial.see(200, box_4=False, buy=False)
    assert told() is None
    trial.see(200, on=True)
    assert verdict(trial.see(100, on=False)) == PASSED
    trial.see(50, on=True)
    assert told() == "Something else has answered: the ON button."
    # Another step: what was held is let go, and says nothing of it.
    trial.commissioning.put_aside("failed", "crossed")
    trial.see(500)
    assert told() is None
    trial.see(20, on=False)
    trial.see(20, on=True)
    trial.see(500, on=False)
    assert told() is None
