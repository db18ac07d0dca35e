"""The reference of all keys, as a Markdown table and as a JSON Schema for editors."""

import json
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from provisioning.configuration import Configuration
from provisioning.configuration_keys import SECTIONS, Key, Section


def default_of(key: Key) -> object:
    """What holds without the key; None: no value of its own, see `Key.without`."""
    return None if key.held.startswith("wiring.pins.") else attrgetter(key.held)(Configuration())


def toml(value: object) -> str:
    """A text, a number or a list of texts as it is written in TOML."""
    # JSON's escapes are TOML's as well.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def reference() -> str:
    """A Markdown table for every section."""
    return "\n".join(line for section in SECTIONS for line in _section(section))


def schema() -> dict[str, Any]:
    """The JSON Schema of a table's configuration. It knows no rule set's options, and no contradictions of two keys."""
    sections = {
        section.name: {
            "type": "object",
            "description": section.about,
            "properties": {key.name: _described(key) for key in section.keys},
            "additionalProperties": False,
        }
        for section in SECTIONS
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of a boxman table",
        "type": "object",
        "properties": sections,
        "additionalProperties": False,
    }


def _described(key: Key) -> dict[str, Any]:
    default = default_of(key)
    return {"description": key.about} | key.form.schema() | ({} if default is None else {"default": default})


def _section(section: Section) -> Iterator[str]:
    yield f"`[{section.name}]`: {section.about}."
    yield ""
    if section.name == "wiring":
        # Nearly a hundred signals: those of one kind are one row.
        yield "| signals | parts, the first by default |"
        yield "|---|---|"
        by_parts: dict[str, list[str]] = {}
        for key in section.keys:
            by_parts.setdefault(key.about, []).append(f"`{key.name}`")
        for about, names in by_parts.items():
            yield f"| {', '.join(names)} | {about.removeprefix('part: ')} |"
    else:
        yield "| key | what it is | may be | without it |"
        yield "|---|---|---|---|"
        for key in section.keys:
            default = default_of(key)
            without = key.without if default is None else f"`{toml(default)}`"
            yield f"| `{key.name}` | {key.about} | {key.form.right} | {without} |"
    yield ""
