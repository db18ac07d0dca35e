"""A release in one signed file, for a USB stick or a web server.

Three lines of text, and then a tar archive in xz, of the release's folder: what this is and in which version; a JSON
object with the release's facts and the archive's size and hash; and who has signed these two lines, with the
signature, or that nobody has.
"""

import hashlib
import io
import json
import lzma
import tarfile
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from device.table_key import TableKey, is_public_key, is_signed_by
from provisioning.release.facts import FACTS_FILE, BadFacts, Facts, facts_from, facts_of

FIRST_LINE: Final = b"boxman release bundle 1\n"
BUNDLE_BYTES_MAX: Final = 256 * 1024 * 1024
UNPACKED_BYTES_MAX: Final = 1024 * 1024 * 1024
_LINE_BYTES_MAX: Final = 4096
# What is said of an archive that cannot be read, or has a name that is there twice, below nothing, or none at all.
_NO_ARCHIVE: Final = (
    tarfile.TarError,
    lzma.LZMAError,
    EOFError,
    FileExistsError,
    FileNotFoundError,
    NotADirectoryError,
    ValueError,
)
_UNSIGNED: Final = b"unsigned\n"


class BadBundle(Exception):
    """This is no bundle, or one that was damaged; the text says in one line what is wrong."""


@dataclass(frozen=True)
class Bundle:
    """`signer` has signed it, as its signature shows (a public key; None: nobody). `archive` is whole."""

    facts: Facts
    signer: str | None
    head: bytes
    archive: bytes

    @classmethod
    def made(cls, facts: Facts, archive: bytes) -> Self:
        """One that nobody has signed yet."""
        about = {"facts": asdict(facts), "bytes": len(archive), "sha256": hashlib.sha256(archive).hexdigest()}
        return cls(facts, None, json.dumps(about, sort_keys=True).encode() + b"\n", archive)

    @classmethod
    def read(cls, content: bytes) -> Self:
        """The bundle in a file's content. Raises BadBundle, also where a signature is wrong."""
        lines = io.BytesIO(content[: len(FIRST_LINE) + 2 * _LINE_BYTES_MAX])
        if lines.readline(len(FIRST_LINE)) != FIRST_LINE:
            raise BadBundle("is no release bundle of a kind that is known here")
        head, signed = lines.readline(_LINE_BYTES_MAX), lines.readline(_LINE_BYTES_MAX)
        archive = content[lines.tell() :]
        signer = _signer(head, signed)
        facts, size, digest = _parsed(head)
        if hashlib.sha256(archive).hexdigest() != digest:
            raise BadBundle(f"is damaged: it should hold {size} bytes of SHA-256 {digest[:12]}...; copy it once more")
        return cls(facts, signer, head, archive)

    def content(self, key: TableKey | None) -> bytes:
        """The file's content, signed with a key, or not."""
        signed = _UNSIGNED
        if key is not None:
            signed = f"{key.public} {key.sign(FIRST_LINE + self.head)}\n".encode("ascii")
        return FIRST_LINE + self.head + signed + self.archive


def _signer(head: bytes, signed: bytes) -> str | None:
    if signed == _UNSIGNED:
        return None
    key, _, signature = signed.decode("ascii", "replace").removesuffix("\n").partition(" ")
    if not is_public_key(key):
        raise BadBundle("names nobody who has signed it; it may be cut off")
    if not is_signed_by(key, FIRST_LINE + head, signature):
        raise BadBundle("has a wrong signature: it was changed after it was signed")
    return key


def _parsed(head: bytes) -> tuple[Facts, int, str]:
    try:
        about: Any = json.loads(head)
        facts, size, digest = facts_of(about["facts"]), about["bytes"], about["sha256"]
    except (BadFacts, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadBundle(f"has a head that is none ({error})") from error
    if type(size) is not int or not isinstance(digest, str):
        raise BadBundle("has a head that is none (bytes must be a whole number, sha256 a text)")
    return facts, size, digest


def unpack(bundle: Bundle, folder: Path) -> None:
    """Lay the release into the new folder `folder`. Raises BadBundle or OSError; then the folder is not to be used."""
    _make_folder(folder)
    left = UNPACKED_BYTES_MAX
    try:
        with tarfile.open(fileobj=io.BytesIO(bundle.archive), mode="r:xz") as archive:
            for member in archive:
                left -= member.size
                if left < 0:
                    raise BadBundle(f"holds more than {UNPACKED_BYTES_MAX} bytes")
                _lay(archive, member, folder)
    except _NO_ARCHIVE as error:
        raise BadBundle(f"holds an archive that is none ({error})") from error
    try:
        found = facts_from((folder / FACTS_FILE).read_text(encoding="utf-8"))
    except (BadFacts, UnicodeDecodeError, FileNotFoundError) as error:
        raise BadBundle(f"holds no release ({error})") from error
    if found != bundle.facts:
        raise BadBundle("says something else at its head than in the release that it holds")


def _make_folder(folder: Path) -> None:
    folder.mkdir()
    # Whatever the umask of whoever updates: the terminal has to read it.
    folder.chmod(0o755)


def _lay(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    name = PurePosixPath(member.name)
    here = folder / name
    # What is signed is not thereby free of mistakes: nothing is written outside, nor through a link.
    if name.is_absolute() or ".." in name.parts or not here.parent.resolve().is_relative_to(folder.resolve()):
        raise BadBundle(f"holds {member.name}, which leads out of the release")
    if member.isdir():
        _make_folder(here)
    elif member.issym():
        here.symlink_to(member.linkname)
    elif member.isreg():
        content = archive.extractfile(member)
        assert content is not None
        with here.open("xb") as file:
            file.write(content.read())
        here.chmod(0o755 if member.mode & 0o100 else 0o644)
    else:
        raise BadBundle(f"holds {member.name}, which is no file, folder or symbolic link")
