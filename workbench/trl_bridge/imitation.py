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

import torch
from trl import SFTConfig

from workbench.learning import RFTConfig
from workbench.learning.config import LR_FULL, LR_LORA
from workbench.learning.rft import imitation_batch, select
from workbench.records import Group, Task

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
    lr = rft.lr if rft.lr is not None else (LR_LORA if lora else LR_FULL)["rft"]
    settings = dict(
        output_dir=str(output_dir),
        num_train_epochs=rft.epochs,
        per_device_train_batch_size=rft.batch_size,
        learning_rate=lr,
        lr_scheduler_type="polynomial",  # of power 1: a straight line, with an end above zero
        lr_scheduler_kwargs={"lr_end": lr * rft.lr_final_fraction, "power": 1.0},
        adam_beta1=rft.betas[0],
        adam_beta2=rft.betas[1],
        weight_decay=rft.weight_decay,
        max_grad_norm=rft.grad_clip,
        max_length=None,  # TRL's default, 1024, cuts the end off: the answer
        packing=False,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    if rft.lr_final_fraction == 1.0:
        settings |= dict(lr_scheduler_type="constant", lr_scheduler_kwargs={})
    if not torch.cuda.is_available():
        settings |= dict(use_cpu=True, bf16=False, gradient_checkpointing=False)
    return SFTConfig(**(settings | changes))
