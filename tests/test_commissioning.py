"""Commissioning a virtual table: real pins, a real node, a real central system, and a technician who does as asked."""

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import provisioning.commission_command
import provisioning.commissioning_bench
from device.clock import Clock
from device.commissioning import steps
from device.commissioning.report import signed
from device.data_folder import open_data_folder
from device.event import Event
from device.journal import JournalReader
from device.journal_verification import verify
from device.session import Session
from device.table_key import KEY_FILE_NAME, is_signed_by
from drivers.wiring import Pin, Wiring
from provisioning.command_failed import CommandFailed
from provisioning.command_line import main
from provisioning.commission_command import commission
from provisioning.commissioning_bench import Bench
from provisioning.commissioning_run import Talk, carry_on
from tests.backup_rig import Unit
from tests.commissioning_rig import PowerCut, Technician, message_of
from tests.conformance_rig import OTHER_KEY, SITE, TABLE, Certificates, HttpsCentral
from tests.journal_rig import KEY
from tests.terminal_rig import BOXMAN, WAIT_S, TerminalProcess, wait_for

TABLE_TOML = f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\nrules = "us-vegas"\n'
# Header only: quick to be tried to the end.
SMALL = '[wiring]\nlid = "gpio:2"\non = "gpio:5"\noff = "gpio:6"\nlamp_on = "gpio:14"\nlamp_off = "gpio:15"\n'
SMALL_WIRING = Wiring(
    {
        name: Pin("header", number)
        for name, number in (("lid", 2), ("on", 5), ("off", 6), ("lamp_on", 14), ("lamp_off", 15))
    }
)
SMALL_STEPS = ["on", "off", "lamp_on", "lamp_off", "lid", "node", "power"]


class Rig:
    """A unit that has played, stopped, and who commissions it."""

    def __init__(self, folder: Path, toml: str, wiring: Wiring | None = None) -> None:
        self.unit = Unit(folder / "data")
        self.data = self.unit.data
        self.path = folder / "table.toml"
        self.path.write_text(toml, encoding="utf-8")
        self.technician = Technician(self.data / "virtual", wiring)

    def run(self, *, boot: str = "boot-1", by: str = "Ana Ruiz") -> int:
        """The command, in a run of the operating system."""
        clock = Clock(boot=boot)
        return commission(self.path, self.data, by, self.technician, clock, self.technician.factory)

    def run_through_cut(self) -> int:
        """Until the power is cut as it is asked for, and on from there."""
        with pytest.raises(PowerCut):
            self.run()
        return self.run(boot="boot-2")

    def reports(self) -> list[dict[str, Any]]:
        """The reports beside the journal."""
        return [json.loads(path.read_text()) for path in sorted((self.data / "commissioning").glob("*.json"))]

    def events(self) -> list[Event]:
        """The journal, which is as it should be."""
        with JournalReader(self.data / "journal.db") as reader:
            assert verify(reader, lambda _done, _of: None).is_good
            return list(reader.events())

    def commissioned(self) -> list[Event]:
        """What the journal says of it."""
        return [event for event in self.events() if event.type == "commissioned"]

    def verdicts(self) -> dict[str, str]:
        """What each step of the only report came to."""
        [said] = self.reports()
        return {step["step"]: step["verdict"] for step in said["commissioning"]["steps"]}


@pytest.fixture(autouse=True)
def hands_are_quick_and_see_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "STEADY_MS", 60)

    def carried_on(bench: Bench, talk: Talk) -> bool:
        assert isinstance(talk, Technician)
        talk.levels = bench.watch.levels
        return carry_on(bench, talk)

    monkeypatch.setattr(provisioning.commission_command, "carry_on", carried_on)


@pytest.fixture
def small(tmp_path: Path) -> Rig:
    return Rig(tmp_path, TABLE_TOML + SMALL, SMALL_WIRING)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def central(tmp_path: Path, certificates: Certificates) -> Iterator[HttpsCentral]:
    receiver = HttpsCentral(tmp_path / "central", certificates)
    receiver.know({TABLE: KEY.public})
    receiver.start()
    yield receiver
    receiver.program.kill()


def test_a_whole_table_is_tried_from_the_first_puck_to_the_cut_of_the_power(
    tmp_path: Path, central: HttpsCentral
) -> None:
    uplink = f'[uplink]\nhttps = "https://127.0.0.1:{central.port}"\nca = "{central.certificates.ca}"\n'
    rig = Rig(tmp_path, TABLE_TOML + uplink + '[console]\nlanguage = "es"\n')
    plugged = True

    def network(plug: bool) -> None:
        nonlocal plugged
        if plug != plugged:
            plugged = plug
            central.start() if plug else central.program.stop()

    rig.technician.network = network
    rig.technician.fault("bounce", name="box_6", bounces=8, spread_ms=30)
    before = rig.events()
    assert rig.run_through_cut() == 0, rig.technician.transcript

    [said] = rig.reports()
    report = said["commissioning"]
    assert said["key"] == KEY.public and is_signed_by(KEY.public, message_of(said), said["signature"])
    assert (report["table"], report["site"], report["by"], report["passed"]) == (TABLE, SITE, ["Ana Ruiz"], True)
    assert report["node"] == "2.0" and re.fullmatch("[0-9a-f]{64}", report["configuration"])
    verdicts = rig.verdicts()
    # Seven places with two faces, ten buttons, six keys, sixteen lamps, lid, six slots, door, node, network, power.
    assert len(verdicts) == 14 + 10 + 6 + 16 + 1 + 6 + 1 + 3
    assert set(verdicts.values()) == {"passed"}
    bounces = {step["step"]: step["bounce_us"] for step in report["steps"] if "bounce_us" in step}
    # A busy machine tells of each part of it up to 40 ms late.
    assert 2_000 < bounces["box_6"] < 125_000
    assert report["not_wired"] == ["second_puck"]
    [button] = [time for time in report["timing"] if time["name"] == "button_settle_ms"]
    assert button["bounce_us"] >= bounces["box_6"] and button["in_force_ms"] == 15
    assert button["proposed_ms"] % 5 == 0 and button["proposed_ms"] * 1_000 >= 2 * button["bounce_us"]
    assert f"[timing]\nbutton_settle_ms = {button['proposed_ms']}" in rig.technician.transcript

    after = rig.events()
    assert [event.line() for event in after[: len(before)]] == [event.line() for event in before]
    assert [event.type for event in after[len(before) :]] == ["commissioned", "checkpoint"]
    assert after[-2].data == said
    session = Session()
    for event in after:
        session.replay(event.seq, event.type, event.data)
    [page] = (rig.data / "commissioning").glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert '<html lang="es">' in text and "Informe de puesta en servicio" in text and "Disco 1 en 6, cara ON" in text
    assert said["signature"] in text and "Se probó todo y todo está correcto." in text
    assert not (rig.data / "commissioning" / "progress.json").exists()

    # The terminal delivers it like any event.
    with TerminalProcess(rig.data, configuration=rig.path):
        lines = wait_for(
            lambda: [line for line in asyncio.run(central.log(TABLE)) if '"type":"commissioned"' in line],
            "the centre has it",
        )
    assert lines == [after[-2].line()]


def test_what_is_wired_wrong_is_found_and_named(tmp_path: Path) -> None:
    pins = {f"puck_{place}": Pin("header", 4 + n) for n, place in enumerate((4, 5, 6, 8, 9, 10, "off"))}
    pins |= {"on": Pin("header", 20), "off": Pin("header", 21), "lamp_on": Pin("header", 22)}
    toml = "[wiring]\n" + "".join(f'{name} = "{pin}"\n' for name, pin in pins.items())
    rig = Rig(tmp_path, TABLE_TOML + toml, Wiring(pins))
    technician, table = rig.technician, rig.technician.table
    technician.fault("stuck", name="puck_10", active=True)
    technician.does["ON button"] = lambda: table.set_button("off", True)

    def give_up() -> None:
        table.set_button("off", False)
        technician.lines.append("f the wires of ON and OFF are crossed\n")

    technician.does["Something else has answered: the OFF button."] = give_up
    technician.does["Puck 1 on 10, ON up"] = lambda: technician.lines.append("f it answers all the time\n")
    technician.does["Lamp of ON"] = lambda: technician.lines.append("n\n")
    technician.does["Puck 1 on 5, OFF up: not seen"] = lambda: technician.lines.append("s no time\n")
    technician.does["Pull the I/O node's cable."] = lambda: technician.lines.append("s there is none\n")
    assert rig.run_through_cut() == 1

    [said] = rig.reports()
    assert said["commissioning"]["passed"] is False
    found = {step["step"]: step for step in said["commissioning"]["steps"]}
    assert {name: (step["verdict"], step.get("reason"), step.get("said")) for name, step in found.items()} == {
        # A sensor that answers wherever the puck is.
        **{f"puck_{place}": ("failed", "also", "puck_10") for place in (4, 5, 6, 8, 9)},
        **{f"puck_{place}_turned": ("failed", "both_faces", "puck_10") for place in (4, 6, 8, 9, 10, "off")},
        "puck_5_turned": ("skipped", "said", "no time"),
        "puck_10": ("failed", "said", "it answers all the time"),
        "puck_off": ("failed", "also", "puck_10"),
        "on": ("failed", "said", "the wires of ON and OFF are crossed"),
        "off": ("passed", None, None),
        "lamp_on": ("failed", "not_lit", None),
        "node": ("skipped", "said", "there is none"),
        "power": ("passed", None, None),
    }
    assert found["puck_4"]["pin"] == "gpio:4" and found["puck_4"]["edges"] == 1
    [page] = (rig.data / "commissioning").glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert "the wires of ON and OFF are crossed" in text and "answered as well: puck_10" in text
    assert "Not everything passed: failed 15, skipped 2." in text


def test_a_cut_at_any_step_goes_on_where_it_was_and_is_recorded_once(
    small: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = provisioning.commissioning_bench
    tried: list[str] = []

    def cut_after(name: str) -> None:
        original = getattr(module, name)

        def then_cut(*arguments: Any) -> Any:
            done = original(*arguments)
            if name == "write_progress":
                new = [step for step in arguments[1].results if step not in tried]
                tried.extend(new)
                if not new:
                    return done
            raise PowerCut

        monkeypatch.setattr(module, name, then_cut)

    with monkeypatch.context() as each:
        monkeypatch = each
        cut_after("write_progress")
        boots = 0
        while len(tried) < len(SMALL_STEPS):
            boots += 1
            with pytest.raises(PowerCut):
                small.run(boot=f"boot-{boots}", by=f"Technician {boots % 2}x")
    assert tried == SMALL_STEPS
    for name in ("write_report", "record"):
        with monkeypatch.context() as each:
            monkeypatch = each
            cut_after(name)
            with pytest.raises(PowerCut):
                small.run()
            assert (small.data / "commissioning" / "progress.json").exists()
    assert len(small.commissioned()) == 1
    assert small.run() == 0
    [event] = small.commissioned()
    assert [event.data] == small.reports()
    assert event.data["commissioning"]["by"] == ["Technician 1x", "Technician 0x"]
    assert small.technician.transcript.count("goes on.") >= len(SMALL_STEPS)


def test_the_technician_goes_back_leaves_and_ends(small: Rig) -> None:
    technician = small.technician
    words = iter(["b\n", "what\n", "s\n", "b\n", "q\n"])
    technician.does["OFF button"] = lambda: technician.lines.append(next(words))
    assert small.run() == 0
    transcript = technician.transcript
    assert transcript.count("] ON button") >= 2 and "say why, such as: s no magnet at hand" in transcript
    assert "Left; the same command goes on here." in transcript
    assert small.commissioned() == [] and (small.data / "commissioning" / "progress.json").exists()
    technician.does["OFF button"] = lambda: technician.lines.append("e out of hours\n")
    assert small.run(by="Luis Gil") == 1
    assert small.verdicts() == {"on": "passed"} | dict.fromkeys(SMALL_STEPS[1:], "skipped")
    assert small.commissioned()[0].data["commissioning"]["by"] == ["Ana Ruiz", "Luis Gil"]


def test_under_another_configuration_it_begins_anew_or_stays(small: Rig) -> None:
    small.technician.does["OFF button"] = lambda: small.technician.lines.append("q\n")
    assert small.run() == 0
    small.path.write_text(small.path.read_text() + "[timing]\nlid_settle_ms = 60\n")
    kept = (small.data / "commissioning" / "progress.json").read_bytes()
    small.technician.lines = ["q\n"]
    assert small.run() == 0
    assert (small.data / "commissioning" / "progress.json").read_bytes() == kept
    small.technician.lines = ["\n"]
    small.technician.does["ON button"] = lambda: small.technician.lines.append("q\n")
    assert small.run() == 0
    assert json.loads((small.data / "commissioning" / "progress.json").read_bytes())["results"] == []


def test_what_stands_in_its_way_is_told_in_one_line(small: Rig) -> None:
    def refused(**how: Any) -> str:
        with pytest.raises(CommandFailed) as failed:
            small.run(**how)
        assert "\n" not in str(failed.value)
        return str(failed.value)

    assert "--by: the name must hold a letter" in refused(by="1")
    with open_data_folder(small.data):
        assert re.search("in use by process .*; where it is the table's service: systemctl stop boxman", refused())
    progress = small.data / "commissioning" / "progress.json"
    progress.parent.mkdir()
    for damaged in ("", "[]", "{}", '{"version": 1, "results": [{}], "configuration": "", "begun": ""}'):
        progress.write_text(damaged)
        assert "progress.json: does not say how far the commissioning has come; remove it" in refused()
    progress.unlink()
    (small.data / KEY_FILE_NAME).rename(small.data / "other.key")
    assert "its last start names the key" in refused()
    (small.data / "journal.db").unlink()
    assert "there is no journal yet; start the terminal once" in refused()
    small.path.write_text("[table]\nnonsense = 1\n")
    assert "table.toml:2: " in refused()
    assert small.technician.said == []


def test_on_the_terminal_it_asks_and_is_left_when_nobody_is_there_any_more(small: Rig) -> None:
    command: list[str | Path] = [BOXMAN, "commission", "--config", small.path, "--data", small.data, "--by", "Ana Ruiz"]
    run = subprocess.run(
        command, input="s no \x1b[2Jhand\n", capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "[1/7] ON button (gpio:5)\n  Press the ON button and hold it for a moment." in run.stdout
    assert "SKIPPED: no \\x1b[2Jhand" in run.stdout and run.stdout.endswith("Left; the same command goes on here.\n")


def test_a_report_is_verified_against_the_unit_that_is_meant(
    small: Rig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.technician.does["ON button"] = lambda: small.technician.lines.append("e out of hours\n")
    assert small.run() == 1
    [report] = (small.data / "commissioning").glob("*.json")
    nothing = tmp_path / "nothing"
    nothing.mkdir()

    def verified(*more: str | Path) -> tuple[int, str]:
        status = main(["commission", "verify", str(report), *map(str, more)])
        told = capsys.readouterr()
        return status, told.out + told.err

    status, said = verified("--data", small.data)
    assert status == 0, said
    assert f"as it was signed with the key {KEY.public}\nThat is the key of {small.data}.\n" in said
    assert f"Table {TABLE} of {SITE}, " in said and "by Ana Ruiz: 0 passed, 0 failed, 7 skipped" in said
    status, said = verified("--key", KEY.public, "--data", nothing)
    assert status == 0 and "That is the key that was given." in said
    status, said = verified("--key", OTHER_KEY.public)
    assert (status, said.count("\n")) == (1, 1)
    assert f"is signed with the key {KEY.public}, but the key that was given is {OTHER_KEY.public}" in said
    status, said = verified("--data", nothing)
    assert status == 1 and "nothing here tells" in said and "--key" in said
    assert verified("--key", KEY.public[:-1])[0] == 1
    whole = report.read_text(encoding="utf-8")
    forged = json.loads(whole)
    for altered, reason in (
        (whole.replace("out of hours", "out of order", 1), f"was altered since, or {KEY.public} has not signed it"),
        (whole.replace(KEY.public, OTHER_KEY.public), f"was altered since, or {OTHER_KEY.public} has not signed it"),
        (whole.replace(KEY.public, "U1"), "names no public key"),
        (whole.replace(forged["signature"], ""), "was altered since"),
        (json.dumps(forged | {"passed": True}), "is no signed report"),
        (json.dumps(forged["commissioning"]), "is no signed report"),
        (json.dumps(signed({"nothing": 1}, KEY)), f"is signed with the key {KEY.public}, but is no report"),
        (whole[:-9], "is no signed report"),
        ("[" * 100_000, "is no signed report"),
    ):
        report.write_text(altered, encoding="utf-8")
        status, said = verified("--data", small.data)
        assert (status, said.count("\n")) == (1, 1) and f"{report.name}: {reason}" in said, said
    report.unlink()
    assert verified("--data", small.data)[1].endswith("cannot be read (No such file or directory)\n")
    with pytest.raises(SystemExit):
        main(["commission", "--data", str(small.data)])
    assert "--config FILE and --by NAME are needed" in capsys.readouterr().err
