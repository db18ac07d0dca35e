"""The folder of a release: a virtual environment that may lie anywhere, for each Python that it is for.

What of it is compiled for one Python alone, the computer that it is laid on compiles itself: so a release is the same
to the byte wherever it was made.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from provisioning.release.facts import FACTS_FILE, PYTHONS, Facts, facts_text

# The launcher finds its own release by itself, so that the whole folder may be renamed, and says nothing to Python of
# where it was started.
_LAUNCHER: Final = """\
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/python3" -I -m provisioning.command_line "$@"
"""


def finish_tree(tree: Path, facts: Facts) -> None:
    """Make of a folder with `site_of(tree)` in it a release."""
    for python in PYTHONS:
        seen = tree / "lib" / f"python{python}" / "site-packages"
        seen.parent.mkdir()
        seen.symlink_to("../site-packages")
    programs = tree / "bin"
    programs.mkdir()
    (programs / "boxman").write_text(_LAUNCHER, encoding="utf-8")
    (programs / "python3").symlink_to("/usr/bin/python3")
    (tree / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n", encoding="utf-8")
    (tree / FACTS_FILE).write_text(facts_text(facts) + "\n", encoding="utf-8")
    for parent, folders, files in os.walk(tree):
        for name in (*folders, *files):
            path = Path(parent, name)
            if not path.is_symlink():
                runs = path.is_dir() or path.parent == programs
                path.chmod(0o755 if runs else 0o644)


def site_of(tree: Path) -> Path:
    """Where a release has its packages."""
    return tree / "lib" / "site-packages"


def compile_words(tree: Path) -> tuple[str, ...]:
    """What Python is to be told to compile all modules of a release: a system that is read only cannot do so later."""
    # Without a look at the source's time at each start: nobody changes a release.
    return ("-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(site_of(tree)))


def compile_tree(tree: Path) -> None:
    """Compile all modules for this Python. What it does not get done, each start does for itself, and takes longer."""
    # Whatever the umask of whoever updates: the terminal has to read it.
    subprocess.run((sys.executable, *compile_words(tree)), stdout=subprocess.DEVNULL, check=False, umask=0o022)
