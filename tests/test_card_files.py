"""What lies on a card for a new unit: cloud-init's files, the service and its script; and when the unit is ready."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from device.self_test import Check, self_test
from provisioning.card import card_files
from provisioning.card.ready_command import ready_lines
from provisioning.command_failed import CommandFailed

SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0vTqJ5T4oSyGAAMFZp0cXg ana@casino"


def test_user_data_makes_nobody_but_whom_it_is_told_and_starts_the_service_at_every_start() -> None:
    text = card_files.user_data("Casino_1", "craps-1", None)
    assert text.startswith("#cloud-config\n")
    said = yaml.safe_load(text)
    assert (said["hostname"], said["users"], said["ssh_pwauth"]) == ("casino-1-craps-1", [], False)
    assert "passwd" not in text and "runcmd" not in said
    (command,) = said["bootcmd"]
    assert command[:2] == ["sh", "-c"]
    subprocess.run(["sh", "-n"], input=command[2], text=True, check=True, timeout=60)
    # Raspberry Pi OS would ask for a first user, and nothing behind that would start.
    assert "systemctl mask --now --no-block userconfig.service" in command[2]
    (technician,) = yaml.safe_load(card_files.user_data("s", "t", SSH_KEY))["users"]
    assert (technician["lock_passwd"], technician["ssh_authorized_keys"]) == (True, [SSH_KEY])
    meta = yaml.safe_load(card_files.meta_data("s", "t", "ab" * 32))
    assert meta == {"instance-id": "s-t-abababababab", "local-hostname": "s-t", "dsmode": "local"}
    assert card_files.host_name("_", "-") == "boxman"
    assert len(card_files.host_name("a" * 32, "b" * 32)) == 63


def run_script(folder: Path, fails: str = "") -> int:
    """Run the card's script with programs that only say that they were run; the one whose words are `fails` fails."""
    programs = folder / "programs"
    if not programs.exists():
        programs.mkdir(parents=True)
        (folder / "card").mkdir()
        for name in ("apt-get", "dpkg", "systemctl", "boxman", "sync"):
            log = f'echo "{name} $*" >> {folder}/log'
            refuse = 'case "$FAILS" in "") ;; *) case "' + name + ' $*" in *"$FAILS"*) exit 1;; esac;; esac'
            (programs / name).write_text(f"#!/bin/sh\n{log}\n{refuse}\n")
            (programs / name).chmod(0o755)
    script = card_files.script(ssh=False).replace("/boot/firmware/boxman", f"{folder}/card")
    script = script.replace("/etc/cloud/cloud-init.disabled", f"{folder}/disabled")
    path = {"PATH": f"{programs}:{os.environ['PATH']}", "FAILS": fails}
    return subprocess.run(["sh"], input=script, text=True, env=path, check=False, timeout=60).returncode


@pytest.mark.parametrize(
    "fails", ["", "apt-get install", "dpkg", "boxman provision enrol", "boxman provision install", "sync"]
)
def test_the_script_goes_on_after_a_start_and_vanishes_when_the_unit_is_ready(tmp_path: Path, fails: str) -> None:
    if fails:
        assert run_script(tmp_path, fails) != 0
        assert not (tmp_path / "card" / "installed").exists()
        (tmp_path / "log").unlink()
    assert run_script(tmp_path) == 0
    first = [line for line in (tmp_path / "log").read_text().splitlines() if line != "sync "]
    assert [line.split()[:3] for line in first[-6:]] == [
        ["dpkg", "--configure", "-a"],
        ["apt-get", "update"],
        ["apt-get", "install", "--yes"],
        ["boxman", "provision", "enrol"],
        ["boxman", "provision", "install"],
        ["systemctl", "reboot"],
    ]
    assert (tmp_path / "card" / "installed").exists()
    (tmp_path / "log").unlink()
    assert run_script(tmp_path, "boxman provision ready") != 0
    assert (tmp_path / "card").exists() and not (tmp_path / "disabled").exists()
    (tmp_path / "log").unlink()
    assert run_script(tmp_path) == 0
    assert (tmp_path / "log").read_text().splitlines()[:2] == [
        "systemctl start boxman.service",
        "boxman provision ready",
    ]
    assert (tmp_path / "disabled").exists() and not (tmp_path / "card").exists()


def test_where_no_network_leads_to_packages_the_card_has_all_that_a_terminal_needs(tmp_path: Path) -> None:
    assert run_script(tmp_path, "apt-get update") == 0
    assert [line.rpartition(" ")[0] for line in (tmp_path / "log").read_text().splitlines() if "apt-get i" in line] == [
        "apt-get install --yes --no-install-recommends"
    ]
    # An index from before, of packages that the network does not bring.
    (tmp_path / "old").mkdir()
    run_script(tmp_path / "old", "apt-get install --yes /")
    log = (tmp_path / "old" / "log").read_text()
    assert log.index("apt-get install --yes /") < log.index("apt-get install --yes --no-install-recommends /")
    assert (tmp_path / "old" / "card" / "installed").exists()


def test_a_unit_is_ready_when_its_self_test_is_passed() -> None:
    def test(*checks: Check) -> dict[str, Any] | None:
        return self_test(checks)[1] if checks else None

    good, warning = Check("rules", "passed", "fine"), Check("clock", "warning", "not synchronised")
    assert ready_lines(test(good)) == ["ready to commission"]
    assert ready_lines(test(good, warning)) == ["ready to commission", "warning: clock: not synchronised"]
    for not_ready, says in (
        (test(), "not ready yet: the self-test is not over"),
        (test(good, Check("key", "failed", "is another")), "not ready: key: is another"),
    ):
        with pytest.raises(CommandFailed) as failed:
            ready_lines(not_ready)
        assert str(failed.value) == says


def test_the_service_starts_what_lies_on_the_card_until_it_is_done() -> None:
    said = card_files.service().splitlines()
    assert f"ExecStart=/bin/sh {card_files.BOOT_FOLDER}/{card_files.CARD_FOLDER}/{card_files.SCRIPT}" in said
    assert {"Type=oneshot", "Restart=on-failure", "StartLimitIntervalSec=0"} <= set(said)
