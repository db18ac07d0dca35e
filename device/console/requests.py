"""What a request to the console may hold: checked part by part, each fault with the field's name."""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from device.bet_entry import PRESSES
from device.corrections import ADJUSTMENTS_MAX, AMOUNT_MAX
from device.dice_control.dice_actions import NOTE_MAX, ActionError, parse_action
from device.dice_control.names import person_fault, text_fault
from device.journal_query import Filter
from device.proposals import BETS_MAX, Proposal
from device.table_terms import TableTerms
from engine_lite import rule_sets
from engine_lite.rule_data import RuleError
from engine_lite.steps import StepError, check_step

BODY_BYTES_MAX = 64 * 1024
# A wrong one may be of any digits; what is none is not tried.
PIN_SENT = re.compile(r"[0-9]{1,8}")
WALL_BEGINS = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}(:[0-9]{2}(:[0-9]{2})?)?)?)?)?")
_COMMAND_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_SOURCE = re.compile(r"[A-Za-z0-9_.-]{1,32}")


class BadRequest(Exception):
    """A request that is malformed: `field` names the part, the message says what would be right."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.field = _encodable(field)
        self.message = _encodable(message)


@dataclass(frozen=True)
class StepCommand:
    """A step, the id under which it is done once, and the last roll that its sender knows of (None: not said)."""

    command: str
    step: dict[str, Any]
    after_roll: int | None


@dataclass(frozen=True)
class TakeBackCommand:
    """Whether the next two dice correct the last roll, and the id under which that is done once."""

    command: str
    correcting: bool


@dataclass(frozen=True)
class AcknowledgeCommand:
    """An alert that somebody takes note of, by name, and the id under which that is done once.

    `raised` is the event that the alert was read from, so that nobody acknowledges what they have not read.
    """

    command: str
    alert: str
    raised: int
    name: str


@dataclass(frozen=True)
class DiceCommand:
    """An action on the dice, and the id under which it is recorded once."""

    command: str
    action: dict[str, Any]


@dataclass(frozen=True)
class PressCommand:
    """A bet that stands and is to be raised, by one of PRESSES, and the id under which it is done once."""

    command: str
    player: str
    kind: str
    number: int | None
    by: str


@dataclass(frozen=True)
class PlayerCommand:
    """A player whose bets are meant, and the id under which it is done once."""

    command: str
    player: str


@dataclass(frozen=True)
class ProposalCommand:
    """A proposal that is taken or left, by its source and id, and the id under which that is done once."""

    command: str
    key: tuple[str, str]


@dataclass(frozen=True)
class SignIn:
    """Who signs in, and with what PIN; it is in no text of this object."""

    name: str
    pin: str = dataclasses.field(repr=False)


@dataclass(frozen=True)
class CorrectionCommand:
    """Another throw in the place of roll `number`; what follows is missing where it is only looked at.

    `reason` why, `at` the event of the game that was looked at, `command` the id under which it is done once.
    """

    number: int
    dice: tuple[int, int]
    reason: str = ""
    at: int = 0
    command: str = ""


@dataclass(frozen=True)
class AdjustmentCommand:
    """What players have got of roll `number` beyond its settlement; the rest as of a correction."""

    number: int
    adjustments: list[dict[str, Any]]
    reason: str
    at: int
    command: str


@dataclass(frozen=True)
class LimitsCommand:
    """New limits of the open table, and the id under which they are set once."""

    minimum: int
    maximum: int
    command: str


@dataclass(frozen=True)
class OpenCommand:
    """The terms to open the table under, and the id under which it is done once."""

    command: str
    terms: TableTerms


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object of a request. Raises BadRequest."""
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise BadRequest("body", "must be JSON") from None
    if not isinstance(value, dict):
        raise BadRequest("body", "must be a JSON object")
    return value


def parse_step(body: dict[str, Any]) -> StepCommand:
    """A request to do a step. Raises BadRequest."""
    check_fields(body, ("id", "step", "after_roll"))
    command = _command(body)
    step = _part(body, "step")
    try:
        check_step(step)
    except StepError as error:
        field = error.field if error.field == "step" else f"step.{error.field}"
        raise BadRequest(field, error.message) from None
    after_roll = body.get("after_roll")
    if after_roll is not None and (type(after_roll) is not int or after_roll < 0):
        raise BadRequest("after_roll", "must be the number of a roll, or null")
    return StepCommand(command, step, after_roll)


def parse_press(body: dict[str, Any]) -> PressCommand:
    """A request to raise a bet that stands. Raises BadRequest."""
    check_fields(body, ("id", "player", "kind", "number", "by"))
    command, by = _command(body), choice(body, "by", lambda value: value in PRESSES, "must be " + " or ".join(PRESSES))
    bet = {name: _part(body, name) for name in ("player", "kind")} | {"number": body.get("number")}
    _check_bet("take_down", bet)
    return PressCommand(command, bet["player"], bet["kind"], bet["number"], by)


def parse_repeat(body: dict[str, Any]) -> PlayerCommand:
    """A request to repeat a player's bets. Raises BadRequest."""
    check_fields(body, ("id", "player"))
    return PlayerCommand(_command(body), parse_player(body))


def parse_player(asked: Mapping[str, Any]) -> str:
    """The player that a request is about. Raises BadRequest."""
    player = asked.get("player")
    try:
        check_step({"shooter": player})
    except StepError as error:
        raise BadRequest("player", error.message) from None
    return str(player)


def parse_proposal(body: dict[str, Any]) -> Proposal:
    """What another program proposes. Raises BadRequest."""
    check_fields(body, ("source", "id", "after_roll", "bets"))
    source, bets = _source(body), _part(body, "bets")
    if not isinstance(bets, list) or not 1 <= len(bets) <= BETS_MAX:
        raise BadRequest("bets", f"must be a list of 1 to {BETS_MAX} bets")
    for index, bet in enumerate(bets):
        _check_bet("bet", bet, f"bets[{index}]")
    return Proposal(source, _command(body), _whole(body, "after_roll", 0), tuple(bets))


def parse_answer(body: dict[str, Any]) -> ProposalCommand:
    """A request to take or to leave a proposal. Raises BadRequest."""
    check_fields(body, ("id", "source", "proposal"))
    proposal = _part(body, "proposal")
    if not isinstance(proposal, str) or not _COMMAND_ID.fullmatch(proposal):
        raise BadRequest("proposal", "must be the id of a proposal")
    return ProposalCommand(_command(body), (_source(body), proposal))


def _source(body: dict[str, Any]) -> str:
    source = _part(body, "source")
    if not isinstance(source, str) or not _SOURCE.fullmatch(source):
        raise BadRequest("source", "must be 1 to 32 letters, digits, ., - or _")
    return source


def _check_bet(step: str, bet: Any, place: str = "") -> None:
    """Whether a bet has the shape that a step of this name wants. Raises BadRequest."""
    try:
        check_step({step: bet})
    except StepError as error:
        _, _, part = error.field.partition(".")
        raise BadRequest(".".join(filter(None, (place, part))) or step, error.message) from None


def parse_take_back(body: dict[str, Any]) -> TakeBackCommand:
    """A request to correct the last roll with the next dice, or not to. Raises BadRequest."""
    check_fields(body, ("id", "correcting"))
    correcting = _part(body, "correcting")
    if type(correcting) is not bool:
        raise BadRequest("correcting", "must be true or false")
    return TakeBackCommand(_command(body), correcting)


def parse_dice(body: dict[str, Any]) -> DiceCommand:
    """A request to record an action on the dice. Raises BadRequest."""
    check_fields(body, ("id", "action"))
    try:
        return DiceCommand(_command(body), parse_action(_part(body, "action")))
    except ActionError as error:
        field = error.field if error.field == "action" else f"action.{error.field}"
        raise BadRequest(field, error.message) from None


def parse_bare(body: dict[str, Any]) -> str:
    """The id of a request that says nothing else. Raises BadRequest."""
    check_fields(body, ("id",))
    return _command(body)


def parse_acknowledge(body: dict[str, Any]) -> AcknowledgeCommand:
    """A request to acknowledge an alert by name. Raises BadRequest."""
    check_fields(body, ("id", "alert", "raised", "name"))
    alert = _part(body, "alert")
    if not isinstance(alert, str):
        raise BadRequest("alert", "must be the id of an alert")
    raised = _part(body, "raised")
    if type(raised) is not int or raised < 1:
        raise BadRequest("raised", "must be the number of the event that raised the alert")
    name = _part(body, "name")
    if fault := person_fault(name):
        raise BadRequest("name", fault)
    return AcknowledgeCommand(_command(body), alert, raised, name)


def parse_open(body: dict[str, Any]) -> OpenCommand:
    """A request to open the table. Raises BadRequest, also where the rule set refuses the options."""
    check_fields(body, ("id", "rules", "options", "unit", "limits"))
    command = _command(body)
    name = _part(body, "rules")
    if name not in rule_sets.NAMES:
        raise BadRequest("rules", "must be one of " + ", ".join(rule_sets.NAMES))
    options = body.get("options", {})
    if not isinstance(options, dict):
        raise BadRequest("options", "must be an object")
    limits = _part(body, "limits")
    if not isinstance(limits, dict):
        raise BadRequest("limits", "must be an object")
    check_fields(limits, ("min", "max"), "limits.")
    terms = TableTerms(
        rule_sets.load(name),
        options,
        _amount(body, "unit"),
        _amount(limits, "min", "limits."),
        _amount(limits, "max", "limits."),
    )
    try:
        rules = terms.check()
    except RuleError as error:
        raise BadRequest("options", str(error)) from None
    except ValueError as error:
        raise BadRequest("limits", str(error)) from None
    # The terms are journaled with every option spelt out, so that a later default changes nothing.
    return OpenCommand(command, TableTerms(terms.rule_set, rules.options, terms.unit, terms.minimum, terms.maximum))


def parse_sign_in(body: dict[str, Any]) -> SignIn:
    """A request to sign in. Raises BadRequest, which does not say the PIN."""
    check_fields(body, ("name", "pin"))
    name, pin = _part(body, "name"), _part(body, "pin")
    if fault := person_fault(name):
        raise BadRequest("name", fault)
    if not isinstance(pin, str) or not PIN_SENT.fullmatch(pin):
        raise BadRequest("pin", "must be 1 to 8 digits")
    return SignIn(name, pin)


def parse_look(body: dict[str, Any]) -> CorrectionCommand:
    """A request to look at what a correction would change. Raises BadRequest."""
    check_fields(body, ("number", "dice"))
    return CorrectionCommand(_whole(body, "number", 1), _dice(body))


def parse_correction(body: dict[str, Any]) -> CorrectionCommand:
    """A request to correct a roll. Raises BadRequest."""
    check_fields(body, ("id", "number", "dice", "reason", "at"))
    return CorrectionCommand(
        _whole(body, "number", 1), _dice(body), _reason(body), _whole(body, "at", 0), _command(body)
    )


def parse_adjustment(body: dict[str, Any]) -> AdjustmentCommand:
    """A request to adjust the settlement of a roll. Raises BadRequest."""
    check_fields(body, ("id", "number", "adjustments", "reason", "at"))
    given = _part(body, "adjustments")
    if not isinstance(given, list) or not 1 <= len(given) <= ADJUSTMENTS_MAX:
        raise BadRequest("adjustments", f"must be a list of 1 to {ADJUSTMENTS_MAX} players and amounts")
    adjustments = []
    for index, one in enumerate(given):
        place = f"adjustments[{index}]"
        if not isinstance(one, dict) or one.keys() != {"player", "amount"}:
            raise BadRequest(place, "must be an object with player and amount")
        try:
            check_step({"shooter": one["player"]})
        except StepError as error:
            raise BadRequest(f"{place}.player", error.message) from None
        amount = one["amount"]
        if type(amount) is not int or amount == 0 or abs(amount) > AMOUNT_MAX:
            raise BadRequest(f"{place}.amount", "must be a whole number other than 0")
        adjustments.append({"player": one["player"], "amount": amount})
    return AdjustmentCommand(
        _whole(body, "number", 1), adjustments, _reason(body), _whole(body, "at", 0), _command(body)
    )


def parse_limits(body: dict[str, Any]) -> LimitsCommand:
    """A request to change the limits of the open table. Raises BadRequest."""
    check_fields(body, ("id", "limits"))
    limits = _part(body, "limits")
    if not isinstance(limits, dict):
        raise BadRequest("limits", "must be an object")
    check_fields(limits, ("min", "max"), "limits.")
    return LimitsCommand(_amount(limits, "min", "limits."), _amount(limits, "max", "limits."), _command(body))


def parse_filter(asked: Mapping[str, str]) -> tuple[Filter, int | None]:
    """The filter of a search in a journal, and the event before which it is to look. Raises BadRequest."""
    check_fields(asked, ("type", "since", "until", "roll", "player", "name", "before", "language"))
    texts: dict[str, Any] = {}
    for name in ("type", "since", "until", "player", "name"):
        value = asked.get(name)
        if value:
            if fault := text_fault(value, NOTE_MAX):
                raise BadRequest(name, fault)
            texts[name] = value
    for name in ("since", "until"):
        if name in texts and not WALL_BEGINS.fullmatch(texts[name]):
            raise BadRequest(name, "must be a time such as 2026-11-29T22:10, UTC")
    roll = parse_number(asked, "roll") if asked.get("roll") else None
    return Filter(roll=roll, **texts), parse_number(asked, "before") if asked.get("before") else None


def parse_number(asked: Mapping[str, str], name: str) -> int:
    """A number of an address's query. Raises BadRequest."""
    value = asked.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) <= 15) or int(value) < 1:
        raise BadRequest(name, "must be a positive whole number")
    return int(value)


def choice(body: dict[str, Any], field: str, allowed: Callable[[Any], bool], message: str) -> Any:
    """A part of a request that must be one of a few values. Raises BadRequest."""
    value = _part(body, field)
    if isinstance(value, (dict, list)) or not allowed(value):
        raise BadRequest(field, message)
    return value


def _part(body: dict[str, Any], field: str, place: str = "") -> Any:
    if field not in body:
        raise BadRequest(place + field, "is missing")
    return body[field]


def check_fields(body: Mapping[str, Any], known: tuple[str, ...], place: str = "") -> None:
    """Raises BadRequest where a request has a field that is not one of those `known`; `place` is where it stands."""
    for field in body:
        if field not in known:
            raise BadRequest(place + field, "is not known; the fields are " + ", ".join(known))


def _amount(body: dict[str, Any], field: str, place: str = "") -> int:
    value = _part(body, field, place)
    if type(value) is not int or not 1 <= value <= 10**12:
        raise BadRequest(place + field, "must be a positive whole number")
    return value


def _command(body: dict[str, Any]) -> str:
    value = _part(body, "id")
    if not isinstance(value, str) or not _COMMAND_ID.fullmatch(value):
        raise BadRequest("id", "must be 8 to 64 letters, digits, - or _")
    return value


def _whole(body: dict[str, Any], field: str, least: int) -> int:
    value = _part(body, field)
    if type(value) is not int or value < least:
        raise BadRequest(field, f"must be a whole number, {least} or more")
    return value


def _dice(body: dict[str, Any]) -> tuple[int, int]:
    try:
        check_step({"roll": _part(body, "dice")})
    except StepError as error:
        raise BadRequest("dice", error.message) from None
    return body["dice"][0], body["dice"][1]


def _reason(body: dict[str, Any]) -> str:
    reason = _part(body, "reason")
    if fault := text_fault(reason, NOTE_MAX):
        raise BadRequest("reason", fault)
    text: str = reason
    return text


def _encodable(text: str) -> str:
    """JSON may name half of a surrogate pair, which is in no answer; it is spelt out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _no_constant(name: str) -> Any:
    raise ValueError(name)
