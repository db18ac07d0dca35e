"""On which line of a TOML file each key stands, which tomllib does not tell."""

import re
import tomllib
from collections.abc import Iterator, Mapping

# A key with all that stands before it: ("wiring", "lid").
Path = tuple[str, ...]

# What may hold a bracket, an equals sign or an end of line that means nothing, and what means something. A closing
# delimiter of three quotes may have two more before it that belong to the string.
_PIECES = re.compile(
    r"""(?s)  \"\"\" (?: \\. | (?!\"\"\")[^\\] )*+ \"{3,5}
            | ''' (?: (?!''') . )*+ '{3,5}
            | \" (?: \\. | [^\"\\\n] )*+ \"
            | ' [^'\n]*+ '
            | \# [^\n]*+
            | [][{}=\n]""",
    re.VERBOSE,
)


def key_lines(text: str) -> dict[Path, int]:
    """The line, from 1, of every section and key in `text`, which tomllib has read without an error."""
    lines: dict[Path, int] = {}
    section: Path = ()
    for number, head in _heads(text):
        if head.startswith("["):
            section = _path(head.lstrip("[").rstrip("]"))
            path = section
        else:
            path = section + _path(head)
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], number)
        lines[path] = number
    return lines


def line_of(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of a key or, where it has none of its own, of the nearest section or key around it."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def _heads(text: str) -> Iterator[tuple[int, str]]:
    """The line and the beginning of every statement: a section in its brackets, or what stands before `=`."""
    begin = depth = 0
    number, line = 1, 1
    end: int | None = None
    # An end of line behind the last statement, which may have none.
    for piece in _PIECES.finditer(text + "\n"):
        said = piece.group()
        if said == "=" and depth == 0 and end is None:
            end = piece.start()
        elif said in ("[", "{"):
            depth += 1
        elif said in ("]", "}"):
            depth -= 1
            if depth == 0 and end is None:
                end = piece.end()
        elif said == "\n" and depth == 0:
            if end is not None:
                yield number, text[begin:end].strip()
            begin, end = piece.end(), None
            number = line + 1
        line += said.count("\n")


def _path(key: str) -> Path:
    """The parts of a key, which may be dotted and quoted."""
    found: object = tomllib.loads(f"{key} = 0")
    parts: list[str] = []
    while isinstance(found, dict):
        ((part, found),) = found.items()
        parts.append(part)
    return tuple(parts)
