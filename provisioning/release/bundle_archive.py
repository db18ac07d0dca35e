"""The archive in a bundle, made of a release's Debian package: the same bytes for the same package."""

import io
import subprocess
import tarfile
from pathlib import Path, PurePosixPath

from provisioning.command_failed import CommandFailed
from provisioning.install.places import RELEASES_FOLDER
from provisioning.release.bundle import Bundle
from provisioning.release.facts import FACTS_FILE, BadFacts, facts_from
from provisioning.release.switching import RELEASES


def bundle_of_package(package: Path) -> Bundle:
    """The release in a Debian package, as a bundle that nobody has signed. Raises CommandFailed."""
    try:
        unpacked = subprocess.run(("dpkg-deb", "--fsys-tarfile", str(package)), capture_output=True, check=False)
    except FileNotFoundError as error:
        raise CommandFailed("dpkg-deb is not there; it comes with Debian's package dpkg") from error
    if unpacked.returncode != 0:
        raise CommandFailed(f"{package}: {unpacked.stderr.decode(errors='replace').strip()}")
    archive, facts = _release_in(unpacked.stdout)
    try:
        return Bundle.made(facts_from(facts.decode("utf-8", "replace")), archive)
    except BadFacts as error:
        raise CommandFailed(f"{package}: holds no release of boxman ({error})") from error


def _release_in(tar: bytes) -> tuple[bytes, bytes]:
    """What is in the one release folder of a package's content: the archive, and the text of the facts in it."""
    releases = PurePosixPath(RELEASES_FOLDER.lstrip("/")) / RELEASES
    packed, facts = io.BytesIO(), b""
    with (
        tarfile.open(fileobj=io.BytesIO(tar)) as found,
        tarfile.open(fileobj=packed, mode="w:xz", preset=6, format=tarfile.GNU_FORMAT) as archive,
    ):
        for member in found:
            path = PurePosixPath(member.name)
            if releases not in path.parents or len(path.parts) == len(releases.parts) + 1:
                continue
            member.name = str(path.relative_to(PurePosixPath(*path.parts[: len(releases.parts) + 1])))
            content = found.extractfile(member) if member.isreg() else None
            if content is not None and member.name == FACTS_FILE:
                facts = content.read()
                content.seek(0)
            archive.addfile(member, content)
    return packed.getvalue(), facts
