"""Answers to notebook 02. Copy a function into its cell, or read it after your own attempt."""

from workbench import RewardDesign
from workbench.rewards import all_pass, intact


def my_design():
    """02-e. The visible tests as they were at the start, and nothing if a protected file differs.

    On the recorded run: AUROC 0.984, 27 of 1,152 attempts are paid and wrong, against 337 when the
    tests are taken as the agent left them. What remains passes the visible cases and not the
    hidden ones: no design can see that without more tests.
    """
    design = RewardDesign(tests=(all_pass("visible_pristine"), 1.0), intact=(intact, 0.0))
    return design.blockers("intact")


def my_share(messages):
    """02-f. Every message beyond the first of its kind is a repetition.

    As a component with weight -0.5 it leaves no group of the stage `base` dead (half of them are
    without it) and pays no wrong attempt; what it would teach failures is variety.
    """
    return 1 - len(set(messages)) / len(messages)


def dead_share(p, group_size):
    """02-g. All right, or all wrong.

    With eight attempts a task that is solved one time in ten is dead in 43 of 100 groups, one that
    is solved half of the time in 1 of 128.
    """
    return p**group_size + (1 - p) ** group_size


RECALL = (
    "What the revived groups teach: whether the new differences between failures lead towards the "
    "answer (compare with the truth inside the groups). And what it costs where there was a signal "
    "already: flips and wrong attempts that are paid. Then train with it.",
    "It costs as much as a success is worth, and an edit is certain to be seen. A cheat that the "
    "evidence does not show, or that pays more than it costs, is not held back.",
    "Behind a gate where the bonus must never pay a failure: it then orders the successes only. "
    "Added where failures should be ordered as well, and the order leads somewhere.",
)
"""Answers to the recall questions, in their order."""
