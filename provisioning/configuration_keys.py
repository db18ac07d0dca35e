"""Every key of a table's configuration, in one place: what it means, what it may be, and where its value goes.

Checking, `boxman config`, the reference and the JSON Schema are all made from this. A new key is a `Key` here and an
attribute of `Configuration`, whose default is what holds without the key; a value that must be looked at further than
its form, or be put into another one, is taken in hand by `configuration._taken`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches

from device.alert_conditions import GraceTimes
from device.dice_control import dice_rules
from device.dice_control.reserve_conditions import ReserveTimes
from device.languages.languages import LANGUAGES
from drivers.wiring import INPUTS, LAMPS, SLOTS, Timing, time_bounds_ms
from engine_lite import rule_sets
from provisioning.configuration_forms import AnySection, Flag, Form, OneOf, Text, Texts, Whole, Wire
from provisioning.wiring_parts import parts_for

PIN_LIBRARIES = ("lgpio", "rpigpio", "mock")
NODE_PORT_FORM = "usb: and the node's USB serial number, or the path of a serial port, such as /dev/ttyACM0"

# A path or an address with control characters is a slip, and the operating system knows none with U+0000.
_VISIBLE = r"[^\x00-\x1f\x7f]+"
_NAME = Text("[A-Za-z0-9_-]{1,32}", "1 to 32 letters, digits, - or _")
# Parts of 1 to 63 characters, as names are looked up.
_HOST = r"[0-9A-Za-z-]{1,63}(\.[0-9A-Za-z-]{1,63})*"
# 0.0.0.0 and what is read as that: every address of the machine is no name that a browser asks for.
_HOST_HERE = rf"(?!(0x)?0+(\.(0x)?0+)*$){_HOST}"
# Neither a control character nor a separator of lines, nor what turns the writing around.
_ONE_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_AMOUNT = Whole(1, 10**12)


@dataclass(frozen=True)
class Key:
    """One key. `about` says what it is for.

    `held` is the attribute of `Configuration` that holds it, such as unit or wiring.timing.hold_ms. `without` says what
    holds without the key, where that is no value of its own.
    """

    name: str
    form: Form
    about: str
    held: str
    without: str = ""


@dataclass(frozen=True)
class Section:
    """A section and its keys in the order in which they are told."""

    name: str
    about: str
    keys: tuple[Key, ...]

    def key(self, name: str) -> Key | None:
        """The key of that name; None: there is none."""
        return next((key for key in self.keys if key.name == name), None)


_TIMING = {
    "puck_settle_ms": "the puck rests on its place",
    "puck_lift_ms": "without the puck on any place, before it counts as lifted",
    "button_settle_ms": "a bet-status button is quiet",
    "pick_ms": "a box button waits for its status button",
    "lid_settle_ms": "the lid of the dice reserve, or the door, is quiet",
    "slot_settle_ms": "a place of the dice reserve is quiet",
    "dice_key_settle_ms": "a dice key is quiet",
    "hold_ms": "a dice key is held, for taking back or a new shooter",
    "abandon_ms": "the first die waits for the second",
    "stuck_ms": "a button or key is down before it is told as stuck; longer than hold_ms",
}
_ALERTS = {
    "puck_ms": "the puck does not stand where the game has it",
    "roll_ms": "the puck was moved and no roll was entered",
    "button_ms": "a bet's button does not say what its marker says",
    "explain_ms": "the dice reserve was closed again without a reason",
    "open_max_ms": "the dice reserve is open",
    "slots_ms": "the places of the dice reserve are not as the log has them",
    "closing_count_ms": "the table was closed without a closing count",
}

_PLAYERS_DISPLAY = {
    "enabled": "whether there is such a screen",
    "last_rolls": "show the last rolls",
    "point": "show the point",
    "streak": "show how many rolls and points the shooter's hand has",
    "hot_and_cold": "show how often each total came lately, and which came most and least",
    "pay_table": "show what the bets pay",
}


def _timing_keys() -> Iterator[Key]:
    for time in fields(Timing):
        yield Key(
            time.name,
            Whole(*time_bounds_ms(time.name)),
            f"milliseconds that {_TIMING[time.name]}",
            f"wiring.timing.{time.name}",
        )


def _alert_keys() -> Iterator[Key]:
    for times, held in ((GraceTimes, "grace"), (ReserveTimes, "reserve")):
        for time in fields(times):
            yield Key(
                time.name, Whole(100, 3_600_000), f"milliseconds that {_ALERTS[time.name]}", f"{held}.{time.name}"
            )


def _players_display_keys() -> Iterator[Key]:
    for name, about in _PLAYERS_DISPLAY.items():
        yield Key(name, Flag(), about, f"players_display.{name}")
    text = Text(rf"{_ONE_LINE}{{0,120}}", "one line of at most 120 characters")
    yield Key("house_text", text, "what the house says to its players, always shown", "players_display.house_text")


def _wiring_keys() -> Iterator[Key]:
    for name in (*INPUTS, *LAMPS):
        parts = parts_for(name)
        yield Key(name, Wire("(gpio|node):[0-9]{1,2}", parts), f"part: {', '.join(parts)}", f"wiring.pins.{name}")


SECTIONS = (
    Section(
        "table",
        "which table this is and what is played on it",
        (
            Key("site", _NAME, "the house; part of the uplink's subject", "site"),
            Key("name", _NAME, "the table; part of the uplink's subject", "table"),
            Key(
                "rules",
                Text(_VISIBLE, f"one of {', '.join(rule_sets.NAMES)}, or a rule file that ends in .json"),
                "the rule set",
                "rules",
            ),
            Key(
                "options",
                AnySection("a section, written [table.options]"),
                'options of the rule set, such as vig = "up_front"',
                "options",
                "as the rule set has them",
            ),
            Key("unit", _AMOUNT, "the smallest chip unit that amounts are multiples of", "unit"),
            Key("min", _AMOUNT, "the lowest bet, in chip units", "minimum"),
            Key("max", _AMOUNT, "the highest bet, in chip units", "maximum"),
        ),
    ),
    Section(
        "console",
        "the screens",
        (
            Key(
                "host",
                Text(
                    _HOST_HERE,
                    "one address or name of this machine, such as 10.0.0.7 (not 0.0.0.0, which is all of them)",
                ),
                "the address that the console is at besides 127.0.0.1; it answers to no other one",
                "host",
            ),
            Key("port", Whole(1, 65535), "the port that the console is at", "port"),
            Key(
                "language",
                OneOf(tuple(LANGUAGES)),
                "the language where nobody touches another",
                "language",
                "that of the rule set",
            ),
            Key(
                "sign_out_s",
                Whole(10, 3600),
                "seconds without a touch, after which who has signed in with a PIN is signed out",
                "sign_out_s",
            ),
        ),
    ),
    Section(
        "uplink",
        "the central systems that the journal is delivered to",
        (
            Key(
                "servers",
                Texts(_VISIBLE, 'a list such as ["nats://10.0.0.5:4222"]'),
                "NATS servers, tried in turn",
                "servers",
                "not by NATS; a virtual table without any uplink gets a server of its own",
            ),
            Key("stream", _NAME, "the stream on those servers", "stream"),
            Key(
                "https",
                Text(_VISIBLE, "an address like https://central.example:8443"),
                "a central system that takes events over HTTPS",
                "https",
                "not by HTTPS",
            ),
            Key(
                "ca",
                Text(_VISIBLE, "a file of certificates (PEM)"),
                "the only certificates that vouch for either, beside this file",
                "ca",
                "those that the operating system trusts",
            ),
            Key("retention_days", Whole(1, 36_500), "days for which delivered events are kept here", "retention_days"),
        ),
    ),
    Section(
        "hardware",
        "what the signals come from",
        (
            Key(
                "pins",
                OneOf(PIN_LIBRARIES),
                "the library: lgpio (Pi 5 and current systems), rpigpio (older ones), mock (a virtual table)",
                "pins",
                "mock",
            ),
            Key(
                "node",
                Text(rf"/{_VISIBLE}|usb:[0-9A-Za-z][0-9A-Za-z_.:-]{{0,63}}", NODE_PORT_FORM),
                "the I/O node's port",
                "node",
                "no node; a virtual table gets one of its own",
            ),
        ),
    ),
    Section(
        "wiring",
        "the whole wiring: what is not named is not wired; without this section, as boxman wiring draws it",
        tuple(_wiring_keys()),
    ),
    Section("timing", "how long things take to settle", tuple(_timing_keys())),
    Section("alerts", "how long a thing may be wrong before it is an alert", tuple(_alert_keys())),
    Section(
        "dice",
        "the dice",
        (
            Key("rules", OneOf(dice_rules.NAMES), "whose rules of dice hold", "dice_rules", "those of table.rules"),
            Key(
                "supervisors",
                Texts(r"[^\x00]*", 'a list of different names, such as ["Marta Gil"]'),
                "who alone may act as supervisor",
                "supervisors",
                "anyone but those concerned",
            ),
        ),
    ),
    Section(
        "players_display",
        "the page /players of the console, for a second screen; nothing of anybody's bets is on it",
        tuple(_players_display_keys()),
    ),
    Section(
        "proposals",
        "bets that other programs propose to the boxman, such as a tray that reads chips by their tags",
        (
            Key(
                "token_file",
                Text(_VISIBLE, "the name of a file beside this one, or a path"),
                "the file (mode 600) of the word that they must send, of 32 characters or more",
                "proposals_token",
                "they must run on this machine",
            ),
        ),
    ),
    Section(
        "system",
        "the computer; read by boxman provision install",
        (
            Key(
                "data_partition",
                Text(
                    r"(LABEL|PARTLABEL|UUID|PARTUUID)=[A-Za-z0-9_-]{1,36}|/dev/[A-Za-z0-9_/-]+", "such as LABEL=boxman"
                ),
                "the partition (ext4) that the table's data is on; the rest of the system is then read only",
                "data_partition",
                "none: the system stays writable",
            ),
            Key(
                "time_servers",
                Texts(_HOST, 'a list such as ["10.0.0.1"]'),
                "the NTP servers to set the clock by",
                "time_servers",
                "those that the operating system knows",
            ),
        ),
    ),
)
_BY_NAME: Mapping[str, Section] = {section.name: section for section in SECTIONS}
_SIGNALS = (
    "puck_4 to puck_10 and puck_off, the same with second_puck, box_4 to box_10, on, off, buy, lay, dice_key_1 to "
    "dice_key_6, lid, slot_1 to slot_8, door, and lamp_ with the name of a button or dice key"
)


def find_section(name: str) -> Section | None:
    """The section of that name; None: there is none."""
    return _BY_NAME.get(name)


def find_key(section: str, name: str) -> Key:
    """A key that there is. Raises KeyError for another."""
    key = _BY_NAME[section].key(name)
    if key is None:
        raise KeyError(name)
    return key


def no_section(name: str) -> str:
    """What to say to a section that there is not."""
    near = get_close_matches(name, _BY_NAME, 1)
    return f"[{name}] is no section" + (
        f", did you mean [{near[0]}]?" if near else f"; the sections are {', '.join(_BY_NAME)}"
    )


def no_key(section: Section, name: str) -> str:
    """What to say to a key that there is not."""
    said = f"{section.name}.{name} is no key"
    if section.name == "wiring" and name.removeprefix("slot_").isdecimal():
        return f"{said}; slots are {SLOTS[0]} to {SLOTS[-1]}"
    names = [key.name for key in section.keys]
    if near := get_close_matches(name, names, 1):
        return f"{said}, did you mean {near[0]}?"
    elsewhere = [each.name for each in SECTIONS if each.key(name) is not None]
    if elsewhere:
        return f"{said}, but {elsewhere[0]}.{name} is"
    return f"{said}; the keys are {_SIGNALS if section.name == 'wiring' else ', '.join(names)}"
