import math

import numpy as np
import pytest

from workbench.credit import agreement, rank_of_turn


def test_ties_share_their_mean_place():
    credit = [0.1, 0.9, 0.9, -1.0]
    assert [rank_of_turn(credit, k) for k in range(4)] == [3.0, 1.5, 1.5, 4.0]


def test_agreement_by_hand():
    """Differences 0, 1, -1 (the fourth is left out); deviations (-1, 0, 1) and (-1, 1, 0)."""
    said = [np.array([0.0, 1.0]), np.array([2.0, np.nan])]
    true = [np.array([0.0, 2.0]), np.array([1.0, 5.0])]
    found = agreement(said, true)
    assert np.isclose(found.correlation, 0.5)
    assert np.isclose(found.rmse, (2 / 3) ** 0.5) and found.num_turns == 3


def test_a_constant_has_no_correlation_and_nothing_no_error():
    assert math.isnan(agreement([np.ones(2)], [np.array([0.0, 1.0])]).correlation)
    empty = agreement([np.array([np.nan])], [np.array([1.0])])
    assert empty.num_turns == 0 and math.isnan(empty.rmse) and math.isnan(empty.correlation)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"the truth's shapes \[\(3,\)\], got \[\(2,\)\]"):
        agreement([np.ones(2)], [np.ones(3)])


def test_a_turn_of_which_nothing_is_said_has_no_place():
    assert math.isnan(rank_of_turn([np.nan, 0.2, 0.1], 0))
    assert rank_of_turn([np.nan, 0.2, 0.1], 2) == 2.0
