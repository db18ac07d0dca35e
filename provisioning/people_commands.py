"""`boxman people`: who may sign in at a table, as what, and with which PIN. A PIN is asked for on the terminal only."""

import argparse
import getpass
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from device.people import ROLES
from device.people_file import (
    PEOPLE_FILE,
    Listed,
    PeopleError,
    changing,
    find,
    pin_fault,
    read_people,
    with_person,
    with_pin,
    without,
)
from provisioning.command_failed import CommandFailed
from provisioning.data_option import DATA, add_data_option

Change = Callable[[tuple[Listed, ...]], tuple[Listed, ...]]


def add_people_command(people: argparse.ArgumentParser) -> None:
    """Add the actions of `boxman people`."""
    actions = people.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("add", help="add a person, who signs in once a PIN is set")
    _add_name(action)
    action.add_argument("--role", required=True, choices=ROLES, help="what the person is at this table")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: add_person(chosen.data, chosen.name, chosen.role))
    action = actions.add_parser("pin", help="set a person's PIN, which is asked for twice")
    _add_name(action)
    add_data_option(action)
    action.set_defaults(start=lambda chosen: set_pin(chosen.data, chosen.name))
    action = actions.add_parser("remove", help="remove a person, who is signed out at once")
    _add_name(action)
    add_data_option(action)
    action.set_defaults(start=lambda chosen: remove_person(chosen.data, chosen.name))
    action = actions.add_parser("list", help="the people, their roles, and whether they have a PIN")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: list_people(chosen.data))


def add_person(data: Path, name: str, role: str) -> int:
    """Add a person without a PIN. Raises CommandFailed."""
    _change(data, lambda people: with_person(people, name, role))
    where = [] if data == DATA else ["--data", str(data)]
    print(f"{name} is {role}; set a PIN with: {shlex.join(['boxman', 'people', 'pin', name, *where])}")
    return 0


def set_pin(data: Path, name: str) -> int:
    """Ask for a PIN twice and set it. Raises CommandFailed."""
    if not sys.stdin.isatty():
        raise CommandFailed("a PIN is typed on a terminal, so that it is in no file and no list of processes")
    try:
        person = find(read_people(data / PEOPLE_FILE), name)
    except PeopleError as error:
        raise CommandFailed(str(error)) from error
    pin = getpass.getpass(f"PIN for {person.name}: ")
    if fault := pin_fault(pin):
        raise CommandFailed(fault)
    if getpass.getpass("the same again: ") != pin:
        raise CommandFailed("the two were not the same; nothing is changed")
    _change(data, lambda people: with_pin(people, name, pin))
    print(f"{person.name} has a new PIN; a terminal that runs knows it within a second")
    return 0


def remove_person(data: Path, name: str) -> int:
    """Remove a person. Raises CommandFailed."""
    _change(data, lambda people: without(people, name))
    print(f"{name} is removed")
    return 0


def list_people(data: Path) -> int:
    """Print the people, a line each. Raises CommandFailed."""
    try:
        people = read_people(data / PEOPLE_FILE)
    except PeopleError as error:
        raise CommandFailed(str(error)) from error
    if not people:
        print("nobody yet; add a supervisor with: boxman people add NAME --role supervisor")
    width = max((len(person.name) for person in people), default=0)
    for person in people:
        print(f"{person.name:{width}}  {person.role:10}  {'has a PIN' if person.hash else 'no PIN yet'}")
    return 0


def _change(data: Path, change: Change) -> None:
    try:
        with changing(data) as write:
            write(change(read_people(data / PEOPLE_FILE)))
    except PeopleError as error:
        raise CommandFailed(str(error)) from error


def _add_name(action: argparse.ArgumentParser) -> None:
    action.add_argument("name", metavar="NAME")
