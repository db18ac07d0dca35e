"""The archive's tables, as an analyst finds them: every event of every craps table, and what follows from them.

`events` is the record; rolls, settlements, commissions, adjustments, limit_changes, dice_movements, alerts and sessions
are made of it, in the same transaction, and hold nothing that does not stand in it or follow from it by the rules of
the game. All money is whole numbers of the smallest chip unit. `seq` always is the number of the event that a row was
made of, so that every row can be traced to its event: (site, table_name, seq).

A corrected roll stays: the row of the wrong roll, and those of what it settled, have in `corrected_by` the seq of the
correction in their place, which has rows of its own. So have later rolls that are settled otherwise since. Whoever adds
up takes the rows where it is null, or the views rolls_in_force, settlements_in_force and session_totals; what
supervisors gave or took beside the settlements (`adjustments`) stands whatever is corrected. `wall` is the table's own
clock: the order is that of `seq`, and that of the rolls in force is their `number` in the session.
"""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.types import TypeEngine


class Moment(TypeDecorator[str]):
    """A moment as events write it (RFC 3339, UTC, milliseconds); a timestamp in PostgreSQL, the text in SQLite."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """A type of the database's own."""
        return dialect.type_descriptor(DateTime(timezone=True) if dialect.name == "postgresql" else String(24))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """From the text."""
        return datetime.fromisoformat(value) if value is not None and dialect.name == "postgresql" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """To the text."""
        if value is None or dialect.name != "postgresql":
            return value  # type: ignore[no-any-return]
        moment: datetime = value.astimezone(UTC).replace(tzinfo=None)
        return moment.isoformat(timespec="milliseconds") + "Z"


metadata: Final = MetaData()
_ALARM_ID: Final = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows of an INTEGER key alone


def _names() -> tuple[Column[Any], Column[Any]]:
    return (
        Column("site", Text, primary_key=True, comment="the casino, as in the subject craps.<site>.<table>.journal"),
        Column("table_name", Text, primary_key=True, comment="the craps table, as in the subject"),
    )


def _number(name: str, comment: str, *, nullable: bool = False, key: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable, primary_key=key, autoincrement=False, comment=comment)


def _text(name: str, comment: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Text, nullable=nullable, comment=comment)


def _moment(name: str, comment: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Moment, nullable=nullable, comment=comment)


def _flag(name: str, comment: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False, comment=comment)


_SEQ: Final = "the event that this row was made of"
_WALL: Final = "when, by the table's clock"
_SESSION: Final = "the table's session (table sessions); 0 before the first"

events: Final = Table(
    "events",
    metadata,
    *_names(),
    _number("seq", "1, 2, 3 ... without a hole, unless one was left out by name (table alarms)", key=True),
    _moment("wall", _WALL),
    _text("clock", "whether that clock was set by a time server: synced or free"),
    _text("boot", "names the run of the table's computer that mono_ns counts in"),
    _number("mono_ns", "nanoseconds of the monotonic clock: durations within one boot"),
    _text("type", "what happened: roll, bet, alert_raised ..."),
    Column("data", JSON, nullable=False, comment="what the event says, by its type"),
    Column("prev", String(64), nullable=False, comment="hash of the event before; 64 zeros in event 1"),
    Column("hash", String(64), nullable=False, comment="SHA-256 of the event's canonical form without its hash"),
    Index("events_by_type", "site", "table_name", "type", "seq"),
    comment="every journal event of every craps table, verified",
)

rolls: Final = Table(
    "rolls",
    metadata,
    *_names(),
    _number("seq", _SEQ, key=True),
    _moment("wall", _WALL),
    _number("session", _SESSION),
    _number("number", "number of the roll in its session", key=True),
    _number("die_1", "1 to 6"),
    _number("die_2", "1 to 6"),
    _number("total", "2 to 12"),
    _number("point_before", "the point that the dice were thrown on; null: a come-out roll", nullable=True),
    _number("point", "the point afterwards; null: the next roll is a come-out", nullable=True),
    _text("shooter", "the player who threw; null where none was named", nullable=True),
    _text("via", "where it was entered: console, node:dice_keys ..."),
    _number("corrects", "the first entry of the roll that this one stands in the place of", nullable=True),
    _number(
        "corrected_by", "the correction that stands in the place of this one; null: this roll counts", nullable=True
    ),
    Index("rolls_by_wall", "wall"),
    comment="every roll as it was entered, corrections among them",
)

settlements: Final = Table(
    "settlements",
    metadata,
    *_names(),
    _number("seq", _SEQ, key=True),
    _number("position", "0, 1, 2 ... in the order of the rolls and of dealing", key=True),
    _moment("wall", _WALL),
    _text(
        "cause",
        "roll; correct: a roll that was entered anew; roll_corrected: it or an earlier one was corrected by a"
        " supervisor; reduce, take_down: the player took the bet back",
    ),
    _number("session", _SESSION),
    _number("roll_number", "number of the roll in its session; null for reduce and take_down", nullable=True),
    _text("player", "the player's position or name"),
    _text("kind", "the bet: pass_line, place, hardway ..."),
    _number("number", "the bet's number, where it has one", nullable=True),
    _text("result", "win, lose, push, return, or move (to moved_to)"),
    _number(
        "amount",
        "the stake that this was about; null where this program's rules differ from the table's",
        nullable=True,
    ),
    _number("paid", "won, without the stake"),
    _number("remainder_num", "what rounding kept from the player: remainder_num / remainder_den", nullable=True),
    _number("remainder_den", "see remainder_num", nullable=True),
    _number("commission", "taken at this moment"),
    _number("commission_returned", "a commission taken beforehand that went back to the player"),
    _number("returned", "of the stake, what went back to the player"),
    _number("moved_to", "where a come bet travelled to", nullable=True),
    _number("corrects", "the first entry of the roll whose results these stand in the place of", nullable=True),
    _number("corrected_by", "the correction that took this back; null: it counts", nullable=True),
    Index("settlements_by_wall", "wall"),
    comment="one row for each result: who won, lost or got back what",
)

commissions: Final = Table(
    "commissions",
    metadata,
    *_names(),
    _number("seq", _SEQ, key=True),
    _moment("wall", _WALL),
    _number("session", _SESSION),
    _text("player", "the player's position or name"),
    _text("kind", "the bet: buy, lay"),
    _number("number", "the bet's number, where it has one", nullable=True),
    _number("amount", "taken with the bet, or with what was added to it"),
    Index("commissions_by_wall", "wall"),
    comment="commissions that were taken when a bet was put down; none where this program's rules differ from the"
    " table's",
)

adjustments: Final = Table(
    "adjustments",
    metadata,
    *_names(),
    _number("seq", _SEQ, key=True),
    _number("position", "0, 1, 2 ... within the event", key=True),
    _moment("wall", _WALL),
    _number("session", _SESSION),
    _number("roll_number", "number of the roll in its session"),
    _number("corrects", "the first entry of that roll"),
    _text("player", "the player's position or name"),
    _number("amount", "so much more the player got of the roll than it settled; below 0: less"),
    _text("reason", "why"),
    _text("person", "who had signed in", nullable=True),
    comment="what supervisors gave players or took from them beside the settlements; it always counts",
)

limit_changes: Final = Table(
    "limit_changes",
    metadata,
    *_names(),
    _number("seq", _SEQ, key=True),
    _moment("wall", _WALL),
    _number("session", _SESSION),
    _number("minimum", "the table's minimum from then on"),
    _number("maximum", "the table's maximum from then on"),
    _text("person", "who had signed in", nullable=True),
    comment="limits that were changed while the table was open",
)

dice_movements: Final = Table(
    "dice_movements",
    metadata,
    *_names(),
    _number("seq", _SEQ, key=True),
    _number("position", "0, 1, 2 ... within the event", key=True),
    _moment("wall", _WALL),
    _text("type", "the event's type: dice_moved, dice_set_placed, void_dice ..."),
    _text("action", "what was done: swap, change, found ..."),
    _text("dice_set", "name of the set"),
    _text("die", "serial number of the die, or its number within the set"),
    _text("from_place", "store, reserve, play, offered, floor, inspection, missing, withdrawn ...", nullable=True),
    _text("to_place", "as from_place; null from_place: the set was received", nullable=True),
    _text("reason", "why, where it was said", nullable=True),
    _number("opening", "seq of the opening of the reserve that it belongs to", nullable=True),
    _text("done_by", "who did it", nullable=True),
    _text("seen_by", "who saw it", nullable=True),
    _number("session", "session that it was done in or for", nullable=True),
    _number("roll_number", "the last roll before it", nullable=True),
    _text("rules", "the rules it was judged by", nullable=True),
    _flag("against_rule", "whether it breaks one of them (the event says which)"),
    Index("dice_movements_by_wall", "wall"),
    comment="one row for each die that changed its place",
)

alerts: Final = Table(
    "alerts",
    metadata,
    *_names(),
    _number("seq", "the event that raised it", key=True),
    _moment("wall", _WALL),
    _text("alert", "its name at the table, such as count_differs:812"),
    _text("kind", "the part of the name before the colon"),
    _text("text", "what the screen said"),
    Column("detail", JSON, nullable=False, comment="the facts behind the text"),
    _flag("latched", "true: it tells of what has happened, and ends with its acknowledgement"),
    _number("acknowledged_seq", "the event that acknowledged it", nullable=True),
    _moment("acknowledged_wall", "when it was acknowledged", nullable=True),
    _text("acknowledged_by", "who acknowledged it", nullable=True),
    _number("ended_seq", "the event that ended it; null: it stands", nullable=True),
    _moment("ended_wall", "when it ended", nullable=True),
    _text("ended_by", "the type of that event; alert_raised: it was raised anew, with another text", nullable=True),
    Index(
        "alerts_standing",
        "site",
        "table_name",
        postgresql_where=text("ended_seq IS NULL"),
        sqlite_where=text("ended_seq IS NULL"),
    ),
    comment="every alert of every table, from raising to its end",
)

sessions: Final = Table(
    "sessions",
    metadata,
    *_names(),
    _number("session", "1, 2, 3 ... at this table", key=True),
    _number("opened_seq", "the event that opened it"),
    _moment("opened_wall", "when it was opened"),
    _number("closed_seq", "the event that closed it; null while it is open or was opened over", nullable=True),
    _moment("closed_wall", "when it was closed", nullable=True),
    _text("rules", "name of the rule set"),
    _number("unit", "what amounts are multiples of"),
    _number("minimum", "the table's minimum when it was opened"),
    _number("maximum", "the table's maximum when it was opened"),
    comment="one row for each time that a table was opened",
)

tables: Final = Table(
    "tables",
    metadata,
    *_names(),
    _number("last_seq", "the last event that is here"),
    Column("last_hash", String(64), nullable=False, comment="its hash"),
    _moment("last_wall", "when it happened, by the table's clock", nullable=True),
    _moment("heard_at", "when the central log took the last message of this table, by the log's clock", nullable=True),
    _number("last_sequence", "number, in the central log's stream, of the message that last_seq came in"),
    _number("heard_sequence", "number of the last message that was seen, whether taken or not"),
    _number("session", _SESSION),
    _flag("is_open", "whether the table is open"),
    _text("key", "the table's public key, as its last start names it", nullable=True),
    _number("key_changed_seq", "the last start under another key than before; 0: none"),
    _number("signed_seq", "the last event that a signature of the table holds for"),
    _number("checkpoint_seq", "the last checkpoint"),
    _number("owed_seq", "the event whose checkpoint has to follow", nullable=True),
    _number(
        "alarm", "the alarm that stands (table alarms): nothing further is taken; null: all is well", nullable=True
    ),
    _number("waiting_messages", "messages that came since, and wait in the central log"),
    _flag("reread", "an alarm was resolved: the table is read again from the central log"),
    comment="where the archive stands with each craps table",
)

alarms: Final = Table(
    "alarms",
    metadata,
    Column("id", _ALARM_ID, primary_key=True, comment="1, 2, 3 ..."),
    _text("site", "the casino"),
    _text("table_name", "the craps table"),
    _text("kind", "gap, fork, signature, key, foreign, oversized, malformed or version"),
    _number("seq", "the first event that could not be taken"),
    _text("reason", "what is wrong, in words"),
    _number("sequence", "number of the message in the central log's stream"),
    Column("message_hash", String(64), nullable=False, comment="SHA-256 of that message"),
    _number(
        "found_seq",
        "of a gap: the event that was found; those from seq to the one before it are missing",
        nullable=True,
    ),
    Column("found_prev", String(64), comment="of a gap: what the event found names as the hash before it"),
    _moment("raised_at", "when, by the archive's clock"),
    _moment("resolved_at", "when somebody resolved it; null: it stands", nullable=True),
    _text("resolved_by", "who", nullable=True),
    _text("resolution", "why it may go on", nullable=True),
    Column("left_out", Boolean, comment="true: the message, or of a gap the missing events, stay out for good"),
    Index("alarms_by_table", "site", "table_name"),
    comment="what could not be taken, and who resolved it",
)

archive: Final = Table(
    "archive",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, comment="1: there is one row"),
    _text("consumer", "name of this archive's consumer on the central log"),
    _number("position", "number, in the central log's stream, of the last message that was dealt with"),
    Column("position_hash", String(64), comment="SHA-256 of that message"),
    comment="how far the central log was read",
)
