"""Three ways to compare: by type and value at every level, by Python's ==, within a tolerance."""

import math
import sys

import pytest

from workbench.encoding import decode, encode
from workbench.grading import close_value, equal_value, matches, same_value
from workbench.records import Case

SAME = [
    (1, 1),
    (math.nan, math.nan),
    (-0.0, -0.0),
    (10**60, 10**60),
    ([1, (2, {"a": math.nan})], [1, (2, {"a": math.nan})]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({1, 2, 3}, {3, 2, 1}),
    (frozenset({"x"}), frozenset({"x"})),
    ({float("nan"): 1, float("nan"): 5}, {float("nan"): 5, float("nan"): 1}),
    ({"a": {"b": 1, "c": 2}, "d": {3, 4}}, {"d": {4, 3}, "a": {"c": 2, "b": 1}}),
    (b"a", b"a"),
    (complex(1, -0.0), complex(1, -0.0)),
    (None, None),
]
DIFFERENT = [
    (True, 1),
    (1, 1.0),
    (0, False),
    (0.0, -0.0),
    (math.nan, 1.0),
    ((1, 2), [1, 2]),
    ([1, 2], [1, 2, 3]),
    ([1, [True]], [1, [1]]),
    ({1}, {True}),
    ({1: "a"}, {True: "a"}),
    ({1: "a"}, {1.0: "a"}),
    ({"a": 1}, {"a": 1.0}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({float("nan"): 5, float("nan"): 1}, {float("nan"): 1, float("nan"): 1}),
    ({float("nan"): 1}, {float("nan"): 1, float("nan"): 1}),
    ({1, 2}, frozenset({1, 2})),
    ("a", b"a"),
    (complex(1, 0.0), complex(1, -0.0)),
    (None, 0),
    (0.1 + 0.2, 0.3),
]


@pytest.mark.parametrize(("got", "expected"), SAME, ids=repr)
def test_these_are_the_same(got, expected):
    assert same_value(got, expected) and same_value(expected, got)


@pytest.mark.parametrize(("got", "expected"), DIFFERENT, ids=repr)
def test_these_differ(got, expected):
    assert not same_value(got, expected) and not same_value(expected, got)


VALUES = [
    *(None, True, False, 0, 1, -1, 1.0, 0.0, -0.0, 0.5, math.inf, -math.inf, math.nan, 2**53 + 1),
    *(float(2**53), 10**400, 1 + 0j, 1j, "", "1", "a", b"", b"a", (), (1,), [], [1], [1.0], [True]),
    *([math.nan], [[1], (2,)], ([1], [2]), {}, {1: "a"}, {True: "a"}, {1.0: "a"}, {"a": [1.0]}),
    *({"a": [1]}, set(), {1}, {True}, frozenset({1}), {(1, 2)}),
]


@pytest.mark.parametrize("expected", VALUES, ids=lambda value: repr(value)[:20])
def test_equal_is_what_python_says_about_every_pair_of_values(expected):
    for value in VALUES:
        got = decode(encode(value))  # another object, as what a sandbox sends back
        assert equal_value(got, expected) is bool(got == expected), (got, expected)
        assert matches(got, Case((), expected, "equal")) is bool(got == expected)
        assert matches(got, Case((), expected)) is same_value(got, expected)


CLOSE = [
    (0.1 + 0.2, 0.3),
    (3, 3.0),
    (2.9999999, 3),
    (10**400, 10**400 + 1),
    (1e300, 1e300 * (1 + 1e-7)),
    ([1.0, (2, [3.0000001])], [1, (2, [3])]),
    (math.nan, math.nan),
    ([math.nan], [math.nan]),
    (math.inf, math.inf),
    (-math.inf, -math.inf),
    (True, 1),
    (1.0, True),
    ("a", "a"),
    ({1: 2.0}, {1: 2}),
    (None, None),
    (1e-6, 0.0),
    (2_000_002, 2_000_000),  # relative to the expected value
]
NOT_CLOSE = [
    (1.1e-6, 0.0),
    (2_000_003, 2_000_000),
    (2_000_002.000001, 2_000_000),  # 2 are allowed: a millionth of what is expected, not of got
    (0.999999, True),
    (math.nan, 0.0),
    (math.inf, -math.inf),
    (math.inf, sys.float_info.max),
    (10**400, math.inf),
    (10**400, 1.0),
    (-(10**400), 10**400),
    (1.0, math.nan),
    ([1.0], (1.0,)),
    ([1.0], [1.0, 1.0]),
    ([1.0, 2.0], [1.0]),
    ("1.0", 1.0),
    (None, 0.0),
    ({1: 2.0000001}, {1: 2}),  # inside a dict only ==
    ({1.0000001}, {1}),
    (1 + 0.0000001j, 1),
]


@pytest.mark.parametrize(("got", "expected"), CLOSE, ids=lambda value: repr(value)[:20])
def test_these_are_close(got, expected):
    assert close_value(got, expected, 1e-6)
    assert matches(got, Case((), expected, "close", 1e-6))


@pytest.mark.parametrize(("got", "expected"), NOT_CLOSE, ids=lambda value: repr(value)[:20])
def test_these_are_not_close(got, expected):
    assert not close_value(got, expected, 1e-6)


def nested(kind):
    value = kind([1.0])
    for _ in range(100_000):
        value = kind([value])
    return value


@pytest.mark.parametrize("kind", [list, tuple])
def test_nesting_without_end_is_unequal_and_raises_nothing(kind):
    got, expected = nested(kind), nested(kind)
    assert not equal_value(got, expected) and not close_value(got, expected, 0.1)
    assert not equal_value(got, 1) and not close_value(got, 1.0, 0.1)
