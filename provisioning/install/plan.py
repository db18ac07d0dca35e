"""What an installation puts on a system, and what taking it back leaves: plain values, from plain values."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from drivers.wiring import Wiring
from provisioning.configuration import Configuration
from provisioning.install import boot_lines, read_only, system_files, units
from provisioning.install.changes import Change, Entry, File, Link
from provisioning.install.places import (
    CONFIGURATION_FOLDER,
    KIOSK_USER,
    MARK,
    UNITS,
    WAITING_PAGE,
    WANTED,
)

# The paths of all that was put there, one a line: what another installation left and this one does not want goes.
RECORD = f"{CONFIGURATION_FOLDER}/installed"
SYSUSERS = "/etc/sysusers.d/boxman.conf"
TMPFILES = "/etc/tmpfiles.d/boxman.conf"
TERMINAL_SERVICE = "boxman.service"
KIOSK_SERVICE = f"{KIOSK_USER}.service"
SERVICES = (TERMINAL_SERVICE, KIOSK_SERVICE)
_FORMER = ".boxman"
_UNDER_WAY = "# An installation is under way, or has broken off; the same command goes on."


@dataclass(frozen=True)
class Found:
    """What is found on a system and a plan depends on.

    `program` is boxman's own command. `boot_folder` is where a Raspberry Pi has its config.txt, None on another
    computer. `compositor` and `browser` are the programs for a screen, None where they are not installed, or may not
    have it. `recorded` are the paths that an earlier installation put there; `boot` the texts of the boot files, by
    path.
    """

    program: PurePosixPath
    boot_folder: str | None
    compositor: str | None
    browser: str | None
    recorded: tuple[str, ...]
    boot: Mapping[str, str]


def wanted(configuration: Configuration, given: Mapping[str, str], found: Found) -> dict[str, Entry]:
    """All that is to be on the system, by path; None: nothing, where something was before.

    `given` holds the texts of the configuration and of the files that it names, by the path that they get.
    """
    own = _own(configuration, found)
    record = _record(own, _digest(given))
    gone: dict[str, Entry] = {path: None for path in found.recorded if path not in own}
    texts: dict[str, Entry] = {path: File(text, 0o640) for path, text in given.items()}
    # The record goes before what it tells of, so that an installation that broke off can be taken back as well.
    return gone | {RECORD: File(record, 0o640)} | texts | own | _boot(configuration, found)


def _digest(given: Mapping[str, str]) -> str:
    """Tells a configuration from any other: one that was changed in place is to be taken up as well."""
    text = "".join(f"{path}\n{text}\n" for path, text in sorted(given.items()))
    return f"# Configuration: {hashlib.sha256(text.encode()).hexdigest()}"


def _record(paths: Iterable[str], *more: str) -> str:
    return "\n".join([f"# {MARK}", *more, *sorted(paths), ""])


def begun(found: Found, entries: Mapping[str, Entry]) -> Change:
    """What is put there before anything else of `entries`, and replaced when all is done, the commands as well.

    It names what is to go and what is to come. However much was done when an installation breaks off, the next one has
    this to change, and so runs the commands.
    """
    record = entries[RECORD]
    assert isinstance(record, File)
    paths = {*found.recorded, *recorded_in(record.text)}
    return Change(RECORD, None, File(_record(paths, _UNDER_WAY), record.mode))


def _own(configuration: Configuration, found: Found) -> dict[str, Entry]:
    own: dict[str, Entry] = {
        SYSUSERS: File(system_files.users()),
        TMPFILES: File(system_files.owners(configuration)),
        # Behind 99-com.rules.
        "/etc/udev/rules.d/99-z-boxman.rules": File(system_files.device_names(configuration)),
        "/etc/systemd/journald.conf.d/boxman.conf": File(system_files.log_limits()),
        "/etc/systemd/system.conf.d/boxman.conf": File(system_files.hardware_watchdog()),
        f"{UNITS}/{TERMINAL_SERVICE}": File(units.terminal_unit(found.program, configuration)),
        f"{WANTED}/{TERMINAL_SERVICE}": Link(f"{UNITS}/{TERMINAL_SERVICE}"),
    }
    if units.has_serial_node(configuration):
        own["/etc/modules-load.d/boxman.conf"] = File(system_files.modules())
    if (servers := system_files.time_servers(configuration)) is not None:
        own["/etc/systemd/timesyncd.conf.d/boxman.conf"] = File(servers)
    if found.compositor is not None and found.browser is not None:
        own[f"{UNITS}/{KIOSK_SERVICE}"] = File(
            units.kiosk_unit(found.program, configuration.port, found.compositor, found.browser)
        )
        own[f"{WANTED}/{KIOSK_SERVICE}"] = Link(f"{UNITS}/{KIOSK_SERVICE}")
        own[WAITING_PAGE] = File(units.waiting_page(configuration.port))
    if configuration.data_partition is not None:
        own |= read_only.entries(configuration.data_partition, found.boot_folder)
    return own


def _boot(configuration: Configuration, found: Found) -> dict[str, Entry]:
    if found.boot_folder is None:
        return {}
    config, line = f"{found.boot_folder}/config.txt", f"{found.boot_folder}/cmdline.txt"
    # The table has no pins of its own where it is a virtual one.
    wiring = Wiring({}, configuration.wiring.timing) if configuration.virtual else configuration.wiring
    words = boot_lines.words_for(configuration.data_partition is not None)
    former = found.boot.get(line + _FORMER, found.boot[line])
    now = boot_lines.former_command_line(found.boot[line], former, boot_lines.words_for(True))
    return {
        config: File(boot_lines.with_block(found.boot[config], wiring), None),
        line + _FORMER: File(former, None),
        line: File(boot_lines.command_line(now, words, wiring), None),
    }


def taken_back(found: Found) -> dict[str, Entry]:
    """What is to be on the system when it is as it was; the configuration and the data stay."""
    back: dict[str, Entry] = {}
    if found.boot_folder is not None:
        config, line = f"{found.boot_folder}/config.txt", f"{found.boot_folder}/cmdline.txt"
        back[config] = File(boot_lines.without_block(found.boot[config]), None)
        if (former := found.boot.get(line + _FORMER)) is not None:
            now = boot_lines.former_command_line(found.boot[line], former, boot_lines.words_for(True))
            back |= {line: File(now, None), line + _FORMER: None}
    return back | dict.fromkeys((*found.recorded, RECORD))


def boot_files(folder: str) -> tuple[str, ...]:
    """The files of a Raspberry Pi's boot partition that a plan reads."""
    return f"{folder}/config.txt", f"{folder}/cmdline.txt", f"{folder}/cmdline.txt{_FORMER}"


def recorded_in(record: str) -> tuple[str, ...]:
    """The paths in the text of a record."""
    return tuple(line for line in record.splitlines() if line.startswith("/"))
