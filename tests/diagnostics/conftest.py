"""A healthy little trainer of TRL's, and ways to spoil it one fault at a time."""

from dataclasses import replace

import pytest
import torch

from tests.trl_config import small_config
from workbench.policies.opening import SHIPPED
from workbench.tasks import load_tasks

TINY = str(SHIPPED / "tiny")
FUNCTIONS = load_tasks("functions", split="train", count=16)


@pytest.fixture(autouse=True)
def one_thread():
    """Same thread count, same numbers."""
    torch.set_num_threads(1)


def brevity(completions, **_):
    """A reward under which attempts differ, positive and never the same for all."""
    return [1.0 / (1 + len(messages[-1]["content"])) for messages in completions]


@pytest.fixture
def make_trainer(tmp_path):
    """A function that makes a GRPOTrainer in which nothing is wrong, but for what it is told."""

    def make(reward_funcs=brevity, *, model=TINY, dataset=None, lora=None, eval=None, **settings):
        from trl import GRPOTrainer

        from workbench.adapters import as_dataset

        more = {k: settings.pop(k) for k in FOR_TRAINER if k in settings}
        few = dict(max_steps=2, max_completion_length=48, learning_rate=1e-3 if lora else 3e-4)
        rows = as_dataset(FUNCTIONS, conversational=True) if dataset is None else dataset
        return GRPOTrainer(
            model=model,
            args=small_config(tmp_path / "trl", **(few | settings)),
            train_dataset=rows,
            eval_dataset=eval,
            reward_funcs=reward_funcs,
            peft_config=lora,
            **more,
        )

    return make


FOR_TRAINER = ("environment_factory", "rollout_func", "optimizers", "processing_class", "tools")


def lora(**changes):
    """Settings of small adapters on all linear layers."""
    from peft import LoraConfig

    return LoraConfig(**(dict(r=8, lora_alpha=16, target_modules="all-linear") | changes))


@pytest.fixture
def make_lora():
    """The settings of adapters."""
    return lora


@pytest.fixture(scope="session")
def functions():
    """The tasks of the trainer."""
    return FUNCTIONS


@pytest.fixture
def with_limits():
    """A task with other limits."""
    return lambda task, limits: replace(task, limits=limits)
