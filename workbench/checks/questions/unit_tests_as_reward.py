"""What notebook 01 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

QUESTIONS = (
    Question(
        "01-a", "01", "hidden cases that the mistake passes", "prediction",
        guess="number", between=(0, 6),
    ),
    Question(
        "01-b", "01", "tasks solved within eight tries", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "01-c", "01", "groups that teach nothing when paid all or nothing", "prediction",
        cut_short=True, guess="number", between=(0, 100),
    ),
    Question(
        "01-d", "01", "tasks solved at one try after training", "prediction",
        cut_short=True, guess="number", between=(0, 100),
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
)  # fmt: skip
