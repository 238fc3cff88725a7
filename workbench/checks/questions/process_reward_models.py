"""What notebook 11 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

QUESTIONS = (
    Question(
        "11-a", "11", "the standard error of a label from eight re-rolls", "prediction",
        guess="number", between=(0, 1),
    ),
    Question(
        "11-b", "11", "how well scores tell lost turns from others", "prediction",
        cut_short=True, guess="number", between=(0, 1),
    ),
    Question(
        "11-c", "11", "what chooses best among sixteen attempts", "prediction",
        cut_short=True, guess="text", options=("visible tests", "last score"),
    ),
    Question(
        "11-d", "11", "attempts handed in when scores are summed", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "11-e", "11", "attempts solved when the score stands behind tests", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "11-f", "11", "the first score below a threshold", points=1,
        hints=(
            "Go through the scores with their indices, and stop at the first that is too low.",
            "`next((k for k, s in enumerate(scores) if ...), None)`.",
        ),
    ),
    Question(
        "11-g", "11", "best of N by counting", points=2,
        hints=(
            "`itertools.combinations(range(len(scores)), n)` lists every choice; all are equally "
            "likely.",
            "In each choice the attempt with the highest score is handed in: average whether it "
            "is right.",
        ),
    ),
    Question(
        "11-h", "11", "credit from changes of the score", points=2,
        hints=(
            "Before the first turn the potential is `start`; before turn k it is the score after "
            "turn k - 1.",
            "A turn gets what stands after it minus what stood before it; after the last one "
            "stands the reward.",
        ),
    ),
    Question(
        "11-i", "11", "the chance that a hard label misses", points=1,
        hints=("One re-roll fails with chance 1 - q; all of them are independent.",),
    ),
)  # fmt: skip
