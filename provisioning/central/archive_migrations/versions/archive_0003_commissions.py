"""Commissions that are taken with the bet, also those of the games that are in the archive already."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from provisioning.central.archive_schema import Moment
from provisioning.central.archive_stakes import OPENING, STEPS, Stakes

revision = "0003"
down_revision = "0002"

_TOTALS = (
    "SELECT site, table_name, session, SUM(collected) AS collected, SUM(paid) AS paid,"
    " SUM(commission) AS commission, SUM(commission_returned) AS commission_returned, SUM(adjusted) AS adjusted"
    " FROM (SELECT site, table_name, session, CASE WHEN result = 'lose' THEN amount ELSE 0 END AS collected,"
    " paid, commission, commission_returned, 0 AS adjusted FROM settlements WHERE corrected_by IS NULL"
    " UNION ALL SELECT site, table_name, session, 0, 0, amount, 0, 0 FROM commissions"
    " UNION ALL SELECT site, table_name, session, 0, 0, 0, 0, amount FROM adjustments) AS parts"
    " GROUP BY site, table_name, session"
)
_TOTALS_COMMENT = (
    "by session, from losers and to winners, commissions whether taken with the bet or at its result, and what"
    " adjustments gave players beside that"
)
_EVENTS = sa.table(
    "events",
    *map(sa.column, ("site", "table_name", "seq", "type")),
    sa.column("wall", Moment()),
    sa.column("data", sa.JSON()),
)
_SESSIONS = sa.table("sessions", *map(sa.column, ("site", "table_name", "session", "opened_seq")))


def upgrade() -> None:
    """From 0002."""
    connection = op.get_bind()
    op.execute("DROP VIEW session_totals")
    commissions = op.create_table(
        "commissions",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        _number("seq", "the event that this row was made of"),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        _number("session", "the table's session (table sessions); 0 before the first"),
        sa.Column("player", sa.Text(), nullable=False, comment="the player's position or name"),
        sa.Column("kind", sa.Text(), nullable=False, comment="the bet: buy, lay"),
        sa.Column(
            "number", sa.BigInteger(), autoincrement=False, nullable=True, comment="the bet's number, where it has one"
        ),
        _number("amount", "taken with the bet, or with what was added to it"),
        sa.PrimaryKeyConstraint("site", "table_name", "seq"),
        comment="commissions that were taken when a bet was put down; none where this program's rules differ from the"
        " table's",
    )
    op.create_index("commissions_by_wall", "commissions", ["wall"], unique=False)
    for opening in connection.execute(sa.select(_SESSIONS)).all():
        rows = _taken_in(connection, opening)
        if rows:
            connection.execute(sa.insert(commissions), rows)
    op.execute(f"CREATE VIEW session_totals AS {_TOTALS}")
    if connection.dialect.name == "postgresql":
        op.execute(f"COMMENT ON VIEW session_totals IS '{_TOTALS_COMMENT}'")


def _taken_in(connection: sa.Connection, opening: Any) -> list[dict[str, Any]]:
    """The rows of one session, played again; most are under rules that take none with a bet."""
    here = sa.and_(_EVENTS.c.site == opening.site, _EVENTS.c.table_name == opening.table_name)
    after = sa.select(sa.func.min(_SESSIONS.c.opened_seq)).where(
        _SESSIONS.c.site == opening.site,
        _SESSIONS.c.table_name == opening.table_name,
        _SESSIONS.c.opened_seq > opening.opened_seq,
    )
    next_opened = connection.execute(after).scalar_one()
    wanted = sa.select(_EVENTS).where(here, _EVENTS.c.seq >= opening.opened_seq, _EVENTS.c.type.in_(STEPS))
    if next_opened is not None:
        wanted = wanted.where(_EVENTS.c.seq < next_opened)
    # A roll may be corrected in any of them.
    stakes, rows = Stakes(keeps_rolls=True), []
    with connection.execute(wanted.order_by(_EVENTS.c.seq)) as events:
        for event in events:
            taken = stakes.take(event.seq, event.type, event.data)
            if event.type == OPENING and not stakes.takes_commission_with_bets:
                return []
            if event.type != "bet" or taken is None or not taken[0].commission:
                continue
            bet = event.data["step"]["bet"]
            row = {"site": opening.site, "table_name": opening.table_name, "seq": event.seq, "wall": event.wall}
            row |= {"session": opening.session, "player": bet["player"], "kind": bet["kind"]}
            rows.append(row | {"number": bet.get("number"), "amount": taken[0].commission})
    return rows


def _number(name: str, comment: str) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False, comment=comment)
