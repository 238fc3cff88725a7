"""What notebook 17 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

QUESTIONS = (
    Question(
        "17-a", "17", "the share of weights that LoRA trains", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "17-b", "17", "groups of the trial that teach nothing", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "17-c", "17", "unseen tasks solved after LoRA training", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "17-d", "17", "digits in which two trainers' gradients agree", "prediction",
        guess="number", between=(0, 17),
    ),
    Question(
        "17-e", "17", "the program in a fence", points=2,
        hints=(
            "Go through the lines and remember whether you are inside of a fence.",
            "At a closing fence note the lines since the opening one; a later pair overwrites it.",
        ),
    ),
    Question(
        "17-f", "17", "the weights of an adapter", points=1,
        hints=("B has rows x r weights and A has r x columns.",),
    ),
    Question(
        "17-g", "17", "a batch in TRL's words", points=1,
        hints=(
            "b x s attempts, G of them for each task.",
            "One update takes b x a of the b x s attempts.",
        ),
    ),
    Question(
        "17-h", "17", "the loss mask of a conversation", points=1,
        hints=("Each piece adds as many equal numbers as it has tokens.",),
    ),
)  # fmt: skip
