"""Answers one question of `device.journal_query`: `python -m device.journal_query_program JOURNAL QUESTION`.

QUESTION is a JSON object with `ask` and what it needs. The answer is JSON, or the lines of a file. Exit status 1, and
one line on standard error, where there is no answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

from device import journal_query
from device.give_way import give_way
from device.journal import JournalError, JournalReader
from device.journal_query import Filter, NoAnswer

# Below everything that a player waits for.
NICE = 10


def main() -> int:
    """Answer the question that the command line holds."""
    give_way(NICE)
    question = json.loads(sys.argv[2])
    try:
        with JournalReader(Path(sys.argv[1])) as reader:
            for text in _answer(reader, question):
                sys.stdout.write(text)
    except (JournalError, NoAnswer) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _answer(reader: JournalReader, question: dict[str, Any]) -> "list[str] | Any":
    base = reader.base()
    first = 1 if base is None else base.seq + 1
    before = min(question.get("before") or reader.last_seq + 1, reader.last_seq + 1)
    match question["ask"]:
        case "search":
            return [json.dumps(journal_query.search(reader.read, first, before, Filter(**question["filter"])))]
        case "sessions":
            return [json.dumps(journal_query.sessions(reader.read, first, before, question["number"]))]
        case "settle_again":
            return [json.dumps(journal_query.settle_again(reader.read, first, question["seq"]))]
    journal_query.check_opening(reader.read, question["opened_seq"])
    match question["ask"]:
        case "shooters":
            return [json.dumps(journal_query.shooters(reader.read, question["opened_seq"]))]
        case "events":
            return (line + "\n" for line in journal_query.session_lines(reader.read, question["opened_seq"]))
        case "scenario":
            return [journal_query.session_scenario(reader.read, question["opened_seq"])]
    raise NoAnswer(f"{question['ask']} is no question")


if __name__ == "__main__":
    sys.exit(main())
