"""Dataclasses as plain values, the way JSON has them, and back: each value checked against what is annotated."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict


class BadValue(ValueError):
    """A value is not what is annotated; the text names its place and says what it should be."""


def plain(value: Any) -> Any:
    """A copy that holds only dicts, lists and what JSON has no smaller part of."""
    # Written out, because `dataclasses.asdict` takes five times as long, and the table waits meanwhile.
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value):
        return {name: plain(inner) for name, inner in vars(value).items()}
    return value


def build(kind: Any, value: Any, place: str) -> Any:
    """What `plain` was given, of a type as it is annotated, also after a way through JSON. Raises BadValue.

    Knows dataclasses and typed dicts (with every field there, and no other), list, dict, tuples of a fixed length,
    unions, int, str, bool, None, and Any, which is taken as it is. `place` names the value in complaints.
    """
    if kind is Any:
        return value
    if kind in (int, str, bool, NoneType):
        if type(value) is not kind:
            raise BadValue(f"{place}: must be {kind.__name__}, is {type(value).__name__}")
        return value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _build_one_of(arguments, value, place)
    if origin is list:
        return [build(arguments[0], inner, f"{place}[{index}]") for index, inner in enumerate(_list(value, place))]
    if origin is tuple:
        items = _list(value, place)
        if len(items) != len(arguments):
            raise BadValue(f"{place}: must have {len(arguments)} parts, has {len(items)}")
        return tuple(build(inner, items[index], f"{place}[{index}]") for index, inner in enumerate(arguments))
    if origin is dict:
        return {
            _key(arguments[0], key, place): build(arguments[1], inner, f"{place}.{key}")
            for key, inner in _dict(value, place).items()
        }
    hints = _hints(kind)
    given = _dict(value, place)
    if hints.keys() != given.keys():
        raise BadValue(f"{place}: {', '.join(sorted(map(str, hints.keys() ^ given.keys())))} missing or too much")
    built = {name: build(inner, given[name], f"{place}.{name}") for name, inner in hints.items()}
    return built if is_typeddict(kind) else kind(**built)


# Annotations are looked up once for a type, not once for each of thousands of dice.
@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _build_one_of(kinds: tuple[Any, ...], value: Any, place: str) -> Any:
    if value is None and NoneType in kinds:
        return None
    complaints = []
    for kind in kinds:
        if kind is not NoneType:
            try:
                return build(kind, value, place)
            except BadValue as complaint:
                complaints.append(str(complaint))
    raise BadValue("; or ".join(complaints))


def _list(value: Any, place: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise BadValue(f"{place}: must be a list, is {type(value).__name__}")
    return value


def _dict(value: Any, place: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise BadValue(f"{place}: must be an object, is {type(value).__name__}")
    return value


def _key(kind: Any, key: Any, place: str) -> Any:
    # JSON has no other keys than texts.
    if kind is int and isinstance(key, str) and key.isdecimal() and str(int(key)) == key:
        return int(key)
    return build(kind, key, f"{place}: a key")
