"""`boxman provision enrol`: a new unit makes its key and gets its configuration for a one-time code.

A power cut may come between any two steps: the same command then goes on. The key stays what it is, the centre answers
the same key again, and the code goes from the card once the configuration is in place.
"""

import argparse
import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.data_folder import DataFolderError, open_data_folder, sync_folder
from device.https_connection import ask, https_client
from device.https_protocol import Answer, check_address
from device.table_key import KEY_FILE_NAME, TableKey, TableKeyError, open_table_key
from device.uplink_protocol import DeliveryError
from provisioning.central.toml_file import NAME, NAME_FORM, BadFile, TomlFile, read_toml
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.data_option import add_data_option
from provisioning.enrolment import BadMessage, Enrolled, enrolment_path, is_code, read_answer, refusal_in, request_body

_STAGING: Final = ".enrolment"
_ANY_STATUS: Final = range(200, 600)


@dataclass(frozen=True)
class EnrolmentFile:
    """What the card says: where to enrol, as which table, with which code, and whom to trust."""

    address: str
    site: str
    table: str
    code: str
    ca: Path


def add_enrol_action(action: argparse.ArgumentParser) -> None:
    """Say what `enrol` takes."""
    action.add_argument(
        "--from", dest="card", type=Path, required=True, metavar="FILE", help="the card's enrolment file (TOML)"
    )
    action.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="where the table's configuration is to be"
    )
    add_data_option(action)
    action.set_defaults(start=lambda chosen: enrol(chosen.card, chosen.config, chosen.data))


def enrol(card: Path, config: Path, data: Path) -> int:
    """Enrol, or go on where it was cut off. Raises CommandFailed."""
    if not card.exists():
        if not config.exists():
            raise CommandFailed(f"{card}: is not there; boxman provision card makes it, at the centre")
        print("enrolled already")
        return 0
    try:
        given = read_toml(card, lambda file: _enrolment_file(file, card.parent))
    except BadFile as error:
        raise CommandFailed(str(error)) from error
    if config.exists():
        configuration = _configuration(config)
        if (configuration.site, configuration.table) != (given.site, given.table):
            raise CommandFailed(f"{config}: is another table's; move it away, or use the card of that table")
    else:
        key = _key(data)
        _put(config, asyncio.run(_asked(given, key)), given)
        print(f"enrolled as table {given.table} of {given.site}, key {key.public}")
    _tidy(config, card, given.ca)
    return 0


def _enrolment_file(file: TomlFile, folder: Path) -> EnrolmentFile:
    top = file.top
    top.check_keys("address", "site", "table", "code", "ca")
    address = top.text("address", "an address like https://central.example:8443")
    try:
        address = check_address(address)
    except ValueError as error:
        top.refuse(f"address {error}")
    code = top.text("code", "a code of 32 letters and digits")
    if not is_code(code):
        # It is not quoted: but for a slip it is a secret.
        top.refuse("code should be a code of 32 letters and digits")
    site, table = (top.matching(name, NAME, NAME_FORM) for name in ("site", "table"))
    return EnrolmentFile(address, site, table, code, folder / top.text("ca", "a file of certificates (PEM)"))


def _key(data: Path) -> TableKey:
    try:
        with open_data_folder(data) as folder:
            return open_table_key(folder.path / KEY_FILE_NAME)
    except (DataFolderError, TableKeyError) as error:
        raise CommandFailed(str(error)) from error


async def _asked(given: EnrolmentFile, key: TableKey) -> Enrolled:
    try:
        async with https_client(given.address, given.ca) as client:
            answered = await ask(
                client,
                key,
                "POST",
                enrolment_path(given.site, given.table),
                body=request_body(given.code),
                headers={"Content-Type": "application/json"},
                good=_ANY_STATUS,
            )
        return _enrolled(answered)
    except DeliveryError as error:
        raise CommandFailed(f"{given.address}: {error}") from error
    except BadMessage as error:
        raise CommandFailed(f"{given.address}: the answer is none of a receiver's: {error}") from error


def _enrolled(answered: Answer) -> Enrolled:
    if answered.status == 404:
        raise BadMessage("no units enrol at this address")
    if answered.status != 200:
        raise DeliveryError(f"the centre refuses: {refusal_in(answered.body)}")
    return read_answer(answered.body)


def _put(config: Path, enrolled: Enrolled, given: EnrolmentFile) -> None:
    """Put the configuration in its place, the files that it names before it. Raises CommandFailed."""
    folder = config.absolute().parent
    staging = folder / _STAGING
    try:
        folder.mkdir(mode=0o750, exist_ok=True)
        # What an earlier attempt left.
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir(mode=0o700)
        for name, text in {**enrolled.files, config.name: enrolled.configuration}.items():
            _write(staging / name, text)
        _check(staging / config.name, given)
        for name in (*enrolled.files, config.name):
            (staging / name).rename(folder / name)
            sync_folder(folder)
        sync_folder(folder.parent)
    except OSError as error:
        raise CommandFailed(f"{folder}: the configuration cannot be written ({error.strerror})") from error


def _check(path: Path, given: EnrolmentFile) -> None:
    """Raises CommandFailed where what the centre has handed out is no configuration of this table, and removes it."""
    try:
        configuration = read_configuration(path)
        fault = None
        if (configuration.site, configuration.table) != (given.site, given.table):
            fault = "the centre's configuration is another table's"
    except ConfigurationError as error:
        fault = f"the centre's configuration cannot be used: {str(error).replace(f'{path.parent}/', '')}"
    if fault is not None:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise CommandFailed(f"{fault}; nothing was kept of it")


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fchmod(file.fileno(), 0o640)
        os.fsync(file.fileno())


def _configuration(path: Path) -> Configuration:
    try:
        return read_configuration(path)
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error


def _tidy(config: Path, card: Path, ca: Path) -> None:
    """With the configuration on the disk, take the code from the card: it is used up anyhow. Raises CommandFailed."""
    try:
        shutil.rmtree(config.absolute().parent / _STAGING, ignore_errors=True)
        sync_folder(config.absolute().parent)
        ca.unlink(missing_ok=True)
        card.unlink()
        sync_folder(card.absolute().parent)
    except OSError as error:
        raise CommandFailed(f"{card}: cannot be removed ({error.strerror})") from error
