"""Play scenario files on the runtime that runs this: arguments are the project's folder and the files."""

import json
import sys


def main(root: str, files: "list[str]") -> int:
    sys.path.insert(0, root)
    from engine_lite import rule_sets
    from engine_lite.scenario import play, prepare

    held = True
    for name in files:
        with open(name, encoding="utf-8") as file:  # noqa: PTH123 - MicroPython has no pathlib
            scenario = json.load(file)
        held = play(prepare(scenario, rule_sets.load), print, print) and held
    return 0 if held else 1


sys.exit(main(sys.argv[1], sys.argv[2:]))
