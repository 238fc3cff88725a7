"""The questions of the notebooks: what each asks for, its hints and its points.

Stage: outside the loop. Kept here and not in the notebooks, so that no cell spoils an answer. In:
a question's name; out: its record, or its next hint. Left out: the answers, which are in
`notebooks/solutions`.
"""

from __future__ import annotations

from workbench.checks import memory
from workbench.checks.questions import (
    credit_assignment,
    lora_multi_turn,
    lora_single_turn,
    process_reward_models,
    reward_design,
    unit_tests_as_reward,
    watch_it_learn,
)
from workbench.checks.questions.question import Question

QUESTIONS: tuple[Question, ...] = (
    *watch_it_learn.QUESTIONS,
    *unit_tests_as_reward.QUESTIONS,
    *reward_design.QUESTIONS,
    *credit_assignment.QUESTIONS,
    *process_reward_models.QUESTIONS,
    *lora_single_turn.QUESTIONS,
    *lora_multi_turn.QUESTIONS,
)
"""Every prediction and exercise, notebook by notebook."""

__all__ = ["QUESTIONS", "Question", "find", "hint"]


def find(question: str) -> Question | None:
    """The record of a question, or None if no notebook has it."""
    return next((one for one in QUESTIONS if one.id == question), None)


def hint(question: str) -> None:
    """Print the question's next hint; which ones were asked for is remembered."""
    known = find(question)
    if known is None or not known.hints:
        with_hints = ", ".join(one.id for one in QUESTIONS if one.hints)
        print(f"{question}: no hints here. There are some for {with_hints}.")
        return
    used = memory.hints_used.get(question, 0)
    if used < len(known.hints):
        used = memory.hints_used[question] = used + 1
        print(f"{question}, hint {used} of {len(known.hints)}: {known.hints[used - 1]}")
    else:
        print(f"{question}: no more hints. The last: {known.hints[-1]}")
