"""The run log: one folder a run, written while it runs and readable without torch.

Stage: beside the loop. Settings, metrics and rollouts go in as they are made (`writing`);
`load_run` brings them back (`reading`, `stored`), also from a run that was killed in the middle of
a write.

    config.json             settings, seeds, versions, hashes; written once
    status.json             running, finished, stopped or failed
    metrics.jsonl           one row an iteration, a fine-tuning stage or an evaluation
    trajectories.jsonl.gz   one gzip member an iteration: every group, reward and advantage
    checkpoints/000012/     what `train(resume=True)` continues from (written by `learning`)
    policy/                 the policy at the end, loadable by transformers

Only whole rows and whole members count: a torn last one is skipped when reading and cut off
when resuming; a damaged file is an error that says where. Left out: several writers of one folder.
"""

from workbench.runlog.reading import (
    RECORDED,
    RUNS,
    RunRecord,
    gzip_members,
    load_run,
    new_folder,
)
from workbench.runlog.stored import StoredGroups, StoredIteration, StoredIterations
from workbench.runlog.writing import LogPosition, RunLog, as_stored, write_json

__all__ = [
    "RECORDED",
    "RUNS",
    "LogPosition",
    "RunLog",
    "RunRecord",
    "StoredGroups",
    "StoredIteration",
    "StoredIterations",
    "as_stored",
    "gzip_members",
    "load_run",
    "new_folder",
    "write_json",
]
