"""The table computer's own header pins, through gpiozero."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from gpiozero import LED, DigitalInputDevice
from gpiozero.exc import GPIOZeroError

_FACTORIES = {
    "lgpio": ("gpiozero.pins.lgpio", "LGPIOFactory", "install python3-lgpio and run on a Raspberry Pi"),
    "rpigpio": (
        "gpiozero.pins.rpigpio",
        "RPiGPIOFactory",
        "install python3-rpi.gpio, or use lgpio: RPi.GPIO does not work on a Raspberry Pi 5",
    ),
    "mock": ("gpiozero.pins.mock", "MockFactory", "install gpiozero"),
}


class PinFactoryError(Exception):
    """The pin factory that was asked for cannot be used; the message ends with the remedy."""


def open_pin_factory(name: str) -> Any:
    """Open the gpiozero pin factory `name`: lgpio, rpigpio or mock. Never another one instead.

    Raises PinFactoryError with a remedy in one line.
    """
    if name not in _FACTORIES:
        raise PinFactoryError(f"there is no pin factory {name!r}; choose one of {', '.join(_FACTORIES)}")
    module, factory, remedy = _FACTORIES[name]
    try:
        return getattr(import_module(module), factory)()
    except _pin_errors() as error:
        raise PinFactoryError(f"the pin factory {name} cannot be used here ({error}); {remedy}") from error


def _pin_errors() -> tuple[type[Exception], ...]:
    """What a back end raises for a pin: lgpio has an error of its own that derives from nothing more special."""
    lgpio_error = getattr(sys.modules.get("lgpio"), "error", None)
    common: tuple[type[Exception], ...] = (GPIOZeroError, ImportError, OSError, RuntimeError, ValueError)
    return common if lgpio_error is None else (*common, lgpio_error)


def _unavailable(name: str, pin: int, error: Exception) -> str:
    return (
        f"GPIO{pin} ({name}) is unavailable: {error}; another program or an enabled "
        "interface (SPI, I2C, 1-Wire, serial console) may hold it"
    )


class HeaderInputs:
    """Contacts to ground on pulled-up pins, by name. A pin that cannot be had is in `unavailable` with the reason.

    `on_hint` is called from gpiozero's own thread whenever a level may have changed. It says to look earlier, no more.
    """

    def __init__(self, pins: Mapping[str, int], *, pin_factory: Any, on_hint: Callable[[], None] | None = None) -> None:
        self.unavailable: dict[str, str] = {}
        self._pins = dict(pins)
        self._devices: dict[str, DigitalInputDevice] = {}
        try:
            for name, pin in self._pins.items():
                self._open(name, pin, pin_factory, on_hint)
        except BaseException:
            self.close()
            raise

    def _open(self, name: str, pin: int, pin_factory: Any, on_hint: Callable[[], None] | None) -> None:
        try:
            device = DigitalInputDevice(pin, pull_up=True, pin_factory=pin_factory)
        except _pin_errors() as error:
            self.unavailable[name] = _unavailable(name, pin, error)
            return
        self._devices[name] = device
        if on_hint is not None:
            # A function without parameters: gpiozero passes the device to those that take one.
            device.when_activated = device.when_deactivated = lambda: on_hint()

    def levels(self) -> dict[str, bool]:
        """Read every available input now; True is a closed contact. An input that fails becomes unavailable."""
        levels = {}
        for name, device in list(self._devices.items()):
            try:
                levels[name] = bool(device.is_active)
            except _pin_errors() as error:
                self.unavailable[name] = _unavailable(name, self._pins[name], error)
                self._devices.pop(name).close()
        return levels

    def close(self) -> None:
        """Give all pins back."""
        while self._devices:
            self._devices.popitem()[1].close()


class HeaderLamps:
    """Lamps on output pins, by name, dark at first. A pin that cannot be had is in `unavailable` with the reason."""

    def __init__(self, pins: Mapping[str, int], *, pin_factory: Any) -> None:
        self.unavailable: dict[str, str] = {}
        self._lamps: dict[str, LED] = {}
        try:
            for name, pin in pins.items():
                try:
                    self._lamps[name] = LED(pin, initial_value=False, pin_factory=pin_factory)
                except _pin_errors() as error:
                    self.unavailable[name] = _unavailable(f"lamp {name}", pin, error)
        except BaseException:
            self.close()
            raise

    def set_lamps(self, lit: Mapping[str, bool]) -> None:
        """Light or darken the named lamps; the others stay as they are. Unavailable ones are passed over."""
        for name, lamp in self._lamps.items():
            if name in lit and bool(lamp.value) != lit[name]:
                lamp.value = lit[name]

    def close(self) -> None:
        """Darken the lamps and give their pins back."""
        while self._lamps:
            self._lamps.popitem()[1].close()
