"""What the reports know of the time before a pruned journal's first event, out of the state that was kept."""

from datetime import UTC, datetime

from device.dice_control import dice_state
from device.dice_control.log_rows import LogRow, Opening, SetFacts

# The event itself is pruned, and with it its time.
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def carried_set(name: str, held: dice_state.DiceSet) -> SetFacts:
    """A set that was received before."""
    return SetFacts(
        name,
        tuple(held.dice),
        held.numbered_by,
        held.maker,
        held.colour,
        held.house_mark,
        held.edge_hundredths_mm,
        held.received,
    )


def carried_openings(state: dice_state.DiceState) -> list[Opening]:
    """Openings from before that are not over, or wait for a reason. Their rows are in no list of rows."""
    openings = []
    for before in state.openings:
        row = LogRow(
            before.seq,
            "reserve_opened",
            _LONG_AGO,
            "free",
            shooter=before.shooter,
            roll_number=before.roll_number,
            point=before.point,
            reason=before.reason,
        )
        opening = Opening(row, closed=before.closed, during_roll=before.during_roll, reason=before.reason)
        opening.late = before.late
        openings.append(opening)
    return openings
