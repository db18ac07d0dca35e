"""What a technician would bring on a USB stick: `python -m tests.vm.releases FOLDER`.

Debian packages of boxman, for both architectures, and signed releases that follow: one that is sound, and others that
are not.
"""

import io
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from device.table_key import TableKey, open_table_key
from provisioning.release.bundle import Bundle
from provisioning.release.bundle_archive import bundle_of_package
from provisioning.release.facts import FACTS_FILE, Facts, facts_text
from provisioning.release.package_program import make_package
from provisioning.release.tree import site_of

# Ends when the terminal is to start, or has nothing to say.
BROKEN = 'raise SystemExit("this release is broken")\n'
SILENT = "import time\n\ntime.sleep(3600)\n"


def derived(bundle: Bundle, facts: Facts, run: str | None = None) -> Bundle:
    """Another release with what is in `bundle`; with `run`, the module that runs a terminal is that text."""
    replaced = {FACTS_FILE: facts_text(facts).encode()}
    if run is not None:
        replaced[(site_of(Path()) / "provisioning" / "run.py").as_posix()] = run.encode()
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(bundle.archive)) as found,
        tarfile.open(fileobj=packed, mode="w:xz", preset=0) as archive,
    ):
        for member in found:
            content = found.extractfile(member) if member.isreg() else None
            text = replaced.get(member.name)
            if content is not None and member.name.endswith(f"/boxman-{bundle.facts.version}.dist-info/METADATA"):
                before, after = (f"\nVersion: {each.version}\n".encode() for each in (bundle.facts, facts))
                text = content.read().replace(before, after)
            if text is not None:
                member.size, content = len(text), io.BytesIO(text)
            archive.addfile(member, content)
    return Bundle.made(facts, packed.getvalue())


def main() -> int:
    """Make all of it."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        elsewhere = Path(name)
        key = open_table_key(elsewhere / "release.key")
        stranger = open_table_key(elsewhere / "stranger.key")
        package = make_package("amd64", key.public, folder)
        if package.read_bytes() != make_package("amd64", key.public, elsewhere).read_bytes():
            raise SystemExit("a package that is made twice is not the same twice")
    print("     the package for amd64, made twice, is the same to the byte")
    make_package("arm64", key.public, folder)
    first = bundle_of_package(package)

    def write(name: str, bundle: Bundle, signer: TableKey = key, spoil: Callable[[bytes], bytes] = bytes) -> None:
        (folder / f"{name}.release").write_bytes(spoil(bundle.content(signer)))

    def follower(version: str) -> Facts:
        return replace(first.facts, version=version)

    sound = derived(first, follower("0.2.0"))
    write("first", first)
    write("sound", sound)
    write("broken", derived(first, follower("0.3.0"), BROKEN))
    write("silent", derived(first, follower("0.4.0"), SILENT))
    # These are refused before anybody looks into them.
    short = Bundle.made(follower("0.2.0"), bytes(2000))
    write("stranger", short, stranger)
    write("altered", short, spoil=lambda content: content.replace(b'"0.2.0"', b'"0.2.1"', 1))
    write("cut", short, spoil=lambda content: content[:-1000])
    for name, facts in {
        "foreign": replace(first.facts, version="0.5.0", architecture="arm64"),
        "blind": replace(first.facts, version="0.6.0", journals=(9,), journal=9),
    }.items():
        write(name, Bundle.made(facts, bytes(2000)))
    for path in sorted(folder.iterdir()):
        print(f"     {path.name}: {path.stat().st_size >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
