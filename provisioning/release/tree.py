"""The folder of a release: a virtual environment that may lie anywhere, with everything compiled, made reproducibly."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from provisioning.command_failed import CommandFailed
from provisioning.install.places import RELEASES_FOLDER
from provisioning.release.facts import ARCHITECTURES, FACTS_FILE, Facts, facts_text
from provisioning.release.switching import release_path

PYTHON: Final = "3.11"
"""Of Debian 12, and of the Raspberry Pi OS that is made of it."""

# The C library of Debian 12 is 2.36, and wheels say which they need at least.
_LIBRARY_VERSIONS: Final = range(17, 37)
_PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
# The launcher finds its own release by itself, so that the whole folder may be renamed, and says nothing to Python of
# where it was started.
_LAUNCHER: Final = """\
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/python3" -I -m provisioning.command_line "$@"
"""
# What pip notes for itself; it is not the same twice, or names the folder that it was made in.
_NOTES: Final = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def install_packages(site: Path, requirements: Path, wheels: Sequence[Path], architecture: str) -> None:
    """Fetch wheels for an architecture, whatever this computer is, and lay them and `wheels` into `site`.

    Raises CommandFailed.
    """
    machine = ARCHITECTURES[architecture]
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in reversed(_LIBRARY_VERSIONS)]
    platforms += [f"manylinux2014_{machine}", "any"]
    command = [*_PIP, "install", "--no-deps", "--no-compile", "--only-binary=:all:", "--implementation=cp"]
    command += [f"--python-version={PYTHON}", f"--abi=cp{PYTHON.replace('.', '')}", "--abi=abi3", "--abi=none"]
    command += [f"--platform={platform}" for platform in platforms]
    _run([*command, f"--target={site}", "--require-hashes", "-r", str(requirements)])
    for wheel in wheels:
        _run([*command, f"--target={site}", "--upgrade", "--no-index", str(wheel)])


def build_wheels(what: Sequence[str], folder: Path) -> list[Path]:
    """Wheels of pure Python, built with what this environment has. Raises CommandFailed."""
    _run([*_PIP, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}", *what])
    return sorted(folder.glob("*.whl"))


def finish_tree(tree: Path, facts: Facts) -> None:
    """Make of a folder with `site_of(tree)` in it a release. Raises CommandFailed."""
    site = site_of(tree)
    # Scripts of packages, which name the Python that they were made with.
    shutil.rmtree(site / "bin", ignore_errors=True)
    for name in _NOTES:
        for path in site.glob(f"*.dist-info/{name}"):
            path.unlink()
    programs = tree / "bin"
    programs.mkdir()
    (programs / "boxman").write_text(_LAUNCHER, encoding="utf-8")
    (programs / "python3").symlink_to(f"/usr/bin/python{PYTHON}")
    (tree / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {PYTHON}\n", encoding="utf-8"
    )
    (tree / FACTS_FILE).write_text(facts_text(facts) + "\n", encoding="utf-8")
    _compile(tree, facts.version)
    for parent, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(parent, name)
            if not path.is_symlink():
                runs = path.is_dir() or path.parent == programs
                path.chmod(0o755 if runs else 0o644)


def site_of(tree: Path) -> Path:
    """Where a release has its packages."""
    return tree / "lib" / f"python{PYTHON}" / "site-packages"


def _compile(tree: Path, version: str) -> None:
    """Compile all modules: a system that is read only cannot do so later.

    Without a look at the source's time. In one process and in order, since what is compiled depends, in parts, on what
    was compiled before.
    """
    if sys.version_info[:2] != tuple(map(int, PYTHON.split("."))):
        raise CommandFailed(f"a release is compiled for Python {PYTHON}; make it with that one")
    there = f"{RELEASES_FOLDER}/{release_path(version)}"
    command = [sys.executable, "-m", "compileall", "-q", "-s", str(tree), "-p", there]
    command += ["--invalidation-mode", "unchecked-hash", str(tree)]
    _run(command, {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"})


def _run(command: Sequence[str], more: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | (more or {}))
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CommandFailed(f"{' '.join(command[1:4])}: {said[-1] if said else f'ended with {done.returncode}'}")
