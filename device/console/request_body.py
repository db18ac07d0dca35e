"""The body of a request, as a page of this terminal sends it."""

from typing import Any

from starlette.requests import Request

from device.console.requests import BODY_BYTES_MAX, BadRequest, parse_body


async def read_body(request: Request) -> dict[str, Any]:
    """The JSON object that a page of this terminal sent, within bounds. Raises BadRequest."""
    origin = request.headers.get("origin")
    if origin is not None and origin.split("://")[-1] != request.headers.get("host"):
        raise BadRequest("Origin", "must be this terminal's own page")
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise BadRequest("Content-Type", "must be application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES_MAX:
            raise BadRequest("body", f"must be at most {BODY_BYTES_MAX} bytes")
    return parse_body(body)
