"""The option `--data`, which most commands have."""

import argparse
from pathlib import Path
from typing import Final

DATA: Final = Path("data")
"""Where a table's data are when nobody says so."""


def add_data_option(command: argparse.ArgumentParser) -> None:
    """Let a command take the table's data folder, as `data`."""
    command.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help=f"the table's data folder (default: {DATA})"
    )
