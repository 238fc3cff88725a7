"""Our loss beside TRL's on one batch: advantages, loss and LoRA gradients.

    python benchmarks/conformance.py [--policy tiny] [--tasks 4] [--group-size 8] [--seed 0]
        [--rounds 20]

The policy's own attempts at bugfix tasks, their honest rewards, float32 on the CPU; the adapters
have left zero, so that the ratio is not 1 and the clip bites. Rows "per turn" give TRL's loss our
advantages, a number a turn (GiGPO), through `TurnGRPOTrainer`.

    ours, TRL   loss of the batch
    advantage   largest difference of an advantage
    gradient    norm of the difference of all LoRA gradients over the norm of ours
    clipped     tokens without gradient, because of the clip

Then what one update on that batch costs (DAPO), CPU milliseconds in one thread, median of --rounds
in which the two take turns: forward and backward pass, clipping, AdamW; batches made before.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from workbench import load_tasks, open_policy, open_sandbox
from workbench.credit import gigpo
from workbench.episodes import rollout_many
from workbench.learning import HONEST
from workbench.rewards import totals
from workbench.trl_bridge import DAPO, METHODS, conformance
from workbench.trl_bridge.side_by_side import MOVED, one_update_each


def update_ms(sides: Sequence, rounds: int) -> np.ndarray:
    """(sides,) CPU milliseconds of one update, median over the rounds; one round warms up."""
    spent = np.empty((rounds + 1, len(sides)))
    for row in spent:
        for i, side in enumerate(sides):
            start = time.process_time()
            side.update()
            row[i] = 1000 * (time.process_time() - start)
    return np.median(spent[1:], axis=0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--policy", default="tiny")
    parser.add_argument("--tasks", type=int, default=4)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args(arguments)
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
    print("\none update, CPU ms         ours     TRL   ratio")
    for name, lora in (("all weights", None), (f"LoRA, rank {MOVED.r}", MOVED)):
        sides = one_update_each(model, groups, rewards, DAPO, lora=lora)
        ours, theirs = update_ms(sides, options.rounds)
        print(f"{name:20}{ours:12.0f}{theirs:8.0f}{theirs / ours:8.1f}", flush=True)


if __name__ == "__main__":
    main()
