"""What a browser has where somebody signed in to begin a commissioning, which ends the terminal and its sign-ins.

The terminal keeps its digest alone. After a power cut the table's own screen has it no more, for its profile is in
memory; then the commissioning is left and begun again with a PIN, and goes on where it was.
"""

import hmac
from typing import Final

from starlette.requests import Request

from device.sign_in_desk import digest

KEY_COOKIE: Final = "boxman-commissioning"


def digest_of(key: str) -> str:
    """What is kept of a key."""
    return digest(key).hex()


def has_key(request: Request, kept: str | None) -> bool:
    """Whether it comes from where it was begun; None: nobody had to sign in, and anybody may go on."""
    return kept is None or hmac.compare_digest(digest_of(request.cookies.get(KEY_COOKIE, "")), kept)
