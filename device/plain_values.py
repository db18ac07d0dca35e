"""Dataclasses as plain values, the way JSON has them, and back: each value checked against what is annotated."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
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


def build(kind: Any, value: Any, place: str, *, with_defaults: bool = False) -> Any:
    """What `plain` was given, of a type as it is annotated, also after a way through JSON. Raises BadValue.

    Knows dataclasses and typed dicts (with every field there, and no other), list, dict, tuples of a fixed length,
    unions, int, str, bool, None, and Any, which is taken as it is. `place` names the value in complaints.
    `with_defaults`: a field of a dataclass that is missing takes its default, where it has one.
    """
    if kind is Any:
        return value
    if kind in (int, str, bool, NoneType):
        if type(value) is not kind:
            raise BadValue(f"{place}: must be {kind.__name__}, is {type(value).__name__}")
        return value
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _build_one_of(arguments, value, place, with_defaults)
    if origin is list:
        return [
            build(arguments[0], inner, f"{place}[{index}]", with_defaults=with_defaults)
            for index, inner in enumerate(_list(value, place))
        ]
    if origin is tuple:
        items = _list(value, place)
        if len(items) != len(arguments):
            raise BadValue(f"{place}: must have {len(arguments)} parts, has {len(items)}")
        return tuple(
            build(inner, items[index], f"{place}[{index}]", with_defaults=with_defaults)
            for index, inner in enumerate(arguments)
        )
    if origin is dict:
        return {
            _key(arguments[0], key, place): build(arguments[1], inner, f"{place}.{key}", with_defaults=with_defaults)
            for key, inner in _dict(value, place).items()
        }
    hints = _hints(kind)
    given = _dict(value, place)
    wrong = hints.keys() ^ given.keys()
    if wrong and with_defaults and not is_typeddict(kind):
        wrong -= _with_default(kind)
    if wrong:
        raise BadValue(f"{place}: {', '.join(sorted(map(str, wrong)))} missing or too much")
    built = {
        name: build(hints[name], inner, f"{place}.{name}", with_defaults=with_defaults) for name, inner in given.items()
    }
    return built if is_typeddict(kind) else kind(**built)


# Annotations are looked up once for a type, not once for each of thousands of dice.
@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind)


@cache
def _with_default(kind: Any) -> set[str]:
    return {
        field.name for field in fields(kind) if field.default is not MISSING or field.default_factory is not MISSING
    }


def _build_one_of(kinds: tuple[Any, ...], value: Any, place: str, with_defaults: bool) -> Any:
    if value is None and NoneType in kinds:
        return None
    complaints = []
    for kind in kinds:
        if kind is not NoneType:
            try:
                return build(kind, value, place, with_defaults=with_defaults)
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
