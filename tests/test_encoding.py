"""Plain data crosses exactly; anything else, and anything hostile, is refused."""

import json
import math
from collections import Counter, namedtuple
from enum import IntEnum

import pytest

from workbench.encoding import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_HASHED,
    decode,
    dump_bytes,
    encode,
    parse_bytes,
)

EXACT = [
    None,
    True,
    0,
    -7,
    2**53,
    2**53 + 1,
    -(2**70),
    10**5000,
    1.5,
    -0.0,
    1e300,
    math.inf,
    -math.inf,
    "",
    "naïve 😀",
    "\ud800",
    "\ud83d\ude00",  # two lone surrogates, which JSON alone would join into one character
    b"\x00\xff",
    3j,
    complex(-0.0, math.inf),
    [],
    (),
    (1,),
    [1, (2, [3.0])],
    {1, 2},
    frozenset({(1, "a"), (2, "b")}),
    {"a": 1, (1, 2): {"x": None}, 3: [4]},
]


def exactly(value):
    """Text that differs when a type differs anywhere; sets in a fixed order."""
    if type(value) in (set, frozenset):
        return type(value).__name__, sorted(map(exactly, value))
    if type(value) in (list, tuple):
        return type(value).__name__, [exactly(item) for item in value]
    if type(value) is dict:
        return "dict", [(exactly(k), exactly(v)) for k, v in value.items()]
    return type(value).__name__, hex(value) if type(value) is int else repr(value)


@pytest.mark.parametrize("value", EXACT, ids=lambda v: repr(exactly(v))[:40])
def test_plain_data_comes_back_with_the_same_type_and_value(value):
    assert exactly(decode(encode(value))) == exactly(value)
    assert exactly(parse_bytes(dump_bytes(value))) == exactly(value)


def test_nan_comes_back_as_nan():
    assert math.isnan(parse_bytes(dump_bytes(math.nan)))


def test_the_written_form_is_what_the_documentation_says():
    assert encode((1, {"a": b"\x01"})) == {"tuple": [1, {"dict": [["a", {"bytes": "01"}]]}]}
    assert encode(2**60) == {"int": "0x1000000000000000"}
    assert dump_bytes({3, 1, 2}) == b'{"set":[1,2,3]}'


class AlwaysEqual:
    def __eq__(self, other):
        return True


class LyingInt(int):
    def __eq__(self, other):
        return True

    def __int__(self):
        return 99

    def __repr__(self):
        return "42"

    __hash__ = int.__hash__


@pytest.mark.parametrize("value", [AlwaysEqual(), LyingInt(3), Counter("aab"), object, range(3)])
def test_anything_but_plain_data_is_refused(value):
    with pytest.raises(ValueError, match="expected plain data"):
        encode(value)


def test_flattening_reads_a_subclass_by_its_base_types_own_methods():
    color = IntEnum("Color", "RED GREEN")
    point = namedtuple("Point", "x y")
    assert decode(encode(LyingInt(3), flatten=True)) == 3
    assert decode(encode([Counter("aab"), color.GREEN, point(1, 2)], flatten=True)) == [
        {"a": 2, "b": 1},
        2,
        (1, 2),
    ]
    with pytest.raises(ValueError, match="AlwaysEqual"):
        encode(AlwaysEqual(), flatten=True)


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_nesting_is_allowed_to_the_limit_and_no_further():
    assert decode(encode(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    with pytest.raises(ValueError, match="nested"):
        encode(nested(MAX_DEPTH + 1))
    with pytest.raises(ValueError, match="nested"):
        decode(nested(MAX_DEPTH + 1))


def test_a_cycle_is_refused():
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="cycle"):
        encode(value)


def test_a_set_with_too_many_items_is_refused_in_both_directions():
    with pytest.raises(ValueError, match=str(MAX_HASHED)):
        encode(set(range(MAX_HASHED + 1)))
    with pytest.raises(ValueError, match=str(MAX_HASHED)):
        decode({"set": list(range(MAX_HASHED + 1))})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"1 2",
        b"NaN",
        b"Infinity",
        b"\xff",
        b"[" * 100_000,
        b"1" * 5000,
        b'{"pickle":"00"}',
        b'{"tuple":[],"list":[]}',
        b'{"tuple":{}}',
        b'{"dict":[[1,2],[1,3]]}',
        b'{"dict":[[1]]}',
        b'{"dict":[[[1],2]]}',
        b'{"set":[[1]]}',
        b'{"set":[1,1]}',
        b'{"set":[1,true]}',
        b'{"int":5}',
        b'{"int":"zz"}',
        b'{"float":"1e5"}',
        b'{"bytes":"0"}',
        b'{"complex":[1,2]}',
        b'{"complex":[1.0]}',
        b'{"str":"ff"}',
    ],
)
def test_hostile_bytes_raise_value_error_and_nothing_else(data):
    with pytest.raises(ValueError):
        parse_bytes(data)


def test_size_is_checked_before_anything_is_parsed():
    with pytest.raises(ValueError, match="at most"):
        parse_bytes(b"x" * (MAX_BYTES + 1))


def test_the_bytes_are_one_line_of_json():
    data = dump_bytes({"text": "a\nb", "more": [1.0, None]})
    assert b"\n" not in data and json.loads(data)
