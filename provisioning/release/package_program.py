"""`python -m provisioning.release.package_program`, for `make package`: Debian packages of this repository's boxman.

One for each architecture, in the folder dist, with everything in it but Python: wheels as the lock file has them, for
each of PYTHONS.
"""

import argparse
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from device.table_key import is_public_key
from provisioning.command_failed import CommandFailed
from provisioning.release.debian_package import build_package
from provisioning.release.facts import ARCHITECTURES, facts_of_this_program
from provisioning.release.requirements import SOURCE_ONLY, locked_requirements
from provisioning.release.tree import finish_tree, site_of
from provisioning.release.wheels import build_wheels, install_packages

_REPOSITORY = Path(__file__).resolve().parents[2]
# When nobody says so (SOURCE_DATE_EPOCH, in seconds since 1970): the first day of 2026.
_MADE_S = 1_767_225_600


def make_package(architecture: str, key: str, output: Path) -> Path:
    """Make the package for an architecture. Raises CommandFailed."""
    made_s = int(os.environ.get("SOURCE_DATE_EPOCH", str(_MADE_S)))
    os.environ["SOURCE_DATE_EPOCH"] = str(made_s)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="boxman-package-") as name:
        work = Path(name)
        locked = locked_requirements((_REPOSITORY / "requirements.lock").read_text(encoding="utf-8"), architecture)
        sources = work / "sources.txt"
        sources.write_text("".join(locked[name] for name in sorted(SOURCE_ONLY)), encoding="utf-8")
        build_wheels(["--require-hashes", "-r", str(sources)], work)
        tree = work / "tree"
        install_packages(site_of(tree), locked, build_wheels([str(_REPOSITORY)], work), architecture, work)
        facts = facts_of_this_program(version("boxman"), architecture, key)
        finish_tree(tree, facts)
        return build_package(tree, facts, _REPOSITORY / "LICENSE", work, output, made_s)


def main() -> int:
    """Make what the arguments say; returns the exit status."""
    parser = argparse.ArgumentParser(description="Make boxman's Debian packages.")
    parser.add_argument("--architecture", choices=ARCHITECTURES, action="append", help="default: all")
    parser.add_argument("--key", default="", help="the public key whose signature updates need (default: no updates)")
    parser.add_argument("--output", type=Path, default=_REPOSITORY / "dist")
    chosen = parser.parse_args()
    if chosen.key and not is_public_key(chosen.key):
        parser.error("--key must be a public key, U...")
    try:
        for architecture in chosen.architecture or ARCHITECTURES:
            package = make_package(architecture, chosen.key, chosen.output)
            print(f"{package}: {package.stat().st_size} bytes")
    except CommandFailed as failed:
        print(f"boxman: {failed}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
