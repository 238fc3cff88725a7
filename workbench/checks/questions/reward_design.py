"""What notebook 02 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

QUESTIONS = (
    Question(
        "02-a", "02", "dead groups when hidden tests are paid", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "02-b", "02", "dead groups when visible tests are paid", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "02-c", "02", "which addition leaves the fewest dead groups", "prediction",
        guess="text", options=("fraction", "form", "turns"),
    ),
    Question(
        "02-d", "02", "what a price on turns does to the solve rate", "prediction",
        cut_short=True, guess="number", between=(-100, 100),
    ),
    Question(
        "02-e", "02", "a design that needs no hidden tests", points=2,
        hints=(
            "The visible tests were judged twice: as the agent left them, and in another suite as "
            "they were at the start.",
            "`all_pass(\"visible_pristine\")` cannot be forged by editing. Does it still pay an "
            "attempt that edited the tests and repaired the bug as well?",
            "`RewardDesign(...).blockers(name)` makes the total 0 where that component is below "
            "1; `intact` is 1.0 where no protected file differs.",
        ),
    ),
    Question(
        "02-f", "02", "the share of messages that were sent before", points=1,
        hints=(
            "Of how many messages is there an earlier one that is equal?",
            "A set of the messages has one of each: what is missing from it are the repetitions.",
        ),
    ),
    Question(
        "02-g", "02", "the chance that a group teaches nothing", points=1,
        hints=(
            "All rewards are equal in two ways.",
            "All are ones with chance p to the power of the group's size; all are zeros with ...",
        ),
    ),
)  # fmt: skip
