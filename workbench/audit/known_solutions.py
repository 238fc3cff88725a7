"""Solutions of which everything is known, graded as if a policy had written them.

Stage: audit. Tasks go in; their references, insecure solutions, mistakes and a function that does
nothing come out as groups of trajectories, to try reward designs on: what does a design pay what it
should not pay? Left out: several turns, workspaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from workbench.grading import collect, final_judgement
from workbench.records import Action, Group, SamplerSettings, Task, Trajectory, Turn
from workbench.rewards import RewardDesign
from workbench.sandbox import Sandbox
from workbench.tasks.secure import insecure_solutions

if TYPE_CHECKING:
    import pandas

KINDS = ("works, secure", "works, insecure", "fails", "useless, secure")
"""The reference; solutions that only attacks tell from it; mistakes; what returns None."""
_LABEL = "by hand: "


def known_groups(tasks: Iterable[Task], sandbox: Sandbox) -> list[Group]:
    """One group a task, its trajectories labelled with one of KINDS (`kind_of` reads the label).

    Verdicts are those of `final_judgement`; of the evidence on request "security" is collected.
    Raises ValueError for a task that is no function in Python to be written from nothing.
    """
    tasks = list(tasks)
    for task in tasks:
        if not task.entry_point or task.files:
            raise ValueError(
                f"task {task.task_id}: expected a function to be written from nothing, as in the "
                "suites warmup and secure; leave other tasks out"
            )
    attempts = [(task, kind, files) for task in tasks for kind, files in _solutions(task)]
    with ThreadPoolExecutor(sandbox.workers, thread_name_prefix="audit") as pool:
        trajectories = list(pool.map(lambda attempt: _graded(*attempt, sandbox), attempts))
    groups = []
    for task in tasks:
        own = tuple(t for t in trajectories if t.task_id == task.task_id)
        groups.append(Group(task.task_id, _LABEL.strip(" :"), own))
    return collect(groups, tasks, ("security",))


def kind_of(trajectory: Trajectory) -> str:
    """Which of KINDS a trajectory of `known_groups` is."""
    return trajectory.policy_version.removeprefix(_LABEL)


def what_it_pays(
    designs: Mapping[str, RewardDesign], groups: Sequence[Group], tasks: Sequence[Task]
) -> pandas.DataFrame:
    """Mean reward: a row for each of KINDS, a column a design; and how many there are of a kind.

    Solutions that a design cannot judge are left out of its mean.
    """
    import pandas  # half a second that only tables need

    kinds = [kind_of(t) for group in groups for t in group.trajectories]
    columns = {"solutions": pandas.Series(kinds).value_counts()}
    for name, design in designs.items():
        rewards = design.score_many(groups, tasks)["reward"]
        columns[name] = rewards.groupby(kinds).mean()
    return pandas.DataFrame(columns).reindex(KINDS)


def _solutions(task: Task) -> list[tuple[str, Mapping[str, str]]]:
    """(kind, files) of everything that is known of a task."""
    nothing = f"def {task.entry_point}(*args):\n    return None\n"
    known, insecure = [(KINDS[0], task.reference)], insecure_solutions(task)
    for wrong in task.wrong:
        known.append((KINDS[1] if wrong in insecure else KINDS[2], wrong.files))
    return [*known, (KINDS[3], {task.entry_file: nothing})]


def _graded(task: Task, kind: str, files: Mapping[str, str], sandbox: Sandbox) -> Trajectory:
    verdict, evidence = final_judgement(task, files, sandbox)
    text = files[task.entry_file]
    turn = Turn(Action((), (), text, "end_of_turn"), None, None, "", "")
    return Trajectory(
        task.task_id, 0, SamplerSettings(), (turn,), files, verdict, evidence, "submitted",
        f"{_LABEL}{kind}",
    )  # fmt: skip
