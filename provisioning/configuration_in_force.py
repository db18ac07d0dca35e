"""What is in force at a table, key by key, and where each value comes from."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from device.languages.languages import language_of
from provisioning import configuration_lines
from provisioning.configuration import Configuration, settings
from provisioning.configuration_keys import SECTIONS
from provisioning.configuration_reference import toml

# What an address may hold before the host: a name and a password, which are nobody's to see.
_CREDENTIALS = re.compile(r"(?<=//)[^/@]*@")


@dataclass(frozen=True)
class InForce:
    """One key in force. `source` is a file and line, `default`, or what else decides."""

    key: str
    value: str
    source: str


def in_force(
    configuration: Configuration, lines: Mapping[configuration_lines.Path, int], path: Path | None
) -> Iterator[InForce]:
    """Everything that is in force where the file `path`, with its keys on `lines`, is the configuration.

    None: there is no file. Raises ConfigurationError.
    """
    ready = settings(configuration, port=None, uplink=None, node_port=None, virtual_folder=None)

    def source(key: configuration_lines.Path, otherwise: str = "default") -> str:
        line = lines.get(key)
        return otherwise if line is None else f"{path}:{line}"

    rules = f"rule set {ready.terms.rule_set['name']}"
    for section in SECTIONS:
        for key in section.keys:
            place = (section.name, key.name)
            shown = ".".join(place)
            match place:
                case ("table", "options"):
                    for option, chosen in ready.terms.options.items():
                        yield InForce(f"{shown}.{option}", toml(chosen), source((*place, option), rules))
                case ("wiring", signal):
                    if (pin := ready.wiring.pins.get(signal)) is not None:
                        part = configuration.parts.get(signal)
                        told = toml(str(pin)) if part is None else f'{{ pin = "{pin}", part = "{part}" }}'
                        yield InForce(shown, told, source(place))
                case ("dice", "rules"):
                    yield InForce(shown, toml(ready.dice_rules.name), source(place, "table.rules"))
                case ("console", "language"):
                    language = configuration.language or language_of(ready.terms.rule_set["name"])
                    yield InForce(shown, toml(language), source(place, rules))
                case _:
                    value = attrgetter(key.held)(configuration)
                    value = str(value) if isinstance(value, Path) else value
                    told = f"({key.without})" if value is None else _CREDENTIALS.sub("...@", toml(value))
                    yield InForce(shown, told, source(place))
