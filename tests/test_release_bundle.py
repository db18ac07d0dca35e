"""A bundle is taken from the release key alone, whole, and for a unit that it fits; otherwise one line says why not."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from device.table_key import TableKey
from provisioning.command_failed import CommandFailed
from provisioning.command_line import main
from provisioning.release.bundle import FIRST_LINE, BadBundle, Bundle, unpack
from provisioning.release.facts import BadFacts, Facts, facts_from, facts_text
from provisioning.release.fitness import Unit, why_unfit, why_unsigned
from provisioning.release.release_folder import current_version, facts_in
from tests.release_rig import archive_of, bundle_of, facts, lay_release

KEY, STRANGER = TableKey(bytes(32)), TableKey(b"\x01" * 32)
NOW = facts(KEY.public)
NEXT = replace(NOW, version="1.1.0")
FILES = {"bin/boxman": (b"#!/bin/sh\n", 0o755), "lib/a.py": (b"A = 1\n", 0o600)}
LINK = 0o120777


def test_a_signed_bundle_is_read_as_it_was_made_and_unpacked_for_everybody_to_read(tmp_path: Path) -> None:
    made = bundle_of(NEXT, FILES | {"bin/python3": (b"/usr/bin/python3.11", LINK)})
    found = Bundle.read(made.content(KEY))
    assert (found.facts, found.signer, found.archive) == (NEXT, KEY.public, made.archive)
    assert Bundle.read(made.content(None)).signer is None
    unpack(found, tmp_path / "new")
    assert (tmp_path / "new/lib/a.py").read_bytes() == b"A = 1\n"
    modes = {path.name: path.lstat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*") if not path.is_symlink()}
    assert modes == {"bin": 0o755, "lib": 0o755, "boxman": 0o755, "a.py": 0o644, "release.json": 0o644}
    assert str((tmp_path / "new/bin/python3").readlink()) == "/usr/bin/python3.11"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda content: content.replace(b"bundle 1", b"bundle 2"), "no release bundle of a kind that is known"),
        (lambda content: content[:10], "no release bundle of a kind that is known"),
        (lambda content: content.replace(b'"1.1.0"', b'"1.1.1"'), "wrong signature: it was changed"),
        (lambda content: content.replace(b'"bytes": ', b'"bytes": 1'), "wrong signature: it was changed"),
        (lambda content: content[:-1], "is damaged: it should hold"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "is damaged: it should hold"),
        (lambda content: content + b"\n", "is damaged: it should hold"),
        (lambda content: content[: len(FIRST_LINE) + 20], "names nobody who has signed it"),
        (lambda content: content.replace(KEY.public.encode(), STRANGER.public.encode(), 2), "wrong signature"),
    ],
)
def test_a_bundle_that_was_changed_is_none(spoil: Callable[[bytes], bytes], said: str) -> None:
    content = bundle_of(NEXT, FILES).content(KEY)
    assert spoil(content) != content
    with pytest.raises(BadBundle, match=said):
        Bundle.read(spoil(content))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"../outside": (b"", 0o644)}, "leads out of the release"),
        ({"/tmp/outside": (b"", 0o644)}, "leads out of the release"),
        ({"out": (b"..", LINK), "out/side": (b"", 0o644)}, "leads out of the release"),
        ({"out": (b"../../side", LINK), "./out": (b"", 0o644)}, "an archive that is none"),
        ({"file": (b"", 0o644), "file/below": (b"", 0o644)}, "an archive that is none"),
        ({"release.json": (b"\xff", 0o644)}, "holds no release"),
    ],
)
def test_nothing_is_unpacked_outside_of_the_release(
    files: dict[str, tuple[bytes, int]], said: str, tmp_path: Path
) -> None:
    folder = tmp_path / "releases"
    folder.mkdir()
    with pytest.raises(BadBundle, match=said):
        unpack(bundle_of(NEXT, files), folder / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["releases"]
    assert [path.name for path in folder.iterdir()] == ["new"]


def test_a_bundle_holds_what_its_head_says(tmp_path: Path) -> None:
    other = {"release.json": (facts_text(NOW).encode(), 0o644)}
    for number, (files, said) in enumerate(((other, "something else at its head"), ({}, "holds no release"))):
        with pytest.raises(BadBundle, match=said):
            unpack(Bundle.made(NEXT, archive_of(files)), tmp_path / str(number))
    with pytest.raises(BadBundle, match="an archive that is none"):
        unpack(Bundle.made(NEXT, b"no archive"), tmp_path / "archive")


def test_an_archive_that_is_damaged_anywhere_is_no_more_than_a_bad_bundle(tmp_path: Path) -> None:
    archive = archive_of({"release.json": (facts_text(NEXT).encode(), 0o644), "a.py": (bytes(range(256)) * 90, 0o644)})
    refused = 0
    for at in range(0, len(archive), 3):
        damaged = archive[:at] + bytes([archive[at] ^ 0xFF]) + archive[at + 1 :]
        try:
            # Who has signed it has signed the damage: the sum is of it.
            unpack(Bundle.made(NEXT, damaged), tmp_path / str(at))
        except BadBundle:
            refused += 1
    assert refused > len(archive) // 6


def test_a_head_that_is_nested_too_deeply_is_none() -> None:
    with pytest.raises(BadBundle, match="has a head that is none"):
        Bundle.read(FIRST_LINE + b"[" * 4_000 + b"\nunsigned\n")
    with pytest.raises(BadFacts, match="is no JSON"):
        facts_from("[" * 100_000)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "../1.0"},
        {"version": "1.0/2"},
        {"version": "v1.0"},
        {"architecture": "armhf"},
        {"pythons": "3.11"},
        {"pythons": []},
        {"pythons": ["3.11", 3]},
        {"pythons": ["3.11; x"]},
        {"journal": "2"},
        {"journal": 3},
        {"journals": [1, True]},
        {"event": None},
        {"key": "U123"},
        {"more": 1},
    ],
)
def test_facts_that_cannot_be_ones_are_refused(change: dict[str, object]) -> None:
    assert facts_from(facts_text(NOW)) == NOW
    with pytest.raises(BadFacts):
        facts_from(json.dumps(json.loads(facts_text(NOW)) | change))


UNIT = Unit(NOW, "3.11", journal=2, open_session=False)


def test_only_the_release_key_is_trusted() -> None:
    assert why_unsigned(NOW, KEY.public) is None
    assert "is not signed" in str(why_unsigned(NOW, None))
    assert "not with this installation's release key" in str(why_unsigned(NOW, STRANGER.public))
    assert "names no release key" in str(why_unsigned(replace(NOW, key=""), KEY.public))


@pytest.mark.parametrize(
    ("new", "unit", "said"),
    [
        (NEXT, UNIT, None),
        (replace(NEXT, version="0.9.0"), UNIT, None),
        (NEXT, replace(UNIT, journal=None), None),
        (NOW, UNIT, "1.0.0 is in force already"),
        (replace(NEXT, architecture="amd64"), UNIT, "1.1.0 is for amd64, this computer is arm64"),
        (NEXT, replace(UNIT, python="3.13"), None),
        (NEXT, replace(UNIT, python="3.12"), "1.1.0 is for Python 3.11 or 3.13, this system has 3.12"),
        # It is the system that has to run it, whatever else the release in force would run on.
        (replace(NEXT, pythons=("3.13",)), UNIT, "1.1.0 is for Python 3.13, this system has 3.11"),
        # A journal that it cannot read, as that of a table that went back to an old release.
        (replace(NEXT, journal=1, journals=(1,)), UNIT, "1.1.0 does not read this table's journal, of version 2"),
        # One that it would make unreadable for the release that it would have to come back to.
        (replace(NEXT, journal=3, journals=(1, 2, 3)), UNIT, "1.0.0 could not read a journal that 1.1.0 has written"),
        (replace(NEXT, event=2), UNIT, "1.0.0 could not read a journal that 1.1.0 has written"),
        # The way to a new format: first a release that reads it, then one that writes it.
        (replace(NEXT, journals=(1, 2, 3)), UNIT, None),
        (
            replace(NEXT, version="1.2.0", journal=3, journals=(2, 3)),
            replace(UNIT, facts=replace(NEXT, journals=(1, 2, 3))),
            None,
        ),
        (NEXT, replace(UNIT, open_session=True), "the table is open; close it first"),
    ],
)
def test_a_release_has_to_fit_the_unit(new: Facts, unit: Unit, said: str | None) -> None:
    why = why_unfit(new, unit)
    assert why is None if said is None else said in str(why)


def test_the_makers_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, key = tmp_path / "next.release", tmp_path / "release.key"
    path.write_bytes(bundle_of(NEXT, FILES).content(None))
    assert main(["central", "key", str(key)]) == 0
    public = capsys.readouterr().out.split()[-1]
    assert main(["release", "inspect", str(path)]) == 0
    assert "signed by     nobody" in capsys.readouterr().out
    assert main(["release", "sign", str(path), "--key", str(key)]) == 0
    assert Bundle.read(path.read_bytes()).signer == public
    capsys.readouterr()
    assert main(["release", "inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"signed by     {public}" in out
    assert f"followed by   what {KEY.public} signs" in out
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    path.write_bytes(path.read_bytes()[:-1])
    assert main(["release", "inspect", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"boxman: {path}: is damaged")


def test_only_what_was_installed_as_a_release_is_updated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["update", str(tmp_path / "next.release")]) == 1
    said = capsys.readouterr().err
    assert said == (
        "boxman: /opt/boxman/current: this boxman was not installed as a release; install its Debian package\n"
        if os.geteuid() == 0
        else "boxman: this changes the system; run it as root\n"
    )
    lay_release(tmp_path, "1.0.0", in_force=True)
    assert current_version(tmp_path) == "1.0.0"
    with pytest.raises(CommandFailed, match="cannot be read"):
        facts_in(tmp_path, "1.0.0")
    (tmp_path / "releases/1.0.0/release.json").write_text(facts_text(NOW))
    assert facts_in(tmp_path, "1.0.0") == NOW
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("/usr/lib/python3")
    with pytest.raises(CommandFailed, match="leads to /usr/lib/python3, which is no release"):
        current_version(tmp_path)
