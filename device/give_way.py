"""How the terminal's own programs let everything that a player waits for go before them."""

import os
from contextlib import suppress


def give_way(niceness: int) -> None:
    """Be so much nicer, 0 to 19; where the system lets no program be that, it goes on all the same."""
    with suppress(PermissionError):
        os.nice(niceness)
