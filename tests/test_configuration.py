"""A configuration that is not sound is told in one line that names the file; a sound one says how a table is wired."""

import re
import tomllib
from pathlib import Path

import pytest

from device.alert_conditions import GraceTimes
from device.dice_control.reserve_conditions import ReserveTimes
from drivers.wiring import DEFAULT_PINS, GROUPS, Pin, Timing, Wiring
from provisioning import configuration as configuration_module
from provisioning.configuration import Configuration, ConfigurationError, read_configuration, settings
from provisioning.configuration_lines import key_lines

LONG_TABLE = Path(configuration_module.__file__).parent / "examples" / "long_table.toml"
PUCK = "\n".join(
    f'puck_{name} = "gpio:{pin}"' for name, pin in zip((4, 5, 6, 8, 9, 10, "off"), range(4, 11), strict=True)
)


def refusal(path: Path) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(path)
    assert str(refused.value).isprintable()
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[table]\nunit = " + "9" * 5000, "table.toml:2: holds a number of too many digits"),
        ("[table]\nunit = 1_" + "9_" * 5000 + "9\n", "table.toml:2: holds a number of too many digits"),
        ("\ufeff[table]\n", "table.toml:1: begins with a byte order mark; save it as UTF-8 without one"),
        ("a = " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
        (
            '[hardware]\nnode = "/dev/\\u0000x"',
            "hardware.node must be usb: and the node's USB serial number, or the path",
        ),
        (
            '[hardware]\nnode = "/dev/ttyACM0\\n"',
            "hardware.node must be usb: and the node's USB serial number, or the path",
        ),
        ('[hardware]\nnode = "usb:"', "hardware.node must be usb: and the node's USB serial number, or the path"),
        ('[hardware]\nnode = "usb:e660 1"', "hardware.node must be usb: and the node's USB serial number, or the path"),
        ('[hardware]\nnode = "ttyACM0"', "such as /dev/ttyACM0"),
        (
            '[table]\nrules = "house\\u0000.json"',
            "table.rules must be one of es-1979, es-md-2004, mo-2010, cl-scj, pe-1999, us-vegas, or a rule file that",
        ),
        (
            '[hardware]\nnode = "usb:../../x"',
            "hardware.node must be usb: and the node's USB serial number, or the path",
        ),
        ('[hardware]\nnode = "usb:.."', "hardware.node must be usb: and the node's USB serial number, or the path"),
        ('[console]\nhost = "a..b"', "console.host must be one address or name of this machine"),
        (f'[console]\nhost = "{"a" * 64}"', "console.host must be one address or name of this machine"),
        ('[console]\nhost = "0.0.0.0"', "such as 10.0.0.7 (not 0.0.0.0, which is all of them)"),
        ('[console]\nhost = "0"', "such as 10.0.0.7 (not 0.0.0.0, which is all of them)"),
        ('[console]\nhost = "0x0.0"', "such as 10.0.0.7 (not 0.0.0.0, which is all of them)"),
        ('[uplink]\nservers = ["tls://h\\\\x:1"]', "server 1 of the uplink is not a URL like"),
        ('[uplink]\nservers = ["nats://a:1", "nats://b c:1"]', "server 2 of the uplink is not a URL like"),
        ('[uplink]\nhttps = "https://h\\\\x"', "uplink.https: is not an address like"),
        *(
            (f'[players_display]\nhouse_text = "Good\\u{separator}luck"', "house_text must be one line of at most 120")
            for separator in ("000a", "000d", "0085", "2028", "2029", "202e")
        ),
        ("[table]\nmin = 50\nmax = 5", "table.unit, table.min, table.max: "),
        ("[table]\nunit = 7\nmin = 8\nmax = 9", "the minimum 8 must be a multiple of the unit 7"),
        ("[table.options]\nvig = 1979-05-27", "table.rules, table.options: "),
        ("[table.options]\nbar = 2", "table.rules, table.options: "),
        ("[table.options]\n" + ".".join(["vig"] * 3_000) + " = 1", "table.rules, table.options: "),
        ('["\\u001b[2J\\n"]', "[\\x1b[2J\\n] is no section"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(text)
    line = refusal(path)
    assert line.startswith(f"{path}:")
    assert told in line


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.7", "0.example", "table-7.example", "localhost"])
def test_a_host_that_may_be_one_is_taken(tmp_path: Path, host: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f'[console]\nhost = "{host}"\n[hardware]\nnode = "/dev/serial/by-id/usb-Zoë_1"')
    configuration = read_configuration(path)
    assert (configuration.host, configuration.node) == (host, "/dev/serial/by-id/usb-Zoë_1")


def test_what_is_like_a_slip_and_is_none_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(
        '[uplink]\nservers = ["tls://[fd00::7]:4222", "nats://hub_1.example"]\nhttps = "https://[fd00::7]:8443"\n'
        '[hardware]\nnode = "usb:e66058388306c52a"\n[players_display]\nhouse_text = "¡Suerte! 好運 – 5 % <b>"'
    )
    configuration = read_configuration(path)
    assert configuration.node == "usb:e66058388306c52a"
    assert configuration.servers == ("tls://[fd00::7]:4222", "nats://hub_1.example")
    assert configuration.https == "https://[fd00::7]:8443"
    assert configuration.players_display.house_text == "¡Suerte! 好運 – 5 % <b>"


def test_the_console_answers_to_the_name_it_is_given_as_browsers_write_it(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[console]\nhost = "Table-7.example"')
    made = settings(read_configuration(path), port=None, uplink=None, node_port=None, virtual_folder=None)
    assert {"127.0.0.1", "localhost", "table-7.example"} <= set(made.hosts)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('lid = "gpio:40"', ["wiring.lid: ", "gpio:40", "gpio:2 to gpio:27"]),
        ('lid = "gpio:1"', ["wiring.lid: ", "gpio:1 ", "gpio:2 to gpio:27"]),
        ('lid = "node:24"', ["wiring.lid: ", "node:24", "node:0 to node:22 and node:26 to node:28"]),
        ('lid = "gpio:\u0661\u0667"', ["wiring.lid: ", "is no pin", "gpio:17"]),
        ('slot_9 = "gpio:2"', ["wiring.slot_9 is no key; slots are slot_1 to slot_8"]),
        ('"lid\\u001b[31m\\n" = "gpio:2"', ["wiring.lid\\x1b[31m\\n is no key"]),
        ('lid = "GPIO17"', ["wiring.lid: ", "GPIO17", "gpio:17", "node:3"]),
        ("lid = 17", ["wiring.lid must be a pin"]),
        ('lid = { part = "reed_switch" }', ["wiring.lid must be a pin"]),
        ('lid = { pin = "gpio:2", port = "x" }', ["wiring.lid.port is no key", "pin, part"]),
        ('box_44 = "gpio:2"', ["wiring.box_44 is no key, did you mean box_4?"]),
        ('sundry = "gpio:2"', ["wiring.sundry is no key", "puck_4", "slot_8"]),
        ('lid = "gpio:5"\non = "gpio:5"', ["gpio:5 is wired twice", " lid ", " on"]),
        ('on = "gpio:5"\noff = "node:5"', ["on is on gpio:5", "off on node:5", "one board"]),
        ('puck_4 = "gpio:5"', ["puck_5 is not wired", "puck_4 is"]),
        ('slot_1 = "gpio:5"\nslot_3 = "gpio:6"', ["slot_2 is not wired", "slot_3 is"]),
        (
            'lid = { pin = "gpio:2", part = "reed_swich" }',
            ["wiring.lid: ", "'reed_swich'", "did you mean reed_switch?"],
        ),
        ('lid = { pin = "gpio:2", part = "led" }', ["wiring.lid: ", "led cannot be a lid", "micro_switch"]),
        (
            'lid = { pin = "gpio:2", part = "hall_module_5v" }',
            ["wiring: lid: hall_module_5v raises its output to 5 V", "gpio:2 takes 3.3 V", "use hall_switch "],
        ),
        (
            'slot_1 = { pin = "node:4", part = "reflective_module_5v" }',
            [
                "wiring: slot_1: reflective_module_5v raises its output to 5 V",
                "node:4 takes 3.3 V",
                "use reflective_sensor ",
            ],
        ),
        ('lamp_on = "gpio:3"', ["wiring: lamp_on is on gpio:3", "pull-up"]),
        (
            # 10 lamps of 7.2 mA.
            "\n".join(
                f'lamp_{name} = {{ pin = "gpio:{pin}", part = "led_bright" }}'
                for pin, name in enumerate(GROUPS["bet_status"], 4)
            ),
            ["wiring: the 10 lamps on the header (lamp_box_4 to lamp_lay) take 72.2 mA", "50.0 mA", "lamp_24v_driver"],
        ),
    ],
)
def test_a_wiring_that_cannot_be_is_told_with_all_that_is_in_conflict(
    tmp_path: Path, text: str, told: list[str]
) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f"[wiring]\n{text}\n")
    line = refusal(path)
    # Wherever two lines contradict each other, the later one is named.
    assert line.startswith(f"{path}:{1 + len(text.splitlines())}: wiring")
    for part in told:
        assert part in line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lid_settle_ms = 1", "timing.lid_settle_ms must be a whole number from 2 to 250"),
        ("lid_settle_ms = 20.5", "timing.lid_settle_ms must be a whole number from 2 to 250"),
        (".".join(["lid_settle_ms"] * 3_000) + " = 1", "timing.lid_settle_ms must be a whole number from 2 to 250"),
        ("lid_setle_ms = 20", "timing.lid_setle_ms is no key, did you mean lid_settle_ms?"),
    ],
)
def test_a_time_that_cannot_be_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f"[timing]\n{text}\n")
    assert refusal(path) == f"{path}:2: {told}"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('# One.\n\n[table]\nname = "a"\nnmae = "b"\n', 5, "table.nmae is no key, did you mean name?"),
        ("\n[tabel]\n", 2, "[tabel] is no section, did you mean [table]?"),
        ("\n\n[sundry]\n", 3, "[sundry] is no section; the sections are table, console, uplink"),
        ("\ntable = 3\n", 2, "table must be a section, written [table]"),
        ("[table]\nport = 1\n", 2, "table.port is no key, but console.port is"),
        ("[table]\nunit = 5\nmax = 100\nmin = 7\n", 4, "the minimum 7 must be a multiple of the unit 5"),
        ("[table]\nmin = 7\n[console]\nport = 1\n[table.options]\nvig = 3\n", 6, "table.rules, table.options: "),
        ("[table]\nmin = 5\nmin = 6\n", 3, "is no TOML: Cannot overwrite a value (column 8)"),
        ("table.name = 'a'\nconsole.port = 0\n", 2, "console.port must be a whole number from 1 to 65535"),
        ("console = { host = 'x', port = 0 }\n", 1, "console.port must be a whole number from 1 to 65535"),
        ('["console"]\n"po\\u0072t" = 0\n', 2, "console.port must be a whole number from 1 to 65535"),
        ('[table]\nname = """\\\n  a"""\n\nmin = 0\n', 5, "table.min must be a whole number from 1 to"),
        ("[table]\nname = '''a'''\nmin = 0", 3, "table.min must be a whole number from 1 to"),
        ("[timing]\r\nhold_ms = 3000\r\nstuck_ms = 100\r\n", 3, "timing.stuck_ms (100) must be longer than hold_ms"),
        ('[console]\nlanguage = "xx"\n', 2, "console.language must be one of en, es"),
        ('[system]\ndata_partition = "sda"\n', 2, "system.data_partition must be such as LABEL=boxman"),
        ("[system]\ntime_servers = []\n", 2, 'system.time_servers must be a list such as ["10.0.0.1"]'),
        ('[hardware]\nnode = "/dev/x"\n\n[wiring]\non = "gpio:5"\noff = "node:5"\n', 6, "must be on one board"),
        ('[wiring]\non = "gpio:4"\nlid = "gpio:5"\noff = "gpio:5"\n', 4, "gpio:5 is wired twice: to lid and to off"),
        # The signal is named `on`, which stands in the sentence as a word, too.
        ('[wiring]\nlid = "gpio:5"\non = "gpio:4"\nslot_1 = "node:2"\nlay = "node:3"\n', 5, "must be on one board"),
    ],
)
def test_the_line_of_what_is_wrong_is_named(tmp_path: Path, text: str, line: int, told: str) -> None:
    path = tmp_path / "table.toml"
    path.write_bytes(text.encode())
    said = refusal(path)
    assert said.startswith(f"{path}:{line}: ")
    assert told in said


def test_every_key_of_a_file_is_found_on_its_line() -> None:
    lines = key_lines(LONG_TABLE.read_text())
    for number, line in enumerate(LONG_TABLE.read_text().splitlines(), start=1):
        for name in ("rules", "slot_settle_ms", "puck_off", "slot_8"):
            if line.startswith(f"{name} "):
                section = {"rules": "table", "slot_settle_ms": "timing"}.get(name, "wiring")
                assert lines.pop((section, name)) == number
    assert not [path for path in lines if path[-1] in ("rules", "slot_settle_ms", "puck_off", "slot_8")]
    # Every statement of the file, and none beside them.
    assert len(lines) == sum("=" in line or line.startswith("[") for line in LONG_TABLE.read_text().splitlines()) - 4


def test_brackets_equals_signs_and_quotes_that_mean_nothing_mislead_no_line() -> None:
    text = """\
[a] # ] =
list = [ # [ "
  "A = [\\"", 'B"', # x
] # "
 "b]" . c = {x = 1, y = "}"}
text = \'\'\'
[no] \'\' = \'\'\'\'\'
more = \"\"\"
[no] \\"" = \"\"\"\"\"

[a . "d.e"] # [
last = 1"""
    assert tomllib.loads(text)["a"]["text"] == "[no] '' = ''"
    assert key_lines(text) == {
        ("a",): 1,
        ("a", "list"): 2,
        ("a", "b]"): 5,
        ("a", "b]", "c"): 5,
        ("a", "text"): 6,
        ("a", "more"): 8,
        ("a", "d.e"): 11,
        ("a", "d.e", "last"): 12,
    }


def test_what_a_wiring_does_not_name_is_not_wired(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(f'[timing]\nhold_ms = 3000\n[wiring]\n{PUCK}\nlid = {{ pin = "node:3", part = "reed_switch" }}\n')
    given = read_configuration(path)
    pins = {name: Pin("header", number) for name, number in zip(GROUPS["puck"], range(4, 11), strict=True)}
    assert given.wiring == Wiring({**pins, "lid": Pin("node", 3)}, Timing(hold_ms=3000))
    assert given.parts == {"lid": "reed_switch"}


def test_without_a_wiring_section_the_wiring_is_the_default(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[timing]\nhold_ms = 3000\n[hardware]\nnode = "usb:e6601"\n')
    given = read_configuration(path)
    assert given.wiring == Wiring(DEFAULT_PINS, Timing(hold_ms=3000))
    ready = settings(given, port=None, uplink=None, node_port="usb:e6601", virtual_folder=None)
    assert (ready.wiring, ready.node_port) == (given.wiring, "usb:e6601")
    assert Configuration().wiring == Wiring()


def test_a_virtual_table_without_a_wiring_section_has_slots_in_its_reserve_and_a_door(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text("[timing]\nhold_ms = 3000\n")
    ready = settings(read_configuration(path), port=None, uplink=None, node_port=None, virtual_folder=tmp_path)
    assert ready.wiring.pins == {
        **DEFAULT_PINS,
        **{f"slot_{place}": Pin("node", 15 + place) for place in range(1, 7)},
        "door": Pin("node", 22),
    }
    assert ready.wiring.timing == Timing(hold_ms=3000)


def test_alert_times_and_rules_of_dice_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[table]\nrules = "mo-2010"\n[alerts]\npuck_ms = 3000\nopen_max_ms = 90000\n')
    ready = settings(read_configuration(path), port=None, uplink=None, node_port=None, virtual_folder=tmp_path)
    assert (ready.grace, ready.reserve) == (GraceTimes(puck_ms=3000), ReserveTimes(open_max_ms=90_000))
    assert ready.dice_rules.name == "mo-2010"
    path.write_text('[dice]\nrules = "pe-1999"\n')
    ready = settings(read_configuration(path), port=None, uplink=None, node_port=None, virtual_folder=tmp_path)
    assert (ready.dice_rules.name, ready.supervisors) == ("pe-1999", None)
    path.write_text('[dice]\nsupervisors = ["Marta Gil", "Eva"]\n')
    ready = settings(read_configuration(path), port=None, uplink=None, node_port=None, virtual_folder=tmp_path)
    assert ready.supervisors == ("Marta Gil", "Eva")
    for text, message in (
        ("[alerts]\npuck_ms = 99\n", "alerts.puck_ms must be a whole number from 100 to 3600000"),
        ('[dice]\nrules = "es"\n', "dice.rules must be one of es-1979, es-md-2004, mo-2010"),
        ('[dice]\nsupervisors = "Marta Gil"\n', "dice.supervisors must be a list of different names"),
        ("[dice]\nsupervisors = []\n", "dice.supervisors must be a list of different names"),
        ('[dice]\nsupervisors = ["Eva", ""]\n', "dice.supervisors: name 2 must be 1 to 40 visible characters"),
        ('[dice]\nsupervisors = ["\u0410na"]\n', "dice.supervisors: name 1 must not hold CYRILLIC CAPITAL LETTER A"),
        ('[dice]\nsupervisors = ["Eva", "EVA"]\n', "dice.supervisors must be a list of different names"),
        ("[alerts]\npuck = 5\n", "alerts.puck is no key, did you mean puck_ms?"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=re.escape(message)):
            read_configuration(path)


def test_a_real_table_whose_wiring_needs_a_node_must_name_it(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[hardware]\npins = "lgpio"\n')
    line = refusal(path)
    assert "dice_key_1 is on node:2" in line
    assert "hardware.node names no I/O node" in line
    path.write_text('[hardware]\npins = "lgpio"\nnode = "usb:e66058388306c52a"\n')
    assert read_configuration(path).node == "usb:e66058388306c52a"
    path.write_text('[hardware]\npins = "lgpio"\n[wiring]\nlid = "gpio:2"\n')
    assert read_configuration(path).node is None
    path.write_text('[hardware]\npins = "mock"\n')
    assert read_configuration(path).virtual


def test_the_example_of_a_long_table_is_what_its_file_says() -> None:
    given = read_configuration(LONG_TABLE)
    said = tomllib.loads(LONG_TABLE.read_text())["wiring"]
    assert {name: str(pin) for name, pin in given.wiring.pins.items()} == {
        name: pin if isinstance(pin, str) else pin["pin"] for name, pin in said.items()
    }
    assert given.wiring.board("second_puck") == given.wiring.board("slots") == "node"
    # All else is as it is by default.
    header = {name: pin for name, pin in DEFAULT_PINS.items() if pin.board == "header"}
    assert {name: pin for name, pin in given.wiring.pins.items() if pin.board == "header"} == header
    assert given.wiring.timing == Timing(slot_settle_ms=250)
