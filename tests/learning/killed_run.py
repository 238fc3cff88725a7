"""Small training runs that kill themselves; in: lines [FOLDER, MOMENT, NUMBER] as JSON.

MOMENT names a function of the package; at its NUMBERth call the run's process gets SIGKILL, as a
power cut would have it. "never" runs to the end. If FOLDER holds a run it is resumed. Out: for each
line, how its process ended and what it printed: the hash of the final weights. The processes are
forks of this one, which has only imported what they need: that takes longer than a run.
"""

import functools
import importlib
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

import torch

from workbench.counterfactuals import Rerolls
from workbench.credit import reroll_advantage
from workbench.learning import RFTConfig, RLConfig, TrainConfig, train
from workbench.policies import CausalLMPolicy, build_model, build_tokenizer
from workbench.rewards import RewardDesign
from workbench.sandbox import open_sandbox
from workbench.tasks import load_tasks

CONFIG = TrainConfig(
    rft=RFTConfig(num_tasks=4, group_size=2, tasks_per_iteration=2),
    rl=RLConfig(
        iterations=4,
        tasks_per_iteration=3,
        group_size=4,
        lr=3e-3,
        evidence=Rerolls(2),
        credit=reroll_advantage,
    ),
    max_turns=2,
    dtype="float32",
    tokens_per_microbatch=512,
    evaluate_every=2,
)

MOMENTS = {
    "sampling": ("workbench.sampler.session", "sample_turns"),
    "re-rolls": ("workbench.counterfactuals.rerolls", "play_on"),
    "update": ("workbench.learning.update", "policy_logprobs"),
    "optimiser": ("workbench.learning.loop", "update"),
    "rollouts written": ("workbench.learning.journal.Journal", "add_row"),
    "checkpoint file": ("torch", "save"),
    "checkpoint rename": ("os", "rename"),
    "old checkpoint": ("shutil", "rmtree"),
}


def fewer_tokens(trajectory, task):
    """Component: the less is said, the better."""
    return -trajectory.num_action_tokens / 100


def kill_at(moment, number):
    """Make the NUMBERth call of that function the process's last."""
    place, name = MOMENTS[moment]
    module, _, inner = place.partition(".Journal")
    owner = importlib.import_module(module)
    owner = owner.Journal if place.endswith(".Journal") else owner
    original, calls = getattr(owner, name), []

    @functools.wraps(original)
    def counted(*args, **kwargs):
        calls.append(1)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*args, **kwargs)

    setattr(owner, name, counted)


def main(folder, moment, number):
    torch.set_num_threads(1)
    tasks = load_tasks("bugfix", split="train", count=8)
    texts = [t.statement for t in tasks] + [f for t in tasks for f in t.files.values()]
    tokenizer = build_tokenizer(texts)
    model = build_model(tokenizer, hidden=32, layers=2, heads=2, intermediate=64)
    policy = CausalLMPolicy(model, tokenizer)
    if moment != "never":
        kill_at(moment, number)
    with open_sandbox("local", workers=1) as sandbox:
        run = train(
            *(policy, tasks, sandbox, "rft_then_rl"),
            config=CONFIG,
            reward=RewardDesign(brevity=(fewer_tokens, 1.0)),
            seed=5,
            folder=folder,
            resume=(Path(folder) / "config.json").exists(),
            dev=tasks[:2],
        )
        run.wait()
    print(policy.version, flush=True)


def ended(folder, moment, number):
    """(exit code, output) of a process that does `main`."""
    with tempfile.TemporaryFile() as output:
        if (child := os.fork()) == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code = 1
            try:
                main(folder, moment, number)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read().decode(errors="replace")


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(ended(*json.loads(line))), flush=True)
