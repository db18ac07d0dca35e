"""`boxman provision install` and `uninstall`: a system becomes a table's computer, and what it was before."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from provisioning.card.card_command import add_card_action
from provisioning.card.enrol_command import add_enrol_action
from provisioning.card.ready_command import add_ready_action
from provisioning.command_failed import CommandFailed
from provisioning.install import steps
from provisioning.install.changes import Change, File, changes, shown
from provisioning.install.given_files import take_along
from provisioning.install.places import CONFIGURATION_FOLDER, DATA, RELEASES_FOLDER, UNITS
from provisioning.install.plan import RECORD, SERVICES, Found, begun, taken_back, wanted
from provisioning.install.system import System, check_foreign
from provisioning.install.system_files import USERS
from provisioning.install.writable_root import is_read_only, lasting_root, run_command, writable_root
from provisioning.release.switching import CURRENT, RELEASES
from provisioning.standard_streams import visible

_ROOT = Path("/")
_SYSTEMD_RUNS = Path("/run/systemd/system")


def add_provision_command(provision: argparse.ArgumentParser) -> None:
    """Give the command `boxman provision` its actions."""
    actions = provision.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("install", help="make this system, or the one below a folder, a table's computer")
    action.add_argument(
        "--config", type=Path, metavar="FILE", help="the table's configuration (default: the one that is in place)"
    )
    _add_root(action)
    action.set_defaults(start=lambda chosen: install(chosen.config, chosen.root, chosen.dry_run))
    action = actions.add_parser("uninstall", help="take an installation back; configuration and data stay")
    _add_root(action)
    action.set_defaults(start=lambda chosen: uninstall(chosen.root, chosen.dry_run))
    add_card_action(actions.add_parser("card", help="make the files of a card for a new unit, at the centre"))
    add_enrol_action(actions.add_parser("enrol", help="get a new unit's configuration with the code on its card"))
    add_ready_action(actions.add_parser("ready", help="whether a new unit may be commissioned"))


def _add_root(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--root", type=Path, default=_ROOT, metavar="DIR", help="a folder with another computer's file system"
    )
    action.add_argument("--dry-run", action="store_true", help="show every change and make none")


def install(configuration_path: Path | None, root: Path, dry_run: bool) -> int:
    """Bring the system to what the configuration needs. Raises CommandFailed."""
    system = _system(root, dry_run)
    configuration, given = take_along(configuration_path, system)
    found = system.find(_program(system))
    _check_users(system)
    entries = wanted(configuration, given, found)
    with _lasting(root) as lasting:
        before = {
            path: (lasting if path.startswith("/etc/") else system).read(path, entry) for path, entry in entries.items()
        }
    todo = changes(before, entries)
    check_foreign(todo, found.recorded)
    if configuration.data_partition is not None and system.has_data_on_root():
        raise CommandFailed(
            f"{DATA} holds a table's data, which the partition {configuration.data_partition} would hide; "
            "move it there first"
        )
    if found.compositor is None or found.browser is None:
        print("no screen: cage, chromium and polkitd are not all installed", file=sys.stderr)
    if configuration.virtual:
        print('boxman: a virtual table: its configuration has hardware.pins = "mock", or none', file=sys.stderr)
    running = _is_running(root)
    services = [service for service in SERVICES if f"{UNITS}/{service}" in entries]
    if dry_run:
        _show(todo, steps.after_installing(root, services if running else None) if todo else [])
        return 0
    if todo:
        with _to_write(root, found) as (folder, now):
            written = System(folder)
            written.apply(begun(found, entries))
            for change in todo:
                if change.path != RECORD:
                    written.apply(change)
            for command in steps.after_installing(folder, services if running and now else None):
                run_command(*command)
            written.apply(Change(RECORD, None, entries[RECORD]))
        if not now or (running and configuration.data_partition is not None and not is_read_only(root)):
            print("start the computer anew: it is read only from then on, and all changes are in force")
        elif running and any(change.path in found.boot for change in todo):
            print("start the computer anew: what was changed in the boot files is in force from then on")
    print(f"{_counted(todo)} made" if todo else "nothing to change")
    return 0


def uninstall(root: Path, dry_run: bool) -> int:
    """Take all back but configuration and data. Raises CommandFailed."""
    system = _system(root, dry_run)
    found = system.find(PurePosixPath(sys.executable))
    entries = taken_back(found)
    todo = changes({path: system.read(path, entry) for path, entry in entries.items()}, entries)
    running = _is_running(root)
    own = {name: user_id for name, full_name, user_id in _users(system) if full_name == USERS[name]}
    # Whoever takes back what was taken back in part finds no unit to stop.
    units = [service for service in SERVICES if f"{UNITS}/{service}" in found.recorded]
    units = [unit for unit in units if system.read(f"{UNITS}/{unit}", None) is not None]
    stopping = steps.before_taking_back(units, [*own.values()])
    for path in (CONFIGURATION_FOLDER, DATA):
        # Where it leads out, it is told before anything is changed.
        system.inside(path)
    if dry_run:
        _show(todo, [*(stopping if running else []), *steps.after_taking_back(root, running, [*own])] if todo else [])
        return 0
    if todo:
        for command in stopping if running else []:
            run_command(*command)
        with _to_write(root, found) as (folder, now):
            written = System(folder)
            # The record goes when all is done, the commands as well: what broke off is gone on with.
            for change in todo:
                if change.path != RECORD:
                    written.apply(change)
            for path in entries:
                written.tidy(path)
            # Nobody else is to become the owner of what is left, who is made with the same number one day.
            for kept in (written.inside(CONFIGURATION_FOLDER), system.inside(DATA)):
                _give_to_root(kept)
            for command in steps.after_taking_back(folder, running and now, [*own]):
                run_command(*command)
            # userdel removes the group of a user only where /etc/login.defs says so.
            for group in _groups_alone(written):
                run_command(*steps.removing("groupdel", folder, running and now, group))
            for change in todo:
                if change.path == RECORD:
                    written.apply(change)
        if not now:
            print("start the computer anew: it is as it was from then on")
    print(f"{_counted(todo)} taken back; {CONFIGURATION_FOLDER} and {DATA} stay" if todo else "nothing to take back")
    return 0


def _counted(todo: Sequence[Change]) -> str:
    return "1 change" if len(todo) == 1 else f"{len(todo)} changes"


def _system(root: Path, dry_run: bool) -> System:
    if not root.is_dir():
        raise CommandFailed(f"{root}: is no folder; it should hold a computer's file system")
    if os.geteuid() != 0 and not dry_run:
        raise CommandFailed("this changes the system; run it as root, or with --dry-run")
    return System(root)


def _program(system: System) -> PurePosixPath:
    """Boxman's own command, as it will be started on the system."""
    folder = PurePosixPath(sys.prefix)
    if folder.parent == PurePosixPath(RELEASES_FOLDER) / RELEASES:
        # Whichever is in force when the terminal is started.
        folder = PurePosixPath(RELEASES_FOLDER) / CURRENT
    program = folder / "bin" / "boxman"
    if not system.real(str(program)).exists():
        raise CommandFailed(f"{system.real(str(program))}: boxman is not there; install it at the same place first")
    if program.parts[1] in ("home", "root"):
        raise CommandFailed(f"{program}: a service cannot run from a person's folder; install boxman below /opt, say")
    return program


def _is_running(root: Path) -> bool:
    return root == _ROOT and _SYSTEMD_RUNS.is_dir()


@contextmanager
def _lasting(root: Path) -> Iterator[System]:
    """What of the system is there after its next start, too: not what was written below /etc into memory."""
    if is_read_only(root):
        with lasting_root() as folder:
            yield System(folder)
    else:
        yield System(root)


@contextmanager
def _to_write(root: Path, found: Found) -> Iterator[tuple[Path, bool]]:
    """The folder to write the system's files in, and whether what is written there is in force at once."""
    if is_read_only(root):
        with writable_root(found.boot_folder) as folder:
            yield folder, False
    else:
        yield root, True


def _show(todo: Iterable[Change], commands: Iterable[steps.Command]) -> None:
    for change in todo:
        for line in shown(change):
            print(visible(line))
    for command in commands:
        print("run", *command)


def _check_users(system: System) -> None:
    """Raises CommandFailed where somebody else has the name of a user that an installation makes."""
    for name, full_name, _ in _users(system):
        if full_name != USERS[name]:
            raise CommandFailed(
                f"/etc/passwd: {name} is there already, and is not boxman's; give that user another name: the services "
                "run as one without rights"
            )


def _users(system: System) -> list[tuple[str, str, str]]:
    """Those of the names that an installation makes which are in /etc/passwd, with full names and numbers."""
    return [(line[0], line[4], line[2]) for line in _lines(system, "/etc/passwd") if line[0] in USERS and len(line) > 4]


def _groups_alone(system: System) -> list[str]:
    """Those which are in /etc/group and nobody's of that name."""
    people = {line[0] for line in _lines(system, "/etc/passwd")}
    return [line[0] for line in _lines(system, "/etc/group") if line[0] in USERS and line[0] not in people]


def _lines(system: System, path: str) -> list[list[str]]:
    there = system.read(path, None)
    return [line.split(":") for line in there.text.splitlines()] if isinstance(there, File) else []


def _give_to_root(folder: Path) -> None:
    if folder.is_dir():
        for parent, folders, files in os.walk(folder):
            for name in (".", *folders, *files):
                os.lchown(Path(parent) / name, 0, 0)
