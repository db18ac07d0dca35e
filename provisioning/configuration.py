"""The configuration of one table: a TOML file, checked whole; an unknown key is an error."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from device.session import TableTerms
from device.settings import Settings, UplinkSettings
from device.uplink import check_servers
from engine_lite import rule_sets
from engine_lite.rule_data import RuleError
from provisioning.json_file import JsonFileError, read_json_file

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
# Parts of 1 to 63 characters, as names are looked up.
_HOST = re.compile(r"[0-9A-Za-z-]{1,63}(\.[0-9A-Za-z-]{1,63})*")
# A path with control characters is a slip, and the operating system knows none with U+0000.
_VISIBLE = re.compile(r"[^\x00-\x1f\x7f]+")
_SECTIONS: dict[str, tuple[str, ...]] = {
    "table": ("site", "name", "rules", "options", "unit", "min", "max"),
    "console": ("host", "port"),
    "uplink": ("servers", "stream"),
    "hardware": ("pins", "node"),
}
PIN_LIBRARIES = ("lgpio", "rpigpio", "mock")


class ConfigurationError(Exception):
    """A configuration that is not sound: one line that names the file, the key and what would be right."""


@dataclass(frozen=True)
class Configuration:
    """What the file says; None where it leaves a thing out. `node` is the path of the I/O node's serial port."""

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
    pins: str | None = None
    node: str | None = None


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
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    return configuration


def settings(
    configuration: Configuration,
    *,
    port: int | None,
    uplink: UplinkSettings | None,
    node_port: Path | None,
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
        pin_library=given.pins or "mock",
        node_port=node_port,
        virtual_folder=virtual_folder,
        hosts=sorted({"127.0.0.1", "localhost", host}),
    )


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
                raise ConfigurationError(f"{section}.{key} is no key; the keys are {', '.join(_SECTIONS[section])}")
    said: dict[str, Any] = {}
    table, console = data.get("table", {}), data.get("console", {})
    uplink, hardware = data.get("uplink", {}), data.get("hardware", {})
    for key, field in (("site", "site"), ("name", "table")):
        if key in table:
            said[field] = _text(table, "table", key, _NAME, "1 to 32 letters, digits, - or _")
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
    for key, field in (("unit", "unit"), ("min", "minimum"), ("max", "maximum")):
        if key in table:
            said[field] = _whole(table, "table", key, 1, 10**12)
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
    if "pins" in hardware:
        if hardware["pins"] not in PIN_LIBRARIES:
            raise ConfigurationError(f"hardware.pins must be one of {', '.join(PIN_LIBRARIES)}")
        said["pins"] = hardware["pins"]
    if "node" in hardware:
        right = "the path of a serial port, such as /dev/ttyACM0"
        said["node"] = _text(hardware, "hardware", "node", re.compile(r"/" + _VISIBLE.pattern), right)
    return Configuration(**said)


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
