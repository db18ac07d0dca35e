"""One process a data folder, a lock that no crash leaves behind, and refusals that say what would be right."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from device.data_folder import DataFolderBusy, DataFolderError, open_data_folder
from provisioning.command_line import main

HOLD = """
import sys
from pathlib import Path
from device.data_folder import open_data_folder
folder = open_data_folder(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_makes_the_folder_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with open_data_folder(path) as folder:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert folder.path == path
        assert folder.journal_path == path / "journal.db"
        pid, started = (path / "lock").read_text().splitlines()
        assert pid == str(os.getpid())
        assert started.endswith("Z")


def test_what_root_makes_in_it_belongs_to_whom_it_belongs_to(tmp_path: Path) -> None:
    owner = 1_234 if os.geteuid() == 0 else os.geteuid()
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    os.chown(data, owner, -1)
    assert main(["table", "key", "--data", str(data)]) == 0
    assert {file.name: file.stat().st_uid for file in data.iterdir()} == {"lock": owner, "table.key": owner}


def test_closing_lets_it_go_and_may_be_repeated(tmp_path: Path) -> None:
    folder = open_data_folder(tmp_path)
    folder.close()
    folder.close()
    open_data_folder(tmp_path).close()


def test_a_second_process_is_told_who_holds_it_until_that_one_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        command = Path(f"/proc/{holder.pid}/comm").read_text().strip()
        with pytest.raises(DataFolderBusy) as busy:
            open_data_folder(tmp_path)
        assert f"process {holder.pid} ({command})" in str(busy.value)
        assert str(tmp_path) in str(busy.value)
        assert "\n" not in str(busy.value)
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    open_data_folder(tmp_path).close()


def test_the_same_process_cannot_open_it_twice(tmp_path: Path) -> None:
    with open_data_folder(tmp_path), pytest.raises(DataFolderBusy, match=f"process {os.getpid()} "):
        open_data_folder(tmp_path)


def test_a_holder_that_has_not_written_its_number_yet(tmp_path: Path) -> None:
    with open_data_folder(tmp_path):
        (tmp_path / "lock").write_text("")
        with pytest.raises(DataFolderBusy, match="in use by another process;"):
            open_data_folder(tmp_path)


def test_a_file_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(DataFolderError, match="is not a folder; it should be one"):
        open_data_folder(path)


def test_no_folder_above_it(tmp_path: Path) -> None:
    with pytest.raises(DataFolderError, match=r"cannot be made .*; it should lie in a folder"):
        open_data_folder(tmp_path / "missing" / "data")


def test_a_folder_that_takes_no_files() -> None:
    # Even root cannot make a file here.
    with pytest.raises(DataFolderError, match=r"cannot write here .*; it should be a folder"):
        open_data_folder(Path("/proc/self"))


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "lock").symlink_to(target)
    with pytest.raises(DataFolderError, match="cannot write here"):
        open_data_folder(folder)
    assert target.read_text() == "kept"
