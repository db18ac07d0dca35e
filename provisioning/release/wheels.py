"""What a release imports, from wheels: for each Python that it is for, whatever this computer is, in one folder.

The Pythons share what is not compiled. A compiled module has its Python's version in its name, or is for each of them
(abi3), so that each finds its own.
"""

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from provisioning.command_failed import CommandFailed
from provisioning.release.facts import ARCHITECTURES, PYTHONS
from provisioning.release.requirements import OF_THE_SYSTEM, SOURCE_ONLY

# The C library of Debian 12 is 2.36, and wheels say which they need at least.
_LIBRARY_VERSIONS: Final = range(17, 37)
_PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
_SYSTEM_MODULES: Final = Path("/usr/lib/python3/dist-packages")
# What pip notes for itself; it is not the same twice, or not for each Python, or names the folder that it was made in.
_NOTES: Final = ("RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json")


def build_wheels(what: Sequence[str], folder: Path) -> list[Path]:
    """Wheels of pure Python, built with what this environment has. Raises CommandFailed."""
    _run([*_PIP, "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}", *what])
    return sorted(folder.glob("*.whl"))


def install_packages(
    site: Path, locked: Mapping[str, str], wheels: Sequence[Path], architecture: str, work: Path
) -> None:
    """Fetch wheels of what is `locked` for an architecture, and lay them and `wheels` into `site`.

    Raises CommandFailed.
    """
    installed = []
    for python in PYTHONS:
        of_the_system = OF_THE_SYSTEM.get(python, {})
        requirements = work / f"wheels-{python}.txt"
        texts = [text for name, text in locked.items() if name not in SOURCE_ONLY and name not in of_the_system]
        requirements.write_text("".join(texts), encoding="utf-8")
        folder = work / f"packages-{python}"
        _install(folder, requirements, wheels, architecture, python)
        for name in locked.keys() & of_the_system.keys():
            module = _compiled(of_the_system[name], python, architecture)
            (folder / module).symlink_to(_SYSTEM_MODULES / module)
        installed.append(folder)
    lay_together(installed, site)


def _compiled(module: str, python: str, architecture: str) -> str:
    """PEP 3149: the file of a module that was compiled for one Python."""
    return f"{module}.cpython-{python.replace('.', '')}-{ARCHITECTURES[architecture]}-linux-gnu.so"


def lay_together(installed: Sequence[Path], site: Path) -> None:
    """Move what was installed for each Python into one folder.

    Raises CommandFailed where a file has one content for one of them, and another for another.
    """
    site.mkdir(parents=True)
    for folder in installed:
        # Scripts of packages, which name the Python that they were made with.
        shutil.rmtree(folder / "bin", ignore_errors=True)
        for name in _NOTES:
            for path in folder.glob(f"*.dist-info/{name}"):
                path.unlink()
        for path in sorted(folder.rglob("*")):
            here = site / path.relative_to(folder)
            if path.is_dir():
                here.mkdir(exist_ok=True)
            elif not here.exists():
                path.rename(here)
            elif not filecmp.cmp(path, here, shallow=False):
                raise CommandFailed(
                    f"{here.relative_to(site)}: is not the same for each of Python {', '.join(PYTHONS)}"
                )


def _install(folder: Path, requirements: Path, wheels: Sequence[Path], architecture: str, python: str) -> None:
    machine = ARCHITECTURES[architecture]
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in reversed(_LIBRARY_VERSIONS)]
    platforms += [f"manylinux2014_{machine}", "any"]
    command = [*_PIP, "install", "--no-deps", "--no-compile", "--only-binary=:all:", "--implementation=cp"]
    command += [f"--python-version={python}", f"--abi=cp{python.replace('.', '')}", "--abi=abi3", "--abi=none"]
    command += [f"--platform={platform}" for platform in platforms]
    _run([*command, f"--target={folder}", "--require-hashes", "-r", str(requirements)])
    for wheel in wheels:
        _run([*command, f"--target={folder}", "--upgrade", "--no-index", str(wheel)])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise CommandFailed(f"{' '.join(command[1:4])}: {said[-1] if said else f'ended with {done.returncode}'}")
