"""Where a release bundle comes from: a file, such as on a USB stick, or an address of a web server."""

import ssl
from pathlib import Path
from typing import Final

import httpx

from device.nats_connection import takes_plain_ca
from provisioning.command_failed import CommandFailed
from provisioning.progress import ProgressBar
from provisioning.release.bundle import BUNDLE_BYTES_MAX, BadBundle, Bundle

_SILENT_S: Final = 30.0


def read_bundle(source: str, ca: Path | None) -> Bundle:
    """The bundle at `source`. A server may also be one that `ca`, the file of the site's own CA, vouches for.

    Raises CommandFailed.
    """
    try:
        content = _fetched(source, ca) if source.startswith(("http://", "https://")) else _in_file(Path(source))
        return Bundle.read(content)
    except BadBundle as error:
        raise CommandFailed(f"{source}: {error}") from error


def _in_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(BUNDLE_BYTES_MAX + 1)
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be read ({error.strerror})") from error
    if len(content) > BUNDLE_BYTES_MAX:
        raise BadBundle(f"is longer than the {BUNDLE_BYTES_MAX} bytes of the longest bundle")
    return content


def _fetched(address: str, ca: Path | None) -> bytes:
    progress = ProgressBar("fetching")
    content = bytearray()
    try:
        with httpx.stream(
            "GET", address, timeout=_SILENT_S, follow_redirects=True, verify=_vouched_for(ca)
        ) as response:
            response.raise_for_status()
            length = response.headers.get("content-length", "")
            for part in response.iter_bytes():
                content += part
                if len(content) > BUNDLE_BYTES_MAX:
                    raise BadBundle(f"is longer than the {BUNDLE_BYTES_MAX} bytes of the longest bundle")
                progress(len(content), int(length) if length.isdecimal() else 0)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        raise CommandFailed(f"{address}: cannot be fetched ({error})") from error
    finally:
        progress.close()
    return bytes(content)


def _vouched_for(ca: Path | None) -> ssl.SSLContext:
    # Whoever serves it: what makes a bundle one for this unit is its signature.
    context = httpx.create_ssl_context()
    if ca is None:
        return context
    context.load_verify_locations(cafile=ca)
    return takes_plain_ca(context)
