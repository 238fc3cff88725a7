"""A returned value is the expected one only if type and value agree at every level."""

import math

import pytest

from workbench.grading import same_value

SAME = [
    (1, 1),
    (math.nan, math.nan),
    (-0.0, -0.0),
    (10**60, 10**60),
    ([1, (2, {"a": math.nan})], [1, (2, {"a": math.nan})]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({1, 2, 3}, {3, 2, 1}),
    (frozenset({"x"}), frozenset({"x"})),
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
