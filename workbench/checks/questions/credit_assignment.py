"""What notebook 10 asks, with hints."""

from __future__ import annotations

from workbench.checks.questions.question import Question

QUESTIONS = (
    Question(
        "10-a", "10", "the turn that earned most of the reward", "prediction",
        guess="number", between=(1, 7),
    ),
    Question(
        "10-b", "10", "how broadcast correlates with the truth", "prediction",
        guess="number", between=(-1, 1),
    ),
    Question(
        "10-c", "10", "where broadcast puts the truly best turn", "prediction",
        guess="number", between=(1, 8),
    ),
    Question(
        "10-d", "10", "whether broadcast is right on average", "prediction",
        guess="yes or no",
    ),
    Question(
        "10-e", "10", "what sixteen times the re-rolls do to the error", "prediction",
        cut_short=True, guess="number", between=(1, 64),
    ),
    Question(
        "10-f", "10", "tokens of an attempt that learn", "prediction",
        guess="number", between=(0, 100),
    ),
    Question(
        "10-g", "10", "what broadcast says of a locator that was right", "prediction",
        guess="text", options=("praise", "blame", "nothing"),
    ),
    Question(
        "10-h", "10", "from values to credit", points=1,
        hints=(
            "A turn's credit is the value after it minus the value before it. After which turn is "
            "the value known without any estimate?",
            "Put the reward behind the values, and take the differences of neighbours.",
            "`np.diff(np.append(values, reward))`.",
        ),
    ),
    Question(
        "10-i", "10", "each turn's share of the update", points=1,
        hints=(
            "Blame moves the weights as much as praise does.",
            "`np.nan_to_num` makes NaN a 0; a sum of 0 must not be divided by.",
        ),
    ),
    Question(
        "10-j", "10", "Shapley values of turns", points=2,
        hints=(
            "`itertools.permutations(turns)` are the orders. What does a turn add when it joins?",
            "Keep the set of those that have joined: the gain is worth[set with it] - worth[set].",
            "Sum the gains of each turn over all orders and divide by the number of orders; a "
            "frozenset can be a key, and `joined | {turn}` makes a new one.",
        ),
    ),
    Question(
        "10-k", "10", "re-rolls for a wanted standard error", points=1,
        hints=(
            "Solved or not is a coin: its variance is p (1 - p).",
            "The standard error of the mean of n is the square root of the variance over n. "
            "Solve for n, and round up.",
        ),
    ),
)  # fmt: skip
