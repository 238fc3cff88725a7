"""The questions of the notebooks: what each asks for, its hints and its points.

Stage: outside the loop. Kept here and not in the notebooks, so that no cell spoils an answer. In:
a question's name; out: its record, or its next hint. Left out: the answers, which are in
`notebooks/solutions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.checks import memory


@dataclass(frozen=True)
class Question:
    """A prediction or an exercise of a notebook."""

    id: str
    """Its name in the notebook: notebook, dash, letter."""
    notebook: str
    """The notebook's two digits."""
    title: str
    """What is asked, in one line."""
    kind: Literal["prediction", "exercise"] = "exercise"
    """A prediction is never right or wrong."""
    hints: tuple[str, ...] = ()
    """Shown one at a time, from a nudge to nearly the answer."""
    points: float = 0.0
    """What a right answer is worth; 0 for a prediction."""
    guess: Literal["any", "number", "text", "yes or no"] = "any"
    """What kind of guess is asked for."""
    between: tuple[float, float] | None = None
    """Smallest and largest sensible number."""
    options: tuple[str, ...] = ()
    """The sensible texts, where there are few."""


_COMMANDS = ("ls", "cat", "grep", "run", "edit", "submit")

QUESTIONS: tuple[Question, ...] = (
    Question(
        "00-a", "00", "unseen tasks solved before training", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "00-b", "00", "unseen tasks solved after training", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "00-c", "00", "the command that follows `edit` most often", "prediction",
        guess="text", options=_COMMANDS,
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
    Question(
        "01-a", "01", "hidden cases that the mistake passes", "prediction",
        guess="number", between=(0, 6),
    ),
    Question(
        "01-b", "01", "tasks solved within eight tries", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "01-c", "01", "groups that teach nothing when paid all or nothing", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "01-d", "01", "tasks solved at one try after training", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "01-e", "01", "pass@k from n attempts of which c are right", points=2,
        hints=(
            "First the other chance: that none of the k is right.",
            "How many ways are there to draw k of the n, and how many of them use only the n - c "
            "wrong ones? `math.comb` counts both.",
            "1 - comb(n - c, k) / comb(n, k). With fewer than k wrong attempts comb gives 0.",
        ),
    ),
    Question(
        "01-f", "01", "hidden cases that no wrong program passes", points=2,
        hints=(
            "Read the statement as somebody who wants to be misunderstood: which texts are just "
            "at a boundary?",
            "A text exactly as wide as the label; a label of one character; a space where the "
            "text is cut.",
        ),
    ),
    Question(
        "01-g", "01", "a reward that pays for solving and for nothing else", points=2,
        hints=(
            "`trajectory.verdict` has a `status` and, by suite, outcomes; `trajectory` has a "
            "`stop_reason` and `evidence`.",
            "Two statuses mean that we failed, not the program; `UNSCORABLE` holds both. The "
            "answer to those is None.",
            "Paid: stop_reason \"submitted\", no path in evidence.tampered, and every outcome of "
            "the suite \"hidden\" passed.",
        ),
    ),
    Question(
        "01-h", "01", "a grader that cannot be talked into a pass", points=2,
        hints=(
            "`result.results` holds one `CaseResult` a case, with a `status` and a `value`; only "
            "\"value\" is an answer. `result.status` says how the run ended.",
            "There may be fewer results than cases; what was never answered has not passed.",
            "`workbench.grading.same_value` compares by type and value at every level; "
            "`result.status == \"sandbox_error\"` is ours.",
        ),
    ),
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
        guess="number", between=(-100, 100),
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
    Question(
        "11-a", "11", "the standard error of a label from eight re-rolls", "prediction",
        guess="number", between=(0, 1),
    ),
    Question(
        "11-b", "11", "how well scores tell lost turns from others", "prediction",
        guess="number", between=(0, 1),
    ),
    Question(
        "11-c", "11", "what chooses best among sixteen attempts", "prediction",
        guess="text", options=("visible tests", "last score"),
    ),
    Question(
        "11-d", "11", "attempts handed in when scores are summed", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "11-e", "11", "attempts solved when the score stands behind tests", "prediction",
        guess="number", between=(0, 100),
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
"""Every prediction and exercise, notebook by notebook."""


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
        print(f"{question}: that were all {used} hints. The last: {known.hints[-1]}")
