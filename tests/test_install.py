"""An installation is a plan of plain values: what is shown is what is done, twice is once, and back is as before."""

import re
from pathlib import Path, PurePosixPath

import pytest

from drivers.wiring import DEFAULT_PINS, Pin, Wiring
from provisioning.command_failed import CommandFailed
from provisioning.command_line import main
from provisioning.configuration import Configuration
from provisioning.install import boot_lines, install_commands, steps
from provisioning.install.changes import Change, Entry, File, Link, changes, shown
from provisioning.install.given_files import take_along
from provisioning.install.plan import RECORD, Found, recorded_in, taken_back, wanted
from provisioning.install.read_only import device_of, entries, unit_name
from provisioning.install.system import System, check_foreign
from provisioning.install.system_files import device_names
from tests.central_rig import Authority

UNIT = "/etc/systemd/system/boxman.service"
PROGRAM = PurePosixPath("/usr/bin/boxman")
REAL = Configuration(pins="lgpio", node="usb:e66058388306c52a", wiring=Wiring(DEFAULT_PINS))
CMDLINE = "console=serial0,115200 console=tty1 root=PARTUUID=1-02 rootfstype=ext4 fsck.repair=preen rootwait rw\n"
CONFIG = "# A comment.\ndtparam=spi=on\n[pi4]\narm_boost=1"


def image(folder: Path) -> System:
    """A small file system of a Raspberry Pi with a screen."""
    for path, text in {
        "boot/firmware/config.txt": CONFIG,
        "boot/firmware/cmdline.txt": CMDLINE,
        "usr/bin/cage": "",
        "usr/bin/chromium": "",
        "usr/lib/polkit-1/polkitd": "",
        "etc/udev/rules.d/99-com.rules": "",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return System(folder)


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file, link and folder with its mode and what is in it."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            str(path.readlink()) if path.is_symlink() else "" if path.is_dir() else path.read_text(),
        )
        for path in sorted(folder.rglob("*"))
    }


def planned(system: System, configuration: Configuration, given: dict[str, str] | None = None) -> tuple[Change, ...]:
    found = system.find(PROGRAM)
    plan = wanted(configuration, given or {}, found)
    todo = changes({path: system.read(path, entry) for path, entry in plan.items()}, plan)
    check_foreign(todo, found.recorded)
    return todo


def install(system: System, configuration: Configuration, given: dict[str, str] | None = None) -> tuple[Change, ...]:
    todo = planned(system, configuration, given)
    for change in todo:
        system.apply(change)
    return todo


def uninstall(system: System) -> tuple[Change, ...]:
    plan = taken_back(system.find(PROGRAM))
    todo = changes({path: system.read(path, entry) for path, entry in plan.items()}, plan)
    for change in todo:
        system.apply(change)
    return todo


def text_of(entry: Entry) -> str:
    assert isinstance(entry, File)
    return entry.text


DEBIAN_HAS = {"etc", "etc/modules-load.d", "etc/systemd", "etc/systemd/system", "etc/tmpfiles.d", "etc/udev"} | {
    "etc/systemd/system/multi-user.target.wants",
    "etc/udev/rules.d",
    "usr/local",
    "usr/local/share",
}


def test_installed_twice_is_installed_once_and_taken_back_is_as_before(tmp_path: Path) -> None:
    system = image(tmp_path)
    before = contents(tmp_path)
    real = Configuration(pins="lgpio", node="usb:e6601", data_partition="LABEL=boxman", time_servers=("10.0.0.1",))
    first = install(system, real, {"/etc/boxman/table.toml": "[table]\n"})
    assert {change.path for change in first} >= {UNIT, RECORD, "/boot/firmware/config.txt", "/etc/boxman/table.toml"}
    installed = contents(tmp_path)
    assert install(system, real, {"/etc/boxman/table.toml": "[table]\n"}) == ()
    assert contents(tmp_path) == installed
    # Changed in place, it is another one that the services have not yet: they are started anew.
    (tmp_path / "etc/boxman/table.toml").write_text("[table]\nmin = 10\n")
    (change,) = planned(system, real, {"/etc/boxman/table.toml": "[table]\nmin = 10\n"})
    assert change.path == RECORD
    (tmp_path / "etc/boxman/table.toml").write_text("[table]\n")
    uninstall(system)
    # The configuration is the table's, and stays.
    after = contents(tmp_path)
    assert after.pop("etc/boxman/table.toml") == (0o100640, "[table]\n")
    del after["etc/boxman"]
    folders = {path for path in after.keys() - before.keys() if (tmp_path / path).is_dir()}
    assert {path: after[path] for path in after.keys() - folders} == before
    # Debian has them by itself.
    assert folders <= DEBIAN_HAS
    assert uninstall(system) == ()


def test_what_a_configuration_no_longer_needs_goes(tmp_path: Path) -> None:
    system = image(tmp_path)
    install(system, Configuration(data_partition="LABEL=boxman", time_servers=("10.0.0.1",)))
    assert (tmp_path / "etc/systemd/system/var.mount").exists()
    assert (tmp_path / "etc/systemd/system/systemd-remount-fs.service").is_symlink()
    assert "ro" in (tmp_path / "boot/firmware/cmdline.txt").read_text().split()
    gone = install(system, Configuration())
    assert {change.path for change in gone if change.after is None} >= {
        "/etc/systemd/system/var.mount",
        "/etc/systemd/system/systemd-remount-fs.service",
        "/etc/systemd/timesyncd.conf.d/boxman.conf",
    }
    assert not (tmp_path / "etc/systemd/system/var.mount").exists()
    words = (tmp_path / "boot/firmware/cmdline.txt").read_text().split()
    assert "ro" not in words
    assert "rw" in words
    fresh = image(tmp_path / "fresh")
    install(fresh, Configuration())
    changed = contents(tmp_path)
    for path, entry in contents(tmp_path / "fresh").items():
        assert changed[path] == entry


def test_an_installation_that_broke_off_can_be_taken_back(tmp_path: Path) -> None:
    todo = planned(image(tmp_path / "whole"), REAL)
    for end in (1, 2, len(todo) // 2, len(todo) - 2, len(todo) - 1):
        folder = tmp_path / str(end)
        system = image(folder)
        before = contents(folder)
        for change in todo[:end]:
            system.apply(change)
        uninstall(system)
        left = {path: entry for path, entry in contents(folder).items() if not (folder / path).is_dir()}
        assert left == {path: entry for path, entry in before.items() if not (folder / path).is_dir()}


class _Cut(BaseException):
    """The power, at a moment."""


class Computer:
    """An image that the commands change; what they run is remembered, and the power is cut when `left` is used up."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        image(folder)
        self.folder = folder
        self.left = 1_000
        self.ran: list[str] = []
        (folder / "usr/bin/boxman").touch()
        self.table = folder.with_suffix(".toml")
        self.table.write_text('[system]\ntime_servers = ["10.0.0.1"]\n')
        monkeypatch.setattr("sys.prefix", "/usr")
        monkeypatch.setattr("os.geteuid", lambda: 0)
        monkeypatch.setattr("os.lchown", lambda *_: None)
        apply = System.apply

        def goes_on_and_applies(system: System, change: Change) -> None:
            self._goes_on()
            apply(system, change)

        monkeypatch.setattr(System, "apply", goes_on_and_applies)
        monkeypatch.setattr(install_commands, "run_command", self._run)

    def _goes_on(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Cut

    def _run(self, command: str, *words: str) -> None:
        self._goes_on()
        self.ran.append(" ".join((command, *words)) if command == "systemctl" else command)
        if command == "systemd-sysusers":
            self.people(
                "boxman:x:999:999:boxman terminal:/:/usr/sbin/nologin",
                "boxman-kiosk:x:998:998:boxman screen:/:/usr/sbin/nologin",
            )
        for kind, file in (("userdel", "passwd"), ("groupdel", "group")):
            if command == kind:
                lines = (self.folder / "etc" / file).read_text().splitlines()
                kept = [line for line in lines if line.partition(":")[0] != words[-1]]
                (self.folder / "etc" / file).write_text("\n".join([*kept, ""]))

    def people(self, *lines: str) -> None:
        """Let these be in /etc/passwd, each with a group."""
        root = ["root:x:0:0:root:/root:/bin/bash"]
        (self.folder / "etc/passwd").write_text("\n".join([*root, *lines, ""]))
        groups = [f"{line.partition(':')[0]}:x:900:" for line in (*root, *lines)]
        (self.folder / "etc/group").write_text("\n".join([*groups, ""]))

    def do(self, what: str, *more: str, cut_after: int = 1_000) -> int | None:
        """Install or uninstall; None: the power was cut after so many steps."""
        self.left, self.ran = cut_after, []
        try:
            return main(["provision", what, "--root", str(self.folder), *more])
        except _Cut:
            return None


def test_a_cut_anywhere_is_gone_on_with_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        whole = Computer(tmp_path / "whole", patch)
        whole.people()
        bare = contents(whole.folder)
        assert whole.do("install", "--config", str(whole.table)) == 0
        steps_in = 1_000 - whole.left
        assert whole.ran == ["systemd-sysusers", "systemd-tmpfiles"]
        done = contents(whole.folder)
        assert whole.do("install") == 0
        assert whole.ran == []
        assert contents(whole.folder) == done
        assert whole.do("uninstall") == 0
        steps_out = 1_000 - whole.left
        assert whole.ran == ["userdel", "userdel", "groupdel", "groupdel"]
        back = contents(whole.folder)
        assert {path: entry for path, entry in back.items() if path in bare} == bare
        assert whole.do("uninstall") == 0
        assert whole.left == 1_000
    for cut_after in {1, steps_in // 2, *range(steps_in - 3, steps_in), steps_out - 5, steps_out - 1}:
        with monkeypatch.context() as patch:
            computer = Computer(tmp_path / str(cut_after), patch)
            computer.people()
            if computer.do("install", "--config", str(computer.table), cut_after=cut_after) is None:
                assert computer.do("install", "--config", str(computer.table)) == 0
                assert computer.ran == ["systemd-sysusers", "systemd-tmpfiles"]
            assert contents(computer.folder) == done
            if computer.do("uninstall", cut_after=cut_after) is None:
                assert computer.do("uninstall") == 0
            assert contents(computer.folder) == back


@pytest.mark.parametrize("of", ["file", "link"])
def test_what_a_cut_has_left_beside_a_file_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str) -> None:
    computer = Computer(tmp_path / "image", monkeypatch)
    computer.people()
    before = contents(computer.folder)
    left = {"file": ".boxman-boxman.conf", "link": ".boxman-boxman.service"}[of]

    def cut(path: Path, target: Path) -> Path:
        if path.name == left:
            raise _Cut
        path.rename(target)
        return target

    for last in ("install", "uninstall"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", cut)
            assert computer.do("install", "--config", str(computer.table)) is None
        assert [path.name for path in computer.folder.rglob(".boxman-*")] == [left]
        assert computer.do(last, *(["--config", str(computer.table)] if last == "install" else [])) == 0
        assert list(computer.folder.rglob(".boxman-*")) == []
        if last == "install":
            assert computer.do("uninstall") == 0
    folders = {path for path in contents(computer.folder).keys() - before.keys() if (computer.folder / path).is_dir()}
    assert all("boxman" not in path for path in folders - {"etc/boxman"})


def test_a_unit_that_is_gone_already_is_not_stopped_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computer = Computer(tmp_path / "image", monkeypatch)
    assert computer.do("install", "--config", str(computer.table)) == 0
    monkeypatch.setattr(install_commands, "_is_running", lambda _: True)
    while (computer.folder / UNIT[1:]).exists():
        # One step more than it takes to stop the services and what logind has started for their users.
        assert computer.do("uninstall", cut_after=3) is None
        assert computer.ran[-1] == "systemctl stop user@999.service user@998.service"
    assert (computer.folder / RECORD[1:]).exists()
    assert computer.do("uninstall") == 0
    assert not [command for command in computer.ran if command.startswith("systemctl stop boxman")]
    assert not (computer.folder / RECORD[1:]).exists()


def test_what_an_installation_that_broke_off_would_have_removed_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computer = Computer(tmp_path / "image", monkeypatch)
    assert computer.do("install", "--config", str(computer.table)) == 0
    time_servers = computer.folder / "etc/systemd/timesyncd.conf.d/boxman.conf"
    assert time_servers.exists()
    computer.table.write_text("")
    assert computer.do("install", "--config", str(computer.table), cut_after=1) is None
    assert time_servers.exists()
    assert computer.do("install", "--config", str(computer.table)) == 0
    assert not time_servers.exists()


def test_a_person_who_has_a_name_of_boxmans_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    computer = Computer(tmp_path / "image", monkeypatch)
    computer.people("boxman:x:1000:1000:,,,:/home/boxman:/bin/bash")
    before = contents(computer.folder)
    assert computer.do("install", "--config", str(computer.table)) == 1
    assert "/etc/passwd: boxman is there already, and is not boxman's; give that user" in capsys.readouterr().err
    assert contents(computer.folder) == before
    computer.people()
    assert computer.do("install", "--config", str(computer.table)) == 0
    computer.people("boxman:x:1000:1000:,,,:/home/boxman:/bin/bash")
    assert computer.do("uninstall") == 0
    assert computer.ran == []


def test_nothing_outside_of_the_root_is_given_to_another_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    computer = Computer(tmp_path / "image", monkeypatch)
    given: list[Path] = []
    monkeypatch.setattr("os.lchown", lambda path, *_: given.append(Path(path)))
    assert computer.do("install", "--config", str(computer.table)) == 0
    (tmp_path / "outside").mkdir()
    (computer.folder / "var/lib").mkdir(parents=True)
    (computer.folder / "var/lib/boxman").symlink_to(tmp_path / "outside")
    before = contents(computer.folder)
    assert computer.do("uninstall") == 1
    assert f"{computer.folder}/var/lib/boxman: leads out of {computer.folder}" in capsys.readouterr().err
    assert (contents(computer.folder), given) == (before, [])
    (computer.folder / "var/lib/boxman").unlink()
    (computer.folder / "srv").mkdir()
    (computer.folder / "var/lib/boxman").symlink_to("../../srv")
    assert computer.do("uninstall") == 0
    assert computer.folder / "var/lib/boxman" in given


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("config.txt", f"{boot_lines.BEGIN}\ngpio=5=ip,pu\n[pi4]\n", "config.txt: has only one of the lines "),
        ("config.txt", f"a\n{boot_lines.END}\n", "config.txt: has only one of the lines "),
        ("cmdline.txt", "root=PARTUUID=1-02\nroot=/dev/sda2\n", "cmdline.txt: must be one line, which is all that "),
        ("cmdline.txt", "\n", "cmdline.txt: must be one line, which is all that "),
        ("config.txt", None, "config.txt: is a link; it should be a file"),
        ("cmdline.txt", None, "firmware: holds config.txt, but no cmdline.txt beside it"),
    ],
)
def test_boot_files_that_cannot_be_changed_for_certain_are_not(
    tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    system = image(tmp_path)
    path = tmp_path / "boot/firmware" / name
    if text is None:
        path.rename(tmp_path / name)
        path.symlink_to(tmp_path / name)
    else:
        path.write_text(text)
    with pytest.raises(CommandFailed, match=re.escape(said)):
        install(system, REAL)


def test_a_block_without_its_last_line_end_is_one(tmp_path: Path) -> None:
    system = image(tmp_path)
    install(system, REAL)
    config = tmp_path / "boot/firmware/config.txt"
    installed = config.read_text()
    config.write_text(installed.removesuffix("\n"))
    install(system, REAL)
    assert config.read_text() == installed
    config.write_text(installed.removesuffix("\n"))
    uninstall(system)
    assert config.read_text() == CONFIG


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    system = image(tmp_path)
    (tmp_path / UNIT[1:]).parent.mkdir(parents=True)
    (tmp_path / UNIT[1:]).write_text("[Service]\nExecStart=/bin/true\n")
    with pytest.raises(CommandFailed, match=re.escape(f"{UNIT}: is there already, and is not boxman's; move it away")):
        planned(system, REAL)
    (tmp_path / UNIT[1:]).unlink()
    install(system, REAL)
    # One that was changed by hand is put right.
    (tmp_path / UNIT[1:]).write_text((tmp_path / UNIT[1:]).read_text() + "User=root\n")
    assert [change.path for change in install(system, REAL)] == [UNIT]
    assert "User=root" not in (tmp_path / UNIT[1:]).read_text()


def test_nothing_is_written_through_a_link_that_leads_out_of_the_root(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    system = image(tmp_path / "image")
    (tmp_path / "image/etc/systemd").symlink_to(outside)
    with pytest.raises(CommandFailed, match="leads out of"):
        install(system, REAL)
    assert not list(outside.iterdir())


def test_boot_lines_are_those_of_the_wiring(tmp_path: Path) -> None:
    system = image(tmp_path)
    install(system, REAL)
    config = (tmp_path / "boot/firmware/config.txt").read_text()
    assert config.startswith(CONFIG + "\n# boxman: begin")
    block = config.removeprefix(CONFIG).splitlines()
    assert block[2] == "[all]"
    assert {"dtparam=i2c_arm=off", "dtparam=spi=off", "enable_uart=0", "dtparam=i2s=off"} <= set(block)
    # The default wiring by the README's picture: all 18 inputs and 8 lamps of the header.
    assert "gpio=2,3,4,5,6,9,10,11,12,13,16,17,19,20,21,22,26,27=ip,pu" in block
    assert "gpio=7,8,14,15,18,23,24,25=op,dl" in block
    assert (tmp_path / "boot/firmware/cmdline.txt").read_text() == (
        "console=tty1 root=PARTUUID=1-02 rootfstype=ext4 rootwait rw fsck.repair=yes consoleblank=0 quiet loglevel=3 "
        "logo.nologo vt.global_cursor_default=0\n"
    )


def test_pins_that_are_not_wired_are_left_to_others(tmp_path: Path) -> None:
    system = image(tmp_path)
    install(system, Configuration(pins="lgpio", wiring=Wiring({"lid": Pin("header", 22)})))
    config = (tmp_path / "boot/firmware/config.txt").read_text()
    assert "gpio=22=ip,pu\n" in config
    for line in ("i2c_arm", "spi=off", "enable_uart", "i2s", "op,dl"):
        assert line not in config
    assert "console=serial0,115200" in (tmp_path / "boot/firmware/cmdline.txt").read_text()


def test_what_others_changed_meanwhile_in_the_boot_files_stays(tmp_path: Path) -> None:
    system = image(tmp_path)
    install(
        system, Configuration(pins="lgpio", data_partition="LABEL=boxman", wiring=Wiring({"lid": Pin("header", 2)}))
    )
    config, line = tmp_path / "boot/firmware/config.txt", tmp_path / "boot/firmware/cmdline.txt"
    config.write_text("arm_freq=1500\n" + config.read_text() + "over_voltage=1\n")
    line.write_text(line.read_text().strip() + " cgroup_enable=memory\n")
    uninstall(system)
    assert config.read_text() == f"arm_freq=1500\n{CONFIG}over_voltage=1\n"
    assert sorted(line.read_text().split()) == sorted([*CMDLINE.split(), "cgroup_enable=memory"])


def test_the_service_reaches_the_devices_that_its_table_has_and_no_others() -> None:
    found = Found(PROGRAM, None, None, None, (), {})

    def devices(configuration: Configuration) -> list[str]:
        return re.findall("^DeviceAllow=(.*) rw$", text_of(wanted(configuration, {}, found)[UNIT]), re.MULTILINE)

    assert devices(REAL) == ["char-gpiochip", "char-ttyACM", "char-ttyUSB"]
    assert devices(Configuration()) == []
    assert devices(Configuration(pins="lgpio", wiring=Wiring({"lid": Pin("header", 2)}))) == ["char-gpiochip"]
    assert devices(Configuration(pins="rpigpio", node="/dev/ttyACM0"))[0] == "/dev/gpiomem"
    unit = text_of(wanted(REAL, {}, found)[UNIT])
    assert "CapabilityBoundingSet=\nAmbientCapabilities=\n" in unit
    unit = text_of(wanted(Configuration(port=80), {}, found)[UNIT])
    assert "AmbientCapabilities=CAP_NET_BIND_SERVICE\n" in unit
    assert "boxman-kiosk" not in str(wanted(REAL, {}, found).keys())


@pytest.mark.parametrize("missing", ["usr/bin/cage", "usr/bin/chromium", "usr/lib/polkit-1/polkitd"])
def test_a_screen_is_installed_where_all_that_it_needs_is_there(tmp_path: Path, missing: str) -> None:
    system = image(tmp_path)
    unit = "/etc/systemd/system/boxman-kiosk.service"
    assert unit in wanted(REAL, {}, system.find(PROGRAM))
    (tmp_path / missing).unlink()
    assert unit not in wanted(REAL, {}, system.find(PROGRAM))


@pytest.mark.parametrize(
    ("node", "match"),
    [
        ("usb:e66058388306c52a", 'ATTRS{serial}=="e66058388306c52a", GROUP="boxman"'),
        ("/dev/ttyACM3", 'KERNEL=="ttyACM3", GROUP="boxman"'),
        ("/dev/serial/by-id/usb-X", 'ATTRS{idVendor}=="2e8a", ATTRS{idProduct}=="0005", GROUP="boxman"'),
        # What a rule would take for its own signs.
        ('usb:a"b*', 'ATTRS{idVendor}=="2e8a", ATTRS{idProduct}=="0005", GROUP="boxman"'),
    ],
)
def test_the_node_has_a_name_whatever_it_is_known_by(node: str, match: str) -> None:
    rules = device_names(Configuration(pins="lgpio", node=node))
    assert match in rules
    assert 'SYMLINK+="boxman/node"' in rules


def test_the_token_beside_the_configuration_is_nobodys_but_the_terminals(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text('[proposals]\ntoken_file = "proposals.token"\n')
    system = image(tmp_path / "image")
    install(system, *take_along(path, system))
    said = (tmp_path / "image/etc/tmpfiles.d/boxman.conf").read_text().splitlines()
    # tmpfiles.d(5): in the order in which they are listed.
    assert said[-2:] == ["z /etc/boxman/* 0640 root boxman -", "z /etc/boxman/proposals.token 0600 boxman boxman -"]
    install(system, Configuration())
    assert (tmp_path / "image/etc/tmpfiles.d/boxman.conf").read_text().splitlines() == said[:-1]


def test_units_of_paths_are_named_as_systemd_names_them() -> None:
    # What systemd-escape --path says.
    assert unit_name("/dev/disk/by-label/boxman-data", ".device") == "dev-disk-by\\x2dlabel-boxman\\x2ddata.device"
    assert unit_name("/boot/firmware", ".mount") == "boot-firmware.mount"
    assert unit_name("/.x/é", ".mount") == "\\x2ex-\\xc3\\xa9.mount"
    assert device_of("PARTUUID=1-03") == "/dev/disk/by-partuuid/1-03"
    assert device_of("/dev/mmcblk0p3") == "/dev/mmcblk0p3"
    data = text_of(entries("LABEL=boxman-data", None)["/etc/systemd/system/var-lib-boxman.mount"])
    assert "What=/dev/disk/by-label/boxman-data\n" in data
    assert not [path for path in entries("LABEL=x", None) if "boot" in path]


def test_a_change_is_shown_as_a_difference_without_its_passwords() -> None:
    before, after = File("a = 1\nb = 2\n", 0o644), File('a = 1\nservers = ["nats://me:secret@host:4222"]\n', 0o640)
    lines = list(shown(Change("/etc/x", before, after)))
    assert lines == [
        "change /etc/x (mode 0640)",
        "--- /etc/x",
        "+++ /etc/x",
        "@@ -1,2 +1,2 @@",
        " a = 1",
        "-b = 2",
        '+servers = ["nats://...@host:4222"]',
    ]
    assert list(shown(Change("/etc/x", None, Link("/dev/null")))) == ["create /etc/x", "+-> /dev/null"]
    assert list(shown(Change("/etc/x", Link("/a"), None))) == ["remove /etc/x", "--> /a"]


def test_the_files_that_a_configuration_names_come_along(tmp_path: Path) -> None:
    authority_pem = Authority(tmp_path).ca.read_text()
    system = image(tmp_path / "image")
    path = tmp_path / "table.toml"
    rules = Path(__file__).parent.parent / "engine_lite/rule_sets/us-vegas.json"
    (tmp_path / "house.json").write_text(rules.read_text())
    path.write_text('[table]\nrules = "house.json"\n')
    assert take_along(path, system)[1] == {
        "/etc/boxman/table.toml": path.read_text(),
        "/etc/boxman/house.json": rules.read_text(),
    }
    place = tmp_path / "image/etc/boxman"
    place.mkdir(parents=True)
    for name in ("table.toml", "house.json"):
        (place / name).write_text((tmp_path / name).read_text())
    # Where it is in memory it has to be written through.
    assert take_along(None, system)[1] == take_along(path, system)[1]
    (place / "table.toml").unlink()
    for name in ("installed", "table.toml"):
        (tmp_path / name).write_text(authority_pem)
        (tmp_path / "site.toml").write_text(f'[uplink]\nhttps = "https://central.example"\nca = "{name}"\n')
        with pytest.raises(CommandFailed, match=f"uplink.ca: {name} is the name of another file on a table's computer"):
            take_along(tmp_path / "site.toml", system)
    (tmp_path / "latin.pem").write_bytes("Zürich\n".encode("latin-1") + authority_pem.encode())
    (tmp_path / "site.toml").write_text('[uplink]\nhttps = "https://central.example"\nca = "latin.pem"\n')
    with pytest.raises(CommandFailed, match=r"uplink.ca: .*/latin.pem is no UTF-8 text \(byte 1\)"):
        take_along(tmp_path / "site.toml", system)
    (tmp_path / "below").mkdir()
    (tmp_path / "below/house.json").write_text(rules.read_text())
    path.write_text('[table]\nrules = "below/house.json"\n')
    with pytest.raises(CommandFailed, match=re.escape("table.rules: below/house.json must be a file beside")):
        take_along(path, system)
    path.write_text(f'[table]\nrules = "{tmp_path}/house.json"\n')
    with pytest.raises(CommandFailed, match=re.escape(f"table.rules: {tmp_path}/house.json is not on the system")):
        take_along(path, system)
    with pytest.raises(CommandFailed, match="there is no configuration yet; name one with --config"):
        take_along(None, system)


def test_a_dry_run_shows_changes_and_commands_and_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    system = image(tmp_path / "image")
    path = tmp_path / "table.toml"
    path.write_text('[hardware]\nnode = "/dev/none"\n[uplink]\nservers = ["nats://me:secret@10.0.0.5:4222"]\n')
    monkeypatch.setattr("sys.prefix", "/usr")
    command = ["provision", "install", "--root", str(system.root), "--config", str(path), "--dry-run"]
    before = contents(tmp_path)
    assert main(command) == 1
    assert "/usr/bin/boxman: boxman is not there; install it at the same place first" in capsys.readouterr().err
    (system.root / "usr/bin/boxman").write_text("")
    before = contents(tmp_path)
    assert main(command) == 0
    out = capsys.readouterr().out
    assert contents(tmp_path) == before
    assert "secret" not in out
    for line in (
        "create /etc/systemd/system/boxman.service (mode 0644)",
        "+ExecStart=/usr/bin/boxman run --config /etc/boxman/table.toml --data /var/lib/boxman",
        "create /etc/systemd/system/multi-user.target.wants/boxman.service",
        "+-> /etc/systemd/system/boxman.service",
        "change /boot/firmware/config.txt",
        "+disable_splash=1",
        f"run systemd-sysusers --root={system.root} boxman.conf",
    ):
        assert line in out.splitlines()
    assert main(["provision", "uninstall", "--root", str(system.root), "--dry-run"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["provision", "install", "--root", str(tmp_path / "none"), "--dry-run"]) == 1
    assert "is no folder; it should hold a computer's file system" in capsys.readouterr().err


def test_data_that_a_partition_would_hide_is_seen(tmp_path: Path) -> None:
    system = image(tmp_path)
    assert not system.has_data_on_root()
    (tmp_path / "var/lib/boxman").mkdir(parents=True)
    assert not system.has_data_on_root()
    (tmp_path / "var/lib/boxman/journal.db").touch()
    assert system.has_data_on_root()


def test_a_folder_is_changed_with_its_own_users_and_nothing_of_this_computer_is_started(tmp_path: Path) -> None:
    commands = steps.after_installing(tmp_path, None)
    assert [command[0] for command in commands] == ["systemd-sysusers", "systemd-tmpfiles"]
    assert all(f"--root={tmp_path}" in command for command in commands)
    back = steps.after_taking_back(tmp_path, False, ["boxman"])
    assert back == [("userdel", "--prefix", str(tmp_path), "boxman")]
    assert steps.removing("groupdel", Path("/"), True, "boxman") == ("groupdel", "boxman")
    live = steps.after_installing(Path("/"), ["boxman.service"])
    assert not any("--root" in word for command in live for word in command)
    assert live[-1] == ("systemctl", "restart", "--no-block", "boxman.service")


def test_a_record_names_all_that_is_there_and_nothing_else(tmp_path: Path) -> None:
    system = image(tmp_path)
    todo = install(system, REAL, {"/etc/boxman/table.toml": ""})
    record = recorded_in((tmp_path / RECORD[1:]).read_text())
    boot = ("/boot/firmware/config.txt", "/boot/firmware/cmdline.txt", "/boot/firmware/cmdline.txt.boxman")
    assert {*record, RECORD, "/etc/boxman/table.toml", *boot} == {change.path for change in todo}
