"""Supervisors' corrections: rolls that were corrected later, adjustments of settlements, changed limits.

The correction of an earlier roll settles later ones anew as well, so an event may have several rows in rolls.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from provisioning.central.archive_schema import Moment

revision = "0002"
down_revision = "0001"

_VIEWS = {
    "rolls_in_force": (
        "SELECT * FROM rolls WHERE corrected_by IS NULL",
        "the rolls that count: not those that were corrected",
    ),
    "session_totals": (
        "SELECT site, table_name, session, SUM(collected) AS collected, SUM(paid) AS paid,"
        " SUM(commission) AS commission, SUM(commission_returned) AS commission_returned, SUM(adjusted) AS adjusted"
        " FROM (SELECT site, table_name, session, CASE WHEN result = 'lose' THEN amount ELSE 0 END AS collected,"
        " paid, commission, commission_returned, 0 AS adjusted FROM settlements WHERE corrected_by IS NULL"
        " UNION ALL SELECT site, table_name, session, 0, 0, 0, 0, amount FROM adjustments) AS parts"
        " GROUP BY site, table_name, session",
        "by session, from losers and to winners, and what adjustments gave players beside that;"
        " a commission that is taken with the bet is no result, so not here",
    ),
}
# Of columns that hold more than they did, or are named more exactly: table, column, before, now.
_COMMENTS = (
    (
        "rolls",
        "corrects",
        "the roll that this one stands in the place of",
        "the first entry of the roll that this one stands in the place of",
    ),
    (
        "settlements",
        "position",
        "0, 1, 2 ... in the order of dealing",
        "0, 1, 2 ... in the order of the rolls and of dealing",
    ),
    (
        "settlements",
        "cause",
        "roll; correct: a roll that was entered anew; reduce, take_down: the player took the bet back",
        "roll; correct: a roll that was entered anew; roll_corrected: it or an earlier one was corrected by a"
        " supervisor; reduce, take_down: the player took the bet back",
    ),
    (
        "settlements",
        "corrects",
        "the roll whose wrong results these stand in the place of",
        "the first entry of the roll whose results these stand in the place of",
    ),
    ("sessions", "minimum", "the table's minimum", "the table's minimum when it was opened"),
    ("sessions", "maximum", "the table's maximum", "the table's maximum when it was opened"),
)


def upgrade() -> None:
    """From 0001."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for name in _VIEWS:
        op.execute(f"DROP VIEW {name}")
    # SQLite changes a key by a copy of the table, and has no name for it.
    with op.batch_alter_table("rolls", naming_convention={"pk": "%(table_name)s_pkey"}) as rolls:
        rolls.drop_constraint("rolls_pkey", type_="primary")
        rolls.create_primary_key("rolls_pkey", ["site", "table_name", "seq", "number"])
    if is_postgresql:
        for table, column, before, now in _COMMENTS:
            op.alter_column(table, column, comment=now, existing_comment=before)
    op.create_table(
        "adjustments",
        *_names(),
        _number("seq", "the event that this row was made of"),
        _number("position", "0, 1, 2 ... within the event"),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        _number("session", "the table's session (table sessions); 0 before the first"),
        _number("roll_number", "number of the roll in its session"),
        _number("corrects", "the first entry of that roll"),
        sa.Column("player", sa.Text(), nullable=False, comment="the player's position or name"),
        _number("amount", "so much more the player got of the roll than it settled; below 0: less"),
        sa.Column("reason", sa.Text(), nullable=False, comment="why"),
        sa.Column("person", sa.Text(), nullable=True, comment="who had signed in"),
        sa.PrimaryKeyConstraint("site", "table_name", "seq", "position"),
        comment="what supervisors gave players or took from them beside the settlements; it always counts",
    )
    op.create_table(
        "limit_changes",
        *_names(),
        _number("seq", "the event that this row was made of"),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        _number("session", "the table's session (table sessions); 0 before the first"),
        _number("minimum", "the table's minimum from then on"),
        _number("maximum", "the table's maximum from then on"),
        sa.Column("person", sa.Text(), nullable=True, comment="who had signed in"),
        sa.PrimaryKeyConstraint("site", "table_name", "seq"),
        comment="limits that were changed while the table was open",
    )
    for name, (query, comment) in _VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")
        if is_postgresql:
            op.execute(f"COMMENT ON VIEW {name} IS '{comment}'")


def _names() -> tuple[sa.Column[Any], sa.Column[Any]]:
    return (
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
    )


def _number(name: str, comment: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False, comment=comment)
