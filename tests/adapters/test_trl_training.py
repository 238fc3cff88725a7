"""TRL's trainers with rewards of ours: one real update, and the process of the asynchronous one."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import torch

from tests.adapters.conftest import BUGFIX, HONEST
from workbench import open_sandbox
from workbench.adapters import (
    as_async_reward,
    as_dataset,
    as_reward,
    as_rewards,
    environment_factory,
    save_as_module,
)
from workbench.policies.wire import encode_text
from workbench.rewards import RewardDesign, all_pass, compiles
from workbench.tasks import load_tasks

pytestmark = pytest.mark.slow
FUNCTIONS = load_tasks("functions", split="train", count=4)
DESIGN = RewardDesign(tests=(all_pass("hidden"), 1.0), loads=(compiles, 0.5))


def lengths(trajectory, task):
    """Differs between most rollouts, so that no group is tied."""
    return len(trajectory.turns[0].action.text) / 64


def update(folder, args, reward_funcs, tasks=FUNCTIONS, **more):
    """(trainer after one update, its log, whether any weight changed)."""
    from trl import GRPOTrainer

    trainer = GRPOTrainer(
        model=folder,
        args=args,
        train_dataset=as_dataset(tasks, conversational=True),
        reward_funcs=reward_funcs,
        **more,
    )
    before = {name: p.detach().clone() for name, p in trainer.model.named_parameters()}
    trainer.train()
    log = next(entry for entry in trainer.state.log_history if "grad_norm" in entry)
    changed = any(not torch.equal(p, before[n]) for n, p in trainer.model.named_parameters())
    return trainer, log, changed


def test_one_update_through_as_reward_learns_from_its_numbers(folder, sandbox, grpo_config):
    design = RewardDesign(lengths=(lengths, 1.0), loads=(compiles, 0.5))
    args = grpo_config(max_completion_length=24, log_completions=False)
    trainer, log, changed = update(folder, args, as_reward(design, FUNCTIONS, sandbox))
    assert changed and log["grad_norm"] > 0
    assert log["unscorable"] == 0.0
    weighted = log["components/lengths"] + 0.5 * log["components/loads"]
    assert log["rewards/design/mean"] == pytest.approx(weighted, rel=1e-5)  # TRL has float32
    extra = trainer._logs["extra"]
    assert set(extra) == {"verdict", "lengths", "loads"}
    rewards = np.asarray(trainer._logs["rewards"]["design"])
    parts = np.asarray(extra["lengths"]) + 0.5 * np.asarray(extra["loads"])
    assert rewards == pytest.approx(parts, rel=1e-6) and len(rewards) == 8


def test_one_update_with_a_function_a_component_beside_an_environment(folder, sandbox, grpo_config):
    functions, weights = as_rewards(HONEST, BUGFIX, sandbox)
    args = grpo_config(
        max_completion_length=256, max_tool_calling_iterations=4, reward_weights=weights
    )
    trainer, log, _ = update(
        folder, args, functions, BUGFIX, environment_factory=environment_factory(BUGFIX, sandbox)
    )
    total = log["rewards/tests/mean"] - log["rewards/tampering/mean"]
    assert log["reward"] == pytest.approx(total, abs=1e-6) and log["unscorable"] == 0.0
    ours = [HONEST.score(e.trajectory, e.attempt.task).total for e in trainer.environments]
    theirs = [a - b for a, b in zip(*(trainer._logs["rewards"][k] for k in ("tests", "tampering")))]
    assert theirs == ours


def test_one_update_awaits_the_asynchronous_one(folder, sandbox, grpo_config):
    args = grpo_config(max_completion_length=24)
    _, log, _ = update(folder, args, as_async_reward(DESIGN, FUNCTIONS, sandbox))
    assert log["unscorable"] == 0.0 and "rewards/design/mean" in log


REWARD = """
def reward(completions, **kwargs):
    return [float(len(messages[-1]["content"])) for messages in completions]
"""


@pytest.fixture
def reward(notebook):
    """REWARD as a cell defines it: of a `__main__` that no other process has."""
    yield notebook(REWARD)["reward"]
    sys.modules.pop("my_reward", None)


ANSWER = "    return None"


@pytest.fixture
def endpoint(folder):
    """(URL, tokenizer) of a server that answers as vLLM does, with ANSWER's tokens."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = [*encode_text(tokenizer, ANSWER), tokenizer.eos_token_id]
    choice = {"token_ids": ids, "logprobs": {"token_logprobs": [-0.5] * len(ids)}}

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", tokenizer
        server.shutdown()


@pytest.fixture
def worker(endpoint, folder, monkeypatch):
    """Makes the rollout worker of TRL's asynchronous trainer; the check that vLLM is installed is
    answered for it, as it only speaks to the endpoint."""
    from trl.experimental.async_grpo import async_rollout_worker as theirs

    monkeypatch.setattr(theirs, "is_vllm_available", lambda *_, **__: True)
    url, tokenizer = endpoint
    made = []

    def make(reward_funcs, tasks=FUNCTIONS, **more):
        worker = theirs.AsyncRolloutWorker(
            model_name=folder,
            dataset=as_dataset(tasks, conversational=True),
            reward_funcs=reward_funcs,
            processing_class=tokenizer,
            eos_token_ids=[tokenizer.eos_token_id],
            num_generations=2,
            max_inflight_tasks=2,
            queue_maxsize=4,
            vllm_server_url=url,
            **more,
        )
        made.append(worker)
        return worker

    yield make
    for one in made:
        one.stop()


def opens_one():
    """A sandbox of the process that scores."""
    return open_sandbox("local", workers=1)


def test_the_asynchronous_trainer_s_process_scores_with_a_saved_reward_and_a_design(
    worker, reward, notebook_folder
):
    saved = save_as_module(reward, notebook_folder / "my_reward.py")
    running = worker([saved, as_reward(DESIGN, FUNCTIONS, opens_one)])
    running.start()
    sample = running.rollout_buffer.get(timeout=120)
    running.check_health(120)
    assert sample.metrics["rewards/reward"] == len(ANSWER)
    assert sample.metrics["rewards/design"] == 0.5  # it loads, and its tests fail
    assert sample.metrics["reward"] == len(ANSWER) + 0.5


def test_the_asynchronous_trainer_s_process_plays_our_environment(worker):
    factory = environment_factory(BUGFIX, opens_one, HONEST)
    running = worker([], BUGFIX, environment_factory=factory)
    running.start()
    sample = running.rollout_buffer.get(timeout=120)
    assert sample.metrics["rewards/RewardedEnvironment"] == 0.0


def test_what_is_not_saved_does_not_arrive_there(worker, reward):
    with pytest.raises(TypeError, match="must be picklable"):
        worker([lambda completions, **_: [1.0]]).start()
    with pytest.raises(RuntimeError, match="child exited during init"):
        worker([reward]).start()
