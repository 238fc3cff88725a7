"""Faults planted in episodes of several turns through TRL: each is named by `doctor(trainer)`."""

from dataclasses import replace

import pytest

from tests.diagnostics.conftest import TINY
from tests.policies.conftest import save_chat_model
from workbench import RewardDesign, doctor, open_policy
from workbench.diagnostics import DoctorCallback
from workbench.learning import RLConfig
from workbench.records import SamplerSettings
from workbench.tasks import load_tasks

pytestmark = pytest.mark.slow
TASKS = load_tasks("bugfix", split="train", count=8)
SMALL = RLConfig(
    iterations=2, tasks_per_iteration=4, group_size=4, updates_per_iteration=2, lr=1e-3
)


def brevity(trajectory, task):
    """Differs between attempts, so that no group is tied."""
    return 1.0 / (1 + trajectory.num_action_tokens)


@pytest.fixture
def trained(sandbox, tmp_path, make_lora, monkeypatch):
    """A function: a trainer after several turns, healthy but for what it is told."""
    from workbench.trl_bridge import MultiTurn, TurnGRPOTrainer, grpo_config

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")

    def trained(model=TINY, tasks=TASKS, component=brevity, **options):
        design = RewardDesign(component=(component, 1.0))
        episodes = MultiTurn(tasks, sandbox, design, SMALL, **options)
        trainer = TurnGRPOTrainer(
            model=str(model),
            args=grpo_config(tmp_path / "trl", SMALL),
            train_dataset=episodes.dataset(),
            rollout_func=episodes.rollout,
            reward_funcs=episodes.reward,
            peft_config=make_lora(),
        )
        trainer.add_callback(DoctorCallback(trainer))
        trainer.train()
        return trainer

    return trained


def seen(report, name):
    (symptom,) = [s for s in report.symptoms if s.check == name]
    return symptom.seen


def test_a_healthy_run_of_several_turns(trained):
    report = doctor(trained())
    assert report.names == ()
    assert {"unscorable", "truncated", "completion-budget", "mask"} <= set(report.passed)


def test_a_sandbox_that_cannot_judge(trained):
    faulty = [replace(task, test_code="raise RuntimeError('ours')\n") for task in TASKS[::2]]
    report = doctor(trained(tasks=[*faulty, *TASKS[1::2]], component=judged_brevity))
    assert seen(report, "unscorable").startswith("50% of the attempts of the last 2 rows")


def judged_brevity(trajectory, task):
    """The same, but None where the verdict is our fault."""
    return None if trajectory.verdict.status == "unscorable" else brevity(trajectory, task)


def test_attempts_that_find_no_room_for_their_last_message(trained):
    """What was said ends as it should, so that TRL counts them as whole."""
    trainer = trained(sampler=SamplerSettings(max_context=128))
    assert trainer.state.log_history[0]["completions/clipped_ratio"] < 0.5
    report = doctor(trainer)
    assert {"truncated", "completion-budget"} == set(report.names)
    assert seen(report, "completion-budget").endswith("need 256, max_context is 128")


def test_a_chat_model_whose_every_message_is_cut_off(trained, tmp_path):
    model = save_chat_model(tmp_path / "model")  # untrained: it never ends a message
    room = SamplerSettings(max_action_tokens=8, max_context=2500)
    report = doctor(trained(model, sampler=room, max_turns=2))
    assert seen(report, "truncated").endswith("completions were cut in the last 2 rows of the log")


def test_messages_that_end_with_another_token_than_texts_are_whole(trained, tmp_path):
    """As with a base model, whose tokenizer still names the end of a text."""
    policy = open_policy("tiny")
    policy.tokenizer.eos_token = "<|user|>"
    for settings in (policy.model.config, policy.model.generation_config):
        settings.eos_token_id = policy.tokenizer.eos_token_id
    policy.save(tmp_path / "model")
    trainer = trained(tmp_path / "model")
    assert trainer.state.log_history[0]["completions/clipped_ratio"] == 1.0
    assert doctor(trainer).names == ()
