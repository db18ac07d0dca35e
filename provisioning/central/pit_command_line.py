"""The words of `boxman central serve`."""

import argparse
from pathlib import Path

from provisioning.command_failed import CommandFailed


def add_serve_command(parser: argparse.ArgumentParser) -> None:
    """Say what `serve` takes."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="the pit page's configuration (TOML)"
    )
    parser.set_defaults(start=_serve)


def _serve(chosen: argparse.Namespace) -> int:
    """A table has no use for the database's packages, and may lack them."""
    try:
        from provisioning.central.pit_commands import serve
    except ModuleNotFoundError as error:
        raise CommandFailed(f"the package {error.name} is missing; install boxman[archive]") from error
    return serve(chosen.config)
