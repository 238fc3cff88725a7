"""Answers to notebook 00. Copy a function into its cell, or read it after your own attempt."""


def solve_rate(groups):
    """00-d. Handed in and every hidden test passed: two conditions, and the first is easily missed.

    An agent that repaired the bug and ran out of turns has not solved the task.
    """
    episodes = [trajectory for group in groups for trajectory in group.trajectories]
    solved = [
        episode.stop_reason == "submitted"
        and all(outcome.status == "passed" for outcome in episode.verdict.of_suite("hidden"))
        for episode in episodes
    ]
    return sum(solved) / len(solved)


def teaches(rewards):
    """00-e. A group of equal rewards has only zero advantages, so it moves nothing.

    Measure it in a run: `[row["num_tied"] for row in run.metrics if row["kind"] == "iteration"]`
    counts them. At the start most are tied because every attempt failed, later because every
    attempt succeeded.
    """
    return max(rewards) != min(rewards)


def restored(trajectory, task):
    """00-f. Where the reference names a file, its text; everywhere else, what was there before.

    In the tasks of `bugfix` the reference names every file, and this is the reference alone.

    With it: of the solved episodes, those that are not restored found another program that passes,
    often by rewriting a whole body as one line.
    """
    return dict(trajectory.final_files) == {**task.files, **task.reference}


RECALL = (
    "Because a policy can get better at tasks it has met without getting better at repairing bugs. "
    "No function of `unseen` occurs in `practice` or in pretraining, so nothing can be remembered.",
    "Nothing: all rewards are equal, so each equals the group's mean and every advantage is "
    "zero. The same holds for a group in which all eight succeed.",
    "Because it could make them say anything: `assert True` passes. Tests that decide must come "
    "from where the agent cannot write, and be judged outside the process that runs its code.",
)
"""Answers to the recall questions, in their order."""
