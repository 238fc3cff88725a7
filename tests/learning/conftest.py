"""A very small policy that has learned nothing, and trajectories made by hand."""

import pytest
import torch

from tests.by_hand import attempt, outcomes
from workbench.policies import CausalLMPolicy, build_model, build_tokenizer
from workbench.records import Action, Evidence, Group, Turn, Verdict
from workbench.rewards import RewardDesign
from workbench.tasks import load_tasks


def fewer_tokens(trajectory, task):
    """Component: the less is said, the better. Even an untrained policy can learn it."""
    return -trajectory.num_action_tokens / 100


@pytest.fixture(autouse=True)
def one_thread():
    """Same thread count, same numbers."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tasks():
    """Sixteen tasks to practise on."""
    return load_tasks("bugfix", split="train", count=16)


@pytest.fixture(scope="session")
def tokenizer(tasks):
    """A tokenizer trained on those tasks."""
    return build_tokenizer(
        [t.statement for t in tasks] + [f for t in tasks for f in t.files.values()]
    )


@pytest.fixture
def make_policy(tokenizer):
    """A function that makes an untrained policy; the same seed gives the same one."""

    def make(seed=0, **sizes):
        sizes = dict(hidden=32, layers=2, heads=2, intermediate=64) | sizes
        return CausalLMPolicy(build_model(tokenizer, seed=seed, **sizes), tokenizer)

    return make


@pytest.fixture
def brevity():
    """A reward design under which an untrained policy's attempts differ."""
    return RewardDesign(brevity=(fewer_tokens, 1.0))


def turn(ids, logprobs, new_ids, kept, text="ls", parse_error=None):
    """One turn by hand."""
    action = Action(tuple(ids), tuple(logprobs), text, "end_of_turn", kept, tuple(new_ids))
    return Turn(action, None, parse_error, "", "0" * 16)


def trajectory(turns, task_id="by-hand", *, hidden="pp", stop="submitted", tampered=()):
    """One trajectory by hand; "pw" are two hidden tests, of which the second failed."""
    return attempt(
        task_id=task_id,
        turns=tuple(turns),
        verdict=Verdict("call", "ok", outcomes(hidden=hidden)),
        evidence=Evidence(tampered=tampered),
        stop_reason=stop,
    )


@pytest.fixture
def by_hand():
    """The functions that make records by hand."""

    class ByHand:
        pass

    hand = ByHand()
    hand.turn, hand.trajectory = turn, trajectory
    hand.group = lambda *trajectories: Group(trajectories[0].task_id, "", trajectories)
    return hand
