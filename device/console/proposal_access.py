"""Which programs may propose bets: those on this machine, or, where there is a token, whoever has it."""

import hmac
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from starlette.requests import Request

TOKEN_LENGTH_MIN: Final = 32
_BYTES_MAX: Final = 1024


class TokenError(Exception):
    """The token cannot be used: one line that names its file and says what would be right."""


class NotAllowed(Exception):
    """Whoever asks may not; the message says why."""


def read_token(path: Path) -> str:
    """The token in a file that its owner alone may read. Raises TokenError."""
    try:
        with path.open("rb") as file:
            mode = path.stat().st_mode & 0o777
            content = file.read(_BYTES_MAX + 1)
    except OSError as error:
        raise TokenError(f"{path}: cannot be read ({error.strerror}); it should hold the token of proposals") from error
    if mode & 0o077:
        raise TokenError(f"{path}: has mode {mode:o}, so that others may read it; it should be 600")
    token = content.decode("ascii", "replace").strip()
    if not TOKEN_LENGTH_MIN <= len(token) <= _BYTES_MAX or not token.isascii() or len(token.split()) != 1:
        raise TokenError(f"{path}: must hold one word of {TOKEN_LENGTH_MIN} characters or more")
    return token


def check_access(request: Request, token: str | None) -> None:
    """Whether a request may propose. Raises NotAllowed."""
    if token is None:
        if request.client is None or not _is_here(request.client.host):
            raise NotAllowed("from another machine, a token is needed; [proposals] token_file names its file")
        return
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), token.encode()):
        raise NotAllowed("the token is missing or wrong; send it as Authorization: Bearer")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
