"""Differences are found exactly where they are and said in words."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from workbench.checks.comparing import difference, shown
from workbench.records import RewardPart

SAME = [
    (1, 1.0, 0),
    (np.float32(0.1), 0.1, 1e-6),
    (np.int64(3), 3, 0),
    (np.bool_(True), True, 0),
    (np.array(2.0), 2.0, 0),
    (math.nan, math.nan, 0),
    (math.inf, math.inf, 0),
    (1e9 + 1, 1e9, 1e-6),
    (Fraction(1, 4), 0.25, 0),
    (Decimal("0.25"), 0.25, 0),
    (1 + 2j, 1 + 2j, 0),
    (2, 2 + 0j, 0),
    (True, 1, 0),
    (0.0, False, 0),
    (4.0, 4, 0),
    ([16.0, 4], (16, 4), 0),
    ([False, np.bool_(True)], [0, 1], 0),
    (np.array([0.25, -0.5]), [0.25, -0.5], 0),
    ([0.25, -0.5], np.array([0.25, -0.5]), 0),
    ([(1, 0), (0, 1)], np.eye(2), 0),
    (np.array([1, 0]), np.array([True, False]), 0),
    (np.array([]), [], 0),
    (np.array([1j, 2]), np.array([1j, 2]), 0),
    (np.array([1, 2]), np.array([1.0, 2.0]), 0),
    (np.array([-np.inf, 1.0]), np.array([-np.inf, 1.0]), 0),
    (np.float16([0.5]), np.array([0.5]), 0),
    (np.ma.array([1.0, 2.0], mask=[False, True]), np.array([1.0, np.nan]), 0),
    (np.array([1, np.nan, np.inf]), np.array([1.0, np.nan, np.inf]), 0),
    ([1, (2.0, None)], [1, (2.0, None)], 0),
    ({"a": np.ones(2)}, {"a": np.ones(2)}, 0),
    (RewardPart("a", 0.3, 1.0), RewardPart("a", 0.1 + 0.2, 1.0), 1e-9),
]
DIFFERENT = [
    (2, True, "expected True, got 2"),
    (1.5, 1, "expected 1, got 1.5"),
    ("1", 1, "expected int 1, got str '1'"),
    (None, 3, "got None; is a `return` missing?"),
    ([1, 2], (1, 3), "at [1]: expected 3, got 2"),
    ({1}, [1], "expected list [1], got set {1}"),
    (np.eye(2), [1.0, 0.0], "at [0]: expected float 1.0, got an array [1., 0.]"),
    ([[1.0], [1.0, 2.0]], np.eye(2), "it cannot be compared: ValueError"),
    ([1, 2], [1, 2, 3], "expected 3 items, got 2"),
    ([1, [2, 5]], [1, [2, 3]], "at [1][1]: expected 3, got 5"),
    ({"a": 1}, {"a": 1, "b": 2}, "the key 'b' is missing"),
    ({"a": 1, "c": 1}, {"a": 1}, "the key 'c' is one too many"),
    (math.nan, 1.0, "expected 1.0, got nan"),
    (1.0, math.nan, "expected nan, got 1.0"),
    (1.0, math.inf, "expected inf, got 1.0"),
    (math.inf, 1.0, "expected 1.0, got inf"),
    (math.inf, -math.inf, "expected -inf, got inf"),
    ([1.0], [math.inf], "at [0]: expected inf, got 1.0"),
    (np.array([1.0, 2.0]), np.array([1.0, np.inf]), "at [1]: expected inf, got 2.0"),
    (np.array([np.inf, 2.0]), np.array([1.0, 2.0]), "at [0]: expected 1.0, got inf"),
    (np.array([np.nan, 2.0]), np.array([1.0, 2.0]), "at [0]: expected 1.0, got nan"),
    (np.array([1.0, 2.0]), np.array([np.nan, 2.0]), "at [0]: expected nan, got 1.0"),
    (1.1, 1.0, "expected 1.0, got 1.1"),
    (10**400, 1.0, "expected 1.0, got 1000"),
    (1 + 2j, 1.0, "expected float 1.0, got complex (1+2j)"),
    (1 + 2j, 1 + 3j, "expected (1+3j), got (1+2j)"),
    (np.array([1 + 2j]), np.array([1 + 3j]), "at [0]: expected (1+3j), got (1+2j)"),
    (np.array([1 + 2j]), np.array([1.0]), "expected an array of float64, got one of complex128"),
    (np.array([2**60 + 1]), np.array([2**60]), "at [0]: expected 1152921504606846976, got 1152921"),
    (np.ma.array([1.0], mask=[True]), np.array([1.0]), "at [0]: expected 1.0, got nan"),
    (np.array([None, 1.0]), np.array([1.0, 1.0]), "it cannot be compared: TypeError"),
    (1.0, np.ones(1), "expected an array, got float 1.0"),
    ([1.0, 2.0], np.ones(1), "expected 1 number, shape (1,); got 2 numbers, shape (2,)"),
    (
        np.ones((3, 2)),
        np.ones((2, 3)),
        "expected 2 rows of 3 numbers, shape (2, 3); got 3 rows of 2 numbers, shape (3, 2); "
        "transposed?",
    ),
    (np.ones((2, 1, 1)), np.ones(2), "expected 2 numbers, shape (2,); got an array of 2 x 1 x 1"),
    (np.array([1.0, 0.5]), np.array([True, False]), "at [1]: expected False, got 0.5"),
    (np.array([1.0, 2, 4]), np.array([1.0, 2, 3]), "at [2]: expected 3.0, got 4.0"),
    (np.zeros(3), np.array([0, 1, np.nan]), "at [1]: expected 1.0, got 0.0 (2 of 3 numbers"),
    (RewardPart("a", 0.5, 1.0), RewardPart("a", 0.5, 2.0), "at .weight: expected 2.0, got 1.0"),
]


@pytest.mark.parametrize("got, expected, tolerance", SAME)
def test_equal_values_have_no_difference(got, expected, tolerance):
    assert difference(got, expected, tolerance) == ""


@pytest.mark.parametrize("got, expected, words", DIFFERENT)
def test_a_difference_is_said_in_words(got, expected, words):
    assert difference(got, expected, 1e-9).startswith(words)


def test_tensors_count_as_arrays():
    torch = pytest.importorskip("torch")
    assert difference(torch.ones(2, requires_grad=True), torch.ones(2)) == ""
    assert difference(torch.tensor(0.5), 0.5) == ""
    assert "at [1]" in difference(torch.tensor([1.0, 2.0]), np.array([1.0, 3.0]))
    precise = torch.tensor([1.0 + 1e-8], dtype=torch.float64)
    assert "at [0]" in difference(precise, torch.ones(1, dtype=torch.float64))
    assert difference(torch.tensor([0.5], dtype=torch.bfloat16), np.array([0.5])) == ""


def test_nothing_that_a_reader_returns_makes_a_comparison_raise(hostile):
    for expected in (1, 1.0, [1, [1]], np.ones(1)):
        assert difference(hostile, expected)
    difference([hostile], [hostile])
    assert len(shown(hostile)) <= 300


def test_what_cannot_be_printed_is_named():
    assert shown(10**5000) == "(int, which cannot be printed)"


def test_tensors_without_numbers_are_refused_in_words():
    torch = pytest.importorskip("torch")
    for tensor in (torch.ones(2, device="meta"), torch.eye(2).to_sparse()):
        assert difference(tensor, torch.ones(2)).startswith("it cannot be compared: ")
        assert shown(tensor)
