"""The frames between table and node: nothing invented, nothing lost but what noise hit, the same on both runtimes."""

import binascii
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers import node_codec as codec
from drivers.virtual_node import micropython_path

ROOT = Path(__file__).resolve().parent.parent

frames_list = st.lists(
    st.tuples(st.integers(0, 255), st.integers(0, 255), st.binary(max_size=codec.PAYLOAD_MAX)), max_size=12
)


def in_chunks(decoder: codec.Decoder, data: bytes, sizes: list[int]) -> list[tuple[int, int, bytes]]:
    frames = []
    start = 0
    n = 0
    while start < len(data):
        size = sizes[n % len(sizes)]
        frames += decoder.feed(data[start : start + size])
        start += size
        n += 1
    return frames


@given(st.binary(max_size=70))
def test_the_crc_is_ccitt_false(data: bytes) -> None:
    assert codec.crc16(b"123456789") == 0x29B1
    assert codec.crc16(b"") == 0xFFFF
    assert codec.crc16(data) == binascii.crc_hqx(data, 0xFFFF)


def test_a_frame_byte_by_byte() -> None:
    assert codec.encode(258, codec.BEAT, b"") == bytes.fromhex("7e 00 02 06 ca38")


def test_a_payload_that_is_too_long_is_refused() -> None:
    assert len(codec.encode(0, 1, bytes(60))) == 66
    with pytest.raises(ValueError, match="at most 60"):
        codec.encode(0, 1, bytes(61))


@given(frames_list, st.lists(st.integers(1, 130), min_size=1, max_size=8))
def test_frames_survive_any_splitting(frames: list[tuple[int, int, bytes]], sizes: list[int]) -> None:
    decoder = codec.Decoder()
    data = b"".join(codec.encode(*frame) for frame in frames)
    assert in_chunks(decoder, data, sizes) == frames
    assert (decoder.bad_crc, decoder.dropped_bytes, decoder.waiting) == (0, 0, False)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 128])
def test_frames_of_every_length_survive_the_block_sizes_of_usb(size: int) -> None:
    frames = [(length, codec.REPORT, bytes([0x7E]) * length) for length in range(61)]
    data = b"".join(codec.encode(*frame) for frame in frames)
    assert in_chunks(codec.Decoder(), data, [size]) == frames


@settings(derandomize=True)
@given(frames_list, st.binary(max_size=200), st.lists(st.integers(1, 130), min_size=1, max_size=8))
def test_after_noise_and_silence_all_frames_come_through(
    frames: list[tuple[int, int, bytes]], noise: bytes, sizes: list[int]
) -> None:
    decoder = codec.Decoder()
    found = in_chunks(decoder, noise, sizes) + decoder.give_up()
    assert found == []
    assert decoder.dropped_bytes == len(noise)
    assert in_chunks(decoder, b"".join(codec.encode(*frame) for frame in frames), sizes) == frames


def test_noise_right_before_a_frame_hides_it_no_longer_than_until_the_line_is_silent() -> None:
    decoder = codec.Decoder()
    frame = codec.encode(7, codec.BEAT, b"")
    assert decoder.feed(b"\x7e\x3c" + frame) == []
    assert decoder.waiting
    assert decoder.give_up() == [(7, codec.BEAT, b"")]
    assert not decoder.waiting


def test_corruption_invents_nothing_and_costs_no_frame_that_it_did_not_hit() -> None:
    """20,000 frames, of which every third has one to three bytes changed, one byte lost, or one too many."""
    chance = random.Random(6)
    decoder = codec.Decoder()
    sent: list[tuple[int, int, bytes]] = []
    found: list[tuple[int, int, bytes]] = []
    hit = 0
    for n in range(20_000):
        frame = (n & 255, codec.REPORT, n.to_bytes(4, "big") + chance.randbytes(chance.randrange(20)))
        data = bytearray(codec.encode(*frame))
        # A last byte 0x7E that is lost is made up for by the first of the next frame, which then has none.
        if chance.randrange(3) == 0 and data[-1] != 0x7E:
            hit += 1
            where = chance.randrange(len(data))
            change = chance.randrange(3)
            if change == 0:
                for at in range(where, min(where + chance.randint(1, 3), len(data))):
                    data[at] ^= chance.randint(1, 255)
            elif change == 1:
                del data[where]
            else:
                data.insert(where, data[where] ^ 0xFF)
        else:
            sent.append(frame)
        found += decoder.feed(bytes(data))
        # The line rests between frames now and then, as it does between presses.
        if chance.randrange(4) == 0:
            found += decoder.give_up()
    found += decoder.give_up()
    assert hit > 6000
    numbers = {frame[2][:4]: frame for frame in sent}
    for frame in found:
        # A byte inserted before a frame or its sync leaves that frame whole, so it may come through as it was.
        assert len(frame[2]) >= 4
        assert numbers.setdefault(frame[2][:4], frame) == frame
    assert set(sent) <= set(found)
    assert len(found) - len(sent) < hit / 20


def test_a_frame_longer_than_any_is_passed_over() -> None:
    """128 bytes with a CRC that holds: the next frame comes through all the same."""
    body = bytes((122, 1, codec.REPORT)) + bytes(122)
    oversize = codec.SYNC + body + binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "big")
    decoder = codec.Decoder()
    assert decoder.feed(oversize + codec.encode(2, codec.BEAT, b"")) == [(2, codec.BEAT, b"")]
    assert decoder.dropped_bytes == 128


def test_holes_in_the_numbering_are_counted_except_where_it_begins_anew() -> None:
    decoder = codec.Decoder()
    for sequence, kind, lost in (
        (7, codec.BEAT, 0),
        (8, codec.REPORT, 0),
        (11, codec.REPORT, 2),
        (200, codec.HELLO, 2),
        (201, codec.BEAT, 2),
        (0, codec.ATTACH, 2),
        (255, codec.BEAT, 256),
        (0, codec.BEAT, 256),
    ):
        decoder.feed(codec.encode(sequence, kind, b""))
        assert decoder.lost_frames == lost
    decoder.forget()
    decoder.feed(codec.encode(99, codec.BEAT, b""))
    assert decoder.lost_frames == 256


def test_a_configuration_is_its_pins_and_times_and_keeps_them() -> None:
    payload = codec.encode_configuration([(2, 10), (3, 200)], [8, 9])
    assert payload == bytes((2, 2, 10, 3, 200, 8, 9))
    assert codec.decode_configuration(payload) == (bytes((2, 3)), bytes((10, 200)), bytes((8, 9)))
    assert codec.unseal(codec.seal(payload)) == payload
    assert codec.seal(payload) == payload + binascii.crc_hqx(payload, 0xFFFF).to_bytes(2, "big")


def test_a_configuration_damaged_anywhere_is_none() -> None:
    sealed = codec.seal(bytes((1, 2, 10, 8)))
    for n in range(len(sealed)):
        assert codec.unseal(sealed[:n]) == b""
        assert codec.unseal(sealed[:n] + bytes((sealed[n] ^ 0x40,)) + sealed[n + 1 :]) == b""


def test_no_configuration_has_the_number_that_stands_for_none() -> None:
    """Of the one with the CRC 0, found by trying."""
    payload = next(
        bytes((2, 2, low, 3, high))
        for low in range(256)
        for high in range(256)
        if binascii.crc_hqx(bytes((2, 2, low, 3, high)), 0xFFFF) == 0
    )
    assert codec.configuration_crc(payload) == 0xFFFF
    assert codec.configuration_crc(b"123456789") == 0x29B1


def test_the_largest_configuration_of_a_pico_fits_a_frame() -> None:
    """24 of its 26 pins as inputs and the others as outputs."""
    payload = codec.encode_configuration([(pin, 10) for pin in range(24)], [26, 27])
    assert len(codec.encode(0, codec.CONFIGURE, payload)) <= 66


def test_what_waits_is_never_longer_than_a_frame() -> None:
    decoder = codec.Decoder()
    for _ in range(1000):
        decoder.feed(b"\x7e\x3c\x7e")
    assert decoder.give_up() == []
    assert decoder.dropped_bytes == 3000


def test_a_payload_of_the_wrong_size_has_no_numbers() -> None:
    assert codec.unpack(codec.ACKNOWLEDGE_FORMAT, bytes(8)) == (0, 0)
    assert codec.unpack(codec.ACKNOWLEDGE_FORMAT, bytes(7)) == ()


def test_the_codec_under_micropython_makes_and_reads_the_same_bytes() -> None:
    script = """
from drivers import node_codec as codec
decoder = codec.Decoder()
data = b"".join(codec.encode(n, n % 8, bytes(range(n))) for n in range(61))
print(data.hex())
frames = decoder.feed(b"noise ~ " + data[:100])
frames.extend(decoder.feed(data[100:]))
frames.extend(decoder.give_up())
print("".join("%d,%d,%s;" % (s, k, p.hex()) for s, k, p in frames))
print(decoder.bad_crc, decoder.dropped_bytes, codec.unpack(codec.REPORT_FORMAT, bytes(range(14))))
"""
    done = subprocess.run(
        [micropython_path(), "-c", script],
        env={"PATH": "/usr/bin:/bin", "MICROPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = done.stdout.splitlines()
    frames = [(n, n % 8, bytes(range(n))) for n in range(61)]
    assert lines[0] == b"".join(codec.encode(*frame) for frame in frames).hex()
    assert lines[1] == "".join(f"{s},{k},{p.hex()};" for s, k, p in frames)
    assert lines[2] == "1 8 (66051, 67438087, 8, 9, 168496141)"
