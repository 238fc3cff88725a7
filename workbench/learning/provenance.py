"""Provenance: what has to be known to make a run again, as plain JSON.

Stage: learning. A policy, tasks, a reward and settings go in; the contents of a run's
config.json come out. Functions are stored by importable name and a hash of their source.
Left out: hardware beyond what changes the numbers.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import inspect
import json
import os
import platform
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from workbench.learning.config import TrainConfig
from workbench.learning.optimiser import trained_parameters
from workbench.records import Task, to_json
from workbench.rewards import Configured, RewardDesign
from workbench.rewards.storing import rules_to_json, source_hash

if TYPE_CHECKING:
    from workbench.policies import CausalLMPolicy
    from workbench.sandbox import Sandbox

PACKAGES = ("torch", "transformers", "tokenizers", "peft", "numpy", "safetensors")
"""Packages whose version can change a run's numbers."""


def describe_run(
    policy: CausalLMPolicy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    recipe: str,
    config: TrainConfig,
    reward: RewardDesign,
    seed: int,
    dev: Sequence[Task],
) -> dict[str, Any]:
    """Contents of config.json. RESUME_NEEDS says which entries must be equal for a run to be
    resumed; of the others `folder` compares the frozen weights and torch's threads as well."""
    return {
        "recipe": recipe,
        "seed": seed,
        "config": describe_config(config),
        "reward": describe_reward(reward),
        "policy": describe_policy(policy),
        "tasks": describe_tasks(tasks),
        "dev": describe_tasks(dev),
        "practised_dev": practised_dev(tasks, dev),
        "sandbox": sandbox.name,
        "versions": versions(),
        "machine": {
            "platform": platform.platform(),
            "cpu": torch.backends.cpu.get_cpu_capability(),
            "num_cpus": os.cpu_count(),
            "torch_threads": torch.get_num_threads(),
        },
    }


RESUME_NEEDS = ("recipe", "seed", "config", "reward", "tasks", "dev")
"""Entries that must be equal for a run to be resumed."""


def describe_config(config: Any) -> Any:
    """A frozen dataclass of settings as JSON; a function becomes its description, settings that can
    be called become both, and what has a version, such as a model, that version."""
    if isinstance(getattr(config, "version", None), str):
        return {"version": config.version}
    described = describe_function(config) if callable(config) else {}
    if dataclasses.is_dataclass(config):
        fields = dataclasses.fields(config)
        return described | {f.name: describe_config(getattr(config, f.name)) for f in fields}
    if described:
        return described
    return list(config) if isinstance(config, tuple) else config


def describe_reward(design: RewardDesign) -> list[dict[str, Any]]:
    """One entry a component: name, weight, the function with its settings, and its rules."""
    return [
        {"name": c.name, "weight": c.weight}
        | describe_function(c.component)
        | rules_to_json(c)
        | ({"normalised": True} if design.is_normalised else {})
        for c in design.components
    ]


def describe_function(function: Callable[..., Any]) -> dict[str, Any]:
    """Importable name and source hash, with the settings of a component or a partial."""
    if isinstance(function, Configured):
        settings = {"args": list(function.args), "kwargs": dict(function.kwargs)}
        return describe_function(function.maker) | settings
    if isinstance(function, functools.partial):
        settings = {
            "args": [describe_config(value) for value in function.args],
            "kwargs": {name: describe_config(v) for name, v in function.keywords.items()},
        }
        return describe_function(function.func) | settings
    plain = inspect.unwrap(function)
    kind = plain if hasattr(plain, "__qualname__") else type(plain)
    name = f"{kind.__module__}:{kind.__qualname__}"
    return {"function": name, "source_hash": source_hash(function)}


def describe_policy(policy: CausalLMPolicy) -> dict[str, Any]:
    """Hash of the starting weights, of those that are never trained, and the model's size."""
    parameters = list(policy.model.parameters())
    frozen = hashlib.sha256()
    for name, parameter in sorted(policy.model.named_parameters()):
        if not parameter.requires_grad:
            frozen.update(name.encode())
            frozen.update(parameter.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return {
        "version": policy.version,
        "frozen_hash": frozen.hexdigest()[:16],
        "model_type": policy.model.config.model_type,
        "num_parameters": sum(p.numel() for p in parameters),
        "num_trained_parameters": sum(p.numel() for p in trained_parameters(policy.model).values()),
    }


def describe_tasks(tasks: Sequence[Task]) -> dict[str, Any]:
    """Number, suites, splits and a hash of everything in the tasks, their order included."""
    digest = hashlib.sha256()
    for task in tasks:
        digest.update(json.dumps(to_json(task), sort_keys=True).encode())
    return {
        "num": len(tasks),
        "suites": sorted({task.suite for task in tasks}),
        "splits": sorted({task.split for task in tasks}),
        "hash": digest.hexdigest()[:16],
    }


def practised_dev(tasks: Sequence[Task], dev: Sequence[Task]) -> list[str]:
    """Ids of the `dev` tasks that are practised on: one of `tasks` has the same statement and the
    same tests, whatever its id, suite and split."""
    practised = set(map(_asked, tasks))
    return [task.task_id for task in dev if _asked(task) in practised]


def _asked(task: Task) -> str:
    """What a task asks for and what decides, as text that can be compared."""
    tests = task.visible, task.hidden, task.test_code, task.hidden_tests, task.required
    return json.dumps(to_json((task.statement, *tests)), sort_keys=True)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a run's numbers."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
