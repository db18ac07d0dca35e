"""Header pins through gpiozero's mock factory."""

import importlib
from typing import Any

import pytest
from gpiozero import LED
from gpiozero.exc import GPIOPinInUse
from gpiozero.pins.mock import MockFactory, MockPin

from drivers.header import HeaderInputs, HeaderLamps, PinFactoryError, open_pin_factory


def test_a_contact_to_ground_is_active_and_only_hints() -> None:
    hints: list[None] = []
    factory = open_pin_factory("mock")
    inputs = HeaderInputs({"lid": 2, "on": 5}, pin_factory=factory, on_hint=lambda: hints.append(None))
    assert inputs.levels() == {"lid": False, "on": False}
    factory.pin(5).drive_low()
    assert inputs.levels() == {"lid": False, "on": True}
    factory.pin(5).drive_high()
    assert inputs.levels() == {"lid": False, "on": False}
    assert len(hints) == 2
    inputs.close()


def test_an_input_that_is_active_from_the_start_is_seen_without_an_edge() -> None:
    class Shut(MockPin):  # type: ignore[misc]
        """A pin whose contact is closed whatever pulls it up."""

        def _set_pull(self, value: str) -> None:
            super()._set_pull(value)
            self._change_state(False)

    inputs = HeaderInputs({"lid": 2}, pin_factory=MockFactory(pin_class=Shut))
    assert inputs.levels() == {"lid": True}
    inputs.close()


def test_a_busy_pin_makes_that_input_unavailable_and_the_others_work() -> None:
    factory = open_pin_factory("mock")
    holder = LED(6, pin_factory=factory)
    inputs = HeaderInputs({"on": 5, "off": 6, "buy": 13}, pin_factory=factory)
    assert list(inputs.unavailable) == ["off"]
    assert inputs.unavailable["off"].startswith("GPIO6 (off) is unavailable: pin GPIO6 is already in use")
    factory.pin(13).drive_low()
    assert inputs.levels() == {"on": False, "buy": True}
    inputs.close()
    holder.close()


def test_a_pin_that_the_board_does_not_have_makes_that_input_unavailable() -> None:
    inputs = HeaderInputs({"on": 5, "off": 99}, pin_factory=open_pin_factory("mock"))
    assert inputs.unavailable["off"].startswith("GPIO99 (off) is unavailable: ")
    assert inputs.levels() == {"on": False}
    inputs.close()


def test_an_input_that_fails_while_it_is_read_becomes_unavailable() -> None:
    class Failing(MockPin):  # type: ignore[misc]
        """A pin that can be made to fail."""

        broken = False

        def _get_state(self) -> Any:
            if self.broken:
                raise OSError("the line is gone")
            return super()._get_state()

    factory = MockFactory(pin_class=Failing)
    inputs = HeaderInputs({"on": 5, "off": 6}, pin_factory=factory)
    factory.pin(6).broken = True
    assert inputs.levels() == {"on": False}
    assert inputs.unavailable["off"].startswith("GPIO6 (off) is unavailable: the line is gone")
    assert inputs.levels() == {"on": False}
    inputs.close()


def test_closing_gives_the_pins_back() -> None:
    factory = open_pin_factory("mock")
    for _ in range(2):
        inputs = HeaderInputs({"on": 5}, pin_factory=factory)
        lamps = HeaderLamps({"on": 14}, pin_factory=factory)
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
        HeaderInputs({"on": 5, "off": 6}, pin_factory=factory)
    LED(5, pin_factory=factory).close()


def test_lamps_are_dark_at_first_and_follow_what_is_set() -> None:
    factory = open_pin_factory("mock")
    holder = LED(15, pin_factory=factory)
    lamps = HeaderLamps({"on": 14, "off": 15, "box_4": 18}, pin_factory=factory)
    assert (factory.pin(14).state, factory.pin(18).state) == (False, False)
    lamps.set_lamps({"on": True, "off": True})
    assert (factory.pin(14).state, factory.pin(15).state, factory.pin(18).state) == (True, False, False)
    lamps.set_lamps({"on": False, "box_4": True})
    assert (factory.pin(14).state, factory.pin(18).state) == (False, True)
    assert lamps.unavailable["off"].startswith("GPIO15 (lamp off) is unavailable: ")
    lamps.close()
    holder.close()


def test_an_unknown_pin_factory_is_refused_with_those_there_are() -> None:
    with pytest.raises(PinFactoryError, match="no pin factory 'pigpio'; choose one of lgpio, rpigpio, mock"):
        open_pin_factory("pigpio")


def test_a_factory_that_cannot_be_used_is_refused_with_a_remedy_and_not_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("drivers.header.import_module", missing)
    with pytest.raises(PinFactoryError, match=r"lgpio cannot be used here .*; install python3-lgpio"):
        open_pin_factory("lgpio")
    monkeypatch.setattr("drivers.header.import_module", importlib.import_module)
    assert isinstance(open_pin_factory("mock"), MockFactory)


def test_gpiozero_itself_refuses_a_second_owner() -> None:
    factory = open_pin_factory("mock")
    inputs = HeaderInputs({"on": 5}, pin_factory=factory)
    with pytest.raises(GPIOPinInUse):
        LED(5, pin_factory=factory)
    inputs.close()
