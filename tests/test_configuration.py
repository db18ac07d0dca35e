"""A configuration that is not sound is told in one line that names the file."""

from pathlib import Path

import pytest

from provisioning.configuration import ConfigurationError, read_configuration


def refusal(path: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(path)
    assert str(refused.value).isprintable()
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[table]\nunit = " + "9" * 5000, "holds a number of too many digits"),
        ("a = " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
        ('[hardware]\nnode = "/dev/\\u0000x"', "hardware.node must be the path of a serial port"),
        ('[hardware]\nnode = "/dev/ttyACM0\\n"', "hardware.node must be the path of a serial port"),
        ('[table]\nrules = "house\\u0000.json"', "table.rules must be the name of a rule set"),
        ('[console]\nhost = "a..b"', "console.host must be an address of this machine"),
        (f'[console]\nhost = "{"a" * 64}"', "console.host must be an address of this machine"),
        ("[table]\nmin = 50\nmax = 5", "table.unit, table.min, table.max: "),
        ("[table]\nunit = 7\nmin = 8\nmax = 9", "the minimum 8 must be a multiple of the unit 7"),
        ("[table.options]\nvig = 1979-05-27", "table.rules, table.options: "),
        ("[table.options]\nbar = 2", "table.rules, table.options: "),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    line = refusal(path)
    assert line.startswith(f"{path}: ")
    assert told in line


@pytest.mark.parametrize("host", ["127.0.0.1", "table-7.example", "localhost"])
def test_a_host_that_may_be_one_is_taken(tmp_path: Path, host: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f'[console]\nhost = "{host}"\n[hardware]\nnode = "/dev/serial/by-id/usb-Zoë_1"')
    configuration = read_configuration(path)
    assert (configuration.host, configuration.node) == (host, "/dev/serial/by-id/usb-Zoë_1")
