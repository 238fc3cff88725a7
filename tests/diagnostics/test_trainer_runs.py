"""Faults planted in a trainer that trains: each is named from what its training shows."""

import copy
from dataclasses import replace

import pytest
import torch

from workbench import RewardDesign, doctor
from workbench.diagnostics import DoctorCallback
from workbench.rewards import all_pass, compiles

pytestmark = pytest.mark.slow


def train(trainer, **watching):
    """The report after training under the doctor's eyes."""
    trainer.add_callback(DoctorCallback(trainer, **watching))
    trainer.train()
    return doctor(trainer)


def graded(functions, sandbox):
    from workbench.adapters import as_reward

    design = RewardDesign(tests=(all_pass("hidden"), 1.0), loads=(compiles, 0.2))
    return as_reward(design, functions, sandbox)


@pytest.mark.parametrize("with_lora", [False, True], ids=["all weights", "LoRA"])
def test_a_healthy_single_turn_run(make_trainer, make_lora, functions, sandbox, with_lora):
    adapters = make_lora() if with_lora else None
    trainer = make_trainer(graded(functions, sandbox), lora=adapters, max_steps=9)
    report = train(trainer)
    assert report.names == ()
    assert {"truncated", "tied-groups", "mask", "no-gradient", "optimiser"} <= set(report.passed)
    assert not with_lora or "lora-dead" in report.passed


def test_completions_that_are_cut_off(make_trainer, capsys):
    assert train(make_trainer(max_completion_length=4), warn=True).names == ("truncated",)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("doctor")]
    assert len(said) == 1  # once, however often it logs
    assert said[0].startswith("doctor, update 1: truncated: 100% of the completions were cut at 4")


def by_task(prompts, **_):
    """The same for every attempt at a task."""
    return [float(len(prompt[-1]["content"])) for prompt in prompts]


def test_all_groups_tied(make_trainer):
    report = train(make_trainer(by_task, num_generations=2, max_steps=4))
    assert report.names == ("tied-groups",)
    assert "100% of the last 16 groups are tied" in report.symptoms[0].seen


@pytest.mark.parametrize("number, name", [(0.0, "reward-never-positive"), (0.3, "reward-constant")])
def test_a_reward_that_is_always_the_same(make_trainer, number, name):
    def always(completions, **_):
        return [number] * len(completions)

    report = train(make_trainer(always, per_device_train_batch_size=32, max_steps=2))
    assert report.names == (name,) and "64 attempts" in report.symptoms[0].seen


def test_a_reward_function_that_never_gives_a_number(make_trainer):
    from tests.diagnostics.conftest import brevity

    def silent(completions, **_):
        return [None] * len(completions)

    report = train(make_trainer([brevity, silent]))
    assert report.names == ("reward-missing",) and report.symptoms[0].seen.startswith("silent:")


def test_a_sandbox_that_cannot_judge(make_trainer, functions, sandbox):
    faulty = [replace(t, test_code="raise RuntimeError('ours')\n") for t in functions[::2]]
    tasks = [*faulty, *functions[1::2]]
    report = train(make_trainer(graded(tasks, sandbox), max_steps=4))
    assert "unscorable" in report.names


def test_nearly_every_token_clipped(make_trainer):
    settings = dict(epsilon=1e-7, epsilon_high=1e-7, num_iterations=4, max_steps=8)
    report = train(make_trainer(learning_rate=3e-3, **settings))
    assert "clip-high" in report.names


def test_not_one_token_ever_clipped(make_trainer):
    report = train(make_trainer(num_iterations=6, learning_rate=1e-9, max_steps=12))
    assert report.names == ("clip-zero",)


def test_a_mask_that_leaves_nothing(make_trainer):
    report = train(make_trainer(mask_truncated_completions=True, max_completion_length=4))
    assert set(report.names) == {"truncated", "no-gradient"}


def test_a_kl_that_explodes(make_trainer):
    report = train(make_trainer(beta=0.01, learning_rate=1e-2, max_steps=4))
    assert "kl-explosion" in report.names


def test_a_kl_that_is_watched_and_small(make_trainer, make_lora):
    trainer = make_trainer(beta=0.04, lora=make_lora(), max_steps=6)
    assert train(trainer).names == ()
    assert max(row.get("kl", 0) for row in trainer.state.log_history) < 0.02


def test_a_reference_that_moves_along(make_trainer, make_lora):
    trainer = make_trainer(beta=0.04, lora=make_lora(), max_steps=4)
    # an adapter named "ref" that is the trained one
    trainer.model.peft_config["ref"] = trainer.model.peft_config["default"]
    trainer.model.set_adapter = lambda *_, **__: None
    assert "reference" in train(trainer).names


def test_adapters_that_get_no_gradient(make_trainer, make_lora):
    trainer = make_trainer(lora=make_lora(), max_steps=3)
    for name, parameter in trainer.model.named_parameters():
        if "lora_B" in name:  # as a custom kernel does that loses it
            parameter.register_hook(torch.zeros_like)
    report = train(trainer)
    assert "lora-dead" in report.names and "28 of 28 modules" in str(report)


def test_adapters_of_some_modules_that_get_no_gradient(make_trainer, make_lora):
    trainer = make_trainer(lora=make_lora(), max_steps=3)
    for name, parameter in trainer.model.named_parameters():
        if "lora_B" in name and "q_proj" in name:
            parameter.register_hook(torch.zeros_like)
    report = train(trainer)
    assert report.names == ("lora-dead",) and "q_proj" in report.symptoms[0].seen


def test_observations_in_the_mask(make_trainer, sandbox):
    from tests.diagnostics.test_trainer_settings import environments

    settings = dict(max_completion_length=320, max_steps=1, **environments(sandbox))
    healthy = make_trainer(**settings)
    report = train(healthy)
    assert "mask" in report.passed and "mask" not in report.names

    spoiled = make_trainer(**settings)
    generate = spoiled._generate

    def all_ones(prompts):
        result = generate(prompts)
        return (*result[:2], [[1] * len(ids) for ids in result[1]], *result[3:])

    spoiled._generate = all_ones
    (symptom,) = [s for s in train(spoiled).symptoms if s.check == "mask"]
    assert "observation learned" in symptom.seen or "everything learned" in symptom.seen


def engine_with(model):
    """A model of its own with the same weights, adapters merged. (A deep copy would not do: TRL
    binds the forward pass to the original.)"""
    from transformers import AutoModelForCausalLM

    from tests.diagnostics.conftest import TINY

    if hasattr(model, "merge_and_unload"):
        model = copy.deepcopy(model).merge_and_unload()
    engine = AutoModelForCausalLM.from_pretrained(TINY)
    engine.load_state_dict(model.state_dict())
    return engine.eval()


class Rollouts:
    """A rollout function that samples from a copy of the model and reports its log-probs."""

    def __init__(self, refresh, scale=1.0):
        self.refresh, self.scale, self.copy = refresh, scale, None

    def __call__(self, prompts, trainer):
        if self.copy is None or self.refresh:
            self.copy = engine_with(trainer.model)
        tokenizer, out = trainer.processing_class, {k: [] for k in KEYS}
        for prompt in prompts:
            ids = tokenizer.apply_chat_template(
                prompt, add_generation_prompt=True, return_dict=False
            )
            told = torch.tensor([ids])
            said = self.copy.generate(told, do_sample=True, top_k=0, max_new_tokens=48)
            logits = self.copy(said).logits[0, len(ids) - 1 : -1]
            logprobs = torch.log_softmax(logits * self.scale, -1)
            said = said[0, len(ids) :]
            numbers = logprobs.gather(1, said[:, None])[:, 0].tolist()
            for key, value in zip(KEYS, (ids, said.tolist(), numbers)):
                out[key].append(value)
        return out


KEYS = ("prompt_ids", "completion_ids", "logprobs")
FEW = dict(per_device_train_batch_size=4, num_generations=2)


def test_a_sampler_that_is_refreshed(make_trainer, make_lora):
    trainer = make_trainer(
        lora=make_lora(), rollout_func=Rollouts(refresh=True), max_steps=3, **FEW
    )
    report = train(trainer)
    assert {"stale-sampler", "sampler-gap"} <= set(report.passed)
    watched = [p.gap for p in _callback(trainer).probes]
    assert len(watched) == 3 and max(watched) < 1e-4  # float32 on both sides


def test_an_adapter_that_never_reaches_the_sampler(make_trainer, make_lora):
    trainer = make_trainer(
        lora=make_lora(), rollout_func=Rollouts(refresh=False), max_steps=4, **FEW
    )
    report = train(trainer)
    (symptom,) = [s for s in report.symptoms if s.check == "stale-sampler"]
    assert "those of the model without its adapter" in symptom.seen


def test_an_engine_that_is_never_synchronised(make_trainer):
    trainer = make_trainer(max_steps=3)
    engine = engine_with(trainer.model)

    def engine_logprobs(ids):
        with torch.no_grad():
            logits = engine(torch.tensor([ids])).logits[0, :-1]
        return (
            torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist()
        )

    report = train(trainer, sampler_logprobs=engine_logprobs)
    (symptom,) = report.symptoms
    assert symptom.check == "stale-sampler" and "the sampler's by 0" in symptom.seen


def test_an_engine_that_scores_otherwise(make_trainer):
    """Logits half as large: as with another temperature, or a template of its own."""
    trainer = make_trainer(rollout_func=Rollouts(refresh=True, scale=0.5), max_steps=2, **FEW)
    assert train(trainer).names == ("sampler-gap",)


def _callback(trainer):
    return next(c for c in trainer.callback_handler.callbacks if isinstance(c, DoctorCallback))


def test_a_batch_without_a_token_that_learns_is_not_compared():
    zeros = torch.zeros(2, 3)
    inputs = {"sampling_per_token_logps": zeros, "completion_mask": zeros + 1, "tool_mask": zeros}
    assert object.__new__(DoctorCallback)._compare(inputs) == (None, None)
