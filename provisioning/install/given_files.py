"""The configuration that an installation takes along, with the files that it names beside it."""

import tomllib
from pathlib import Path, PurePosixPath

from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.install.changes import File
from provisioning.install.places import CONFIGURATION, CONFIGURATION_FOLDER
from provisioning.install.plan import RECORD
from provisioning.install.system import System


def take_along(path: Path | None, system: System) -> tuple[Configuration, dict[str, str]]:
    """The configuration in the file `path`, and all texts by the path that they get in the system.

    None: the configuration that the system has, which may have been changed by hand. Raises CommandFailed.
    """
    if path is None:
        path = system.real(CONFIGURATION)
        if not path.exists():
            raise CommandFailed(f"{path}: there is no configuration yet; name one with --config")
    try:
        configuration = read_configuration(path)
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error
    return configuration, _texts(path, system)


def _texts(path: Path, system: System) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    texts = {CONFIGURATION: text}
    rules = data.get("table", {}).get("rules", "")
    for key, named in (("table.rules", rules if rules.endswith(".json") else ""), ("uplink.ca", _ca(data))):
        if not named:
            continue
        place = PurePosixPath(named)
        if place.is_absolute():
            if not isinstance(system.read(named, None), File):
                raise CommandFailed(
                    f"{path}: {key}: {named} is not on the system; name a file beside the configuration"
                )
        elif len(place.parts) != 1:
            raise CommandFailed(f"{path}: {key}: {named} must be a file beside the configuration, in the same folder")
        elif f"{CONFIGURATION_FOLDER}/{place}" in (CONFIGURATION, RECORD):
            raise CommandFailed(f"{path}: {key}: {named} is the name of another file on a table's computer; rename it")
        else:
            texts[f"{CONFIGURATION_FOLDER}/{place}"] = _text(path.parent / named, f"{path}: {key}")
    return texts


def _text(path: Path, named_by: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{named_by}: {path} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{named_by}: {path} is no UTF-8 text (byte {error.start})") from error


def _ca(data: dict[str, dict[str, str]]) -> str:
    return data.get("uplink", {}).get("ca", "")
