"""Answers to notebook 10. Copy a function into its cell, or read it after your own attempt."""

import itertools
import math

import numpy as np


def my_credit(values, reward):
    """10-h. Differences of neighbours, with the reward behind the values.

    The numbers sum to reward - values[0], whatever the values in between: on attempt 4 to 1 - 0.09.
    A wrong value therefore moves credit from one turn to its neighbour and makes none.
    """
    return np.diff(np.append(values, reward))


def my_shares(credit, tokens):
    """10-i. What moves the weights is |credit| times tokens.

    In attempt 4 the two edits are 61 of 75 sampled tokens: under broadcast they get 81 % of the
    attempt's update, the one that was wrong nearly as much as the one that was right.
    """
    pull = np.nan_to_num(np.abs(credit)) * tokens
    return pull / pull.sum() if pull.sum() else pull


def my_shapley(worth, turns):
    """10-j. The gain on joining, averaged over all orders: K! of them, so for few turns only.

    `credit.shapley` sums over subsets instead, 2^K of them, with the share of orders that each
    stands for; with ten turns that is 1,024 in the place of 3.6 million.
    """
    orders = list(itertools.permutations(turns))
    total = dict.fromkeys(turns, 0.0)
    for order in orders:
        joined = frozenset()
        for turn in order:
            total[turn] += worth[joined | {turn}] - worth[joined]
            joined |= {turn}
    return {turn: gain / len(orders) for turn, gain in total.items()}


def my_number(p, standard_error):
    """10-k. p (1 - p) / n is the mean's variance.

    The recorded values have 128 re-rolls: at p = 0.5 a standard error of 0.044. VinePPO's 9 give
    0.17 there, enough to tell a decisive turn from a wasted one and no more.
    """
    return max(2, math.ceil(p * (1 - p) / standard_error**2))


RECALL = (
    "It praises them in the solved attempt and blames them in the other. Over many attempts the "
    "praise and the blame average to what the turns are worth, because the rest is luck that does "
    "not depend on them: the direction is right, the noise is what costs.",
    "A failed attempt earns 0, and without some of its turns it earns 0 as well: no subset of the "
    "commands solves the task. One has to ask what the policy would have done instead, that is, to "
    "play on from there with something other than the recorded commands.",
    "A workspace that can be restored in the middle of an episode (and, to be cheap, a key-value "
    "cache that can be copied), and a reward that can be computed for every rest that is played.",
    "To look before it edits: a turn whose credit is always 0 gets no gradient, however much of "
    "the reward it makes possible. Such a bias does not average out.",
)
"""Answers to the recall questions, in their order."""
