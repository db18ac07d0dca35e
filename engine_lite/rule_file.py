"""A rule file on a small heap: the bets are left in the file and parsed one at a time, when they are asked for.

What `open_rule_file` gives serves `compile_rules` as the whole parsed JSON would.
"""

import json

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

CHUNK_BYTES = 256
_QUOTE, _ESCAPE, _OPEN, _CLOSE = 0x22, 0x5C, (0x7B, 0x5B), (0x7D, 0x5D)


def open_rule_file(path: str) -> "dict[str, Any]":
    """The data of a rule file that is known to be sound JSON; its "bets" stay in the file. Raises OSError."""
    spans = _spans(path, 1)
    data = {}
    for key, span in spans.items():
        data[key] = _BetsInFile(path) if key == "bets" else _parse(path, span)
    return data


class _BetsInFile:
    """The object "bets" of a rule file, each value parsed when it is asked for and not kept."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._spans = _spans(path, 2, "bets")

    def keys(self) -> "list[str]":
        return list(self._spans)

    def __iter__(self) -> "Any":
        return iter(self._spans)

    def __contains__(self, kind: str) -> bool:
        return kind in self._spans

    def __getitem__(self, kind: str) -> "Any":
        return _parse(self._path, self._spans[kind])


def _parse(path: str, span: "tuple[int, int]") -> "Any":
    with open(path, "rb") as file:
        file.seek(span[0])
        return json.loads(file.read(span[1] - span[0]))


def _spans(path: str, depth: int, parent: "str | None" = None) -> "dict[str, tuple[int, int]]":
    """Where, in bytes, the values of the object at `depth` stand (below the key `parent`), by key."""
    spans: "dict[str, tuple[int, int]]" = {}
    keys: "list[str]" = [""] * (depth + 1)
    text = bytearray()
    level, start, position = 0, -1, 0
    in_text = escaped = False
    with open(path, "rb") as file:
        while True:
            chunk = file.read(CHUNK_BYTES)
            if not chunk:
                return spans
            for byte in chunk:
                position += 1
                if in_text:
                    if escaped:
                        escaped = False
                    elif byte == _ESCAPE:
                        escaped = True
                    elif byte == _QUOTE:
                        in_text = False
                        continue
                    if start < 0:
                        text.append(byte)
                elif byte == _QUOTE:
                    in_text = True
                    if start < 0:
                        text = bytearray()
                elif byte == 0x3A and start < 0 and level <= depth:
                    keys[level] = bytes(text).decode()
                    if level == depth and (parent is None or keys[level - 1] == parent):
                        start = position
                elif byte in _OPEN:
                    level += 1
                elif byte in _CLOSE or byte == 0x2C:
                    ends = level == depth
                    if start >= 0 and ends:
                        spans[keys[depth]] = (start, position - 1)
                        start = -1
                    if byte != 0x2C:
                        level -= 1
