"""The questions that a new configuration needs answered, and the file that is made of the answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine_lite import rule_sets
from provisioning.configuration import ConfigurationError, parse_configuration
from provisioning.configuration_forms import Texts, Whole
from provisioning.configuration_keys import SECTIONS, Key, find_key
from provisioning.configuration_reference import default_of, toml

Answers = Mapping[tuple[str, str], object]

# What stands at the head of the file.
_HEAD = """\
# The configuration of one table. "boxman config check FILE" says whether it is sound, "boxman config show FILE" what
# is in force and where it comes from. Where a line begins with #, what it says is what holds without it.
"""
_NOTHING = "-"


@dataclass(frozen=True)
class Question:
    """What is asked for one key. `proposed` is taken for an empty answer; None: then the key is left out."""

    section: str
    key: str
    words: str
    proposed: object | None


def questions(plugged: list[str]) -> tuple[tuple[Question, ...], ...]:
    """All questions, with those together whose answers may contradict each other.

    `plugged` holds the serial numbers of what is plugged in by USB and may be an I/O node.
    """
    node = f"usb:{plugged[0]}" if plugged else None
    node_words = "Port of the I/O node, such as usb:e66058388306c52a"
    if not plugged:
        node_words += "; none is plugged in here: answer /dev/ttyACM0, as a Pi's only one is called"
    return (
        (
            Question("table", "site", "Name of the house", "demo"),
            Question("table", "name", "Name of the table", "craps-1"),
        ),
        (
            Question("table", "rules", f"Rule set ({', '.join(rule_sets.NAMES)}, or a file)", "us-vegas"),
            Question("table", "unit", "Smallest chip unit", 1),
            Question("table", "min", "Lowest bet, in chip units", 5),
            Question("table", "max", "Highest bet, in chip units", 5000),
        ),
        (
            Question("hardware", "pins", "Pins: lgpio on a Raspberry Pi, mock for a virtual table", "lgpio"),
            Question("hardware", "node", node_words, node),
        ),
        (
            Question("uplink", "servers", "NATS servers, with commas between them", None),
            Question("uplink", "https", "Address of a central system by HTTPS", None),
            Question("uplink", "ca", "File of the site's certificates (PEM)", None),
        ),
        (
            Question("system", "data_partition", "Partition for the table's data, such as LABEL=boxman", None),
            Question("system", "time_servers", "NTP servers, with commas between them", None),
        ),
    )


def ask(
    groups: tuple[tuple[Question, ...], ...], path: Path, listen: Callable[[str], str], say: Callable[[str], None]
) -> Answers:
    """Ask until the answers make a sound configuration in the file `path`; `listen` gets a prompt and returns a line.

    What is wrong is said, and its group asked again.
    """
    answers: dict[tuple[str, str], object] = {}
    for group in groups:
        while True:
            given = {(one.section, one.key): _answer(one, listen, say) for one in group}
            both = answers | {place: value for place, value in given.items() if value is not None}
            try:
                parse_configuration(file_of(both), path)
            except ConfigurationError as error:
                say(str(error))
            else:
                answers = both
                break
    return answers


def _answer(question: Question, listen: Callable[[str], str], say: Callable[[str], None]) -> object | None:
    form = find_key(question.section, question.key).form
    proposed = ", ".join(question.proposed) if isinstance(question.proposed, list) else question.proposed
    while True:
        typed = listen(f"{question.words} [{_NOTHING if proposed is None else proposed}]: ").strip()
        if not typed:
            return question.proposed
        if typed == _NOTHING:
            return None
        value: object = typed
        if isinstance(form, Whole) and typed.isascii() and typed.isdecimal():
            value = int(typed)
        elif isinstance(form, Texts):
            value = [part.strip() for part in typed.split(",")]
        if form.fits(value):
            return value
        say(f"  {question.section}.{question.key} must be {form.right}")


def file_of(answers: Answers) -> str:
    """A commented TOML file with the answers; every other key stands in it as a comment."""
    return "\n".join([_HEAD, *(line for section in SECTIONS for line in _section(section.name, answers))])


def _section(name: str, answers: Answers) -> Iterator[str]:
    section = next(each for each in SECTIONS if each.name == name)
    said = any(place[0] == name for place in answers)
    yield f"# {section.about[0].upper()}{section.about[1:]}."
    # An empty [wiring] would be a table with nothing wired.
    yield f"[{name}]" if said else f"# [{name}]"
    if name == "wiring":
        yield '# lid = { pin = "gpio:2", part = "micro_switch" }'
    else:
        sub_sections = [key for key in section.keys if key.name == "options"]
        for key in (*(key for key in section.keys if key not in sub_sections), *sub_sections):
            yield from _key(name, key, answers)
    yield ""


def _key(section: str, key: Key, answers: Answers) -> Iterator[str]:
    if key.name == "options":
        yield f"# [{section}.{key.name}]  # {key.about}"
        return
    default = default_of(key)
    without = f"; without it: {key.without}" if default is None else ""
    yield f"# {key.about[0].upper()}{key.about[1:]}{without}."
    if (section, key.name) in answers:
        yield f"{key.name} = {toml(answers[section, key.name])}"
    else:
        yield f"# {key.name} = {'' if default is None else toml(default)}".rstrip()
