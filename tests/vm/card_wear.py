"""What a terminal writes to the partition of its data, while nobody plays and while somebody does."""

from tests.vm.booted import Failed, Guest

_IDLE_S = 120
# Before each roll, each of them makes a bet.
_PLAYERS = 8
_ROLLS = 10
_ROLLS_AN_HOUR = 120
_SECTOR_BYTES = 512
# A card of 16 GB that stands 3,000 times its size would last for 100 years of play at this rate.
_MB_AN_HOUR_MAX = 50


def check_card_wear(guest: Guest) -> str:
    """What was seen, scaled to an hour. Raises Failed where it is so much that a card would wear out."""
    before = _written_bytes(guest)
    guest.run(f"sleep {_IDLE_S}")
    idle = (_written_bytes(guest) - before) * 3600 / _IDLE_S / 1e6
    before = _written_bytes(guest)
    for number in range(_ROLLS):
        for player in range(1, _PLAYERS + 1):
            bet = {"player": str(player), "kind": "field", "amount": 10}
            guest.command(f"bet-{number:04}-{player}", {"bet": bet})
        guest.command(f"roll-{number:04}", {"roll": [1 + number % 6, 2]})
    a_roll = (_written_bytes(guest) - before) / _ROLLS
    play = idle + a_roll * _ROLLS_AN_HOUR / 1e6
    if play > _MB_AN_HOUR_MAX:
        raise Failed(f"{play:.0f} MB are written in an hour of play")
    return f"{idle:.1f} MB an hour at rest, {play:.1f} MB with {_ROLLS_AN_HOUR} rolls of {_PLAYERS} bets"


def _written_bytes(guest: Guest) -> int:
    """By the data's disk since the start, what is held back included (Documentation/block/stat.rst of Linux)."""
    return int(guest.run("sync; cat /sys/block/vdc/stat").split()[6]) * _SECTOR_BYTES
