"""The archive's first schema: events, what is made of them, and where the archive stands with each table."""

import sqlalchemy as sa
from alembic import op

from provisioning.central.archive_schema import Moment

revision = "0001"
down_revision = None

_VIEWS = {
    "rolls_in_force": (
        "SELECT * FROM rolls WHERE corrected_by IS NULL",
        "the rolls that count: not those that were corrected",
    ),
    "settlements_in_force": (
        "SELECT * FROM settlements WHERE corrected_by IS NULL",
        "the results that count: not those of rolls that were corrected",
    ),
    "session_totals": (
        "SELECT site, table_name, session,"
        " SUM(CASE WHEN result = 'lose' THEN amount ELSE 0 END) AS collected,"
        " SUM(paid) AS paid, SUM(commission) AS commission, SUM(commission_returned) AS commission_returned"
        " FROM settlements WHERE corrected_by IS NULL GROUP BY site, table_name, session",
        "by session, from losers and to winners; a commission that is taken with the bet is no result, so not here",
    ),
}


def upgrade() -> None:
    """From an empty database."""
    op.create_table(
        "alarms",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, comment="1, 2, 3 ..."),
        sa.Column("site", sa.Text(), nullable=False, comment="the casino"),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table"),
        sa.Column(
            "kind",
            sa.Text(),
            nullable=False,
            comment="gap, fork, signature, key, foreign, oversized, malformed or version",
        ),
        sa.Column(
            "seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="the first event that could not be taken",
        ),
        sa.Column("reason", sa.Text(), nullable=False, comment="what is wrong, in words"),
        sa.Column(
            "sequence",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="number of the message in the central log's stream",
        ),
        sa.Column("message_hash", sa.String(length=64), nullable=False, comment="SHA-256 of that message"),
        sa.Column(
            "found_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="of a gap: the event that was found; those from seq to the one before it are missing",
        ),
        sa.Column(
            "found_prev",
            sa.String(length=64),
            nullable=True,
            comment="of a gap: what the event found names as the hash before it",
        ),
        sa.Column("raised_at", Moment(), nullable=False, comment="when, by the archive's clock"),
        sa.Column("resolved_at", Moment(), nullable=True, comment="when somebody resolved it; null: it stands"),
        sa.Column("resolved_by", sa.Text(), nullable=True, comment="who"),
        sa.Column("resolution", sa.Text(), nullable=True, comment="why it may go on"),
        sa.Column(
            "left_out",
            sa.Boolean(),
            nullable=True,
            comment="true: the message, or of a gap the missing events, stay out for good",
        ),
        sa.PrimaryKeyConstraint("id"),
        comment="what could not be taken, and who resolved it",
    )
    op.create_index("alarms_by_table", "alarms", ["site", "table_name"], unique=False)
    op.create_table(
        "alerts",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the event that raised it"),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        sa.Column("alert", sa.Text(), nullable=False, comment="its name at the table, such as count_differs:812"),
        sa.Column("kind", sa.Text(), nullable=False, comment="the part of the name before the colon"),
        sa.Column("text", sa.Text(), nullable=False, comment="what the screen said"),
        sa.Column("detail", sa.JSON(), nullable=False, comment="the facts behind the text"),
        sa.Column(
            "latched",
            sa.Boolean(),
            nullable=False,
            comment="true: it tells of what has happened, and ends with its acknowledgement",
        ),
        sa.Column(
            "acknowledged_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the event that acknowledged it",
        ),
        sa.Column("acknowledged_wall", Moment(), nullable=True, comment="when it was acknowledged"),
        sa.Column("acknowledged_by", sa.Text(), nullable=True, comment="who acknowledged it"),
        sa.Column(
            "ended_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the event that ended it; null: it stands",
        ),
        sa.Column("ended_wall", Moment(), nullable=True, comment="when it ended"),
        sa.Column(
            "ended_by",
            sa.Text(),
            nullable=True,
            comment="the type of that event; alert_raised: it was raised anew, with another text",
        ),
        sa.PrimaryKeyConstraint("site", "table_name", "seq"),
        comment="every alert of every table, from raising to its end",
    )
    op.create_index(
        "alerts_standing",
        "alerts",
        ["site", "table_name"],
        unique=False,
        postgresql_where=sa.text("ended_seq IS NULL"),
        sqlite_where=sa.text("ended_seq IS NULL"),
    )
    op.create_table(
        "archive",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False, comment="1: there is one row"),
        sa.Column("consumer", sa.Text(), nullable=False, comment="name of this archive's consumer on the central log"),
        sa.Column(
            "position",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="number, in the central log's stream, of the last message that was dealt with",
        ),
        sa.Column("position_hash", sa.String(length=64), nullable=True, comment="SHA-256 of that message"),
        sa.PrimaryKeyConstraint("id"),
        comment="how far the central log was read",
    )
    op.create_table(
        "dice_movements",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column(
            "seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the event that this row was made of"
        ),
        sa.Column(
            "position", sa.BigInteger(), autoincrement=False, nullable=False, comment="0, 1, 2 ... within the event"
        ),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        sa.Column(
            "type", sa.Text(), nullable=False, comment="the event's type: dice_moved, dice_set_placed, void_dice ..."
        ),
        sa.Column("action", sa.Text(), nullable=False, comment="what was done: swap, change, found ..."),
        sa.Column("dice_set", sa.Text(), nullable=False, comment="name of the set"),
        sa.Column("die", sa.Text(), nullable=False, comment="serial number of the die, or its number within the set"),
        sa.Column(
            "from_place",
            sa.Text(),
            nullable=True,
            comment="store, reserve, play, offered, floor, inspection, missing, withdrawn ...",
        ),
        sa.Column("to_place", sa.Text(), nullable=True, comment="as from_place; null from_place: the set was received"),
        sa.Column("reason", sa.Text(), nullable=True, comment="why, where it was said"),
        sa.Column(
            "opening",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="seq of the opening of the reserve that it belongs to",
        ),
        sa.Column("done_by", sa.Text(), nullable=True, comment="who did it"),
        sa.Column("seen_by", sa.Text(), nullable=True, comment="who saw it"),
        sa.Column(
            "session", sa.BigInteger(), autoincrement=False, nullable=True, comment="session that it was done in or for"
        ),
        sa.Column(
            "roll_number", sa.BigInteger(), autoincrement=False, nullable=True, comment="the last roll before it"
        ),
        sa.Column("rules", sa.Text(), nullable=True, comment="the rules it was judged by"),
        sa.Column(
            "against_rule", sa.Boolean(), nullable=False, comment="whether it breaks one of them (the event says which)"
        ),
        sa.PrimaryKeyConstraint("site", "table_name", "seq", "position"),
        comment="one row for each die that changed its place",
    )
    op.create_index("dice_movements_by_wall", "dice_movements", ["wall"], unique=False)
    op.create_table(
        "events",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column(
            "seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="1, 2, 3 ... without a hole, unless one was left out by name (table alarms)",
        ),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        sa.Column(
            "clock", sa.Text(), nullable=False, comment="whether that clock was set by a time server: synced or free"
        ),
        sa.Column(
            "boot", sa.Text(), nullable=False, comment="names the run of the table's computer that mono_ns counts in"
        ),
        sa.Column(
            "mono_ns",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="nanoseconds of the monotonic clock: durations within one boot",
        ),
        sa.Column("type", sa.Text(), nullable=False, comment="what happened: roll, bet, alert_raised ..."),
        sa.Column("data", sa.JSON(), nullable=False, comment="what the event says, by its type"),
        sa.Column(
            "prev", sa.String(length=64), nullable=False, comment="hash of the event before; 64 zeros in event 1"
        ),
        sa.Column(
            "hash",
            sa.String(length=64),
            nullable=False,
            comment="SHA-256 of the event's canonical form without its hash",
        ),
        sa.PrimaryKeyConstraint("site", "table_name", "seq"),
        comment="every journal event of every craps table, verified",
    )
    op.create_index("events_by_type", "events", ["site", "table_name", "type", "seq"], unique=False)
    op.create_table(
        "rolls",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column(
            "seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the event that this row was made of"
        ),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        sa.Column(
            "session",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="the table's session (table sessions); 0 before the first",
        ),
        sa.Column(
            "number", sa.BigInteger(), autoincrement=False, nullable=False, comment="number of the roll in its session"
        ),
        sa.Column("die_1", sa.BigInteger(), autoincrement=False, nullable=False, comment="1 to 6"),
        sa.Column("die_2", sa.BigInteger(), autoincrement=False, nullable=False, comment="1 to 6"),
        sa.Column("total", sa.BigInteger(), autoincrement=False, nullable=False, comment="2 to 12"),
        sa.Column(
            "point_before",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the point that the dice were thrown on; null: a come-out roll",
        ),
        sa.Column(
            "point",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the point afterwards; null: the next roll is a come-out",
        ),
        sa.Column("shooter", sa.Text(), nullable=True, comment="the player who threw; null where none was named"),
        sa.Column("via", sa.Text(), nullable=False, comment="where it was entered: console, node:dice_keys ..."),
        sa.Column(
            "corrects",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the roll that this one stands in the place of",
        ),
        sa.Column(
            "corrected_by",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the correction that stands in the place of this one; null: this roll counts",
        ),
        sa.PrimaryKeyConstraint("site", "table_name", "seq"),
        comment="every roll as it was entered, corrections among them",
    )
    op.create_index("rolls_by_wall", "rolls", ["wall"], unique=False)
    op.create_table(
        "sessions",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column("session", sa.BigInteger(), autoincrement=False, nullable=False, comment="1, 2, 3 ... at this table"),
        sa.Column(
            "opened_seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the event that opened it"
        ),
        sa.Column("opened_wall", Moment(), nullable=False, comment="when it was opened"),
        sa.Column(
            "closed_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the event that closed it; null while it is open or was opened over",
        ),
        sa.Column("closed_wall", Moment(), nullable=True, comment="when it was closed"),
        sa.Column("rules", sa.Text(), nullable=False, comment="name of the rule set"),
        sa.Column(
            "unit", sa.BigInteger(), autoincrement=False, nullable=False, comment="what amounts are multiples of"
        ),
        sa.Column("minimum", sa.BigInteger(), autoincrement=False, nullable=False, comment="the table's minimum"),
        sa.Column("maximum", sa.BigInteger(), autoincrement=False, nullable=False, comment="the table's maximum"),
        sa.PrimaryKeyConstraint("site", "table_name", "session"),
        comment="one row for each time that a table was opened",
    )
    op.create_table(
        "settlements",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column(
            "seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the event that this row was made of"
        ),
        sa.Column(
            "position",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="0, 1, 2 ... in the order of dealing",
        ),
        sa.Column("wall", Moment(), nullable=False, comment="when, by the table's clock"),
        sa.Column(
            "cause",
            sa.Text(),
            nullable=False,
            comment="roll; correct: a roll that was entered anew; reduce, take_down: the player took the bet back",
        ),
        sa.Column(
            "session",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="the table's session (table sessions); 0 before the first",
        ),
        sa.Column(
            "roll_number",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="number of the roll in its session; null for reduce and take_down",
        ),
        sa.Column("player", sa.Text(), nullable=False, comment="the player's position or name"),
        sa.Column("kind", sa.Text(), nullable=False, comment="the bet: pass_line, place, hardway ..."),
        sa.Column(
            "number", sa.BigInteger(), autoincrement=False, nullable=True, comment="the bet's number, where it has one"
        ),
        sa.Column("result", sa.Text(), nullable=False, comment="win, lose, push, return, or move (to moved_to)"),
        sa.Column(
            "amount",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the stake that this was about; null where this program's rules differ from the table's",
        ),
        sa.Column("paid", sa.BigInteger(), autoincrement=False, nullable=False, comment="won, without the stake"),
        sa.Column(
            "remainder_num",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="what rounding kept from the player: remainder_num / remainder_den",
        ),
        sa.Column("remainder_den", sa.BigInteger(), autoincrement=False, nullable=True, comment="see remainder_num"),
        sa.Column("commission", sa.BigInteger(), autoincrement=False, nullable=False, comment="taken at this moment"),
        sa.Column(
            "commission_returned",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="a commission taken beforehand that went back to the player",
        ),
        sa.Column(
            "returned",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="of the stake, what went back to the player",
        ),
        sa.Column(
            "moved_to", sa.BigInteger(), autoincrement=False, nullable=True, comment="where a come bet travelled to"
        ),
        sa.Column(
            "corrects",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the roll whose wrong results these stand in the place of",
        ),
        sa.Column(
            "corrected_by",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the correction that took this back; null: it counts",
        ),
        sa.PrimaryKeyConstraint("site", "table_name", "seq", "position"),
        comment="one row for each result: who won, lost or got back what",
    )
    op.create_index("settlements_by_wall", "settlements", ["wall"], unique=False)
    op.create_table(
        "tables",
        sa.Column(
            "site", sa.Text(), nullable=False, comment="the casino, as in the subject craps.<site>.<table>.journal"
        ),
        sa.Column("table_name", sa.Text(), nullable=False, comment="the craps table, as in the subject"),
        sa.Column(
            "last_seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the last event that is here"
        ),
        sa.Column("last_hash", sa.String(length=64), nullable=False, comment="its hash"),
        sa.Column("last_wall", Moment(), nullable=True, comment="when it happened, by the table's clock"),
        sa.Column(
            "heard_at",
            Moment(),
            nullable=True,
            comment="when the central log took the last message of this table, by the log's clock",
        ),
        sa.Column(
            "last_sequence",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="number, in the central log's stream, of the message that last_seq came in",
        ),
        sa.Column(
            "heard_sequence",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="number of the last message that was seen, whether taken or not",
        ),
        sa.Column(
            "session",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="the table's session (table sessions); 0 before the first",
        ),
        sa.Column("is_open", sa.Boolean(), nullable=False, comment="whether the table is open"),
        sa.Column("key", sa.Text(), nullable=True, comment="the table's public key, as its last start names it"),
        sa.Column(
            "key_changed_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="the last start under another key than before; 0: none",
        ),
        sa.Column(
            "signed_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="the last event that a signature of the table holds for",
        ),
        sa.Column(
            "checkpoint_seq", sa.BigInteger(), autoincrement=False, nullable=False, comment="the last checkpoint"
        ),
        sa.Column(
            "owed_seq",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the event whose checkpoint has to follow",
        ),
        sa.Column(
            "alarm",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="the alarm that stands (table alarms): nothing further is taken; null: all is well",
        ),
        sa.Column(
            "waiting_messages",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="messages that came since, and wait in the central log",
        ),
        sa.Column(
            "reread",
            sa.Boolean(),
            nullable=False,
            comment="an alarm was resolved: the table is read again from the central log",
        ),
        sa.PrimaryKeyConstraint("site", "table_name"),
        comment="where the archive stands with each craps table",
    )

    for name, (query, comment) in _VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {query}")
        if op.get_bind().dialect.name == "postgresql":
            op.execute(f"COMMENT ON VIEW {name} IS '{comment}'")
