"""The configuration of one table: a TOML file, checked whole; whatever is wrong with it is told with its line."""

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from device.alert_conditions import GraceTimes
from device.dice_control import dice_rules
from device.dice_control.names import folded, person_fault
from device.dice_control.reserve_conditions import ReserveTimes
from device.https_protocol import check_address
from device.nats_connection import check_ca, check_servers
from device.settings import LOOPBACK, PlayersDisplaySettings, Settings, UplinkSettings
from device.table_terms import TableTerms
from drivers.virtual_table import DEMO_PINS
from drivers.wiring import DEFAULT_PINS, Pin, Timing, Wiring, parse_pin
from engine_lite import rule_sets
from engine_lite.rule_data import RuleError
from provisioning import configuration_lines
from provisioning.configuration_keys import NODE_PORT_FORM, find_key, find_section, no_key, no_section
from provisioning.json_file import JsonFileError, read_json_file
from provisioning.standard_streams import visible
from provisioning.wiring_parts import check_currents, check_part

__all__ = (
    "NODE_PORT_FORM",
    "Configuration",
    "ConfigurationError",
    "parse_configuration",
    "read_configuration",
    "settings",
)

# Where tomllib says that something is no TOML.
_AT_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class ConfigurationError(Exception):
    """A configuration that is not sound: one line that names the file, the line, the key and what would be right."""

    def __init__(self, message: str) -> None:
        # Keys and paths may hold what a terminal takes for a command.
        super().__init__(visible(message))


class _Fault(Exception):
    """What is wrong, and the keys that it is about, each with its section: those of them that the file has."""

    def __init__(self, message: str, *keys: configuration_lines.Path) -> None:
        super().__init__(message)
        self.keys = keys


@dataclass(frozen=True)
class Configuration:
    """What the file says, and what holds where it leaves a thing out (provisioning/configuration_keys.py).

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
    host: str = LOOPBACK
    port: int = 8080
    # One of device.languages.catalogues.LANGUAGES; None: that of the rule set.
    language: str | None = None
    sign_out_s: int = 120
    servers: tuple[str, ...] | None = None
    stream: str = "CRAPS"
    # The address of a central system that takes events over HTTPS.
    https: str | None = None
    # A file of the certificates that alone vouch for the central systems.
    ca: Path | None = None
    retention_days: int = 180
    pins: str = "mock"
    node: str | None = None
    wiring: Wiring = field(default_factory=Wiring)
    parts: Mapping[str, str] = field(default_factory=dict)
    grace: GraceTimes = field(default_factory=GraceTimes)
    reserve: ReserveTimes = field(default_factory=ReserveTimes)
    dice_rules: str | None = None
    supervisors: tuple[str, ...] | None = None
    players_display: PlayersDisplaySettings = field(default_factory=PlayersDisplaySettings)
    # A file that only its owner may read.
    proposals_token: Path | None = None
    data_partition: str | None = None
    time_servers: tuple[str, ...] | None = None

    @property
    def uplink(self) -> UplinkSettings | None:
        """Where the journal is delivered; None: the file names no central system."""
        if self.servers is None and self.https is None:
            return None
        return UplinkSettings(self.servers or (), self.stream, self.https, self.ca)

    @property
    def virtual(self) -> bool:
        """Whether the table's hardware is played by programs."""
        return self.pins == "mock"


def read_configuration(path: Path) -> Configuration:
    """Read and check a configuration file. Raises ConfigurationError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is no UTF-8 text (byte {error.start})") from error
    return parse_configuration(text, path)


def parse_configuration(text: str, path: Path) -> Configuration:
    """Check the configuration in `text`, which stands or will stand in the file `path`. Raises ConfigurationError."""
    if text.startswith("\ufeff"):
        raise ConfigurationError(f"{path}:1: begins with a byte order mark; save it as UTF-8 without one")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}{_no_toml(str(error))}") from error
    except ValueError as error:
        raise ConfigurationError(f"{path}{_long_number(text)}: holds a number of too many digits") from error
    except RecursionError as error:
        raise ConfigurationError(f"{path}: is nested too deeply") from error
    try:
        configuration = _configuration(data, path.parent)
        _terms(configuration)
        _check_hardware(configuration)
    except _Fault as fault:
        line = _line(text, fault.keys)
        raise ConfigurationError(f"{path}{f':{line}' if line is not None else ''}: {fault}") from None
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
    try:
        terms = _terms(given)
    except _Fault as fault:
        raise ConfigurationError(str(fault)) from None
    return Settings(
        site=given.site,
        table=given.table,
        terms=terms,
        host=given.host,
        port=port if port is not None else given.port,
        language=given.language,
        sign_out_after_s=given.sign_out_s,
        uplink=uplink,
        retention_days=given.retention_days,
        pin_library=given.pins,
        node_port=node_port,
        wiring=_wiring_in_force(given),
        grace=given.grace,
        reserve=given.reserve,
        dice_rules=dice_rules.load(given.dice_rules or _dice_rules_of(given.rules)),
        supervisors=given.supervisors,
        players_display=given.players_display,
        proposals_token_file=given.proposals_token,
        virtual_folder=virtual_folder,
        # A browser asks in small letters.
        hosts=sorted({LOOPBACK, "localhost", given.host, given.host.lower()}),
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
    """The terms to open the table under, all options filled in. Raises _Fault."""
    rule_set = given.rule_file if given.rule_file is not None else rule_sets.load(given.rules)
    options = given.options or {}
    terms = TableTerms(rule_set, options, given.unit, given.minimum, given.maximum)
    try:
        rules = terms.check()
    except RuleError as error:
        named = [("table", "options", option) for option in options if option in str(error)]
        keys = [("table", "rules"), ("table", "options"), *named]
        raise _Fault(f"table.rules, table.options: {error}", *keys) from None
    except ValueError as error:
        keys = [("table", name) for name in ("unit", "min", "max")]
        raise _Fault(f"table.unit, table.min, table.max: {error}", *keys) from None
    return TableTerms(rule_set, rules.options, given.unit, given.minimum, given.maximum)


def _long_number(text: str) -> str:
    """The line of the first number that Python does not read, as it stands in front of what is said of it."""
    digits_max = sys.get_int_max_str_digits()
    lines = enumerate(text.splitlines(), start=1)
    at = next((number for number, line in lines if re.search(rf"(?:[0-9]_?){{{digits_max + 1},}}", line)), None)
    return "" if at is None else f":{at}"


def _no_toml(said: str) -> str:
    """What tomllib said, with the line where the line of anything else is told."""
    at = _AT_LINE.search(said)
    if at is None:
        return f": is no TOML: {said}"
    return f":{at[1]}: is no TOML: {said[: at.start()]} (column {at[2]})"


def _line(text: str, keys: Iterable[configuration_lines.Path]) -> int | None:
    """The line of the last of the keys: where two contradict each other, it is the later one that is looked at."""
    lines = configuration_lines.key_lines(text)
    known = [lines[key] for key in keys if key in lines]
    around = [line for key in keys if (line := configuration_lines.line_of(lines, key)) is not None]
    return max(known or around, default=None)


def _configuration(data: dict[str, Any], folder: Path) -> Configuration:
    said: dict[str, Any] = {}
    for name, keys in data.items():
        section = find_section(name)
        if section is None:
            raise _Fault(no_section(name), (name,))
        if not isinstance(keys, dict):
            raise _Fault(f"{name} must be a section, written [{name}]", (name,))
        for key_name, value in keys.items():
            key = section.key(key_name)
            if key is None:
                raise _Fault(no_key(section, key_name), (name, key_name))
            if not key.form.fits(value):
                raise _Fault(f"{name}.{key_name} must be {key.form.right}", (name, key_name))
            if "." not in key.held:
                said |= _taken(name, key_name, key.held, value, folder)
    players_display = PlayersDisplaySettings(**data.get("players_display", {}))
    return Configuration(
        **said, **_wiring(data), **_alert_times(data.get("alerts", {})), players_display=players_display
    )


def _taken(section: str, name: str, held: str, value: Any, folder: Path) -> dict[str, Any]:
    """What a value of the right form stands for, by attribute of Configuration. Raises _Fault."""
    try:
        match (section, name):
            case ("table", "rules") if value.endswith(".json"):
                return {held: value, "rule_file": _rule_file(folder / value)}
            case ("table", "rules") if value not in rule_sets.NAMES:
                raise _Fault(f"table.rules must be {find_key('table', 'rules').form.right}", (section, name))
            case ("uplink", "servers"):
                return {held: tuple(check_servers(value))}
            case ("uplink", "https"):
                return {held: check_address(value)}
            case ("uplink", "ca"):
                check_ca(folder / value)
                return {held: (folder / value).absolute()}
            case ("proposals", "token_file"):
                return {held: (folder / value).absolute()}
            case ("dice", "supervisors"):
                return {held: _supervisors(value)}
            case _:
                return {held: tuple(value) if isinstance(value, list) else value}
    except ValueError as error:
        raise _Fault(f"{section}.{name}: {error}", (section, name)) from None


def _supervisors(given: list[str]) -> tuple[str, ...]:
    for number, name in enumerate(given, start=1):
        if fault := person_fault(name):
            raise ValueError(f"name {number} {fault}")
    if len({folded(name) for name in given}) != len(given):
        raise _Fault(f"dice.supervisors must be {find_key('dice', 'supervisors').form.right}", ("dice", "supervisors"))
    return tuple(given)


def _wiring(data: dict[str, Any]) -> dict[str, Any]:
    """The wiring that the sections [wiring] and [timing] describe, and the parts that are named there."""
    try:
        timing = Timing(**data.get("timing", {}))
    except ValueError as error:
        raise _Fault(f"timing.{error}", *(("timing", name) for name in data["timing"] if name in str(error))) from None
    if "wiring" not in data:
        return {"wiring": Wiring(timing=timing)}
    pins: dict[str, Pin] = {}
    parts: dict[str, str] = {}
    for name, given in data["wiring"].items():
        signal = {"pin": given} if isinstance(given, str) else given
        for key in signal:
            if key not in ("pin", "part"):
                raise _Fault(f"wiring.{name}.{key} is no key; the keys are pin, part", ("wiring", name, key))
        try:
            pins[name] = parse_pin(signal["pin"])
            if "part" in signal:
                check_part(name, signal["part"])
                parts[name] = signal["part"]
        except ValueError as error:
            raise _Fault(f"wiring.{name}: {error}", ("wiring", name)) from None
    try:
        wiring = Wiring(pins, timing)
        check_currents(wiring, parts)
    except ValueError as error:
        raise _Fault(f"wiring: {error}", *_signals_in(str(error), pins), ("wiring",)) from None
    return {"wiring": wiring, "parts": parts}


def _signals_in(text: str, pins: Mapping[str, Pin]) -> list[configuration_lines.Path]:
    """The signals that a text is about, by their pins or names: "on" and "off" stand there as plain words, too."""
    words = set(re.findall(r"[a-z_0-9:]*[a-z0-9]", text))
    return [("wiring", name) for name, pin in pins.items() if str(pin) in words or ("_" in name and name in words)]


def _alert_times(given: dict[str, Any]) -> dict[str, Any]:
    """How long a thing may be wrong before it is an alert."""
    grace = {time.name: given[time.name] for time in fields(GraceTimes) if time.name in given}
    reserve = {time.name: given[time.name] for time in fields(ReserveTimes) if time.name in given}
    return {"grace": GraceTimes(**grace), "reserve": ReserveTimes(**reserve)}


def _check_hardware(given: Configuration) -> None:
    """Raises _Fault where what the wiring needs is not there."""
    on_node = [name for name, pin in given.wiring.pins.items() if pin.board == "node"]
    if on_node and given.node is None and not given.virtual:
        raise _Fault(
            f"wiring: {on_node[0]} is on {given.wiring.pins[on_node[0]]}, but hardware.node names no I/O node; name it "
            "there, or write a [wiring] section without the node's pins",
            ("wiring", on_node[0]),
            ("hardware", "pins"),
        )


def _rule_file(path: Path) -> dict[str, Any]:
    try:
        data = read_json_file(path)
    except JsonFileError as error:
        raise ValueError(f"{path} {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path} must hold one JSON object")  # noqa: TRY004 - as all that is wrong with a value
    return data
