"""`boxman release`: for whoever makes releases. A bundle of a package, its signature, and what is in one."""

import argparse
import os
import tempfile
from pathlib import Path

from provisioning.command_failed import CommandFailed
from provisioning.key_file import key_in_file
from provisioning.release.bundle import BadBundle, Bundle
from provisioning.release.bundle_archive import bundle_of_package


def add_release_command(release: argparse.ArgumentParser) -> None:
    """Say what `boxman release` takes."""
    actions = release.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("make", help="make an unsigned bundle of a Debian package of boxman")
    action.add_argument("package", type=Path, metavar="PACKAGE", help="a package that `make package` has made")
    action.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the bundle to be written")
    action.set_defaults(start=lambda chosen: make(chosen.package, chosen.output))
    action = actions.add_parser("sign", help="sign a bundle with the release key, on a computer that keeps it safe")
    action.add_argument("bundle", type=Path, metavar="FILE")
    action.add_argument(
        "--key", type=Path, required=True, metavar="FILE", help="the release key, as `boxman central key` makes one"
    )
    action.set_defaults(start=lambda chosen: sign(chosen.bundle, chosen.key))
    action = actions.add_parser("inspect", help="say what is in a bundle, and who has signed it")
    action.add_argument("bundle", type=Path, metavar="FILE")
    action.set_defaults(start=lambda chosen: inspect(chosen.bundle))


def make(package: Path, output: Path) -> int:
    """Write the bundle of a package. Raises CommandFailed."""
    bundle = bundle_of_package(package)
    _write(output, bundle.content(None))
    _tell(bundle)
    return 0


def sign(path: Path, key_file: Path) -> int:
    """Sign a bundle, in the place of a signature that it may have. Raises CommandFailed."""
    bundle = _read(path)
    key = key_in_file(key_file)
    content = bundle.content(key)
    _write(path, content)
    _tell(Bundle.read(content))
    return 0


def inspect(path: Path) -> int:
    """Print what is in a bundle. Raises CommandFailed, also where it is damaged or its signature is wrong."""
    _tell(_read(path))
    return 0


def _read(path: Path) -> Bundle:
    try:
        return Bundle.read(path.read_bytes())
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be read ({error.strerror})") from error
    except BadBundle as error:
        raise CommandFailed(f"{path}: {error}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        descriptor, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}-")
        new = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                os.fchmod(descriptor, 0o644)
                os.fsync(descriptor)
            new.rename(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be written ({error.strerror})") from error


def _tell(bundle: Bundle) -> None:
    facts = bundle.facts
    print(f"version       {facts.version}")
    print(f"runs on       {facts.architecture}, Python {' or '.join(facts.pythons)}")
    print(f"journal       writes version {facts.journal}, reads {', '.join(map(str, facts.journals))}")
    print(f"size          {len(bundle.archive)} bytes, packed")
    print(f"signed by     {bundle.signer or 'nobody'}")
    print(f"followed by   {f'what {facts.key} signs' if facts.key else 'packages only'}")
