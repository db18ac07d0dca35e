"""The frames between the table and its I/O node. The same file runs on both ends, so it keeps to MicroPython's subset.

A frame: 0x7E, length of the payload (0 to 60), sequence number (one more than that of the sender's frame before,
modulo 256), type, payload, CRC-16 (CCITT, from 0xFFFF, high byte first) over everything between. Numbers are unsigned,
high byte first. Nothing is escaped: after noise the reader looks for the next 0x7E from which length and CRC hold.

| type | name        | from  | payload |
|------|-------------|-------|---------|
| 1    | ATTACH      | table | token u16 |
| 2    | HELLO       | node  | protocol u8, firmware u8.u8, token u16, boot id u32, configuration u16, first u32, |
|      |             |       | dropped u32, levels u32 |
| 3    | CONFIGURE   | table | count of inputs u8, then pin u8 and settle ms u8 of each input, output pins u8 each |
| 4    | REPORT      | node  | number u32, ticks u32, pin u8, flags u8, ms since the pin's change before u32 |
| 5    | ACKNOWLEDGE | table | boot id u32, number u32 |
| 6    | BEAT        | table | outputs u32: bit n is the level of the n-th output pin |
| 6    | BEAT        | node  | ticks u32, last u32, dropped u32, waiting u8, lost u16 |
| 7    | REFUSED     | node  | configuration u16, reason u8, pin u8 |
| 8    | INSTALL     | table | boot id u32 |

ATTACH, when the table has just opened the port, asks for HELLO and for every report that waits. Its token comes back
in HELLO, so that an answer to somebody else, left in a buffer, is known for what it is. The bytes 0x03 and 0x04 appear
nowhere in an ATTACH, because a board that is starting, or has no firmware, takes them as orders.

CONFIGURE is kept on the board, and holds from then on, also after a restart. `configuration` is the CRC of its payload
(0xFFFF where that is 0), and 0 means that the node has none. HELLO answers ATTACH and CONFIGURE as soon as every input
has its first settled level, or half a second after the inputs were configured. A new configuration drops, and counts,
the reports that waited. REFUSED answers a CONFIGURE that cannot be; the one before goes on.

`first` is the number of the oldest report that waits or else of the next one. `levels` are those before that report:
bit n is set when the n-th input was closed. ACKNOWLEDGE lets the node forget the reports up to `number`; until then it
repeats them. In a BEAT `last` is the number of the newest change; while there is no room, it may be one that has no
report yet. `dropped` counts the changes there was no room for since the node's start, and `lost` the frames from the
table that did not arrive.

Ticks are the node's milliseconds since its start, modulo 2**32; an INITIAL report has those of the moment at which the
inputs were configured. A node listens and speaks from ATTACH until the table was silent for 3 s; then it makes its
outputs low.
INSTALL sends the node to MicroPython's prompt until the next restart, so that mpremote can reach its files.

ATTACH and HELLO may have any sequence number; the frames after them count on from there.
"""

import struct

PROTOCOL = 2
SYNC = b"\x7e"
PAYLOAD_MAX = 60
OVERHEAD = 6

ATTACH = 1
HELLO = 2
CONFIGURE = 3
REPORT = 4
ACKNOWLEDGE = 5
BEAT = 6
REFUSED = 7
INSTALL = 8

ATTACH_FORMAT = ">H"
# The first three numbers are the same in every protocol.
HELLO_FORMAT = ">BBBHIHIII"
REPORT_FORMAT = ">IIBBI"
ACKNOWLEDGE_FORMAT = ">II"
TABLE_BEAT_FORMAT = ">I"
NODE_BEAT_FORMAT = ">IIIBH"
REFUSED_FORMAT = ">HBB"
INSTALL_FORMAT = ">I"

# Flags of a report: the contact is closed; the contact was closed already when the node began to look.
CLOSED = 1
INITIAL = 2

INPUTS_MAX = 24
SETTLE_MS_MIN = 2

# Why a configuration is refused.
MALFORMED = 1
TOO_MANY_INPUTS = 2
PIN_MISSING = 3
PIN_TWICE = 4
SETTLE_TOO_SHORT = 5

# CRC-16 by half bytes: a sixteenth of the table, and still quick enough for the node's two milliseconds.
_CRC_STEPS = (
    0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50A5, 0x60C6, 0x70E7,
    0x8108, 0x9129, 0xA14A, 0xB16B, 0xC18C, 0xD1AD, 0xE1CE, 0xF1EF,
)  # fmt: skip


def crc16(data: bytes) -> int:
    """CRC-16/CCITT (polynomial 0x1021, start 0xFFFF): 0x29B1 for b"123456789"."""
    crc = 0xFFFF
    for byte in data:
        crc = ((crc << 4) & 0xFFFF) ^ _CRC_STEPS[(crc >> 12) ^ (byte >> 4)]
        crc = ((crc << 4) & 0xFFFF) ^ _CRC_STEPS[(crc >> 12) ^ (byte & 15)]
    return crc


def encode(sequence: int, kind: int, payload: bytes) -> bytes:
    """One frame. The payload has at most 60 bytes (ValueError)."""
    if len(payload) > PAYLOAD_MAX:
        raise ValueError("a payload has at most 60 bytes")
    body = bytes((len(payload), sequence & 255, kind)) + payload
    return SYNC + body + struct.pack(">H", crc16(body))


def unpack(layout: str, payload: bytes) -> tuple[int, ...]:
    """The numbers of a payload, or none at all when it does not have the size of the layout."""
    if len(payload) != struct.calcsize(layout):
        return ()
    return struct.unpack(layout, payload)


class ConfigurationRefused(Exception):
    """A configuration that cannot be: `reason` is MALFORMED or another of those above, `pin` the one it is about."""

    def __init__(self, reason: int, pin: int) -> None:
        super().__init__(reason, pin)
        self.reason = reason
        self.pin = pin


def encode_configuration(inputs: list[tuple[int, int]], outputs: list[int]) -> bytes:
    """The payload of a CONFIGURE; `inputs` are pins with their settle times in milliseconds (2 to 255)."""
    payload = bytes((len(inputs),))
    for pin, settle_ms in inputs:
        payload += bytes((pin, settle_ms))
    return payload + bytes(outputs)


def decode_configuration(payload: bytes) -> tuple[bytes, bytes, bytes]:
    """Input pins, their settle times, output pins. Raises ConfigurationRefused."""
    if not payload or len(payload) < 1 + 2 * payload[0]:
        raise ConfigurationRefused(MALFORMED, 0)
    count = payload[0]
    if count > INPUTS_MAX:
        raise ConfigurationRefused(TOO_MANY_INPUTS, count)
    inputs = bytes([payload[1 + 2 * n] for n in range(count)])
    settle_ms = bytes([payload[2 + 2 * n] for n in range(count)])
    outputs = payload[1 + 2 * count :]
    seen: set[int] = set()
    for pin in inputs + outputs:
        if pin in seen:
            raise ConfigurationRefused(PIN_TWICE, pin)
        seen.add(pin)
    for n in range(count):
        if settle_ms[n] < SETTLE_MS_MIN:
            raise ConfigurationRefused(SETTLE_TOO_SHORT, inputs[n])
    return inputs, settle_ms, outputs


def configuration_crc(payload: bytes) -> int:
    """What HELLO calls the configuration; never 0, which stands for none."""
    return crc16(payload) or 0xFFFF


def seal(payload: bytes) -> bytes:
    """A configuration as it is kept on the board."""
    return payload + struct.pack(">H", crc16(payload))


def unseal(data: bytes) -> bytes:
    """The configuration in what was kept; empty when that is damaged or missing."""
    payload = data[:-2]
    return payload if payload and data[-2:] == struct.pack(">H", crc16(payload)) else b""


class Decoder:
    """Cuts frames out of a stream that may start anywhere and hold noise. Keeps less than one frame between calls.

    `lost_frames` counts the holes in the numbering, `bad_crc` what looked like a frame and was none, `dropped_bytes`
    what belonged to no frame.
    """

    def __init__(self) -> None:
        self.lost_frames = 0
        self.bad_crc = 0
        self.dropped_bytes = 0
        self._rest = b""
        self._sequence: int | None = None

    @property
    def waiting(self) -> bool:
        """Whether the beginning of a frame waits for its rest."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Take what came in; return the complete frames as (sequence, type, payload)."""
        frames = []
        data = self._rest + data
        start = 0
        while True:
            found = data.find(SYNC, start)
            if found < 0:
                found = len(data)
            self.dropped_bytes += found - start
            start = found
            if len(data) - start < 2:
                break
            length = data[start + 1]
            end = start + OVERHEAD + length
            if length <= PAYLOAD_MAX:
                if len(data) < end:
                    break
                if crc16(data[start + 1 : end - 2]) == (data[end - 2] << 8) | data[end - 1]:
                    self._count(data[start + 2], data[start + 3])
                    frames.append((data[start + 2], data[start + 3], data[start + 4 : end - 2]))
                    start = end
                    continue
                self.bad_crc += 1
            self.dropped_bytes += 1
            start += 1
        self._rest = data[start:]
        return frames

    def give_up(self) -> list[tuple[int, int, bytes]]:
        """The line has gone silent: what is incomplete stays so. Return the frames that hid behind it."""
        frames = []
        while self._rest:
            rest = self._rest[1:]
            self._rest = b""
            self.dropped_bytes += 1
            frames.extend(self.feed(rest))
        return frames

    def forget(self) -> None:
        """The stream begins anew: the rest of a frame will not come."""
        self._rest = b""
        self._sequence = None

    def _count(self, sequence: int, kind: int) -> None:
        if self._sequence is not None and kind not in (ATTACH, HELLO):
            self.lost_frames += (sequence - self._sequence - 1) & 255
        self._sequence = sequence
