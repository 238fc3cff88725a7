"""Our loss beside TRL's on one batch: advantages, loss and LoRA gradients.

    python benchmarks/conformance.py [--policy tiny] [--tasks 4] [--group-size 8] [--seed 0]

The policy's own attempts at bugfix tasks, their honest rewards, float32 on the CPU; the adapters
have left zero, so that the ratio is not 1 and the clip bites. Rows "per turn" give TRL's loss our
advantages, a number a turn (GiGPO), through `TurnGRPOTrainer`.

    ours, TRL   loss of the batch
    advantage   largest difference of an advantage
    gradient    norm of the difference of all LoRA gradients over the norm of ours
    clipped     tokens without gradient, because of the clip
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import torch

from workbench import load_tasks, open_policy, open_sandbox
from workbench.credit import gigpo
from workbench.episodes import rollout_many
from workbench.learning import HONEST
from workbench.rewards import totals
from workbench.trl_bridge import METHODS, conformance


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", default="tiny")
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    tasks, policy = load_tasks("bugfix", "train", options.tasks), open_policy(options.policy)
    with open_sandbox("auto") as sandbox:
        groups = rollout_many(policy, tasks, sandbox, options.group_size, options.seed)
    rewards = totals(HONEST.score_groups(groups, tasks))
    tokens = sum(t.num_action_tokens for g in groups for t in g.trajectories)
    print(f"{rewards.size} attempts, {tokens} sampled tokens, policy {policy.version}")
    row = "{:<20}{:>13}{:>13}{:>12}{:>11}{:>9}"
    print(row.format("", "ours", "TRL", "advantage", "gradient", "clipped"))
    model = policy.model.config._name_or_path
    for per_turn in (False, True):
        for name, rl in METHODS.items():
            rl = replace(rl, credit=gigpo) if per_turn else rl
            found = conformance(model, groups, rewards, rl, per_turn=per_turn)
            numbers = (f"{found.ours:.8f}", f"{found.theirs:.8f}", f"{found.advantage_gap:.1e}")
            shares = (f"{found.gradient_gap:.1e}", f"{found.clip_fraction:.1%}")
            print(row.format(f"{name}, per turn" if per_turn else name, *numbers, *shares))


if __name__ == "__main__":
    main()
