"""Program: one SGD step of TRL on stored rollouts, in as many processes as it is launched in.

Arguments: a file with {"folder", "groups", "rewards"} as pickle; where the first process writes the
adapters and the logged loss.
"""

import pickle
import sys

import torch

from workbench.trl_bridge import DAPO, Scale
from workbench.trl_bridge.side_by_side import MOVED, replaying_trainer


def main(given, out):
    with open(given, "rb") as file:
        stored = pickle.load(file)
    groups, rewards = stored["groups"], stored["rewards"]
    from dataclasses import replace

    from accelerate import PartialState

    scale = Scale(processes=PartialState(cpu=True).num_processes, device="cpu", rows_at_once=4)
    size = len(groups[0].trajectories)
    rl = replace(DAPO, tasks_per_iteration=len(groups), group_size=size, updates_per_iteration=1)
    plain = dict(optim="sgd", lr_scheduler_type="constant", lr_scheduler_kwargs={}, max_grad_norm=0)
    trainer = replaying_trainer(
        *(stored["folder"], groups, rewards, rl, True, MOVED),
        **scale.switches(rl) | plain | dict(learning_rate=1.0),
    )
    trainer.train()
    if trainer.accelerator.is_main_process:
        adapters = {n: p.detach() for n, p in trainer.model.named_parameters() if p.requires_grad}
        loss = next(row["loss"] for row in trainer.state.log_history if "loss" in row)
        torch.save({"adapters": adapters, "loss": loss, "world": scale.num_processes}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
