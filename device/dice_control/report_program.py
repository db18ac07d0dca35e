"""Makes one report of a table's dice and writes it to standard output: a program of its own, so that no table waits.

    python -m device.dice_control.report_program JOURNAL log|status|report|fairness [--day DAY] [--language L]

`fairness` writes JSON, the others a page. The command line of provisioning writes the same pages, and more.
"""

import argparse
import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from device.dice_control.day_report import DayPruned, check_not_pruned, day_report, gaming_day
from device.dice_control.dice_history import History, UnreadableEvent, history
from device.dice_control.fairness import FACES, TOTALS, Comparison, compare_faces, compare_totals
from device.dice_control.report_kinds import FAIRNESS, KINDS, REPORT, STATUS
from device.dice_control.report_page import log_page, report_page, status_page
from device.dice_control.report_texts import fairness_text
from device.dice_control.report_words import Words
from device.dice_control.row_texts import moment_text
from device.give_way import give_way
from device.journal import JournalError, JournalReader
from device.languages.languages import LANGUAGES, language_of
from device.recovery import beginning

# Below everything that a player waits for.
NICE = 10


def fairness_view(found: History, words: Words) -> dict[str, Any]:
    """Of each set that rolled: how often each face and total came, what is expected, and what that says."""
    sets = []
    for name, count in found.rolls.items():
        faces, totals = compare_faces(count.faces), compare_totals(count.totals)
        *_, verdict = fairness_text(count, words)
        sets.append(
            {
                "set": name,
                "rolls": count.rolls,
                "faces": _by_label(faces.observed, FACES),
                "totals": _by_label(totals.observed, TOTALS),
                "expected": {"faces": _expected(faces, FACES), "totals": _expected(totals, TOTALS)},
                "text": fairness_text(count, words),
                "verdict": verdict,
                "advisory": count.mark_now() is not None,
            }
        )
    return {"sets": sets, "rolls_of_no_set": found.rolls_of_no_set}


def _by_label(counts: tuple[int, ...], labels: tuple[int, ...]) -> dict[str, int]:
    return {str(label): count for label, count in zip(labels, counts, strict=True)}


def _expected(comparison: Comparison, labels: tuple[int, ...]) -> dict[str, float]:
    return {str(label): round(due, 2) for label, due in zip(labels, comparison.expected, strict=True)}


def made(kind: str, found: History, day: date | None, language: str | None) -> str:
    """The report of a kind, of a gaming day or, of the log, of the whole journal."""
    words = Words(language or language_of(found.rules))
    if kind == FAIRNESS:
        return json.dumps(fairness_view(found, words))
    if kind == STATUS:
        return status_page(found, words, None)
    if day is None:
        return log_page(found, found.rows, words("whole_journal"), words, None)
    chosen = gaming_day(day)
    if kind == REPORT:
        return report_page(found, day_report(found, chosen), words, None)
    check_not_pruned(found, chosen.ends, chosen)
    period = words("from_to", start=moment_text(chosen.starts, None), end=moment_text(chosen.ends, None))
    rows = [row for row in found.rows if chosen.starts <= row.at < chosen.ends]
    return log_page(found, rows, period, words, None)


def main() -> int:
    """Make the report; exit status 1 and one line on standard error where it cannot be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("journal", type=Path)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--day", type=date.fromisoformat)
    parser.add_argument("--language", choices=LANGUAGES)
    chosen = parser.parse_args()
    give_way(NICE)
    try:
        with JournalReader(chosen.journal) as reader:
            found = history(reader.events(), beginning(reader)[0])
        report = made(chosen.kind, found, chosen.day, chosen.language)
    except (JournalError, UnreadableEvent, DayPruned, ValueError, OverflowError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    sys.stdout.buffer.write(report.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
