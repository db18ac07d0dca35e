"""The command `boxman`: its words, and what each of them starts."""

import argparse
import sys
from pathlib import Path

from provisioning.settle import settle


class CommandFailed(Exception):
    """A command that cannot go on: one line for the person who typed it."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        status: int = chosen.start(chosen)
    except CommandFailed as failed:
        print(f"boxman: {failed}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output has gone, such as `head`; nothing is left to say and nobody to say it to.
        sys.stderr.close()
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="boxman", description="The terminal at the boxman's position of a craps table."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("settle", help="play scenario files through the settlement core")
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument(
        "--rules", metavar="NAME_OR_FILE", help="a rule set, or a file of one, in place of the files' own"
    )
    command.set_defaults(start=lambda chosen: settle(chosen.files, chosen.rules))
    return parser


if __name__ == "__main__":
    sys.exit(main())
