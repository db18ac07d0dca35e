"""The canonical form, the seal, and the refusal of everything that is not exactly it."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.event import EVENT_BYTES_MAX, GENESIS_HASH, BadEvent, Stamp, canonical, parse, seal

STAMP = Stamp(
    boot="9f0c1c5e-0000-4000-8000-000000000001",
    mono_ns=123_456_789,
    wall="2026-11-29T22:10:56.123Z",
    clock="synced",
)

# Written by hand, so that a change of the form cannot pass by changing code and test alike.
HAND_MADE_WITHOUT_HASH = (
    '{"boot":"9f0c1c5e-0000-4000-8000-000000000001","clock":"synced","data":{"dice":[2,4],"who":"Zoë"},'
    '"mono_ns":123456789,"prev":"' + "0" * 64 + '","seq":1,"table":"craps-1","type":"rolled","v":1,'
    '"wall":"2026-11-29T22:10:56.123Z"}'
)


def resealed(fields: dict[str, Any]) -> str:
    """The line of `fields` with a right hash, made with the standard library alone."""

    def form(value: dict[str, Any]) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    unsealed = {field: value for field, value in fields.items() if field != "hash"}
    return form(unsealed | {"hash": hashlib.sha256(form(unsealed).encode()).hexdigest()})


def good_fields() -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(resealed(json.loads(HAND_MADE_WITHOUT_HASH)))
    return fields


def test_hash_of_a_hand_made_event() -> None:
    event = seal("craps-1", 1, STAMP, "rolled", {"who": "Zoë", "dice": [2, 4]}, GENESIS_HASH)
    assert event.hash == hashlib.sha256(HAND_MADE_WITHOUT_HASH.encode()).hexdigest()
    assert event.line() == HAND_MADE_WITHOUT_HASH.replace('"mono_ns"', f'"hash":"{event.hash}","mono_ns"')
    assert parse(event.line()) == event


def test_canonical_form_sorts_keys_and_leaves_no_blanks() -> None:
    value = {"b": [1, None, True], "a": {"z": -2, "é": "€\n"}}
    assert canonical(value) == '{"a":{"z":-2,"é":"€\\n"},"b":[1,null,true]}'


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (1.0, "value: float"),
        ({"data": {"amount": 8.5}}, "data.amount: float"),
        ([0, [float("nan")]], r"\[1\]\[0\]: float"),
        (float("inf"), "float"),
        ({"a": {1: 2}}, "a: key 1 is not a string"),
        ({None: 2}, "key None is not a string"),
        ((1, 2), "tuple"),
        (b"x", "bytes"),
        ({"a": "\ud800"}, "a: a lone surrogate"),
        ({"\ud800": 1}, "lone surrogate"),
        (2**63, "beyond 64 bits"),
        (-(2**63) - 1, "beyond 64 bits"),
    ],
)
def test_canonical_refuses(value: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        canonical(value)


def test_canonical_refuses_deep_nesting() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(ValueError, match="nested deeper"):
        canonical(value)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"v": 2}, "v: version 2 is unknown"),
        ({"v": True}, "v: version True is unknown"),
        ({"extra": 1}, "extra: not a field"),
        ({"seq": "1"}, "seq: must be an integer"),
        ({"seq": True}, "seq: must be an integer"),
        ({"seq": 0}, "seq: must be 1 or more"),
        ({"mono_ns": -1}, "mono_ns: must be 0 or more"),
        ({"clock": "maybe"}, "clock: must be synced or free"),
        ({"wall": "2026-11-29T22:10:56Z"}, "wall: must look like"),
        ({"wall": "2026-02-30T22:10:56.123Z"}, "wall: must look like"),
        ({"wall": "٢026-11-29T22:10:56.123Z"}, "wall: must look like"),
        ({"table": ""}, "table: must not be empty"),
        ({"data": [1]}, "data: must be an object"),
        ({"data": {"amount": 1.5}}, "data.amount: float"),
        ({"prev": "A" * 64}, "prev: must be 64 digits"),
        ({"prev": "a" * 64}, "prev: must be 64 zeros in event 1"),
    ],
)
def test_parse_names_the_bad_field_even_under_a_right_hash(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadEvent, match=complaint):
        parse(resealed(good_fields() | change))


@pytest.mark.parametrize("field", sorted(set(good_fields()) - {"hash"}))
def test_parse_names_a_missing_field(field: str) -> None:
    fields = good_fields()
    del fields[field]
    with pytest.raises(BadEvent, match=f"{field}: missing"):
        parse(resealed(fields))


def test_parse_names_a_missing_or_wrong_hash() -> None:
    with pytest.raises(BadEvent, match="hash: missing"):
        parse(HAND_MADE_WITHOUT_HASH)
    with pytest.raises(BadEvent, match=r"hash is 1{64}, but the content's is"):
        parse(canonical(good_fields() | {"hash": "1" * 64}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"seq":1', '"seq": 1'),
        ('"seq":1', '"seq":1,"seq":1'),
        ("Zoë", "Zo\\u00eb"),
        ('"table":"craps-1","type":"rolled"', '"type":"rolled","table":"craps-1"'),
    ],
)
def test_parse_refuses_another_spelling_of_the_same_event(old: str, new: str) -> None:
    line = resealed(good_fields())
    assert old in line
    spelled_otherwise = line.replace(old, new)
    assert json.loads(spelled_otherwise) == json.loads(line)
    with pytest.raises(BadEvent, match="not in canonical form from character"):
        parse(spelled_otherwise)


@pytest.mark.parametrize("line", ["", "{", "null", "[]", "7" * 5000, "[" * 50_000, "\ufeff{}", '{"v":NaN}', "{}\n"])
def test_parse_refuses_what_is_no_event(line: str) -> None:
    with pytest.raises(BadEvent):
        parse(line)


def test_parse_refuses_a_line_end() -> None:
    with pytest.raises(BadEvent, match="canonical"):
        parse(resealed(good_fields()) + "\n")


def test_an_event_too_long_for_one_message_is_refused() -> None:
    with pytest.raises(BadEvent, match="bytes long"):
        seal("craps-1", 1, STAMP, "note", {"text": "€" * (EVENT_BYTES_MAX // 3)}, GENESIS_HASH)
    with pytest.raises(BadEvent, match="bytes long"):
        parse("x" * (EVENT_BYTES_MAX + 1))


def test_seal_keeps_a_copy_of_the_data() -> None:
    data = {"dice": [2, 4]}
    event = seal("craps-1", 1, STAMP, "rolled", data, GENESIS_HASH)
    data["dice"][0] = 6
    assert event.data == {"dice": [2, 4]}


def test_seal_names_the_bad_part() -> None:
    with pytest.raises(BadEvent, match=r"data\.pays: float"):
        seal("craps-1", 1, STAMP, "rolled", {"pays": 8.1666}, GENESIS_HASH)
    with pytest.raises(BadEvent, match="type: must not be empty"):
        seal("craps-1", 1, STAMP, "", {}, GENESIS_HASH)


def test_every_single_byte_edit_of_a_line_is_found() -> None:
    line = seal("craps-1", 1, STAMP, "rolled", {"who": "Zoë", "dice": [2, 4]}, GENESIS_HASH).line().encode()
    passed = []
    for position, original in enumerate(line):
        for byte in range(256):
            edited = line[:position] + bytes([byte]) + line[position + 1 :]
            try:
                parse(edited.decode())
            except (BadEvent, UnicodeDecodeError):
                continue
            if byte != original:
                passed.append((position, byte))
    assert passed == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200)
@given(
    table=st.text(min_size=1, max_size=20),
    seq=st.integers(2, 2**63 - 1),
    mono_ns=st.integers(0, 2**63 - 1),
    clock=st.sampled_from(["synced", "free"]),
    data=st.dictionaries(st.text(max_size=8), json_values, max_size=5),
    prev=st.text("0123456789abcdef", min_size=64, max_size=64),
)
def test_what_is_sealed_parses_to_the_same_event(
    table: str, seq: int, mono_ns: int, clock: str, data: dict[str, Any], prev: str
) -> None:
    stamp = Stamp(STAMP.boot, mono_ns, STAMP.wall, clock)
    event = seal(table, seq, stamp, "noted", data, prev)
    assert parse(event.line()) == event
    assert event.data == data
    assert "\n" not in event.line()
    assert event.line() == resealed(json.loads(event.line()))
