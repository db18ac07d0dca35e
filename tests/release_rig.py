"""Small releases and bundles for the tests."""

import functools
import http.server
import io
import ssl
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from provisioning.release.bundle import Bundle
from provisioning.release.facts import FACTS_FILE, Facts, facts_text


def facts(key: str = "") -> Facts:
    """Of a release 1.0.0 whose successors `key` signs."""
    return Facts("1.0.0", "arm64", ("3.11", "3.13"), 2, (1, 2), 1, key)


def lay_release(folder: Path, version: str, *, in_force: bool = False) -> None:
    """Lay an empty release below the folder of releases."""
    (folder / "releases" / version).mkdir(parents=True)
    if in_force:
        (folder / "current").symlink_to(f"releases/{version}")


def bundle_of(about: Facts, files: dict[str, tuple[bytes, int]]) -> Bundle:
    """An unsigned bundle of these files, each with its mode, and the release's facts."""
    return Bundle.made(about, archive_of({FACTS_FILE: (facts_text(about).encode(), 0o644)} | files))


def archive_of(files: dict[str, tuple[bytes, int]]) -> bytes:
    """A bundle's archive; where a mode is that of a link, the content is its target."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=0) as archive:
        for folder in sorted({name.rpartition("/")[0] for name in files} - {"", ".", *files}):
            member = tarfile.TarInfo(folder)
            member.type = tarfile.DIRTYPE
            archive.addfile(member)
        for name, (content, mode) in files.items():
            member = tarfile.TarInfo(name)
            member.mode = mode & 0o777
            if mode & 0o170000 == 0o120000:
                member.type, member.linkname = tarfile.SYMTYPE, content.decode()
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path, certificate: Path, key: Path) -> Iterator[int]:
    """A web server over HTTPS with what is in `folder`, on loopback; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
