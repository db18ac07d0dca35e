"""What a table sends, checked event by event before anything of it is written. Pure."""

from device.event import BadEvent, Event, UnknownVersion, parse
from device.https_protocol import BODY_BYTES_MAX, BODY_EVENTS_MAX, HASH, ONE_EVENT_BYTES_MAX
from provisioning.central.receiver_refusals import Refused


def read_body(body: bytes, table: str, expected: str) -> list[Event]:
    """The events in a body, one a line, the first of which follows the one with the hash `expected`. Raises Refused."""
    if not HASH.fullmatch(expected):
        raise Refused("bad_expected_hash", "the expected last hash must be 64 digits of lower-case hex")
    lines = body.removesuffix(b"\n").split(b"\n")
    if lines == [b""]:
        raise Refused("no_events", "the body holds no event")
    if len(lines) > BODY_EVENTS_MAX:
        raise Refused("too_large", f"the body holds {len(lines)} events, at most {BODY_EVENTS_MAX} are taken at once")
    bytes_max = BODY_BYTES_MAX if len(lines) > 1 else ONE_EVENT_BYTES_MAX
    if len(body.removesuffix(b"\n")) > bytes_max:
        raise Refused("too_large", f"the body is {len(body)} bytes long, at most {bytes_max} are taken")
    events: list[Event] = []
    for number, line in enumerate(lines, start=1):
        event = _event(number, line)
        if event.table != table:
            raise Refused("wrong_table", f"line {number}: is an event of another table, not of {table}")
        seq_due = events[-1].seq + 1 if events else event.seq
        prev_due = events[-1].hash if events else expected
        if event.seq != seq_due:
            raise Refused("broken_chain", f"line {number}: seq is {event.seq}, where {seq_due} is due")
        if event.prev != prev_due:
            raise Refused("broken_chain", f"line {number}: prev is {event.prev}, where {prev_due} is due")
        events.append(event)
    return events


def _event(number: int, line: bytes) -> Event:
    try:
        return parse(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise Refused("malformed", f"line {number}: is no UTF-8 text") from None
    except UnknownVersion as error:
        raise Refused("wrong_version", f"line {number}: {error}") from None
    except BadEvent as error:
        raise Refused("malformed", f"line {number}: {error}") from None
