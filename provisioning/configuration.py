"""The configuration of one table: a TOML file, checked whole; an unknown key is an error."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from device.alert_conditions import GraceTimes
from device.dice_control import dice_rules
from device.dice_control.names import folded, person_fault
from device.dice_control.reserve_conditions import ReserveTimes
from device.https_protocol import check_address
from device.nats_connection import check_ca, check_servers
from device.settings import Settings, UplinkSettings
from device.table_terms import TableTerms
from drivers.virtual_table import DEMO_PINS
from drivers.wiring import DEFAULT_PINS, INPUTS, LAMPS, SLOTS, Pin, Timing, Wiring, parse_pin
from engine_lite import rule_sets
from engine_lite.rule_data import RuleError
from provisioning.json_file import JsonFileError, read_json_file
from provisioning.standard_streams import visible
from provisioning.wiring_parts import check_currents, check_part

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
# Parts of 1 to 63 characters, as names are looked up.
_HOST = re.compile(r"[0-9A-Za-z-]{1,63}(\.[0-9A-Za-z-]{1,63})*")
# A path with control characters is a slip, and the operating system knows none with U+0000.
_VISIBLE = re.compile(r"[^\x00-\x1f\x7f]+")
_SECTIONS: dict[str, tuple[str, ...]] = {
    "table": ("site", "name", "rules", "options", "unit", "min", "max"),
    "console": ("host", "port"),
    "uplink": ("servers", "stream", "https", "ca", "retention_days"),
    "hardware": ("pins", "node"),
    "wiring": (*INPUTS, *LAMPS),
    "timing": tuple(time.name for time in fields(Timing)),
    "alerts": tuple(time.name for time in (*fields(GraceTimes), *fields(ReserveTimes))),
    "dice": ("rules", "supervisors"),
}
_SIGNALS = (
    "puck_4 to puck_10 and puck_off, the same with second_puck, box_4 to box_10, on, off, buy, lay, dice_key_1 to "
    "dice_key_6, lid, slot_1 to slot_8, door, and lamp_ with the name of a button or dice key"
)
# A path, or the serial number that a node's USB port tells.
_NODE = re.compile(rf"/{_VISIBLE.pattern}|usb:[!-~]{{1,64}}")
NODE_PORT_FORM = "usb: and the node's USB serial number, or the path of a serial port, such as /dev/ttyACM0"
PIN_LIBRARIES = ("lgpio", "rpigpio", "mock")


class ConfigurationError(Exception):
    """A configuration that is not sound: one line that names the file, the key and what would be right."""

    def __init__(self, message: str) -> None:
        # Keys and paths may hold what a terminal takes for a command.
        super().__init__(visible(message))


@dataclass(frozen=True)
class Configuration:
    """What the file says; None where it leaves a thing out.

    `node` is the path of the I/O node's serial port, or usb: and its serial number. `parts` holds the parts that were
    chosen, by signal (provisioning/wiring_parts.py).
    """

    site: str = "demo"
    table: str = "craps-1"
    rules: str = "us-vegas"
    # The rule set in a file that `rules` names, where it is none of those that come with boxman.
    rule_file: dict[str, Any] | None = None
    options: dict[str, Any] | None = None
    unit: int = 1
    minimum: int = 5
    maximum: int = 5000
    host: str | None = None
    port: int | None = None
    servers: tuple[str, ...] | None = None
    stream: str = "CRAPS"
    # The address of a central system that takes events over HTTPS.
    https: str | None = None
    # A file of the certificates that alone vouch for the central systems.
    ca: Path | None = None
    retention_days: int = 180
    pins: str | None = None
    node: str | None = None
    wiring: Wiring = field(default_factory=Wiring)
    parts: Mapping[str, str] = field(default_factory=dict)
    grace: GraceTimes = field(default_factory=GraceTimes)
    reserve: ReserveTimes = field(default_factory=ReserveTimes)
    dice_rules: str | None = None
    supervisors: tuple[str, ...] | None = None

    @property
    def uplink(self) -> UplinkSettings | None:
        """Where the journal is delivered; None: the file names no central system."""
        if self.servers is None and self.https is None:
            return None
        return UplinkSettings(self.servers or (), self.stream, self.https, self.ca)

    @property
    def virtual(self) -> bool:
        """Whether the table's hardware is played by programs."""
        return self.pins in (None, "mock")


def read_configuration(path: Path) -> Configuration:
    """Read and check a configuration file. Raises ConfigurationError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is no UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: is no TOML: {error}") from error
    except ValueError as error:
        raise ConfigurationError(f"{path}: holds a number of too many digits") from error
    except RecursionError as error:
        raise ConfigurationError(f"{path}: is nested too deeply") from error
    try:
        configuration = _configuration(data, path.parent)
        _terms(configuration)
        _check_hardware(configuration)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return configuration


def settings(
    configuration: Configuration,
    *,
    port: int | None,
    uplink: UplinkSettings | None,
    node_port: str | None,
    virtual_folder: Path | None,
) -> Settings:
    """The terminal's settings; what the command line gives goes before the file. Raises ConfigurationError."""
    given = configuration
    host = given.host or "127.0.0.1"
    return Settings(
        site=given.site,
        table=given.table,
        terms=_terms(given),
        host=host,
        port=port if port is not None else given.port if given.port is not None else 8080,
        uplink=uplink,
        retention_days=given.retention_days,
        pin_library=given.pins or "mock",
        node_port=node_port,
        wiring=_wiring_in_force(given),
        grace=given.grace,
        reserve=given.reserve,
        dice_rules=dice_rules.load(given.dice_rules or _dice_rules_of(given.rules)),
        supervisors=given.supervisors,
        virtual_folder=virtual_folder,
        hosts=sorted({"127.0.0.1", "localhost", host}),
    )


def _wiring_in_force(given: Configuration) -> Wiring:
    """A virtual table that is wired as by default has slots in its reserve as well."""
    if given.virtual and given.node is None and given.wiring.pins == DEFAULT_PINS:
        return Wiring(DEMO_PINS, given.wiring.timing)
    return given.wiring


def _dice_rules_of(rules: str) -> str:
    """The rules of dice that go with a rule set; a house's own rule file names others under [dice]."""
    return rules if rules in dice_rules.NAMES else "us-vegas"


def _terms(given: Configuration) -> TableTerms:
    """The terms to open the table under, all options filled in. Raises ConfigurationError."""
    rule_set = given.rule_file if given.rule_file is not None else rule_sets.load(given.rules)
    terms = TableTerms(rule_set, given.options or {}, given.unit, given.minimum, given.maximum)
    try:
        rules = terms.check()
    except RuleError as error:
        raise ConfigurationError(f"table.rules, table.options: {error}") from None
    except ValueError as error:
        raise ConfigurationError(f"table.unit, table.min, table.max: {error}") from None
    return TableTerms(rule_set, rules.options, given.unit, given.minimum, given.maximum)


def _configuration(data: dict[str, Any], folder: Path) -> Configuration:
    for section, keys in data.items():
        if section not in _SECTIONS:
            raise ConfigurationError(f"[{section}] is no section; the sections are {', '.join(_SECTIONS)}")
        if not isinstance(keys, dict):
            raise ConfigurationError(f"{section} must be a section, written [{section}]")
        for key in keys:
            if key not in _SECTIONS[section]:
                raise ConfigurationError(_no_key(section, key))
    said: dict[str, Any] = _wiring(data) | _alert_times(data.get("alerts", {}))
    if "rules" in data.get("dice", {}):
        if data["dice"]["rules"] not in dice_rules.NAMES:
            raise ConfigurationError(f"dice.rules must be one of {', '.join(dice_rules.NAMES)}")
        said["dice_rules"] = data["dice"]["rules"]
    if "supervisors" in data.get("dice", {}):
        said["supervisors"] = _supervisors(data["dice"]["supervisors"])
    table, console = data.get("table", {}), data.get("console", {})
    uplink, hardware = data.get("uplink", {}), data.get("hardware", {})
    for key, name in (("site", "site"), ("name", "table")):
        if key in table:
            said[name] = _text(table, "table", key, _NAME, "1 to 32 letters, digits, - or _")
    if "rules" in table:
        rules = _text(table, "table", "rules", _VISIBLE, "the name of a rule set")
        if rules.endswith(".json"):
            said["rule_file"] = _rule_file(folder / rules)
        elif rules not in rule_sets.NAMES:
            raise ConfigurationError(
                f"table.rules must be one of {', '.join(rule_sets.NAMES)}, or a rule file that ends in .json"
            )
        said["rules"] = rules
    if "options" in table:
        if not isinstance(table["options"], dict):
            raise ConfigurationError("table.options must be a section, written [table.options]")
        said["options"] = table["options"]
    for key, name in (("unit", "unit"), ("min", "minimum"), ("max", "maximum")):
        if key in table:
            said[name] = _whole(table, "table", key, 1, 10**12)
    if "host" in console:
        said["host"] = _text(console, "console", "host", _HOST, "an address of this machine")
    if "port" in console:
        said["port"] = _whole(console, "console", "port", 1, 65535)
    if "servers" in uplink:
        servers = uplink["servers"]
        if not isinstance(servers, list) or not servers or not all(isinstance(url, str) for url in servers):
            raise ConfigurationError('uplink.servers must be a list such as ["nats://10.0.0.5:4222"]')
        try:
            said["servers"] = tuple(check_servers(servers))
        except ValueError as error:
            raise ConfigurationError(f"uplink.servers: {error}") from None
    if "stream" in uplink:
        said["stream"] = _text(uplink, "uplink", "stream", _NAME, "1 to 32 letters, digits, - or _")
    if "https" in uplink:
        address = _text(uplink, "uplink", "https", _VISIBLE, "an address like https://central.example:8443")
        try:
            said["https"] = check_address(address)
        except ValueError as error:
            raise ConfigurationError(f"uplink.https: {error}") from None
    if "ca" in uplink:
        said["ca"] = _ca_file(folder / _text(uplink, "uplink", "ca", _VISIBLE, "a file of certificates (PEM)"))
    if "retention_days" in uplink:
        said["retention_days"] = _whole(uplink, "uplink", "retention_days", 1, 36_500)
    if "pins" in hardware:
        if hardware["pins"] not in PIN_LIBRARIES:
            raise ConfigurationError(f"hardware.pins must be one of {', '.join(PIN_LIBRARIES)}")
        said["pins"] = hardware["pins"]
    if "node" in hardware:
        said["node"] = _text(hardware, "hardware", "node", _NODE, NODE_PORT_FORM)
    return Configuration(**said)


def _supervisors(given: Any) -> tuple[str, ...]:
    right = 'dice.supervisors must be a list of different names, such as ["Marta Gil"]'
    if not isinstance(given, list) or not given:
        raise ConfigurationError(right)
    for number, name in enumerate(given, start=1):
        if fault := person_fault(name):
            raise ConfigurationError(f"dice.supervisors: name {number} {fault}")
    if len({folded(name) for name in given}) != len(given):
        raise ConfigurationError(right)
    return tuple(given)


def _no_key(section: str, key: str) -> str:
    if section == "wiring" and re.fullmatch(r"slot_[0-9]+", key):
        return f"{section}.{key} is no key; slots are {SLOTS[0]} to {SLOTS[-1]}"
    near = get_close_matches(key, _SECTIONS[section], 1)
    if near:
        return f"{section}.{key} is no key, did you mean {near[0]}?"
    return (
        f"{section}.{key} is no key; the keys are {_SIGNALS if section == 'wiring' else ', '.join(_SECTIONS[section])}"
    )


def _wiring(data: dict[str, Any]) -> dict[str, Any]:
    """The wiring that the sections [wiring] and [timing] describe, and the parts that are named there."""
    try:
        timing = Timing(**data.get("timing", {}))
    except ValueError as error:
        raise ConfigurationError(f"timing.{error}") from None
    if "wiring" not in data:
        return {"wiring": Wiring(timing=timing)}
    pins: dict[str, Pin] = {}
    parts: dict[str, str] = {}
    for name, given in data["wiring"].items():
        signal = {"pin": given} if isinstance(given, str) else given
        if not isinstance(signal, dict) or "pin" not in signal or not all(isinstance(v, str) for v in signal.values()):
            raise ConfigurationError(
                f'wiring.{name} must be a pin such as "gpio:17", or {{ pin = "gpio:17", part = "..." }}'
            )
        for key in signal:
            if key not in ("pin", "part"):
                raise ConfigurationError(f"wiring.{name}.{key} is no key; the keys are pin, part")
        try:
            pins[name] = parse_pin(signal["pin"])
            if "part" in signal:
                check_part(name, signal["part"])
                parts[name] = signal["part"]
        except ValueError as error:
            raise ConfigurationError(f"wiring.{name}: {error}") from None
    try:
        return {"wiring": Wiring(pins, timing), "parts": parts}
    except ValueError as error:
        raise ConfigurationError(f"wiring: {error}") from None


def _alert_times(given: dict[str, Any]) -> dict[str, Any]:
    """How long a thing may be wrong before it is an alert."""
    times = {key: _whole(given, "alerts", key, 100, 3_600_000) for key in given}
    grace = {time.name: times[time.name] for time in fields(GraceTimes) if time.name in times}
    reserve = {time.name: times[time.name] for time in fields(ReserveTimes) if time.name in times}
    return {"grace": GraceTimes(**grace), "reserve": ReserveTimes(**reserve)}


def _check_hardware(given: Configuration) -> None:
    """Raises ConfigurationError where the wiring would do harm, or where what it needs is not there."""
    try:
        check_currents(given.wiring, given.parts)
    except ValueError as error:
        raise ConfigurationError(f"wiring: {error}") from None
    on_node = [name for name, pin in given.wiring.pins.items() if pin.board == "node"]
    if on_node and given.node is None and not given.virtual:
        raise ConfigurationError(
            f"wiring: {on_node[0]} is on {given.wiring.pins[on_node[0]]}, but hardware.node names no I/O node; name it "
            "there, or write a [wiring] section without the node's pins"
        )


def _ca_file(path: Path) -> Path:
    try:
        check_ca(path)
    except ValueError as error:
        raise ConfigurationError(f"uplink.ca: {error}") from None
    return path.absolute()


def _rule_file(path: Path) -> dict[str, Any]:
    try:
        data = read_json_file(path)
    except JsonFileError as error:
        raise ConfigurationError(f"table.rules: {path} {error}") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"table.rules: {path} must hold one JSON object")
    return data


def _text(section: dict[str, Any], name: str, key: str, form: re.Pattern[str], right: str) -> str:
    value = section[key]
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ConfigurationError(f"{name}.{key} must be {right}")
    return value


def _whole(section: dict[str, Any], name: str, key: str, lowest: int, highest: int) -> int:
    value = section[key]
    if type(value) is not int or not lowest <= value <= highest:
        raise ConfigurationError(f"{name}.{key} must be a whole number from {lowest} to {highest}")
    return value
