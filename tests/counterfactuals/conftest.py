"""One bugfix task, and a group of a policy whose probabilities are known."""

import pytest

from workbench import load_tasks, rollout
from workbench.counterfactuals import planted_policy

MAX_TURNS = 5


@pytest.fixture(scope="session")
def task():
    """A task to repair."""
    return load_tasks("bugfix", split="train", count=1)[0]


@pytest.fixture(scope="session")
def policy(task):
    """Knows its probabilities."""
    return planted_policy(task)


@pytest.fixture(scope="session")
def group(policy, task, sandbox):
    """Eight attempts of which some are solved."""
    return rollout(policy, task, sandbox, n=8, seed=3, max_turns=MAX_TURNS)
