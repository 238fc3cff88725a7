"""Rejection fine-tuning through TRL's SFTTrainer, on the ids that were sampled.

Stage: learning, through TRL. Groups and their tasks go in; a data set of `input_ids` and `labels`
comes out, which TRL takes as it is: no template, no tokeniser, no second opinion about where a
token ends. What is imitated is what our own stage imitates (`learning.rft.select`).
Left out: sampling (`rollout_many`); packing several attempts into one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trl import SFTConfig

from workbench.learning import RFTConfig
from workbench.learning.rft import imitation_batch, select
from workbench.records import Group, Task
from workbench.trl_bridge.settings import shared_settings

if TYPE_CHECKING:
    import datasets

NO_LABEL = -100
"""Label of a token without gradient, in transformers and TRL."""


def imitation_dataset(
    groups: Sequence[Group], tasks: Sequence[Task], *, keep_per_task: int = 2
) -> datasets.Dataset:
    """A row an imitated attempt: `input_ids` as sampled, `labels` NO_LABEL where none is.

    Kept are solved attempts with untouched tests, no two alike, at most `keep_per_task` a task; of
    them prompts, observations and messages that were no command have no label.

    Raises ValueError if no attempt is kept, or the evidence "tampering" is missing.
    """
    import datasets

    batch = imitation_batch(select(groups, tasks, keep_per_task))
    if not len(batch):
        num = sum(len(group.trajectories) for group in groups)
        raise ValueError(
            f"groups: expected an attempt that solved its task, got none among {num}; sample more "
            "attempts or easier tasks"
        )
    labels = batch.ids.masked_fill(~batch.loss_mask, NO_LABEL)
    rows = [
        {"input_ids": batch.ids[b, :n].tolist(), "labels": labels[b, :n].tolist()}
        for b, n in enumerate(batch.lengths.tolist())
    ]
    return datasets.Dataset.from_list(rows)


def sft_config(
    output_dir: str | Path, rft: RFTConfig = RFTConfig(), *, lora: bool = True, **changes: Any
) -> SFTConfig:
    """TRL's configuration for the imitation that `rft` describes; nothing is cut off or packed.

    Args:
        lora: which measured learning rate stands for `rft.lr=None`.
        changes: anything of `SFTConfig`, over what follows from `rft`.
    """
    settings = shared_settings(output_dir, rft, "rft", lora) | dict(
        num_train_epochs=rft.epochs,
        per_device_train_batch_size=rft.batch_size,
        max_length=None,  # TRL's default, 1024, cuts the end off: the answer
        packing=False,
    )
    return SFTConfig(**(settings | changes))
