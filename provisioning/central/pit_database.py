"""Reads from the archive's database what the pit needs of each table; it never writes there, and holds up no writer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, NullPool, and_, bindparam, create_engine, desc, event, func, or_, select

from provisioning.central.archive_configuration import ArchiveConfiguration
from provisioning.central.archive_schema import alarms, alerts, archive, dice_movements, events, rolls, sessions, tables

Names = tuple[str, str]
"""Site and name of a table."""

BUSY_TIMEOUT_MS: Final = 3_000
ROLLS_MAX: Final = 400
"""More than any table throws in an hour."""
MOVES_MAX: Final = 100
ALERTS_MAX: Final = 50
"""As many of a table are shown; it has one of each kind at most, and seldom three."""
IN_PLAY: Final = "play"


@dataclass(frozen=True)
class Standing:
    """An alert that stands at a table: `raised` is its event there, and `detail` the facts behind the text."""

    alert: str
    raised: int
    text: str
    detail: Mapping[str, Any]
    latched: bool
    acknowledged_by: str | None


@dataclass(frozen=True)
class Refusal:
    """Why the archive takes nothing further of a table."""

    kind: str
    seq: int
    reason: str


@dataclass(frozen=True)
class Row:
    """The archive's row about a table, which changes with each message. `heard_at` is by the central log's clock."""

    names: Names
    last_seq: int
    heard_at: str | None
    heard_sequence: int
    is_open: bool
    refusal: Refusal | None


@dataclass(frozen=True)
class Game:
    """What the events of a table say up to `last_seq`; times are nanoseconds of its monotonic clock, in one boot.

    `thrown_ns` are the rolls of the session, the latest ROLLS_MAX of them; `since_ns` is when it, or the boot, began.
    """

    rules: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    point: int | None = None
    shooter: str | None = None
    roll: tuple[int, int] | None = None
    roll_number: int | None = None
    dice_sets: tuple[str, ...] = ()
    thrown_ns: tuple[int, ...] = ()
    since_ns: int = 0
    last_ns: int = 0
    alerts: tuple[Standing, ...] = ()


@dataclass(frozen=True)
class Look:
    """What the database says at one moment. `games` holds the tables whose rows have changed.

    Of `waiting` tables there was no time to read what has changed: their rows are as they were known, or missing.
    """

    position: int
    rows: Mapping[Names, Row]
    games: Mapping[Names, Game]
    waiting: int = 0


def reading_engine(configuration: ArchiveConfiguration) -> Engine:
    """An engine for reading alone; nothing is connected yet. Raises what SQLAlchemy raises."""
    if configuration.sqlite is None:
        return configuration.engine().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    engine = create_engine(
        f"sqlite:///{configuration.sqlite}", poolclass=NullPool, connect_args={"check_same_thread": False}
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        # A transaction that reads sees one moment, and keeps nobody from writing.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA query_only=ON")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def look(connection: Connection, known: Mapping[Names, Row], is_time_up: Callable[[], bool]) -> Look:
    """What is there now; the games of those tables only whose row is not as `known`, until the time is up.

    Raises sqlalchemy.exc.DBAPIError when the database is away.
    """
    with connection.begin():
        position: int = connection.execute(_POSITION).scalar_one()
        found = list(_rows(connection))
        changed = [row for row in found if known.get(row.names) != row]
        # Those first that have waited for longest, so that one at which much happens holds nobody up.
        changed.sort(key=lambda row: known[row.names].heard_sequence if row.names in known else 0)
        standing = _standing(connection) if changed else {}
        games: dict[Names, Game] = {}
        for row in changed:
            games[row.names] = _game(connection, row, standing.get(row.names, ()))
            if is_time_up():
                break
    read = {row.names: row for row in found if row.names in games or known.get(row.names) == row}
    return Look(position, {**known, **read}, games, len(changed) - len(games))


def has_moved_on(connection: Connection, position: int) -> bool:
    """Whether the archive has taken more of the central log than up to this message. Raises as `look` does."""
    with connection.begin():
        return bool(connection.execute(_POSITION).scalar_one() != position)


def _rows(connection: Connection) -> Iterable[Row]:
    wanted = select(tables, alarms.c.kind, alarms.c.seq, alarms.c.reason).join_from(
        tables, alarms, tables.c.alarm == alarms.c.id, isouter=True
    )
    for row in connection.execute(wanted):
        refusal = Refusal(row.kind, row.seq, row.reason) if row.alarm is not None else None
        names = (row.site, row.table_name)
        yield Row(names, row.last_seq, row.heard_at, row.heard_sequence, row.is_open, refusal)


def _standing(connection: Connection) -> dict[Names, tuple[Standing, ...]]:
    """The alerts that stand, of all tables at once: a small part of the database, with an index of its own."""
    found: dict[Names, list[Standing]] = {}
    for row in connection.execute(select(alerts).where(alerts.c.ended_seq.is_(None)).order_by(alerts.c.seq)):
        of_table = found.setdefault((row.site, row.table_name), [])
        if len(of_table) < ALERTS_MAX:
            of_table.append(Standing(row.alert, row.seq, row.text, row.detail, row.latched, row.acknowledged_by))
    return {names: tuple(of_table) for names, of_table in found.items()}


def _game(connection: Connection, row: Row, standing: Sequence[Standing]) -> Game:
    here = {"site": row.names[0], "name": row.names[1]}
    last = connection.execute(_EVENT, here | {"seq": row.last_seq}).first()
    session = connection.execute(_SESSION, here).first()
    if last is None or session is None:
        return Game(alerts=tuple(standing), dice_sets=_dice_sets(connection, here))
    opened = here | {"opened": session.opened_seq}
    thrown = connection.execute(_ROLLS, opened).all()
    latest = thrown[0] if thrown else None
    began_ns: int = connection.execute(_BEGAN, opened | {"boot": last.boot}).scalar_one()
    limits = _part(_latest(connection, opened, "limits_changed"), "limits")
    return Game(
        rules=session.rules,
        minimum=_number(limits, "min", session.minimum),
        maximum=_number(limits, "max", session.maximum),
        point=latest.point if latest is not None else None,
        shooter=_shooter(connection, opened, latest),
        roll=(latest.die_1, latest.die_2) if latest is not None else None,
        roll_number=latest.number if latest is not None else None,
        dice_sets=_dice_sets(connection, here),
        thrown_ns=tuple(roll.mono_ns for roll in thrown if roll.boot == last.boot),
        since_ns=began_ns,
        last_ns=last.mono_ns,
        alerts=tuple(standing),
    )


def _shooter(connection: Connection, opened: Mapping[str, Any], latest: Any) -> str | None:
    """Who was named last, or threw last."""
    since = opened["opened"] if latest is None else latest.entered
    named = _latest(connection, {**opened, "opened": since}, "shooter")
    if named is None:
        return latest.shooter if latest is not None else None
    shooter = _part(named, "step").get("shooter")
    return shooter if isinstance(shooter, str) else None


def _latest(connection: Connection, opened: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """What the last event of a type says, behind the one that is given as the opening."""
    found = connection.execute(_LATEST, {**opened, "type": kind}).first()
    return None if found is None else dict(found.data)


def _part(said: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    part = None if said is None else said.get(name)
    return part if isinstance(part, dict) else {}


def _number(said: Mapping[str, Any], name: str, otherwise: int | None) -> int | None:
    value = said.get(name, otherwise)
    return value if type(value) is int else None


def _dice_sets(connection: Connection, here: Mapping[str, Any]) -> tuple[str, ...]:
    """The sets with a die in play: of each die, its last movement counts."""
    last: dict[tuple[str, str], str | None] = {}
    for move in connection.execute(_MOVES, here):
        last.setdefault((move.dice_set, move.die), move.to_place)
    return tuple(sorted({dice_set for (dice_set, _), place in last.items() if place == IN_PLAY}))


def _of(table: Any) -> Any:
    return and_(table.c.site == bindparam("site"), table.c.table_name == bindparam("name"))


# What is asked of one table, made once: to make them costs more than to ask.
_POSITION: Final = select(archive.c.position)
_EVENT: Final = select(events.c.boot, events.c.mono_ns).where(_of(events), events.c.seq == bindparam("seq"))
_SESSION: Final = select(sessions).where(_of(sessions)).order_by(desc(sessions.c.session)).limit(1)
_BEGAN: Final = (
    select(events.c.mono_ns)
    .where(_of(events), events.c.seq >= bindparam("opened"), events.c.boot == bindparam("boot"))
    .order_by(events.c.seq)
    .limit(1)
)
_LATEST: Final = (
    select(events.c.data)
    .where(_of(events), events.c.type == bindparam("type"), events.c.seq > bindparam("opened"))
    .order_by(desc(events.c.seq))
    .limit(1)
)
_THROWN: Final = (
    select(
        *(rolls.c[name] for name in ("site", "table_name", "number", "die_1", "die_2", "point", "shooter")),
        # A correction says nothing of when the dice were thrown.
        func.coalesce(rolls.c.corrects, rolls.c.seq).label("entered"),
    )
    .where(_of(rolls), rolls.c.seq > bindparam("opened"), rolls.c.corrected_by.is_(None))
    .order_by(desc(rolls.c.number))
    .limit(ROLLS_MAX)
    .subquery()
)
_ROLLS: Final = (
    select(_THROWN, events.c.boot, events.c.mono_ns)
    .join_from(
        _THROWN,
        events,
        and_(
            _THROWN.c.site == events.c.site,
            _THROWN.c.table_name == events.c.table_name,
            _THROWN.c.entered == events.c.seq,
        ),
    )
    .order_by(desc(_THROWN.c.number))
)
_MOVES: Final = (
    select(dice_movements.c.dice_set, dice_movements.c.die, dice_movements.c.to_place)
    .where(_of(dice_movements), or_(dice_movements.c.from_place == IN_PLAY, dice_movements.c.to_place == IN_PLAY))
    .order_by(desc(dice_movements.c.seq), desc(dice_movements.c.position))
    .limit(MOVES_MAX)
)
