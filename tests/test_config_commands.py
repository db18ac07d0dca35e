"""`boxman config` makes a sound configuration, and says what is in force, where from, and which keys there are."""

import io
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import provisioning
from device.alert_conditions import GraceTimes
from device.dice_control.reserve_conditions import ReserveTimes
from drivers.wiring import INPUTS, LAMPS, Timing
from provisioning.command_line import main
from provisioning.configuration import Configuration, read_configuration
from provisioning.configuration_dialogue import ask, file_of, questions
from provisioning.configuration_in_force import in_force
from provisioning.configuration_keys import SECTIONS
from provisioning.configuration_lines import key_lines
from provisioning.configuration_reference import reference, schema
from tests.test_configuration import LONG_TABLE

PACKAGE = Path(provisioning.__file__).parent


class Person:
    """Somebody who answers questions from a list, by their first word, and once differently where it says so."""

    def __init__(self, **answers: list[str]) -> None:
        self.answers = {word: iter(lines) for word, lines in answers.items()}
        self.told: list[str] = []
        self.asked: list[str] = []

    def listen(self, prompt: str) -> str:
        """The next answer to a question; an empty one where there is none."""
        self.asked.append(prompt)
        words = prompt.replace(":", " ").split()
        answers: Iterator[str] = next((self.answers[word] for word in words if word in self.answers), iter([]))
        return next(answers, "")


def made(person: Person, path: Path, plugged: list[str] | None = None) -> dict[str, Any]:
    answers = ask(questions(plugged or []), path, person.listen, person.told.append)
    return tomllib.loads(file_of(answers))


def test_a_new_configuration_holds_what_was_answered(tmp_path: Path) -> None:
    person = Person(
        house=["casino-1"],
        table=["craps-7"],
        Rule=["es-1979"],
        Lowest=["10"],
        Highest=["1000"],
        NATS=["nats://10.0.0.5:4222, nats://10.0.0.6:4222"],
        Partition=["LABEL=boxman"],
    )
    assert made(person, tmp_path / "t.toml", ["e6601", "e6602"]) == {
        "table": {"site": "casino-1", "name": "craps-7", "rules": "es-1979", "unit": 1, "min": 10, "max": 1000},
        "uplink": {"servers": ["nats://10.0.0.5:4222", "nats://10.0.0.6:4222"]},
        "hardware": {"pins": "lgpio", "node": "usb:e6601"},
        "system": {"data_partition": "LABEL=boxman"},
    }
    assert person.told == []


def test_an_answer_that_cannot_be_is_asked_again_and_so_is_a_contradiction(tmp_path: Path) -> None:
    person = Person(
        house=["casino 1", "casino-1"],
        unit=["2", "1"],
        Lowest=["x", "5", "5"],
        Pins=["lgpio", "mock"],
        certificates=["none.pem", "-"],
    )
    path = tmp_path / "t.toml"
    assert made(person, path) == {
        "table": {"site": "casino-1", "name": "craps-1", "rules": "us-vegas", "unit": 1, "min": 5, "max": 5000},
        "hardware": {"pins": "mock"},
    }
    wrong = [line.strip().removeprefix(str(path)).partition(" ")[2] for line in person.told]
    assert [line[:45] for line in wrong] == [
        "must be 1 to 32 letters, digits, - or _",
        "must be a whole number from 1 to 100000000000"[:45],
        "table.unit, table.min, table.max: the minimum",
        "wiring: dice_key_1 is on node:2, but hardware",
        "uplink.ca: " + str(tmp_path)[:34],
    ]


def test_every_key_stands_in_a_new_file_with_what_holds_without_it(tmp_path: Path) -> None:
    text = file_of({})
    assert tomllib.loads(text) == {}
    # With every comment that holds a value taken in, nothing has changed.
    taken = [line.removeprefix("# ") for line in text.splitlines() if " = " in line and "." not in line.split(" = ")[0]]
    for section in SECTIONS:
        if section.name not in ("wiring", "table"):
            for key in section.keys:
                assert f"\n# {key.name} =" in text
    assert {"port = 8080", "hold_ms = 2000", "retention_days = 180"} <= set(taken)
    path = tmp_path / "t.toml"
    begin, end = text.index("# [timing]"), text.index("# How long a thing may be wrong")
    path.write_text("\n".join(line.removeprefix("# ") for line in text[begin:end].splitlines() if line[-1:] != "."))
    assert read_configuration(path).wiring.timing == Timing()


def test_the_command_writes_a_sound_file_and_never_over_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.toml"
    answers = ["a", "b", "", "", "", "", "mock", *[""] * 6]
    for lines, status in ((answers[:3], 1), (answers, 0), (answers, 1)):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
        assert main(["config", "new", str(path)]) == status
        if lines is not answers:
            assert not list(tmp_path.iterdir())
            assert "nothing was written" in capsys.readouterr().err
    assert f"{path}: is there already, and is not overwritten" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_configuration(path) == Configuration(site="a", table="b")
    assert main(["config", "check", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: sound; table b at a under us-vegas\n"
    path.write_text("[table]\nmin = 0\n")
    assert main(["config", "check", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"boxman: {path}:2: table.min must be a whole number from 1 to")


def test_what_is_in_force_is_told_with_its_line_or_whatever_else_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.toml"
    path.write_text(
        '[table]\nrules = "es-1979"\nmax = 500\n[table.options]\nwinners_stay_up = true\n'
        '[uplink]\nservers = ["nats://me:secret@10.0.0.5:4222"]\n'
        '[wiring]\nlid = { pin = "gpio:2", part = "reed_switch" }\n[timing]\nhold_ms = 3000\n'
    )
    assert main(["config", "show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "secret" not in out
    told = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert told["table.max"] == f"500 {path}:3"
    assert told["table.min"] == "5 default"
    assert told["table.options.winners_stay_up"] == f"true {path}:5"
    assert told["table.options.exact_amounts"] == "false rule set es-1979"
    assert told["uplink.servers"] == f'["nats://...@10.0.0.5:4222"] {path}:7'
    assert told["wiring.lid"] == f'{{ pin = "gpio:2", part = "reed_switch" }} {path}:9'
    assert not [key for key in told if key.startswith("wiring.") and key != "wiring.lid"]
    assert told["timing.hold_ms"] == f"3000 {path}:11"
    assert told["timing.pick_ms"] == "10000 default"
    assert told["dice.rules"] == '"es-1979" table.rules'
    assert told["console.language"] == '"es" rule set es-1979'
    assert told["uplink.https"] == "(not by HTTPS) default"


def test_without_a_file_what_holds_without_one_is_told() -> None:
    told = {one.key: one for one in in_force(Configuration(), {}, None)}
    assert {one.source for one in told.values()} == {"default", "rule set us-vegas", "table.rules"}
    # A virtual table has a node of its own, with places for dice.
    assert told["wiring.slot_6"].value == '"node:21"'
    given = read_configuration(LONG_TABLE)
    shown = {one.key for one in in_force(given, key_lines(LONG_TABLE.read_text()), LONG_TABLE) if "wiring" in one.key}
    assert shown == {f"wiring.{name}" for name in given.wiring.pins}


def test_the_reference_and_the_schema_are_what_the_keys_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert (PACKAGE / "configuration_reference.md").read_text() == reference(), "boxman config keys makes it anew"
    assert main(["config", "schema"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == schema()
    for section in SECTIONS:
        for key in section.keys:
            assert f"`{key.name}`" in reference()
    properties = told["properties"]
    assert set(properties["wiring"]["properties"]) == {*INPUTS, *LAMPS}
    assert set(properties["timing"]["properties"]) == set(vars(Timing()))
    assert set(properties["alerts"]["properties"]) == {*vars(GraceTimes()), *vars(ReserveTimes())}
    assert properties["console"]["properties"]["port"] == {
        "description": "the port that the console is at",
        "type": "integer",
        "minimum": 1,
        "maximum": 65535,
        "default": 8080,
    }


@pytest.mark.parametrize(
    ("text", "sound"),
    [
        ('[table]\nname = "a"\n[table.options]\nvig = 1\n', True),
        ('[table]\nname = "a b"\n', False),
        ("[table]\nunit = 0\n", False),
        ("[table]\nunit = true\n", False),
        ("[tables]\n", False),
        ("[console]\nhots = 1\n", False),
        ('[hardware]\nnode = "usb:e6601"\n', True),
        ('[hardware]\nnode = "usb:"\n', False),
        ('[wiring]\nlid = { pin = "gpio:2", part = "reed_switch" }\n', True),
        ('[wiring]\nlid = { pin = "gpio:2", part = "led" }\n', False),
        ('[wiring]\nlid = { part = "reed_switch" }\n', False),
        ("[dice]\nsupervisors = []\n", False),
        (LONG_TABLE.read_text(), True),
    ],
)
def test_an_editor_that_knows_the_schema_judges_as_the_check_does(text: str, sound: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    assert jsonschema.Draft202012Validator(schema()).is_valid(tomllib.loads(text)) is sound
