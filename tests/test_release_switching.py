"""A power cut at any moment of an update: whatever of it reached the disk, the next start runs a proven release."""

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from device.table_key import TableKey
from provisioning.release.bundle import Bundle
from provisioning.release.release_folder import carry_out, current_version, others_in
from provisioning.release.switching import (
    Flush,
    FlushFolder,
    MakeLink,
    Remove,
    Rename,
    Step,
    Unpack,
    steps_to_switch,
    steps_to_unpack,
)
from provisioning.release.tree import site_of
from tests.release_rig import bundle_of, facts, lay_release

PROVEN, NEW = "1.0.0", "1.1.0"
TORN = "torn"


@dataclass(frozen=True)
class Change:
    """A name in a folder comes to stand for something (None: for nothing)."""

    path: str
    what: str | None


class Disk:
    """A file system of the model: names that stand for whole releases, torn ones or links, flushed or not.

    Each change of a name reaches the disk when its folder is flushed; before that, any of them may, in any order. The
    content of a folder that was not flushed is torn.
    """

    def __init__(self, flushed: dict[str, str]) -> None:
        self.flushed = dict(flushed)
        self.seen = dict(flushed)
        self.waiting: list[Change] = []
        self.whole: set[str] = set(flushed.values())

    def do(self, step: Step) -> None:
        """What the step does as a program sees it, and what of it is on the disk."""
        match step:
            case Remove():
                if step.path in self.seen:
                    self._name(Change(step.path, None))
            case Unpack():
                self._name(Change(step.path, f"release {NEW}"))
            case Flush():
                self.whole.add(self.seen[step.path])
            case FlushFolder():
                folder = "" if step.path == "." else f"{step.path}/"
                for change in [each for each in self.waiting if _folder(each.path) == folder]:
                    self._reaches(self.flushed, change)
                    self.waiting.remove(change)
            case Rename():
                what = self.seen[step.path]
                self._name(Change(step.to, what))
                self._name(Change(step.path, None))
            case MakeLink():
                self.whole.add(f"link {step.target}")
                self._name(Change(step.path, f"link {step.target}"))

    def _name(self, change: Change) -> None:
        self._reaches(self.seen, change)
        self.waiting.append(change)

    @staticmethod
    def _reaches(names: dict[str, str], change: Change) -> None:
        if change.what is None:
            names.pop(change.path, None)
        else:
            names[change.path] = change.what

    def after_a_cut(self) -> Iterator[dict[str, str]]:
        """What each possible cut now leaves."""
        for chosen in itertools.chain.from_iterable(
            itertools.combinations(self.waiting, count) for count in range(len(self.waiting) + 1)
        ):
            left = dict(self.flushed)
            for change in chosen:
                self._reaches(left, change)
            yield {path: what if what in self.whole else TORN for path, what in left.items()}


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def started(left: dict[str, str]) -> str | None:
    """The release that a start runs; None: none, or one that is not whole."""
    target = left.get("current", "").removeprefix("link ")
    found = left.get(target, "")
    return found.removeprefix("release ") if found.startswith("release ") else None


def starts_after_cuts(unpacking: Sequence[Step], switching: Sequence[Step]) -> tuple[set[str | None], set[str | None]]:
    """The releases that may run after a cut anywhere while unpacking, and anywhere while switching."""
    disk = Disk(
        {
            f"releases/{PROVEN}": f"release {PROVEN}",
            "current": f"link releases/{PROVEN}",
            "releases/0.9.0": "release 0.9.0",
            # Of an update that broke off, twice.
            "releases/.unfinished": TORN,
            f"releases/{NEW}": TORN,
            ".next": "link releases/0.8.0",
        }
    )
    disk.whole.discard(TORN)
    found: list[set[str | None]] = []
    for steps in (unpacking, switching):
        seen = {started(left) for left in disk.after_a_cut()}
        for step in steps:
            disk.do(step)
            seen |= {started(left) for left in disk.after_a_cut()}
        found.append(seen)
    return found[0], found[1]


UNPACKING = steps_to_unpack(NEW, (".unfinished", "0.9.0", NEW))
SWITCHING = steps_to_switch(NEW)


def test_a_cut_at_any_moment_leaves_a_proven_release() -> None:
    unpacking, switching = starts_after_cuts(UNPACKING, SWITCHING)
    # Until the new one has proven itself, which is between the two, only the former one.
    assert unpacking == {PROVEN}
    assert switching == {PROVEN, NEW}


@pytest.mark.parametrize("step", [step for step in (*UNPACKING, *SWITCHING) if isinstance(step, Flush | FlushFolder)])
def test_each_flush_is_needed(step: Step) -> None:
    unpacking, switching = starts_after_cuts(
        [each for each in UNPACKING if each != step], [each for each in SWITCHING if each != step]
    )
    if step == SWITCHING[-1]:
        # The last one: without it all is well, but nobody may say yet that the new one is in force.
        assert switching == {PROVEN, NEW}
    else:
        assert unpacking == {PROVEN}
        assert None in switching


def test_when_all_is_done_the_new_one_runs_whatever_happens() -> None:
    disk = Disk({f"releases/{PROVEN}": f"release {PROVEN}", "current": f"link releases/{PROVEN}"})
    for step in (*steps_to_unpack(NEW, ()), *SWITCHING):
        disk.do(step)
    assert {started(left) for left in disk.after_a_cut()} == {NEW}


def test_the_steps_do_on_a_disk_what_they_say(tmp_path: Path) -> None:
    lay_release(tmp_path, PROVEN, in_force=True)
    lay_release(tmp_path, "0.9.0")
    (tmp_path / "releases/.unfinished").mkdir()
    assert others_in(tmp_path) == [".unfinished", "0.9.0"]
    files = {"bin/boxman": (b"#!/bin/sh\n", 0o755), "lib/cow": (b"", 0o644)}
    files[f"{site_of(Path())}/zebra.py"] = (b"A = 1\n", 0o644)
    bundle = bundle_of(replace(facts(), version=NEW), files)
    # Whoever updates may let nobody else read what he makes; the terminal has to.
    umask = os.umask(0o077)
    try:
        carry_out(steps_to_unpack(NEW, others_in(tmp_path)), tmp_path, Bundle.read(bundle.content(TableKey(bytes(32)))))
    finally:
        os.umask(umask)
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == [PROVEN, NEW]
    assert current_version(tmp_path) == PROVEN
    assert (tmp_path / "releases" / NEW / "bin/boxman").stat().st_mode & 0o777 == 0o755
    # Where nothing can be written, nothing can be compiled either.
    (compiled,) = site_of(tmp_path / "releases" / NEW).glob("__pycache__/zebra.*.pyc")
    assert compiled.stat().st_mode & 0o777 == 0o644
    (tmp_path / ".next").symlink_to("releases/0.8.0")
    carry_out(steps_to_switch(NEW), tmp_path)
    assert current_version(tmp_path) == NEW
    assert (tmp_path / "current/bin/boxman").read_bytes() == b"#!/bin/sh\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current", "releases"]
