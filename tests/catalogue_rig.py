"""The words that the pages ask for: to hold the catalogues of device/languages against, and to bring them up to date.

    python -m tests.catalogue_rig

adds what a page asks for and a catalogue has not (without words yet), and takes out what no page asks for any more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import SEEK_END, BytesIO
from os import getpid
from pathlib import Path

from babel.messages.catalog import Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from device.languages.catalogues import BET, SAID, file_of
from device.languages.languages import LANGUAGES

ROOT = Path(__file__).parent.parent
TRANSLATED = [language for language in LANGUAGES if language != "en"]
# The functions of translation.js: which of their parts are words, and which a context ("c").
_KEYWORDS = {"t": None, "tn": (1, 2), "tc": ((1, "c"), 2)}
PLURALS = {"en": "nplurals=2; plural=(n != 1);", "zh-Hant": "nplurals=1; plural=0;"}


@dataclass(frozen=True)
class Asked:
    """A message that a page asks for: its English words (for one, and for others where it counts), and where."""

    english: tuple[str, ...]
    context: str | None
    place: str


def scripts() -> list[Path]:
    """The scripts of all pages."""
    return sorted(path for layer in ("device", "provisioning") for path in (ROOT / layer).rglob("*.js"))


def extracted(path: Path) -> Iterator[Asked]:
    """The calls for words in a script, in their order."""
    with path.open("rb") as file:
        for line, words, _, context in extract("javascript", file, keywords=_KEYWORDS):
            english = words if isinstance(words, tuple) else (words,)
            yield Asked(english, context, f"{path.relative_to(ROOT)}:{line}")


def asked() -> Iterator[Asked]:
    """What the pages ask for, each message once."""
    seen = set()
    for path in scripts():
        for one in extracted(path):
            if (one.english, one.context) not in seen:
                seen.add((one.english, one.context))
                yield one


def messages(language: str) -> list[Message]:
    """All messages of a catalogue but its head."""
    with file_of(language).open("rb") as file:
        return [message for message in read_po(file) if message.id]


def is_of_the_terminal(context: str | None) -> bool:
    """Whether a message is none of a page's scripts: a sentence of the terminal, or the name of a bet."""
    return context is not None and (context in (SAID, BET) or context.startswith(f"{BET} "))


def write_catalogue(language: str, found: list[Message]) -> None:
    """Write a catalogue: messages of the pages in order of their words, then sentences and bets."""
    head = (
        f'msgid ""\nmsgstr ""\n"Language: {file_of(language).stem}\\n"\n'
        f'"Plural-Forms: {PLURALS.get(language, PLURALS["en"])}\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    ).encode()
    catalogue = read_po(BytesIO(head))
    for message in sorted(found, key=lambda one: (is_of_the_terminal(one.context), one.context or "", str(one.id))):
        catalogue.add(message.id, message.string, context=message.context)
    written = BytesIO(head)
    written.seek(0, SEEK_END)
    write_po(written, catalogue, width=0, no_location=True, omit_header=True)
    # Whoever reads it meanwhile, and writes it again, must not find half of it.
    whole = file_of(language).with_suffix(f".{getpid()}")
    whole.write_bytes(written.getvalue())
    whole.replace(file_of(language))


def update() -> None:
    """Bring every translated catalogue up to what the pages ask for."""
    wanted = list(asked())
    for language in TRANSLATED:
        known = {(message.id, message.context): message for message in messages(language)}
        kept = [message for message in known.values() if is_of_the_terminal(message.context)]
        for one in wanted:
            identity = one.english if len(one.english) > 1 else one.english[0]
            old = known.get((identity, one.context))
            kept.append(Message(identity, "" if old is None else old.string, context=one.context))
        write_catalogue(language, kept)


if __name__ == "__main__":
    update()
