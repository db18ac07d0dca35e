"""Play scenario files on the runtime that runs this: arguments are the project's folder and the files.

MicroPython does it as a node would: garbage is collected early, so that the small heap does not break up, and a rule
set's bets are parsed one by one.
"""

import gc
import json
import sys

SMALL_HEAP = sys.implementation.name == "micropython"


def main(root: str, files: "list[str]") -> int:
    if hasattr(gc, "threshold"):
        gc.threshold(8192)
    sys.path.insert(0, root)
    from engine_lite import rule_sets
    from engine_lite.rule_file import open_rule_file
    from engine_lite.scenario import play, prepare

    def load_bet_by_bet(name: str) -> "dict[str, object]":
        return open_rule_file(root + "/engine_lite/rule_sets/" + name + ".json")

    held = True
    for name in files:
        with open(name, encoding="utf-8") as file:  # noqa: PTH123 - MicroPython has no pathlib
            scenario = json.load(file)
        held = play(prepare(scenario, load_bet_by_bet if SMALL_HEAP else rule_sets.load), print, print) and held
    return 0 if held else 1


sys.exit(main(sys.argv[1], sys.argv[2:]))
