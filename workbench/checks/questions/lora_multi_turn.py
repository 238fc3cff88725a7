"""What notebook 18 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

QUESTIONS = (
    Question(
        "18-a", "18", "tokens of an attempt that the policy sampled", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "18-b", "18", "the part of an iteration that is rollouts", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "18-c", "18", "unseen tasks solved after training over several turns", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "18-d", "18", "whether all turns of solved attempts gain", "prediction",
        cut_short=True, guess="yes or no",
    ),
    Question(
        "18-e", "18", "an attempt as TRL takes it", points=2,
        hints=(
            "Only the first turn's new ids are the prompt; later ones are observations.",
            "Add to completion and mask at the same time: 0 for new ids, 1 for sampled ones.",
        ),
    ),
    Question(
        "18-f", "18", "turns within a budget of tokens", points=1,
        hints=("k messages with k - 1 observations between them are k a + (k - 1) o tokens.",),
    ),
    Question(
        "18-g", "18", "how often a group teaches", points=1,
        hints=("A group is tied if all are solved or none is.",),
    ),
    Question(
        "18-h", "18", "waiting for sandboxes", points=1,
        hints=("In each turn the n programs run in ceil(n / w) rounds.",),
    ),
)  # fmt: skip
