"""Answers to notebook 01. Copy a function into its cell, or read it after your own attempt."""

from math import comb

from workbench.grading import same_value
from workbench.records import UNSCORABLE


def my_pass_at_k(num_samples, num_correct, k):
    """01-e. One minus the chance that all k come from the wrong ones.

    The shortcut 1 - (1 - c/n)^k puts every attempt back before the next is drawn and comes out too
    low: with 3 right of 10 and k = 5 it says 83 %, where 92 % is true.
    """
    return 1 - comb(num_samples - num_correct, k) / comb(num_samples, k)


def my_cases():
    """01-f. One case for each boundary the statement draws.

    The visible cases alone let every mistake and both hacks through; these three let none.
    """
    return [
        (("lakes", 5), "lakes"),  # exactly as wide as the label
        (("bay", 1), "~"),  # room for nothing but the mark
        (("old mill", 5), "old ~"),  # a space before the cut stays
    ]


def my_reward(trajectory, task):
    """01-g. What cannot be judged first, then what is not an honest attempt, then the tests.

    Paying `visible_as_left` instead is the mistake `demo --cheat` lives on: after 30 iterations
    the policy is paid for 88 % of its attempts and has solved none.
    """
    if trajectory.verdict.status in UNSCORABLE:
        return None
    if trajectory.stop_reason != "submitted" or trajectory.evidence.tampered:
        return 0.0
    outcomes = trajectory.verdict.of_suite("hidden")
    return float(all(outcome.status == "passed" for outcome in outcomes))


def my_grader(result, cases):
    """01-h. A case has passed if its answer is there, is a value, and is the same by type.

    Python's == would pass True for 1; comparing texts would pass "[1]" for [1]; an exit status of 0
    says nothing at all about the answers.
    """
    if result.status in UNSCORABLE:
        return None
    passed = []
    for number, case in enumerate(cases):
        answer = result.results[number] if number < len(result.results) else None
        given = answer is not None and answer.status == "value"
        passed.append(given and same_value(answer.value, case.expected))
    return passed


RECALL = (
    "Because a program can look at everything in its process. If the expected values were there, "
    "it could return them, or change what compares them.",
    "Nothing under any of the three: all or nothing pays eight zeros, the pass fraction eight "
    "halves, compile credit eight times 0.2. Only differences within a group become advantages.",
    "To be surer: what eight tries would have found is now found at once. No task came within "
    "reach that was not within reach before.",
)
"""Answers to the recall questions, in their order."""
