"""Answers to notebook 11. Copy a function into its cell, or read it after your own attempt."""

from itertools import combinations


def my_first_error(scores, threshold):
    """11-f. The first one that is too low.

    With the threshold moved, accuracy on attempts that have an error is traded for accuracy on
    those that have none: ProcessBench's F1 is their harmonic mean, so that neither can be had by
    always saying the same.
    """
    return next((k for k, score in enumerate(scores) if score < threshold), None)


def my_best_of_n(scores, right, n):
    """11-g. Every choice of n is equally likely; average whether its best is right.

    The package counts with binomials, since 16 attempts have 12,870 choices of eight. With the
    truth for a score it is pass@n.
    """
    choices = list(combinations(range(len(scores)), n))
    return sum(right[max(choice, key=lambda i: scores[i])] for choice in choices) / len(choices)


def my_changes(scores, start, reward):
    """11-h. What stands after a turn minus what stood before it.

    They sum to reward - start whatever the model says in between. A single turn that talks the
    score up is paid for it all the same, and a later one charged; handed all changes from itself
    on, as `score_changes` does unless told otherwise, it gets the reward minus the score before it.
    """
    before = [start, *scores[:-1]]
    after = [*scores[:-1], reward]
    return [b - a for a, b in zip(before, after)]


def my_missed(q, n):
    """11-i. All fail: (1 - q) to the power of n.

    With q = 0.1 and eight re-rolls that is 0.43: hard labels are harsh where success is rare, and
    lenient where the policy recovers from its errors.
    """
    return (1 - q) ** n


RECALL = (
    "Of attempts that look alike up to a turn, a share q ends well. Cross-entropy against their 0s "
    "and 1s is smallest where the prediction is q: the labels are noisy and right on average.",
    "Whether it knows which turn was wrong: the choice needs the order of whole attempts only, and "
    "a model that looks at the last turn, or at how easy the task is, can be good at it.",
    "Scores are positive, so each further turn adds to the sum and the last turn ends the income. "
    "Differences along an attempt add up to reward minus start, however many turns there are; a "
    "turn must then be handed all of them from itself on, not its own alone.",
    "Outcomes of fresh attempts, so the hidden tests (or people, or re-rolls) it was to replace; "
    "otherwise it learns from what it said itself.",
)
"""Answers to the recall questions, in their order."""
