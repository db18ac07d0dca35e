"""`boxman wiring`: how a configured table is wired, as a picture to print or as a list of what to buy."""

import argparse
import hashlib
import sys
from pathlib import Path

from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.journal_commands import write_data
from provisioning.pay_table import columns
from provisioning.wiring_picture import Heading, wiring_svg
from provisioning.wiring_plan import bill_of_materials

# So much of the file's SHA-256 tells one configuration from another.
HASH_CHARACTERS = 12


def add_wiring_command(parser: argparse.ArgumentParser) -> None:
    """Say what `wiring` takes."""
    parser.add_argument(
        "config", nargs="?", type=Path, metavar="CONFIG", help="the table's configuration (default: the default wiring)"
    )
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument(
        "-o", "--output", metavar="FILE", help="write the picture (SVG, A4 or A3); - is standard output"
    )
    wanted.add_argument("--parts", action="store_true", help="print the bill of materials")
    parser.set_defaults(
        start=lambda chosen: show_parts(chosen.config) if chosen.parts else show_wiring(chosen.config, chosen.output)
    )


def show_wiring(configuration_path: Path | None, output: str) -> int:
    """Write the picture to the file `output`, "-" being standard output. Raises CommandFailed."""
    configuration, file_hash = _read(configuration_path)
    heading = Heading(configuration.site, configuration.table, file_hash)
    _write(output, wiring_svg(configuration.wiring, configuration.parts, heading))
    return 0


def show_parts(configuration_path: Path | None) -> int:
    """Print what is to be bought. Raises CommandFailed."""
    configuration, _ = _read(configuration_path)
    items = bill_of_materials(configuration.wiring, configuration.parts)
    rows = [("count", "part", "for"), *((str(item.count), item.what, item.where) for item in items)]
    print("\n".join(columns(rows, right=(0,))))
    return 0


def _read(path: Path | None) -> tuple[Configuration, str]:
    """The configuration with the short hash of its file; without a file, the default wiring."""
    if path is None:
        return Configuration(), "(default)"
    try:
        configuration = read_configuration(path)
        return configuration, hashlib.sha256(path.read_bytes()).hexdigest()[:HASH_CHARACTERS]
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be read ({error.strerror})") from error


def _write(output: str, picture: str) -> None:
    if output == "-":
        write_data()
        sys.stdout.write(picture)
        return
    try:
        Path(output).write_text(picture, encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{output}: cannot be written ({error.strerror})") from error
