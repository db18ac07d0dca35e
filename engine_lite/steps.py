"""The steps of SCENARIOS.md: their shapes, and how each is done on a table.

The same steps come from a scenario file, from the console and from the hardware.
"""

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

    from engine_lite.table import Table

NO_ROLL_REASONS = (
    "off_table",
    "stacked",
    "on_chips",
    "on_rail",
    "in_dice_cup",
    "broken",
    "slid",
    "short",
    "leaning",
    "not_together",
    "called",
)

# The parts of each step that is an object: name, whether it must be there.
_PARTS = {
    "bet": (("player", True), ("kind", True), ("amount", True), ("number", False)),
    "reduce": (("player", True), ("kind", True), ("amount", True), ("number", False)),
    "take_down": (("player", True), ("kind", True), ("number", False)),
    "working": (("player", False), ("kind", False), ("number", False), ("on", True)),
}
NAMES = ("bet", "reduce", "take_down", "working", "shooter", "roll", "no_roll", "correct")
PLAYER_LENGTH_MAX = 40
NOTE_LENGTH_MAX = 200


class StepError(ValueError):
    """A step of the wrong shape: `field` names the part that is wrong, the message what would be right."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field + " " + message)
        self.field = field
        self.message = message


def step_name(step: object) -> str:
    """The one name among NAMES that a step goes by. Raises StepError."""
    if not isinstance(step, dict):
        raise StepError("step", "must be an object")
    found = [name for name in NAMES if name in step]
    if len(found) != 1:
        raise StepError("step", "must be exactly one of " + ", ".join(NAMES))
    for key in step:
        if key != found[0] and not (key == "note" and found[0] == "no_roll"):
            raise StepError(str(key), "is no part of this step")
    return found[0]


def check_step(step: object, values: bool = True) -> str:
    """Check the shape of a step and return its name. Raises StepError.

    With `values` false, amounts, kinds, numbers and dice may be anything: the table itself then refuses them with a
    code, which is what a scenario that expects a refusal is about.
    """
    name = step_name(step)
    assert isinstance(step, dict)
    body = step[name]
    if name in _PARTS:
        _check_parts(name, body, values)
    elif name == "shooter":
        _check_player("shooter", body)
    elif name == "no_roll":
        if body not in NO_ROLL_REASONS:
            raise StepError("no_roll", "must be one of " + ", ".join(NO_ROLL_REASONS))
        if "note" in step:
            note = step["note"]
            if not isinstance(note, str) or len(note) > NOTE_LENGTH_MAX or not _printable(note):
                raise StepError("note", "must be a text of at most " + str(NOTE_LENGTH_MAX) + " characters")
    elif not isinstance(body, list) or len(body) != 2:
        raise StepError(name, "must be a list of two dice")
    elif values:
        for die in body:
            if type(die) is not int or die < 1 or die > 6:
                raise StepError(name, "must be two whole numbers from 1 to 6")
    return name


def _check_parts(name: str, body: object, values: bool) -> None:
    if not isinstance(body, dict):
        raise StepError(name, "must be an object")
    parts = _PARTS[name]
    for key in body:
        if key not in [part[0] for part in parts]:
            raise StepError(name + "." + str(key), "is no part of this step")
    for key, needed in parts:
        field = name + "." + key
        if key not in body:
            if needed:
                raise StepError(field, "is missing")
            continue
        value = body[key]
        if key == "player":
            _check_player(field, value)
        elif key == "kind":
            if not isinstance(value, str) or not _printable(value):
                raise StepError(field, "must be the name of a bet")
        elif key == "on":
            if type(value) is not bool:
                raise StepError(field, "must be true or false")
        elif values and key == "amount":
            if type(value) is not int or value < 1:
                raise StepError(field, "must be a positive whole number")
        elif values and key == "number" and value is not None and type(value) is not int:
            raise StepError(field, "must be a whole number")


def _check_player(field: str, value: object) -> None:
    if not isinstance(value, str) or not value or len(value) > PLAYER_LENGTH_MAX or not _printable(value):
        raise StepError(field, "must be a name of 1 to " + str(PLAYER_LENGTH_MAX) + " printable characters")


def _printable(text: str) -> bool:
    """No control characters, and no halves of surrogate pairs, which are no characters at all."""
    for character in text:
        code = ord(character)
        if code < 32 or 127 <= code < 160 or 0xD800 <= code <= 0xDFFF:
            return False
    return True


def apply_step(table: "Table", step: "dict[str, Any]") -> "list[dict[str, Any]]":
    """Do a step of the right shape on a table; returns the results (empty where a step has none).

    Raises Refused, and then nothing has changed.
    """
    name = step_name(step)
    body = step[name]
    if name == "bet":
        table.place(body["player"], body["kind"], body["amount"], body.get("number"))
    elif name == "reduce":
        return table.reduce(body["player"], body["kind"], body["amount"], body.get("number"))
    elif name == "take_down":
        return table.take_down(body["player"], body["kind"], body.get("number"))
    elif name == "working":
        table.working(body["on"], body.get("player"), body.get("kind"), body.get("number"))
    elif name == "shooter":
        table.set_shooter(body)
    elif name == "roll":
        return table.roll(body[0], body[1])
    elif name == "correct":
        return table.correct(body[0], body[1])
    # A throw that is void settles nothing.
    return []
