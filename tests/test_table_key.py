"""The table's key: made once, kept from others, refused when it is not what it should be."""

import logging
import os
import stat
from pathlib import Path

import nkeys
import pytest
from nacl.signing import SigningKey

from device import table_key
from device.table_key import TableKey, TableKeyError, is_public_key, is_signed_by, open_table_key, read_table_key
from tests.free_ports import free_port
from tests.terminal_rig import TerminalProcess, boxman

# Seed of 32 zero bytes: its Ed25519 public key is the well-known 3b6a27bc...da29 (RFC 8032's arithmetic).
ZERO_PUBLIC = bytes.fromhex("3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.key"


def test_the_first_start_makes_a_key_that_later_starts_find(path: Path) -> None:
    assert read_table_key(path) is None
    made = open_table_key(path)
    assert open_table_key(path).public == made.public
    again = read_table_key(path)
    assert again is not None and again.public == made.public
    assert sorted(path.parent.iterdir()) == [path]


def test_every_table_makes_a_key_of_its_own(tmp_path: Path) -> None:
    assert open_table_key(tmp_path / "one").public != open_table_key(tmp_path / "two").public


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_nobody_else_may_read_the_file_whatever_the_mask(path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        open_table_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_is_on_the_disk_before_it_has_its_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def noted_fsync(descriptor: int) -> None:
        done.append(Path(f"/proc/self/fd/{descriptor}").resolve().name)
        fsync(descriptor)

    def noted_rename(self: Path, target: Path) -> Path:
        done.append(f"{self.name} becomes {target.name}")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "rename", noted_rename)
    open_table_key(path)
    assert done == ["table.key.new", "table.key.new becomes table.key", path.parent.name]


def test_a_start_that_was_cut_off_while_it_made_the_key_is_made_up_for(path: Path) -> None:
    path.with_name("table.key.new").write_bytes(b"SU")
    made = open_table_key(path)
    assert sorted(path.parent.iterdir()) == [path]
    assert open_table_key(path).public == made.public


def test_the_file_holds_a_seed_as_nats_has_it_for_a_user(path: Path) -> None:
    key = open_table_key(path)
    text = path.read_bytes()
    assert text.startswith(b"SU") and text.endswith(b"\n") and len(text) == 59
    pair = nkeys.from_seed(text.strip())
    assert pair.public_key.decode() == key.public
    assert pair.sign(b"challenge").hex() == key.sign(b"challenge")


def test_a_key_of_zeros_signs_as_ed25519_says() -> None:
    key = TableKey(bytes(32))
    assert bytes(SigningKey(bytes(32)).verify_key) == ZERO_PUBLIC
    raw = bytes([20 << 3]) + ZERO_PUBLIC
    assert key.public == nkeys.base64.b32encode(raw + nkeys.crc16(raw).to_bytes(2, "little")).decode()
    assert key.public.startswith("U") and len(key.public) == 56
    signature = key.sign(b"message")
    assert signature == SigningKey(bytes(32)).sign(b"message").signature.hex()
    assert is_signed_by(key.public, b"message", signature)
    assert not is_signed_by(key.public, b"massage", signature)
    assert not is_signed_by(TableKey(b"\1" * 32).public, b"message", signature)


@pytest.mark.parametrize("position", range(128))
def test_a_signature_with_one_digit_changed_does_not_hold(position: int) -> None:
    key = TableKey(bytes(32))
    signature = key.sign(b"message")
    digit = "0" if signature[position] != "0" else "1"
    assert not is_signed_by(key.public, b"message", signature[:position] + digit + signature[position + 1 :])


@pytest.mark.parametrize("signature", ["", "00", "0" * 127, "0" * 130, "g" * 128, "A" * 128, " " * 128, "é" * 128])
def test_what_is_no_signature_does_not_hold(signature: str) -> None:
    assert not is_signed_by(TableKey(bytes(32)).public, b"message", signature)


def test_a_public_key_is_known_by_its_form_and_check_sum() -> None:
    public = TableKey(bytes(32)).public
    assert is_public_key(public)
    for position, character in enumerate(public):
        other = "A" if character != "A" else "B"
        assert not is_public_key(public[:position] + other + public[position + 1 :]), position
    for wrong in ("", "U", public.lower(), public[:-1], public + "A", public + "\n", "é" * 56, "S" + public[1:]):
        assert not is_public_key(wrong), wrong
    assert not is_signed_by("U", b"message", "0" * 128)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666])
def test_a_key_that_others_may_touch_is_refused(path: Path, mode: int) -> None:
    open_table_key(path)
    path.chmod(mode)
    with pytest.raises(TableKeyError, match=f"table.key: has mode {mode:04o}.* should have 0600"):
        open_table_key(path)


def test_a_key_that_not_even_its_owner_may_write_is_taken(path: Path) -> None:
    made = open_table_key(path)
    path.chmod(0o400)
    assert open_table_key(path).public == made.public


def test_a_file_with_any_one_character_changed_is_refused_and_not_replaced(path: Path) -> None:
    open_table_key(path)
    content = path.read_bytes()
    for position in range(58):
        other = b"A" if content[position : position + 1] != b"A" else b"B"
        damaged = content[:position] + other + content[position + 1 :]
        path.write_bytes(damaged)
        with pytest.raises(TableKeyError, match="holds no key, or a damaged one") as refused:
            open_table_key(path)
        assert path.read_bytes() == damaged
        assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize("content", [b"", b"\n", b"SU", b"\xff" * 59, b"x" * 1000, bytes(59)])
def test_what_is_no_key_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(TableKeyError, match="holds no key, or a damaged one"):
        open_table_key(path)


def test_a_seed_of_an_account_is_no_key_of_a_table(path: Path) -> None:
    path.write_bytes(nkeys.encode_seed(bytes(32), nkeys.PREFIX_BYTE_ACCOUNT))
    path.chmod(0o600)
    with pytest.raises(TableKeyError, match="holds no key"):
        open_table_key(path)


def test_a_folder_a_link_and_a_pipe_are_refused_without_waiting(path: Path, tmp_path: Path) -> None:
    path.mkdir()
    with pytest.raises(TableKeyError, match=r"table\.key: is no file"):
        open_table_key(path)
    path.rmdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(TableKeyError, match=r"table\.key: is no file"):
        open_table_key(path)
    path.unlink()
    open_table_key(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TableKeyError, match=r"table\.key: cannot be read"):
        open_table_key(path)


def test_a_folder_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(TableKeyError, match="cannot be made"):
        open_table_key(path.parent / "none" / "table.key")


def test_the_seed_is_told_to_nobody(
    path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    key = open_table_key(path)
    seed_text = path.read_text().strip()
    path.write_text(seed_text + "A\n")
    with pytest.raises(TableKeyError) as refused:
        open_table_key(path)
    raw = nkeys.decode_seed(seed_text.encode())[1]
    told = [repr(key), str(key), str(refused.value), repr(refused.value), caplog.text, *capfd.readouterr(), key.public]
    for text in told:
        assert seed_text[4:40] not in text
        assert raw.hex() not in text and repr(raw)[2:-1] not in text
    assert "table_key" in repr(key), table_key.__name__


def test_a_table_does_not_start_on_a_key_that_others_may_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    open_table_key(data / "table.key")
    (data / "table.key").chmod(0o644)
    ended = boxman("run", "--data", data, "--port", str(free_port()))
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert f"{data}/table.key: has mode 0644" in ended.stderr


def test_a_running_table_writes_its_seed_into_no_other_file_and_does_not_print_it(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do({"roll": [2, 4]})
        assert table.terminate() == 0
    key_path = tmp_path / "data" / "table.key"
    seed_text = key_path.read_text().strip()
    raw = nkeys.decode_seed(seed_text.encode())[1]
    others = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and path != key_path]
    assert tmp_path / "data" / "journal.db" in others
    for content in (table.output.encode(), *(path.read_bytes() for path in others)):
        assert seed_text[4:40].encode() not in content
        assert raw not in content and raw.hex().encode() not in content
