"""`boxman provision ready`: whether a new unit's terminal has passed its self-test, so that it may be commissioned."""

import argparse
from pathlib import Path
from typing import Any

from provisioning.command_failed import CommandFailed
from provisioning.install.places import CONFIGURATION
from provisioning.standard_streams import visible
from provisioning.status_command import asked, not_understood


def add_ready_action(action: argparse.ArgumentParser) -> None:
    """Say what `ready` takes."""
    action.add_argument(
        "--config",
        type=Path,
        default=Path(CONFIGURATION),
        metavar="FILE",
        help="the table's configuration (default: the one that is in place)",
    )
    action.set_defaults(start=lambda chosen: show_ready(chosen.config))


def show_ready(config: Path) -> int:
    """Print that it is, with what the self-test warns of. Raises CommandFailed where it is not."""
    address, hardware = asked(config, "hardware")
    try:
        lines = ready_lines(hardware["self_test"])
    except (KeyError, TypeError) as error:
        raise not_understood(address) from error
    print("\n".join(map(visible, lines)))
    return 0


def ready_lines(tested: dict[str, Any] | None) -> list[str]:
    """What is printed of the self-test at a terminal's start. Raises CommandFailed where it is not passed."""
    if tested is None:
        raise CommandFailed("not ready yet: the self-test is not over")
    if not tested["passed"]:
        raise CommandFailed(f"not ready: {'; '.join(_said(tested, 'failed'))}")
    return ["ready to commission", *(f"warning: {words}" for words in _said(tested, "warning"))]


def _said(tested: dict[str, Any], result: str) -> list[str]:
    return [f"{check['check']}: {check['said']}" for check in tested["checks"] if check["result"] == result]
