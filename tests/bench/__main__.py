"""`make bench`: prints the figures of this machine."""

import os
import platform

from tests.bench.archive_speed import archive_speed
from tests.bench.hardware_speed import hardware_speed
from tests.bench.journal_speed import journal_speed
from tests.bench.outage import outage
from tests.bench.pruning_speed import pruning_speed
from tests.bench.settlement_speed import settlement_speed
from tests.bench.table_speed import table_speed
from tests.bench.terminal_speed import terminal_speed
from tests.bench.touch_to_paint import touch_to_paint
from tests.bench.twelve_hours import twelve_hours


def main() -> None:
    """Run every benchmark and print a table."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for measure in (
        settlement_speed,
        table_speed,
        terminal_speed,
        touch_to_paint,
        twelve_hours,
        hardware_speed,
        journal_speed,
        pruning_speed,
        archive_speed,
        outage,
    ):
        for what, figure in measure():
            print(f"  {what:<76} {figure:>12}")


if __name__ == "__main__":
    main()
