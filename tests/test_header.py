"""Header pins through gpiozero's mock factory, and the back ends' own errors."""

import gc
import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from gpiozero import LED
from gpiozero.exc import GPIOPinInUse
from gpiozero.pins.mock import MockFactory, MockPin

from drivers.header import (
    HINT_LATE_MS,
    HINTS_MAX,
    HeaderInputs,
    HeaderLamps,
    PinFactoryError,
    open_pin_factory,
    pin_library,
)
from drivers.signals import EdgeLost, InputAvailable, InputUnavailable, Signal

SETTLE_MS = 15
PINS = {"lid": 2, "on": 5}


class Breakable(MockPin):  # type: ignore[misc]
    """A pin that can be made to fail, in whatever is done with it, and to lose its edges or hold them back."""

    def __init__(self, factory: Any, info: Any) -> None:
        self.error: Exception | None = None
        self.told = True
        self.watching = False
        super().__init__(factory, info)

    def _get_state(self) -> Any:
        if self.error is not None:
            raise self.error
        return super()._get_state()

    def _set_function(self, value: str) -> None:
        if self.error is not None:
            raise self.error
        super()._set_function(value)

    def _set_state(self, value: Any) -> None:
        if self.error is not None:
            raise self.error
        super()._set_state(value)

    def _enable_event_detect(self) -> None:
        self.watching = True

    def _disable_event_detect(self) -> None:
        self.watching = False
        if self.error is not None:
            raise self.error

    def _call_when_changed(self) -> None:
        if self.told and self.watching:
            super()._call_when_changed()


class Header:
    """Inputs on breakable pins, in simulated time, looked at every 5 ms."""

    def __init__(self, *, settle_ms: int = SETTLE_MS) -> None:
        self.pins = PINS
        self.factory = MockFactory(pin_class=Breakable)
        self.hints: list[str] = []
        self.inputs = HeaderInputs(
            self.pins,
            settle_ms=dict.fromkeys(self.pins, settle_ms),
            pin_factory=self.factory,
            on_hint=lambda: self.hints.append(threading.current_thread().name),
        )
        self.now_ms = 0
        assert self.run(100) == []

    def pin(self, name: str) -> Any:
        return self.factory.pin(self.pins[name])

    def close_contact(self, name: str, *, told: bool = True) -> None:
        self.pin(name).told = told
        self.pin(name).drive_low()
        self.pin(name).told = True

    def open_contact(self, name: str, *, told: bool = True) -> None:
        self.pin(name).told = told
        self.pin(name).drive_high()
        self.pin(name).told = True

    def late_hint(self, name: str) -> None:
        self.pin(name)._call_when_changed()

    def run(self, duration_ms: int) -> list[Signal]:
        signals: list[Signal] = []
        for _ in range(duration_ms // 5):
            signals += self.inputs.look(self.now_ms)
            self.now_ms += 5
        return signals


def opened(pins: dict[str, int], factory: Any) -> HeaderInputs:
    return HeaderInputs(pins, settle_ms=dict.fromkeys(pins, SETTLE_MS), pin_factory=factory)


def levels(inputs: HeaderInputs) -> dict[str, bool]:
    inputs.look(0)
    return inputs.levels


def test_a_contact_to_ground_is_active_and_only_hints() -> None:
    header = Header()
    assert header.inputs.levels == {"lid": False, "on": False}
    header.close_contact("on")
    header.run(5)
    assert header.inputs.levels == {"lid": False, "on": True}
    header.open_contact("on")
    header.run(5)
    assert header.inputs.levels == {"lid": False, "on": False}
    assert len(header.hints) == 2
    header.inputs.close()


def test_many_edges_are_one_hint_until_somebody_has_looked() -> None:
    header = Header()

    def flood() -> None:
        for _ in range(1000):
            header.late_hint("on")

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(header.hints) == 1
    header.run(100)
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": HINTS_MAX}
    header.late_hint("on")
    assert len(header.hints) == 2


def test_gpio_2_and_3_with_their_own_resistors_can_be_contacts() -> None:
    inputs = opened({"lid": 2, "box_9": 3}, open_pin_factory("mock"))
    assert levels(inputs) == {"lid": False, "box_9": False}
    assert inputs.unavailable == {}
    inputs.close()


def test_a_level_is_known_once_it_has_settled() -> None:
    factory = open_pin_factory("mock")
    inputs = opened({"on": 5}, factory)
    inputs.look(0)
    assert inputs.level("on") is None and inputs.unsettled
    inputs.look(SETTLE_MS)
    assert inputs.level("on") is False and not inputs.unsettled
    inputs.close()


def test_a_change_without_an_edge_is_a_lost_edge_once_it_has_settled() -> None:
    header = Header()
    header.close_contact("on", told=False)
    signals = header.run(HINT_LATE_MS)
    assert signals == []
    assert header.inputs.level("on") is True
    assert header.inputs.unsettled, "it is still to be seen whether the edge is late"
    assert header.run(5) == [EdgeLost("on")]
    assert header.run(200) == []
    assert header.inputs.counts("on") == {"lost_edges": 1, "glitches": 0}
    assert header.inputs.counts("lid") == {"lost_edges": 0, "glitches": 0}
    assert not header.inputs.unsettled


def test_the_edge_after_a_lost_one_is_not_lost() -> None:
    header = Header()
    header.close_contact("on", told=False)
    assert header.run(100) == [EdgeLost("on")]
    header.open_contact("on")
    assert header.run(100) == []
    assert header.inputs.counts("on") == {"lost_edges": 1, "glitches": 0}


def test_both_edges_of_a_press_can_be_lost() -> None:
    header = Header()
    header.close_contact("on", told=False)
    signals = header.run(20)
    header.open_contact("on", told=False)
    assert signals + header.run(100) == [EdgeLost("on"), EdgeLost("on")]


def test_a_lost_press_with_a_hinted_release_right_after_it_is_one_lost_edge() -> None:
    header = Header()
    header.close_contact("on", told=False)
    signals = header.run(20)
    header.open_contact("on")
    assert signals + header.run(100) == [EdgeLost("on")]
    assert header.inputs.counts("on") == {"lost_edges": 1, "glitches": 0}


@pytest.mark.parametrize("late_ms", [5, 10, 15, 20, 25, 50, 75])
def test_a_hint_that_is_late_is_no_lost_edge_and_no_glitch(late_ms: int) -> None:
    header = Header()
    header.close_contact("on", told=False)
    signals = header.run(late_ms)
    header.late_hint("on")
    assert signals + header.run(200) == []
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 0}


def test_hints_that_are_all_sixty_milliseconds_late_are_neither_lost_edges_nor_glitches() -> None:
    header = Header()
    signals: list[Signal] = []
    # A press of 30 ms, 100 ms later another one, and every hint 60 ms after its edge.
    moves = {0: True, 30: False, 130: True, 160: False}
    for at_ms in range(0, 400, 5):
        if at_ms in moves:
            (header.close_contact if moves[at_ms] else header.open_contact)("on", told=False)
        if at_ms - 60 in moves:
            header.late_hint("on")
        signals += header.run(5)
    assert signals == []
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 0}
    assert not header.inputs.unsettled


def test_two_late_hints_pay_for_a_press_and_its_release() -> None:
    header = Header()
    header.close_contact("on", told=False)
    signals = header.run(20)
    header.open_contact("on", told=False)
    header.late_hint("on")
    header.late_hint("on")
    assert signals + header.run(200) == []
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 0}


@pytest.mark.parametrize("hints_ms", [[], [10], [10, 10], [10, 15]])
def test_changes_that_follow_each_other_faster_than_a_hint_may_be_late_are_held_against_their_hints(
    hints_ms: list[int],
) -> None:
    header = Header(settle_ms=5)
    header.close_contact("on", told=False)
    signals = header.run(10)
    header.open_contact("on", told=False)
    for at_ms in (10, 15):
        for _ in range(hints_ms.count(at_ms)):
            header.late_hint("on")
        signals += header.run(5)
    assert signals + header.run(200) == [EdgeLost("on")] * (2 - len(hints_ms))
    assert header.inputs.counts("on")["glitches"] == 0


def test_a_bouncing_press_is_no_glitch() -> None:
    header = Header()
    for _ in range(3):
        header.close_contact("on")
        header.open_contact("on")
    header.close_contact("on")
    assert header.run(200) == []
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 0}


def test_edges_that_lead_to_no_change_are_counted_as_glitches() -> None:
    header = Header()
    header.close_contact("on")
    header.open_contact("on")
    assert header.inputs.counts("on")["glitches"] == 0
    assert header.run(100) == []
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 2}


def test_a_pulse_that_nobody_told_of_and_that_does_not_settle_is_nothing() -> None:
    header = Header()
    header.close_contact("on", told=False)
    signals = header.run(10)
    header.open_contact("on", told=False)
    assert signals + header.run(100) == []
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 0}


def test_an_input_that_is_active_from_the_start_is_seen_without_an_edge() -> None:
    class Shut(MockPin):  # type: ignore[misc]
        """A pin whose contact is closed whatever pulls it up."""

        def _set_pull(self, value: str) -> None:
            super()._set_pull(value)
            self._change_state(False)

    inputs = opened({"lid": 2}, MockFactory(pin_class=Shut))
    assert levels(inputs) == {"lid": True}
    assert inputs.look(1000) == []
    inputs.close()


def test_a_busy_pin_makes_that_input_unavailable_and_the_others_work_until_it_is_free() -> None:
    factory = open_pin_factory("mock")
    holder = LED(6, pin_factory=factory)
    inputs = opened({"on": 5, "off": 6, "buy": 13}, factory)
    factory.pin(13).drive_low()
    (told,) = inputs.look(0)
    assert isinstance(told, InputUnavailable) and told.name == "off"
    assert told.reason.startswith("GPIO6 (off) is unavailable: pin GPIO6 is already in use")
    assert told.reason.endswith("; another program may hold it")
    assert inputs.unavailable == {"off": told.reason}
    assert inputs.levels == {"on": False, "buy": True}
    assert inputs.level("off") is None
    assert inputs.look(5000) == [], "tried again, in vain: it is not told twice"
    holder.close()
    factory.pin(6).drive_low()
    assert inputs.look(9999) == []
    assert inputs.look(10_000) == [InputAvailable("off")]
    assert inputs.unavailable == {}
    assert inputs.levels["off"] is False, "opening it lets go of the mock's pin"
    inputs.close()


@pytest.mark.parametrize(
    ("pin", "holder"),
    [(3, "I2C"), (4, "1-Wire"), (9, "SPI"), (14, "the serial console"), (20, "I2S sound")],
)
def test_the_likely_holder_of_a_pin_is_said(pin: int, holder: str) -> None:
    factory = open_pin_factory("mock")
    other = LED(pin, pin_factory=factory)
    inputs = opened({"on": pin}, factory)
    assert inputs.unavailable["on"].endswith(f"; another program, or {holder}, if it is enabled, may hold it")
    inputs.close()
    other.close()


def test_a_pin_that_the_board_does_not_have_makes_that_input_unavailable() -> None:
    inputs = opened({"on": 5, "off": 99}, open_pin_factory("mock"))
    assert inputs.unavailable["off"].startswith("GPIO99 (off) is unavailable: ")
    assert levels(inputs) == {"on": False}
    inputs.close()


@pytest.fixture
def lgpio_error(monkeypatch: pytest.MonkeyPatch) -> type[Exception]:
    """lgpio's own error, which is no OSError; the library need not be there."""

    class LgpioError(Exception):
        """Derives from nothing more special, as lgpio's does."""

    module = type(sys)("lgpio")
    module.error = LgpioError  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lgpio", module)
    return LgpioError


def test_an_input_that_fails_while_it_is_read_is_tried_again(lgpio_error: type[Exception]) -> None:
    header = Header()
    pin = header.pin("on")
    # Nothing can be done with the pin any more, not even give it back.
    pin.error = lgpio_error("bad gpio")
    (told,) = header.run(5000)
    assert isinstance(told, InputUnavailable)
    assert told.reason.startswith("GPIO5 (on) is unavailable: bad gpio; ")
    assert header.inputs.levels == {"lid": False}
    assert header.inputs.level("on") is None
    assert not header.inputs.unsettled, "what cannot be read is no reason to look often"
    pin.error = None
    pin.drive_low()
    assert header.run(5000) == [InputAvailable("on")]
    gc.collect()
    header.close_contact("on")
    assert header.run(100) == []
    assert header.inputs.levels == {"lid": False, "on": True}
    hints = len(header.hints)
    header.open_contact("on")
    assert len(header.hints) == hints + 1, "its edges are heard again"
    header.inputs.close()


def test_what_changed_while_an_input_could_not_be_read_is_no_lost_edge() -> None:
    header = Header()
    header.close_contact("on")
    assert header.run(100) == []
    header.pin("on").error = OSError("the line is gone")
    header.run(100)
    header.pin("on").error = None
    assert header.run(5000) == [InputAvailable("on")]
    assert header.run(200) == []
    assert header.inputs.level("on") is False
    assert header.inputs.counts("on") == {"lost_edges": 0, "glitches": 0}


def test_closing_gives_the_pins_back() -> None:
    factory = open_pin_factory("mock")
    for _ in range(2):
        inputs = opened({"on": 5}, factory)
        lamps = HeaderLamps({"lamp_on": 14}, pin_factory=factory)
        assert not inputs.unavailable and not lamps.unavailable
        inputs.close()
        lamps.close()


def test_a_constructor_that_is_interrupted_gives_back_what_it_had_opened() -> None:
    class Interrupting(MockPin):  # type: ignore[misc]
        """A pin during whose opening the user gives up, once."""

        interrupted = False

        def _set_pull(self, value: str) -> None:
            super()._set_pull(value)
            if self.info.name == "GPIO6" and not self.interrupted:
                self.interrupted = True
                raise KeyboardInterrupt

    factory = MockFactory(pin_class=Interrupting)
    with pytest.raises(KeyboardInterrupt):
        opened({"on": 5, "off": 6}, factory)
    LED(5, pin_factory=factory).close()


def test_lamps_are_dark_at_first_and_follow_what_is_set() -> None:
    factory = open_pin_factory("mock")
    lamps = HeaderLamps({"lamp_on": 14, "lamp_box_4": 18}, pin_factory=factory)
    assert (factory.pin(14).state, factory.pin(18).state) == (False, False)
    lamps.set_lamps({"lamp_on": True})
    assert (factory.pin(14).state, factory.pin(18).state) == (True, False)
    lamps.set_lamps({"lamp_on": False, "lamp_box_4": True, "lamp_lay": True})
    assert (factory.pin(14).state, factory.pin(18).state) == (False, True)
    assert lamps.look(0) == []
    lamps.close()
    assert factory.pin(18).function == "input"


def test_a_lamp_whose_pin_is_busy_is_named_and_shows_what_it_should_when_it_is_back() -> None:
    factory = open_pin_factory("mock")
    holder = LED(15, pin_factory=factory)
    lamps = HeaderLamps({"lamp_on": 14, "lamp_off": 15}, pin_factory=factory)
    (told,) = lamps.look(0)
    assert isinstance(told, InputUnavailable) and told.name == "lamp_off"
    assert told.reason.startswith("GPIO15 (lamp_off) is unavailable: ")
    lamps.set_lamps({"lamp_on": True, "lamp_off": True})
    assert factory.pin(14).state is True
    assert lamps.look(4999) + lamps.look(5000) == []
    holder.close()
    assert lamps.look(10_000) == [InputAvailable("lamp_off")]
    assert lamps.unavailable == {}
    assert factory.pin(15).state is True
    lamps.close()


def test_a_lamp_that_fails_takes_down_itself_alone(lgpio_error: type[Exception]) -> None:
    factory = MockFactory(pin_class=Breakable)
    lamps = HeaderLamps({"lamp_on": 14, "lamp_off": 15}, pin_factory=factory)
    factory.pin(15).error = lgpio_error("the line is gone")
    lamps.set_lamps({"lamp_off": True, "lamp_on": True})
    (told,) = lamps.look(0)
    assert isinstance(told, InputUnavailable) and told.name == "lamp_off"
    assert "GPIO15 (lamp_off) is unavailable: the line is gone; " in told.reason
    assert factory.pin(14).state is True
    factory.pin(15).error = None
    assert lamps.look(5000) == [InputAvailable("lamp_off")]
    assert factory.pin(15).state is True
    lamps.close()


def test_an_unknown_pin_factory_is_refused_with_those_there_are() -> None:
    with pytest.raises(PinFactoryError, match="no pin factory 'pigpio'; choose one of lgpio, rpigpio, mock"):
        open_pin_factory("pigpio")


def test_a_factory_that_cannot_be_used_is_refused_with_a_remedy_and_not_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("drivers.header.import_module", missing)
    with pytest.raises(PinFactoryError, match=r"lgpio cannot be used here .*; run on a Raspberry Pi"):
        open_pin_factory("lgpio")
    monkeypatch.setattr("drivers.header.import_module", importlib.import_module)
    assert isinstance(open_pin_factory("mock"), MockFactory)


# What importing lgpio 0.2.2 does, and what gpiozero asks of it while a factory is made; it cannot be loaded everywhere.
LGPIO_STAND_IN = """
import os
folder = os.environ.get("LG_WD", os.getcwd())
os.chdir(folder)
os.mkfifo(".lgd-nfy0")
print("pipe in", folder)
BOTH_EDGES, RISING_EDGE, FALLING_EDGE = 3, 1, 2
SET_PULL_NONE, SET_PULL_UP, SET_PULL_DOWN = 0, 1, 2
class error(Exception):
    pass
def gpiochip_open(chip):
    raise error("can not open gpiochip")
"""
OPEN_LGPIO = """
import os
from drivers.header import PinFactoryError, open_pin_factory
from gpiozero.pins import local
local.get_pi_revision = lambda: 0xC03111
try:
    open_pin_factory("lgpio")
except PinFactoryError as error:
    print(error)
print(os.getcwd(), os.environ.get("LG_WD"))
"""


def open_lgpio(tmp_path: Path, **environment: str) -> list[str]:
    """Open the factory in a process that was started in /; what it said."""
    (tmp_path / "lgpio.py").write_text(LGPIO_STAND_IN, "utf-8")
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), **environment}
    command = [sys.executable, "-c", OPEN_LGPIO]
    done = subprocess.run(command, cwd="/", env=variables, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_lgpio_makes_its_pipe_where_it_may_and_the_program_stays_where_it_is(tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    pipe, error, end = open_lgpio(tmp_path, XDG_RUNTIME_DIR=str(runtime))
    assert pipe.startswith(f"pipe in {runtime}/boxman-lgpio-")
    assert error.startswith(
        "the pin factory lgpio cannot be used here (can not open gpiochip); run on a Raspberry Pi, "
    )
    assert end == "/ None"
    assert list(runtime.iterdir()) == [], "the pipe needs no name once it is open"


def test_lgpio_makes_its_pipe_elsewhere_when_the_runtime_folder_is_not_there(tmp_path: Path) -> None:
    pipe, _, end = open_lgpio(tmp_path, XDG_RUNTIME_DIR=str(tmp_path / "missing"))
    assert "/boxman-lgpio-" in pipe
    assert end == "/ None"


def test_the_folder_that_the_user_names_for_lgpio_is_left_to_him(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    pipe, _, end = open_lgpio(tmp_path, LG_WD=str(mine), XDG_RUNTIME_DIR=str(tmp_path))
    assert pipe == f"pipe in {mine}"
    assert end == f"/ {mine}"
    assert [path.name for path in mine.iterdir()] == [".lgd-nfy0"]


def test_the_library_of_a_factory_is_named() -> None:
    assert pin_library(open_pin_factory("mock")) == "mock"
    assert pin_library(MockFactory()) == "mock"


def test_gpiozero_itself_refuses_a_second_owner() -> None:
    factory = open_pin_factory("mock")
    inputs = opened({"on": 5}, factory)
    with pytest.raises(GPIOPinInUse):
        LED(5, pin_factory=factory)
    inputs.close()


def test_a_pin_that_is_opened_again_hears_its_edges_again() -> None:
    """As a library does that arms the edges of a pin when its first listener comes, and not for the next one."""

    class Arming(MockPin):  # type: ignore[misc]
        armed = 0

        def close(self) -> None:
            self.function = "input"

        def _enable_event_detect(self) -> None:
            type(self).armed += 1

        def _disable_event_detect(self) -> None:
            type(self).armed -= 1

    factory = MockFactory(pin_class=Arming)
    for _ in range(2):
        inputs = HeaderInputs({"lid": 2}, settle_ms={"lid": 50}, pin_factory=factory)
        inputs.look(0)
        assert Arming.armed == 1
        inputs.close()
        assert Arming.armed == 0
