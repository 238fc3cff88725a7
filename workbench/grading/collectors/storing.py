"""Collected evidence, stored beside the run it belongs to.

Stage: grading, after it. A stored run and its groups with more evidence go in, a new run's folder
comes out; the old one stays as it is. Rewards and advantages are those of the old run: they were
computed without the new evidence. Left out: checkpoints and the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.records import Group
from workbench.runlog import RunLog, RunRecord, load_run


def store_collected(run: RunRecord, groups: Sequence[Group], folder: str | Path) -> RunRecord:
    """A copy of the run's record in a new folder, with `groups` in the place of its own.

    Args:
        groups: what `collect(run, ...)` returned: every group of the run, in order.
        folder: where the copy goes, e.g. "runs/monday-with-lint".
    Raises:
        ValueError: if `folder` already holds a run, or these are not the run's groups.
    """
    groups = list(groups)
    if [_of(group) for group in groups] != [_of(group) for group in run.groups]:
        raise ValueError(
            f"groups: expected the {len(run.groups)} groups of {run.folder} in order, with the "
            f"same final files, got {len(groups)} others; pass what collect(run, ...) returned"
        )
    log = RunLog.create(folder, {**run.config, "evidence_added_to": run.folder.name})
    for row in run.metrics:
        log.append_metrics(row)
    start = 0
    for stored in run.iterations:
        end = start + len(stored.groups)
        log.append_iteration(replace(stored, groups=tuple(groups[start:end])))
        start = end
    log.set_status(**run.status)
    return load_run(folder)


def _of(group: Group) -> tuple:
    return group.task_id, [(t.seed, t.final_files) for t in group.trajectories]
