"""Wall time is an attribute of events and nothing more: no timeout, hold, debounce or order may depend on it."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What reads the wall clock, by module; and files' times, which are set by it.
READERS = {
    "time": {"time", "time_ns", "clock_gettime", "clock_gettime_ns", "localtime", "gmtime", "ctime", "strftime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}
FILE_TIMES = {"st_mtime", "st_mtime_ns", "st_ctime", "st_ctime_ns", "st_atime", "st_atime_ns"}
ALLOWED = {
    # The clock itself: every stamp and every reading of it.
    ("device/clock.py", "time.time_ns"),
    # Written beside the process number of whoever holds the folder, for people to read; nobody reads it back.
    ("device/data_folder.py", "time.time_ns"),
    # Which file it is, as a number that differs when it was written anew; compared for equality alone.
    ("drivers/virtual_node.py", "st_mtime_ns"),
    ("device/sign_in_desk.py", "st_mtime_ns"),
    ("device/sign_in_desk.py", "st_ctime_ns"),
}


def uses(path: Path) -> Iterator[str]:
    """What a file reads of the wall clock, also under another name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names if alias.name in READERS}
        elif isinstance(node, ast.ImportFrom) and node.module in READERS:
            for alias in node.names:
                if alias.name in READERS[node.module]:
                    yield f"{node.module}.{alias.name}"
                if alias.name in READERS:
                    modules[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        if node.attr in FILE_TIMES:
            yield node.attr
        # Both datetime.now and datetime.datetime.now.
        owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", None)
        name = modules.get(str(owner), owner)
        if node.attr in READERS.get(str(name), ()):
            yield f"{name}.{node.attr}"


def test_only_the_clock_reads_wall_time() -> None:
    files = [path for folder in ("device", "drivers", "engine_lite") for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(files) > 80
    found = {(str(path.relative_to(ROOT)), use) for path in files for use in uses(path)}
    assert found == ALLOWED


def test_each_way_to_read_it_is_found(tmp_path: Path) -> None:
    file = tmp_path / "sly.py"
    for text, use in (
        ("import time\nuntil = time.time() + 5", "time.time"),
        ("import time as clock\nclock.time_ns()", "time.time_ns"),
        ("from time import time", "time.time"),
        ("from datetime import datetime\ndatetime.now()", "datetime.now"),
        ("import datetime\ndatetime.datetime.now()", "datetime.now"),
        ("import datetime as dt\ndt.datetime.utcnow()", "datetime.utcnow"),
        ("from datetime import datetime as moment\nmoment.now()", "datetime.now"),
        ("from datetime import date\ndate.today()", "date.today"),
        ("import os\nos.stat('x').st_mtime", "st_mtime"),
    ):
        file.write_text(text)
        assert use in set(uses(file)), text
    file.write_text("import time\ntime.monotonic()\ntime.sleep(1)\nself.now()\n")
    assert set(uses(file)) == set()
