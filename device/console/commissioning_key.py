"""What a browser has where somebody signed in to begin a commissioning, which ends the terminal and its sign-ins.

The terminal keeps its digest alone. After a power cut the table's own screen has it no more, for its profile is in
memory; then the commissioning is left and begun again with a PIN, and goes on where it was.
"""

import hashlib
import hmac
import secrets
from typing import Final

from starlette.requests import Request

KEY_COOKIE: Final = "boxman-commissioning"
_KEY_BYTES: Final = 32


def new_key() -> str:
    """A key that nobody guesses."""
    return secrets.token_urlsafe(_KEY_BYTES)


def digest_of(key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def has_key(request: Request, digest: str | None) -> bool:
    """Whether it comes from where it was begun; None: nobody had to sign in, and anybody may go on."""
    return digest is None or hmac.compare_digest(digest_of(request.cookies.get(KEY_COOKIE, "")), digest)
