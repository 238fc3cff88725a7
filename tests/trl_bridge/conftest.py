"""Trajectories with several turns, sampled and by hand, and rewards that tie nothing."""

import numpy as np
import pytest
import torch

from tests.policies.conftest import chat_folder, chat_tokenizer  # noqa: F401  fixtures
from workbench.policies import open_policy
from workbench.policies.opening import SHIPPED
from workbench.records import (
    Action,
    Evidence,
    Group,
    SamplerSettings,
    Trajectory,
    Turn,
    Verdict,
)
from workbench.tasks import load_tasks

TASKS = load_tasks("bugfix", split="train", count=8)


@pytest.fixture(autouse=True)
def one_thread():
    """Same thread count, same numbers."""
    torch.set_num_threads(1)


def by_hand(*turns, kept=None):
    """A trajectory of turns (new_ids, sampled ids); logprobs count -1, -2, ...; nothing graded."""
    made, length, count = [], 0, 0
    for k, (new, ids) in enumerate(turns):
        logprobs = tuple(-float(count + j + 1) for j in range(len(ids)))
        start = length if kept is None else kept[k]
        said, finish = ("ls", "end_of_turn") if ids else ("", "context")
        action = Action(tuple(ids), logprobs, said, finish, start, tuple(new))
        made.append(Turn(action, None, None, "", "0" * 16))
        length, count = length + len(new) + len(ids), count + len(ids)
    verdict, evidence = Verdict("call", "ok", ()), Evidence()
    return Trajectory(
        *("by-hand", 0, SamplerSettings(), tuple(made), {}, verdict, evidence, "submitted")
    )


def group_of(*trajectories):
    """A group by hand."""
    return Group("by-hand", "", trajectories)


@pytest.fixture(scope="session")
def folder():
    """The shipped policy's folder."""
    if not (SHIPPED / "tiny").is_dir():
        pytest.skip("needs the shipped policy; `python3 -m workbench pretrain` makes it")
    return str(SHIPPED / "tiny")


@pytest.fixture(scope="session")
def groups(folder, sandbox):
    """Three groups of four attempts, several turns each."""
    from workbench.episodes import rollout_many

    return rollout_many(open_policy(folder), TASKS[:3], sandbox, n=4, seed=0)


@pytest.fixture(scope="session")
def rewards():
    """(3, 4) rewards, all different."""
    return np.random.default_rng(0).normal(size=(3, 4))
