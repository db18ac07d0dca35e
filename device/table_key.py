"""The table's own Ed25519 key: made on the device at its first start, kept in one file, never told to anyone.

The file holds the seed as NATS writes a user's seed ("SU..."); the journal and the checkpoints hold the public key
as NATS writes a user's ("U..."). So the table can be known under the same key to its central server.
"""

import base64
import binascii
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import nacl.utils
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from device.data_folder import give_to_owner, sync_folder

KEY_FILE_NAME: Final = "table.key"

KEY_BYTES: Final = 32
_FILE_BYTES_MAX: Final = 200
_SIGNATURE: Final = re.compile(r"[0-9a-f]{128}")

# What stands before the key itself, and makes the text begin with SU or U (github.com/nats-io/nkeys).
_USER_SEED: Final = b"\x95\x00"
_USER: Final = b"\xa0"


class TableKeyError(Exception):
    """The key's file cannot be used; the text says in one line what would be right."""


@dataclass(frozen=True)
class KeyWords:
    """What a key is, and who makes a new one, in what is said of a file that holds none."""

    what: str
    renewed: str


TABLE_KEY: Final = KeyWords("the table's key", "the table makes itself a new key")


class TableKey:
    """The key, of which only `public` can be looked at."""

    def __init__(self, seed: bytes) -> None:
        """`seed` is KEY_BYTES long."""
        self._signing_key: Final = SigningKey(seed)
        self.public: Final = _encoded(_USER, bytes(self._signing_key.verify_key))

    def sign(self, message: bytes) -> str:
        """The signature of `message`, 128 digits of lower-case hex."""
        return self._signing_key.sign(message).signature.hex()


def is_public_key(text: str) -> bool:
    """Whether `text` is a public key as `TableKey.public` gives it, its check sum included."""
    return _decoded(_USER, text) is not None


def is_signed_by(public: str, message: bytes, signature: str) -> bool:
    """Whether `signature` is one of `message` by the key with the public key `public`."""
    key = _decoded(_USER, public)
    if key is None or not _SIGNATURE.fullmatch(signature):
        return False
    try:
        VerifyKey(key).verify(message, bytes.fromhex(signature))
    except BadSignatureError:
        return False
    return True


def open_table_key(path: Path, words: KeyWords = TABLE_KEY) -> TableKey:
    """The key in a file, which is made when there is none. Raises TableKeyError.

    Whoever calls holds the data folder's lock.
    """
    key = read_table_key(path, words)
    if key is not None:
        return key
    try:
        return _made(path)
    except OSError as error:
        raise TableKeyError(f"{path}: {words.what} cannot be made ({error.strerror})") from error


def read_table_key(path: Path, words: KeyWords = TABLE_KEY) -> TableKey | None:
    """The key in a file, None when there is no file. Raises TableKeyError when it is not one to be trusted."""
    try:
        # Without O_NONBLOCK, a pipe in its place would make us wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TableKeyError(f"{path}: cannot be read ({error.strerror}); it should be {words.what}") from error
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise TableKeyError(f"{path}: is no file; it should be {words.what}")
        if about.st_mode & 0o077:
            mode = stat.S_IMODE(about.st_mode)
            raise TableKeyError(
                f"{path}: has mode {mode:04o}, so others may have read {words.what}; it should have 0600. If nobody "
                f"else can have, change the mode; otherwise move the file away, and {words.renewed}"
            )
        content = os.read(descriptor, _FILE_BYTES_MAX)
    except OSError as error:
        raise TableKeyError(f"{path}: cannot be read ({error.strerror}); it should be {words.what}") from error
    finally:
        os.close(descriptor)
    # The content is never quoted: it may be a key all the same.
    text = content.decode("ascii", "replace")
    seed = _decoded(_USER_SEED, text.removesuffix("\n"))
    if seed is None:
        raise TableKeyError(
            f"{path}: holds no key, or a damaged one; put back {words.what}, or move the file away, and {words.renewed}"
        )
    return TableKey(seed)


def new_seed() -> str:
    """The seed of a new key, as a file of one holds it: for whoever has to be told of it, which no table has."""
    return _encoded(_USER_SEED, nacl.utils.random(KEY_BYTES))


def public_key_of(seed: str) -> str:
    """The public key that goes with a seed. Raises ValueError, which does not quote it."""
    found = _decoded(_USER_SEED, seed)
    if found is None:
        raise ValueError("is no seed of a key")
    return TableKey(found).public


def _made(path: Path) -> TableKey:
    """A new key, in its file and on the disk. A cut on the way leaves no file, or the whole one. Raises OSError."""
    seed = nacl.utils.random(KEY_BYTES)
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        give_to_owner(file.fileno(), path.absolute().parent)
        file.write(_encoded(_USER_SEED, seed).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
    sync_folder(path.absolute().parent)
    return TableKey(seed)


def _encoded(prefix: bytes, key: bytes) -> str:
    """Base32 of prefix, key and CRC-16/XMODEM (low byte first), without padding."""
    content = prefix + key
    check_sum = binascii.crc_hqx(content, 0).to_bytes(2, "little")
    return base64.b32encode(content + check_sum).decode("ascii").rstrip("=")


def _decoded(prefix: bytes, text: str) -> bytes | None:
    """The key that `_encoded` wrote, None unless every character is as it writes it."""
    try:
        content = base64.b32decode(text + "=" * (-len(text) % 8))
    except ValueError:
        return None
    key = content[len(prefix) : -2]
    return key if len(key) == KEY_BYTES and _encoded(prefix, key) == text else None
