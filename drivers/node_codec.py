"""The frames between the table and its I/O node. The same file runs on both ends, so it keeps to MicroPython's subset.

A frame: 0x7E, length of the payload (0 to 60), sequence number (one more than that of the sender's frame before,
modulo 256), type, payload, CRC-16 (CCITT, from 0xFFFF, high byte first) over everything between. Numbers are unsigned,
high byte first. Nothing is escaped: after noise the reader looks for the next 0x7E from which length and CRC hold.

| type | name        | from  | payload |
|------|-------------|-------|---------|
| 1    | ATTACH      | table | none |
| 2    | HELLO       | node  | protocol u8, firmware u8.u8, boot id u32, configuration u16, first u32, dropped u32 |
| 3    | CONFIGURE   | table | settle ms u8, count of inputs u8, input pins u8 each, output pins u8 each |
| 4    | REPORT      | node  | number u32, ticks u32, pin u8, flags u8, ms since the pin's change before u32 |
| 5    | ACKNOWLEDGE | table | boot id u32, number u32 |
| 6    | BEAT        | table | none |
| 6    | BEAT        | node  | ticks u32, last u32, dropped u32, waiting u8 |
| 7    | OUTPUTS     | table | bits u32: bit n is the level of the n-th output pin |

ATTACH, when the table has just opened the port, asks for HELLO and for every report that waits. HELLO answers ATTACH
and CONFIGURE: `configuration` is the CRC of the CONFIGURE payload that holds, `first` the number of the oldest report
that waits or else of the next one. ACKNOWLEDGE lets the node forget the reports up to `number`; until then it repeats
them. In a BEAT `last` is the number of the newest report. `dropped` counts changes there was no room for.

Ticks are the node's milliseconds since its start, modulo 2**32. A node speaks only while it hears a table.
"""

import struct

PROTOCOL = 1
SYNC = b"\x7e"
PAYLOAD_MAX = 60
OVERHEAD = 6

ATTACH = 1
HELLO = 2
CONFIGURE = 3
REPORT = 4
ACKNOWLEDGE = 5
BEAT = 6
OUTPUTS = 7

HELLO_FORMAT = ">BBBIHII"
REPORT_FORMAT = ">IIBBI"
ACKNOWLEDGE_FORMAT = ">II"
BEAT_FORMAT = ">IIIB"
OUTPUTS_FORMAT = ">I"

# Flags of a report: the contact is closed; the contact was closed already when the node began to look.
CLOSED = 1
INITIAL = 2

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


class Decoder:
    """Cuts frames out of a stream that may start anywhere and hold noise. Keeps less than one frame between calls."""

    def __init__(self) -> None:
        self.bad_crc = 0
        self.dropped_bytes = 0
        self._rest = b""

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
