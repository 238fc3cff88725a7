"""Imitating only the good scripts: what the competent part of the corpus alone would teach.

Stage: beside the loop. In: the base policy; out: its weights after fine-tuning on scripted
`expert` and `recover` episodes. It is rejection fine-tuning with a teacher: the scripts know the
bug, so every example is right. Its size is set so that it takes about the CPU time of RFT and RL.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np

from workbench.demo.counts import NUM_TEST
from workbench.demo.measured import measure
from workbench.learning.checkpoint import derive_seed
from workbench.policies import open_policy
from workbench.pretraining.behaviours import WEIGHTS, play
from workbench.pretraining.corpus import FIRST_INDEX, Document, encode
from workbench.reproduce.fine_tuning import SFTConfig, fine_tune
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks
from workbench.tasks.bugfix import bugfix_task

COMPETENT = ("expert", "recover")
"""Behaviours that solve their task, drawn in the corpus's proportion."""


def run_seed(
    seed: int, policy: str, config: SFTConfig, num_test: int = NUM_TEST, split: str = "test"
) -> dict:
    """Fine-tune a fresh copy of the base and measure it; returns its row."""
    learner, start = open_policy(policy), time.process_time()
    losses = fine_tune(learner, competent_episodes(learner.tokenizer, seed), config)
    cpu_minutes = (time.process_time() - start) / 60
    with open_sandbox("auto") as sandbox:
        row = measure(learner, load_tasks("bugfix", split, num_test), sandbox, seed).row()
    loss = float(np.mean(losses[-50:]))
    return {"seed": seed, "final_loss": loss, "training_cpu_minutes": cpu_minutes, **row}


def competent_episodes(tokenizer, seed: int) -> Iterator[Document]:
    """Episodes without end, on the corpus's tasks, which are none of the RL suites' tasks."""
    weights = [WEIGHTS[behaviour] for behaviour in COMPETENT]
    for index in range(derive_seed(seed, "competent") % 10_000, 10**9):
        rng = random.Random(f"competent/{seed}/{index}")
        task = bugfix_task("train", FIRST_INDEX + index)
        (behaviour,) = rng.choices(COMPETENT, weights)
        messages = [("task", task.statement)]
        for message, observation in play(task, behaviour, rng):
            messages += [("act", message), ("obs", observation)]
        yield encode(messages[:-1], tokenizer)  # nothing follows the last message
