"""The inputs and lamps of a table in the words of those who stand at it."""

from collections.abc import Sequence

from drivers.wiring import BUTTONS

# So many are named one by one.
NAMED_MAX = 3
GROUPS_SAID = {
    "puck": "the puck",
    "second_puck": "the second puck",
    "bet_status": "the buttons",
    "dice_keys": "the dice keys",
    "reserve": "the lid of the reserve",
    "slots": "the dice in the reserve",
    "door": "the cabinet's door",
}


def said(name: str) -> str:
    """An input or a lamp in words: the puck sensor on 6, the button of box 9, dice key 3."""
    if name.startswith("lamp_"):
        return f"the lamp of {said(name.removeprefix('lamp_'))}"
    if name == "lid":
        return "the switch of the lid"
    if name == "door":
        return "the switch of the cabinet's door"
    if name in BUTTONS:
        return (
            f"the button of box {name.removeprefix('box_')}"
            if name.startswith("box_")
            else f"the {name.upper()} button"
        )
    kind, _, number = name.rpartition("_")
    words = {
        "puck": f"the puck sensor on {number.upper()}",
        "second_puck": f"the second puck's sensor on {number.upper()}",
        "dice_key": f"dice key {number}",
        "slot": f"the sensor of place {number} in the reserve",
    }
    return words[kind]


def all_said(names: Sequence[str]) -> str:
    """Several of them: each by name where they are few, else how many there are."""
    words = [said(name) for name in names]
    if len(words) > NAMED_MAX:
        return f"{len(words)} inputs and lamps, {words[0]} among them"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
