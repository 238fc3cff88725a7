"""A TRL run in our run log: read back, drawn, resumed."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.policies.conftest import save_chat_model
from tests.trl_bridge.conftest import TASKS
from workbench.credit import return_to_go
from workbench.learning import RLConfig, pack
from workbench.plots import learning_curve, read_curve
from workbench.policies import CausalLMPolicy, chat_format, open_policy
from workbench.records import SamplerSettings
from workbench.rewards import RewardDesign
from workbench.runlog import load_run
from workbench.sampler import extract_weights
from workbench.tasks import load_tasks

pytestmark = pytest.mark.slow
SMALL = RLConfig(
    iterations=2, tasks_per_iteration=2, group_size=2, updates_per_iteration=2, lr=1e-2
)
DEV = TASKS[:2]


def shorter(trajectory, task):
    """A component: differs between most attempts."""
    return -trajectory.num_action_tokens / 100


BRIEF = RewardDesign(brevity=(shorter, 1.0))


@pytest.fixture
def make(folder, sandbox, tmp_path, monkeypatch):
    """A function that makes (episodes, trainer), logging in tmp_path / NAME."""
    from peft import LoraConfig

    from workbench.trl_bridge import MultiTurn, RunLogCallback, TurnGRPOTrainer, grpo_config

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")

    def make(name, rl=SMALL, on_metrics=None, **changes):
        episodes = MultiTurn(TASKS, sandbox, BRIEF, rl, max_turns=4)
        return episodes, TurnGRPOTrainer(
            model=folder,
            args=grpo_config(tmp_path / f"{name}-trl", rl, **changes),
            train_dataset=episodes.dataset(),
            rollout_func=episodes.rollout,
            reward_funcs=episodes.reward,
            peft_config=LoraConfig(r=4, lora_alpha=8, target_modules="all-linear"),
            callbacks=[
                RunLogCallback(
                    *(tmp_path / name, episodes), dev=DEV, evaluate_every=1, on_metrics=on_metrics
                )
            ],
        )

    return make


def without_seconds(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def test_a_run_is_read_back_and_drawn_as_one_of_ours(make, tmp_path):
    told = []
    episodes, trainer = make("run", replace(SMALL, credit=return_to_go), told.append)
    trainer.train()
    run = load_run(tmp_path / "run")
    assert without_seconds(told) == without_seconds(run.metrics)
    kinds = [(row["kind"], row["stage"], row["iteration"]) for row in run.metrics]
    assert kinds == [
        ("evaluation", "base", 0),
        ("iteration", "rl", 0),
        ("evaluation", "rl", 1),
        ("iteration", "rl", 1),
        ("evaluation", "rl", 2),
    ]
    curve = read_curve(run.metrics)
    assert len(curve.batches) == 2 and curve.spans == {"rl": (0, 8)} and learning_curve(run).axes
    steps = [row for row in trainer.state.log_history if "grad_norm" in row]
    last = run.metrics[3]
    assert last["loss"] == pytest.approx(np.mean([row["loss"] for row in steps[2:]]))
    assert last["num_updates"] == 2 and last["lr"] == steps[3]["learning_rate"]
    assert last["ratio_gap_max"] < 1e-3
    seconds = last["seconds"]
    assert min(seconds.values()) > 0
    assert seconds["sampling_wall"] + seconds["update_wall"] <= seconds["wall"]
    assert run.state == "finished" and run.config["recipe"] == "trl"
    assert run.config["trl"]["args"]["epsilon_high"] == 0.28  # what differs from TRL's defaults
    stored, rolled = run.iterations[1], episodes.last
    assert stored.groups == rolled.groups and stored.tasks == rolled.tasks
    again, sampled = pack(stored.groups, stored.advantages), pack(stored.groups, rolled.credit)
    assert torch.equal(again.advantages, sampled.advantages)
    assert last["num_policy_tokens"] == again.num_policy_tokens
    saved, trained = open_policy(tmp_path / "run" / "policy"), trainer.model
    assert (tmp_path / "run" / "policy" / "adapter_model.safetensors").exists()
    for a, b in zip(*(extract_weights(m, 8).layers for m in (saved.model, trained)), strict=True):
        assert torch.equal(a.qkv, b.qkv) and torch.equal(a.down, b.down)


def test_a_resumed_run_is_the_run_that_was_never_stopped(make, tmp_path):
    saving = dict(save_strategy="steps", save_steps=2)
    _, whole = make("whole", **saving)
    whole.train()

    _, stopped = make("run", **saving)
    stopped.add_callback(StopAfter(3))  # in the middle of the second iteration
    with pytest.raises(KeyboardInterrupt):
        stopped.train()
    assert load_run(tmp_path / "run").state == "stopped"
    _, resumed = make("run", **saving)
    resumed.train(resume_from_checkpoint=True)

    rows = [without_seconds(load_run(tmp_path / n).metrics) for n in ("whole", "run")]
    assert rows[0] == rows[1]
    for (name, a), b in zip(whole.model.named_parameters(), resumed.model.parameters()):
        assert torch.equal(a, b), name


def test_what_trl_logs_as_none_is_not_known():
    from workbench.trl_bridge.run_log import _stats

    stats = _stats({"loss": 0.0, "grad_norm": float("nan"), "entropy": None})
    assert stats.loss == 0.0 and np.isnan([stats.grad_norm, stats.entropy]).all()


def test_a_folder_with_another_run_is_refused(make):
    make("run", replace(SMALL, iterations=1))[1].train()
    with pytest.raises(ValueError, match="already holds a run"):
        make("run")[1].train()


def test_settings_under_which_rows_or_checkpoints_would_not_fit_are_refused(make):
    for changes, message in (
        (dict(save_strategy="steps", save_steps=3), "save_steps: expected a multiple of the 2"),
        (dict(logging_steps=2), "logging_steps: the run log needs 1, got 2"),
        (dict(max_steps=3), "max_steps: expected a multiple of the 2 optimiser steps"),
        (
            dict(gradient_accumulation_steps=4, per_device_train_batch_size=1),
            "expected whole optimiser steps",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            make("run", **changes)[1].train()


def test_a_chat_model_is_evaluated_with_the_prompt_it_is_trained_with(
    sandbox, tmp_path, monkeypatch
):
    """Several turns: the model is spoken to as `policy` says, not as its template alone would."""
    from peft import LoraConfig

    from workbench.trl_bridge import MultiTurn, RunLogCallback, TurnGRPOTrainer, grpo_config

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    model, made = save_chat_model(tmp_path / "model"), []

    def policy(model, tokenizer):
        chat = chat_format(tokenizer, style="plain", system="Repair it.")
        made.append(CausalLMPolicy(model, tokenizer, chat))
        return made[-1]

    rl, room = replace(SMALL, iterations=1), SamplerSettings(max_action_tokens=8, max_context=2000)
    options = dict(sampler=room, max_turns=2, policy=policy)
    episodes = MultiTurn(DEV, sandbox, BRIEF, rl, **options)
    trainer = TurnGRPOTrainer(
        model=str(model),
        args=grpo_config(tmp_path / "trl", rl),
        train_dataset=episodes.dataset(),
        rollout_func=episodes.rollout,
        reward_funcs=episodes.reward,
        peft_config=LoraConfig(r=4, target_modules="all-linear"),
        callbacks=[RunLogCallback(tmp_path / "run", episodes, dev=DEV)],
    )
    trainer.train()
    assert len(made) == 3  # an evaluation, the iteration's attempts, an evaluation
    found = episodes.evaluate(trainer.model, trainer.processing_class, DEV)
    trained = {g.task_id: g.trajectories[0] for g in episodes.last.groups}
    for group in found.groups:
        told = group.trajectories[0].turns[0].action.new_ids
        assert told == trained[group.task_id].turns[0].action.new_ids
        assert "Repair it." in trainer.processing_class.decode(told)


@pytest.mark.parametrize(
    ("kind", "template", "more"),
    [
        ("qwen2", "qwen2_5", {}),
        ("qwen3", "qwen3", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("tiny", None, {}),
    ],
)
def test_answers_of_one_turn_are_evaluated_with_trl_s_own_prompt(
    folder, sandbox, tmp_path, kind, template, more
):
    from trl import GRPOTrainer

    from workbench.trl_bridge import RunLogCallback, SingleTurn, grpo_config

    class Watched(SingleTurn):
        def evaluate(self, *args, **options):
            evaluations.append(super().evaluate(*args, **options))
            return evaluations[-1]

    evaluations, rl = [], replace(SMALL, iterations=1, tied_groups="keep")
    if template is not None:
        folder = save_chat_model(tmp_path / "model", kind, template)
    tasks = load_tasks("functions", split="train", count=2)
    answers = Watched(
        *(tasks, sandbox, BRIEF, rl),
        sampler=SamplerSettings(max_action_tokens=8, max_context=500),
        prompt=lambda task: f"{task.statement}, in Python",
    )
    trainer = GRPOTrainer(
        model=str(folder),
        args=grpo_config(tmp_path / "trl", rl, lora=False, max_completion_length=8, **more),
        train_dataset=answers.dataset(),
        reward_funcs=answers.reward,
        callbacks=[RunLogCallback(tmp_path / "run", answers, dev=tasks)],
    )
    trainer.train()
    theirs = trainer._tokenize_prompts([row["prompt"] for row in answers.dataset()])[0]
    for found in evaluations:
        told = [group.trajectories[0].turns[0].action.new_ids for group in found.groups]
        assert list(map(list, told)) == theirs
    assert len(evaluations) == 2 and "in Python" in trainer.processing_class.decode(theirs[0])


def StopAfter(step):
    """A callback that interrupts a run as Ctrl-C does."""
    from transformers import TrainerCallback

    class Stop(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step == step:
                raise KeyboardInterrupt

    return Stop()
