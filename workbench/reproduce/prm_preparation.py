"""What the claims about process rewards share: a policy, its attempts, and models of turns.

Stage: around the loop. In: a seed and a folder; out: the policy after rejection fine-tuning, and a
model of turns fitted to how its attempts at training tasks ended. Both are made once and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.episodes import rollout_many
from workbench.learning import TrainConfig, train
from workbench.policies import CausalLMPolicy, open_policy
from workbench.process_rewards import FitConfig, TurnModel, fit, outcome_labels
from workbench.records import Group, Task
from workbench.sandbox import Sandbox
from workbench.tasks import load_tasks


@dataclass(frozen=True)
class Preparation:
    """How policy and model are made."""

    config: TrainConfig = TrainConfig(max_turns=8)
    """Settings of rejection fine-tuning."""
    num_tasks: int = 128
    """Training tasks whose attempts the model is fitted to."""
    group_size: int = 8
    """Attempts at each of them."""
    fit: FitConfig = FitConfig(epochs=2)
    """Of the model."""


def fine_tuned(
    folder: Path, seed: int, base: str, how: Preparation, sandbox: Sandbox
) -> CausalLMPolicy:
    """The policy after rejection fine-tuning; trained if `folder` does not hold it."""
    policy = open_policy(base)
    if not (folder / "rft" / "policy").exists():
        tasks = load_tasks("bugfix", "train")
        begun = (folder / "rft" / "config.json").exists()
        options = dict(config=how.config, seed=seed, folder=folder / "rft", resume=begun)
        train(policy, tasks, sandbox, "rft", **options).wait()
    return open_policy(folder / "rft" / "policy")


def attempts(
    policy: CausalLMPolicy, seed: int, how: Preparation, sandbox: Sandbox
) -> tuple[list[Group], Sequence[Task]]:
    """The attempts that models are fitted to, and their tasks: the last ones of the split."""
    tasks = load_tasks("bugfix", "train")[-how.num_tasks :]
    return rollout_many(policy, tasks, sandbox, n=how.group_size, seed=seed), tasks


def fitted(
    folder: Path, policy: CausalLMPolicy, seed: int, how: Preparation, sandbox: Sandbox
) -> TurnModel:
    """The model of turns fitted to outcomes; fitted if `folder` does not hold it."""
    if not (folder / "prm" / "turn_model.json").exists():
        groups, tasks = attempts(policy, seed, how, sandbox)
        model = TurnModel.from_policy(policy)
        fit(model, groups, outcome_labels(groups, tasks), how.fit, seed=seed)
        model.save(folder / "prm")
    return TurnModel.load(folder / "prm")
