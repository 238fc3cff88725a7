"""What notebook 00 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

_COMMANDS = ("ls", "cat", "grep", "run", "edit", "submit")

QUESTIONS = (
    Question(
        "00-a", "00", "unseen tasks solved before training", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "00-b", "00", "unseen tasks solved after training", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "00-c", "00", "the command that follows `edit` most often", "prediction",
        cut_short=True, guess="text", options=_COMMANDS,
    ),
    Question(
        "00-d", "00", "solve rate of some groups", points=2,
        hints=(
            "Two things make an attempt solved; only one of them is about tests.",
            "A trajectory has `stop_reason`, and `verdict.of_suite(\"hidden\")` gives outcomes "
            "that have a `status`.",
            "Solved: stop_reason is \"submitted\" and every hidden outcome's status is \"passed\". "
            "Divide by all trajectories of all groups, not by the number of groups.",
        ),
    ),
    Question(
        "00-e", "00", "whether a group's rewards teach anything", points=1,
        hints=(
            "An advantage is a reward minus its group's mean.",
            "When is every advantage of a group zero? How large the rewards are does not matter.",
        ),
    ),
    Question(
        "00-f", "00", "whether the reference's own lines came back", points=2,
        hints=(
            "`task.reference` holds files of a right solution; a workspace may hold more, such as "
            "tests.",
            "What the reference does not name must be as in `task.files`: lay one over the other.",
            "{**task.files, **task.reference} is the whole workspace of the reference solution.",
        ),
    ),
)  # fmt: skip
