"""A very small policy that has learned nothing, and attempts made by hand."""

from dataclasses import replace

import pytest
import torch

from workbench.policies import CausalLMPolicy, build_model, build_tokenizer
from workbench.records import (
    Action,
    Evidence,
    Group,
    SamplerSettings,
    TestOutcome,
    Trajectory,
    Turn,
    Verdict,
)
from workbench.tasks import load_tasks

GOOD, BAD, SAYS, END = 300, 301, 302, 2
"""Token ids: the turn's one word, what stands before it, and the end of a turn."""


@pytest.fixture(autouse=True)
def one_thread():
    """Same thread count, same numbers."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer():
    """A tokenizer trained on a few tasks."""
    tasks = load_tasks("bugfix", split="train", count=16)
    return build_tokenizer([file for task in tasks for file in task.files.values()])


@pytest.fixture(scope="session")
def task():
    """The task that attempts made by hand are at."""
    return replace(load_tasks("bugfix", split="train", count=1)[0], task_id="by-hand")


@pytest.fixture
def policy(tokenizer):
    """An untrained policy."""
    model = build_model(tokenizer, hidden=32, layers=2, heads=2, intermediate=64)
    return CausalLMPolicy(model, tokenizer)


def attempt(words, *, hidden="p", stop="submitted", forgets=(), turns=None, **evidence):
    """An attempt whose turn k says `words[k]`; turns in `forgets` keep only the first prompt."""
    made, length = [], 0
    for k, word in enumerate(words):
        kept = min(length, 2) if k in forgets else length
        new_ids, ids = ((5, SAYS), (word, END))
        action = Action(ids, (0.0, 0.0), str(word), "end_of_turn", kept, new_ids)
        made.append(Turn(action, None, None, "", "0" * 16))
        length = kept + len(new_ids) + len(ids)
    outcomes = tuple(
        TestOutcome(f"hidden:{i}", "hidden", "passed" if letter == "p" else "wrong")
        for i, letter in enumerate(hidden, 1)
    )
    return Trajectory(
        task_id="by-hand",
        seed=0,
        sampler=SamplerSettings(),
        turns=tuple(made if turns is None else turns),
        final_files={},
        verdict=Verdict("call", "ok", outcomes),
        evidence=Evidence(**evidence),
        stop_reason=stop,
    )


@pytest.fixture
def by_hand():
    """The functions and words that make records by hand."""

    class ByHand:
        pass

    hand = ByHand()
    hand.attempt, hand.good, hand.bad = attempt, GOOD, BAD
    hand.group = lambda *attempts: Group("by-hand", "", attempts)
    return hand
