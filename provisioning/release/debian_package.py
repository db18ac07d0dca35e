"""A release as a Debian package: the same bytes for the same release, wherever and whenever it is made."""

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from provisioning.command_failed import CommandFailed
from provisioning.install.places import RELEASES_FOLDER, UNITS
from provisioning.install.plan import TERMINAL_SERVICE
from provisioning.release.facts import Facts
from provisioning.release.switching import CURRENT, RELEASES, release_path
from provisioning.release.tree import compile_words

_FORMER: Final = release_path(".former")
_DESCRIPTION: Final = """\
Description: terminal at the boxman's position of a craps table
 Reads the puck, the bet-status buttons and the dice reserve, settles every
 roll, keeps a journal that survives a power cut, and delivers it to central
 systems. Holds all that it needs but Python itself.
"""
# For the screen; and for a Raspberry Pi's pins, where the release has no compiled module of its own (OF_THE_SYSTEM).
# cage starts Xwayland and ends without it, but Debian 12's does not depend on it; nor on polkitd, without which nobody
# but root gets the first console.
_RECOMMENDED: Final = {
    "amd64": "cage, xwayland, polkitd, chromium",
    "arm64": "cage, xwayland, polkitd, chromium, python3 (<< 3.13) | python3-lgpio",
}


def build_package(tree: Path, facts: Facts, licence: Path, work: Path, output: Path, made_s: int) -> Path:
    """Make the package of the release in `tree`, which is moved into `work`, and write it into the folder `output`.

    `made_s` is the time that all files get, in seconds since 1970. Raises CommandFailed.
    """
    root = work / "root"
    place = root / RELEASES_FOLDER.lstrip("/") / release_path(facts.version)
    place.parent.mkdir(parents=True)
    tree.rename(place)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/boxman").symlink_to(f"{RELEASES_FOLDER}/{CURRENT}/bin/boxman")
    copyright_file = root / "usr/share/doc/boxman/copyright"
    copyright_file.parent.mkdir(parents=True)
    shutil.copyfile(licence, copyright_file)
    _write_control(root, facts)
    for parent, folders, files in os.walk(root):
        for path in (Path(parent, name) for name in (".", *folders, *files)):
            os.utime(path, (made_s, made_s), follow_symlinks=False)
            if not path.is_symlink() and path.is_dir():
                path.chmod(0o755)
    package = output / f"boxman_{facts.version}_{facts.architecture}.deb"
    command = ("dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", str(root), str(package))
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(made_s), "TZ": "UTC", "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise CommandFailed(f"dpkg-deb: {done.stderr.strip()}")
    return package


def _write_control(root: Path, facts: Facts) -> None:
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    size_kib = sum(-(-path.stat().st_size // 1024) for path in paths)
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n" for path in paths]  # noqa: S324
    control = f"""\
Package: boxman
Version: {facts.version}
Architecture: {facts.architecture}
Maintainer: boxman <root@localhost>
Installed-Size: {size_kib}
Depends: {_needed(facts.pythons)}, systemd, udev, e2fsprogs
Recommends: {_RECOMMENDED[facts.architecture]}
Section: misc
Priority: optional
{_DESCRIPTION}"""
    folder = root / "DEBIAN"
    folder.mkdir()
    files = {"control": control, "md5sums": "".join(sums)} | _scripts(facts.version)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o644 if name in ("control", "md5sums") else 0o755)


def _needed(pythons: Sequence[str]) -> str:
    """The Pythons as Debian's dependencies, which know no set of versions: from the first to the last, and no gap."""
    gaps = [
        f"python3 (<< {_next(one)}) | python3 (>= {another})"
        for one, another in pairwise(pythons)
        if _next(one) != another
    ]
    return ", ".join((f"python3 (>= {pythons[0]})", *gaps, f"python3 (<< {_next(pythons[-1])})"))


def _next(python: str) -> str:
    major, minor = python.split(".")
    return f"{major}.{int(minor) + 1}"


def _scripts(version: str) -> dict[str, str]:
    """deb-postinst(5) and its kind. What `boxman update` has brought goes with the package, too."""
    release = Path(RELEASES_FOLDER) / release_path(version)
    compile_command = shlex.join((f"{release}/bin/python3", *compile_words(release)))
    return {
        "preinst": f"""\
#!/bin/sh
set -e
# dpkg takes away what was there before this is in force. Until then it is kept, for a power cut may come between.
if [ "$1" = upgrade ] && [ -d {RELEASES_FOLDER}/{CURRENT}/ ]; then
  cd {RELEASES_FOLDER}
  if [ "$(readlink {CURRENT})" != {_FORMER} ]; then
    rm -rf {_FORMER}
    cp -al "$(readlink -f {CURRENT})" {_FORMER}
    sync
    rm -f .next
    ln -s {_FORMER} .next
    mv -T .next {CURRENT}
    sync
  fi
fi
""",
        "postinst": f"""\
#!/bin/sh
set -e
if [ "$1" = configure ]; then
  cd {RELEASES_FOLDER}
  umask 022
  # What this does not get done, each start does for itself, and takes longer.
  {compile_command} || true
  sync
  rm -f .next
  ln -s {release_path(version)} .next
  mv -T .next {CURRENT}
  sync
  rm -rf {_FORMER}
  if [ -n "$2" ] && systemctl --quiet is-active {TERMINAL_SERVICE}; then
    echo "boxman: what runs is still the release before; with the table closed: systemctl restart boxman"
  fi
fi
""",
        "prerm": f"""\
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -e {UNITS}/{TERMINAL_SERVICE} ]; then
  echo "boxman: this is a table's computer; take that back first: boxman provision uninstall" >&2
  exit 1
fi
# What the unit has compiled, and dpkg does not know.
if [ -d {release} ]; then
  find {release} -name __pycache__ -prune -exec rm -r {{}} +
fi
""",
        "postrm": f"""\
#!/bin/sh
set -e
if [ "$1" = remove ]; then
  rm -rf {RELEASES_FOLDER}/{RELEASES} {RELEASES_FOLDER}/{CURRENT}
  rmdir {RELEASES_FOLDER} 2>/dev/null || true
fi
""",
    }
