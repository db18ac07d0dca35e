"""`boxman provision card`: at the centre, the files that make a new unit of a fresh card, with a one-time code."""

import argparse
import re
import shutil
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

from device.data_folder import sync_folder
from device.https_protocol import check_address
from device.nats_connection import check_ca
from provisioning.card import card_files
from provisioning.central.enrolment_store import EnrolmentStore
from provisioning.central.receiver_configuration import ReceiverConfiguration, read_receiver_configuration
from provisioning.central.server_files import write_files
from provisioning.central.sqlite_store import StoreError
from provisioning.central.toml_file import BadFile
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration
from provisioning.enrolment import ANSWER_BYTES_MAX, Enrolled, answer_bytes, hash_of, is_file_name, new_code
from provisioning.install.given_files import take_along
from provisioning.install.places import CONFIGURATION
from provisioning.install.system import System

DAYS: Final = 7
"""How long a card may be used when nobody says so."""
_DAY_S: Final = 24 * 3600
_DAYS_MAX: Final = 90
# deb(5): an ar archive whose first member says that it is a package.
_PACKAGE_BEGINS: Final = b"!<arch>\ndebian-binary "
_SSH_KEY: Final = re.compile(
    r"(ssh-ed25519|ecdsa-sha2-nistp(256|384|521)|ssh-rsa) [A-Za-z0-9+/]+={0,2}( [\x20-\x7e]*)?"
)


def add_card_action(action: argparse.ArgumentParser) -> None:
    """Say what `card` takes."""
    action.add_argument("--config", type=Path, required=True, metavar="FILE", help="the table's configuration (TOML)")
    action.add_argument(
        "--receiver", type=Path, required=True, metavar="FILE", help="the receiver's configuration, at the centre"
    )
    action.add_argument(
        "--enrol", required=True, metavar="URL", help="the receiver's address, as the unit reaches it: https://..."
    )
    action.add_argument(
        "--ca", type=Path, required=True, metavar="FILE", help="the CA that vouches for the receiver (PEM)"
    )
    action.add_argument("--package", type=Path, required=True, metavar="FILE", help="boxman's Debian package")
    action.add_argument(
        "--ssh-key", type=Path, metavar="FILE", help="the public key of who may come in (default: nobody)"
    )
    action.add_argument("--days", type=int, default=DAYS, help=f"how long the card may be used (default: {DAYS})")
    action.add_argument("--output", type=Path, required=True, metavar="DIR", help="a new folder for the files")
    action.set_defaults(start=_start)


def _start(chosen: argparse.Namespace) -> int:
    return make_card(
        chosen.config,
        chosen.receiver,
        chosen.enrol,
        chosen.ca,
        chosen.package,
        chosen.ssh_key,
        chosen.days,
        chosen.output,
    )


def make_card(
    config: Path, receiver: Path, address: str, ca: Path, package: Path, ssh_key: Path | None, days: int, output: Path
) -> int:
    """Write the files and let their code enrol one unit. Raises CommandFailed; then no code is good that was not."""
    if not 1 <= days <= _DAYS_MAX:
        raise CommandFailed(f"--days: should be from 1 to {_DAYS_MAX}")
    configuration, enrolled = _to_hand_out(config)
    store = _store(receiver, configuration)
    try:
        address = check_address(address)
    except ValueError as error:
        raise CommandFailed(f"--enrol: {error}") from error
    try:
        check_ca(ca)
    except ValueError as error:
        raise CommandFailed(f"--ca: {error}") from error
    technician = None if ssh_key is None else _public_ssh_key(ssh_key)
    _check_package(package)
    site, table, code = configuration.site, configuration.table, new_code()
    try:
        output.mkdir(mode=0o700)
        folder = output / card_files.CARD_FOLDER
        folder.mkdir(mode=0o700)
        shutil.copyfile(package, folder / card_files.PACKAGE_FILE)
        files = {
            card_files.ENROLMENT_FILE: card_files.enrolment_file(address, site, table, code),
            card_files.CA_FILE: ca.read_text(encoding="utf-8"),
            card_files.SERVICE: card_files.service(),
            card_files.SCRIPT: card_files.script(technician is not None),
        }
        write_files(folder, files)
        beside = {
            "user-data": card_files.user_data(site, table, technician),
            "meta-data": card_files.meta_data(site, table, hash_of(code)),
        }
        write_files(output, beside)
        sync_folder(output.absolute().parent)
    except FileExistsError as error:
        raise CommandFailed(f"--output: {output} is there already; name a new folder") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{output}: the card cannot be written ({error})") from error
    _let_enrol(store, hash_of(code), configuration, int(time.time()) + days * _DAY_S, enrolled)
    if configuration.virtual:
        print(f'boxman: {config}: a virtual table: it has hardware.pins = "mock", or none', file=sys.stderr)
    print(f"{output}: a card for table {table} of {site}, good for {days} days and one unit")
    print("copy what is in it to the boot partition of a fresh card")
    return 0


def _check_package(path: Path) -> None:
    """Raises CommandFailed for what is no Debian package (deb(5)); what is in it the unit itself finds out."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(_PACKAGE_BEGINS))
    except OSError as error:
        raise CommandFailed(
            f"--package: {path} cannot be read ({error.strerror}); make package makes boxman's Debian package"
        ) from error
    if begin != _PACKAGE_BEGINS:
        raise CommandFailed(f"--package: {path} is no Debian package; make package makes boxman's")


def _to_hand_out(config: Path) -> tuple[Configuration, Enrolled]:
    """What the unit will get. Raises CommandFailed."""
    # Of a fresh system nothing is known that a configuration could name.
    with tempfile.TemporaryDirectory() as nothing:
        configuration, texts = take_along(config, System(Path(nothing)))
    if configuration.data_partition is not None:
        raise CommandFailed(
            f"{config}: system.data_partition: a card makes no partition; leave it out, and set the unit up by hand"
        )
    if configuration.proposals_token is not None:
        raise CommandFailed(
            f"{config}: proposals.token_file: a secret is not handed out; leave it out, and set it on the unit"
        )
    text = texts.pop(CONFIGURATION)
    files = {PurePosixPath(path).name: its_text for path, its_text in texts.items()}
    for name in files:
        if not is_file_name(name) or name == PurePosixPath(CONFIGURATION).name:
            raise CommandFailed(f"{config}: {name}: such a name a file beside the configuration cannot have on a unit")
    enrolled = Enrolled(text, files)
    if len(answer_bytes(enrolled)) > ANSWER_BYTES_MAX:
        raise CommandFailed(f"{config}: with the files that it names it has more than {ANSWER_BYTES_MAX} bytes")
    return configuration, enrolled


def _store(receiver: Path, configuration: Configuration) -> Path:
    """Where the receiver looks codes up. Raises CommandFailed."""
    try:
        its: ReceiverConfiguration = read_receiver_configuration(receiver)
    except BadFile as error:
        raise CommandFailed(str(error)) from error
    if its.enrolments is None:
        raise CommandFailed(f"{receiver}: receiver.enrolments is missing; it should name the store of enrolments")
    if any((table.site, table.name) == (configuration.site, configuration.table) for table in its.tables):
        raise CommandFailed(
            f"{receiver}: table {configuration.table} of {configuration.site} has a unit already; a card makes a "
            "new table's, and boxman table adopt takes a table over"
        )
    return its.enrolments


def _public_ssh_key(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    if not _SSH_KEY.fullmatch(text):
        raise CommandFailed(f"--ssh-key: {path} should hold one public key for SSH, such as id_ed25519.pub")
    return text


def _let_enrol(store: Path, code_hash: str, configuration: Configuration, expires_s: int, enrolled: Enrolled) -> None:
    try:
        with closing(EnrolmentStore(store)) as enrolments:
            enrolments.add(code_hash, configuration.site, configuration.table, expires_s, enrolled)
    except StoreError as error:
        raise CommandFailed(f"the card's code could not be kept, so it is void: {error}") from error
