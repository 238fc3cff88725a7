"""Faults planted in a trainer's settings: each is named, before the first update."""

import pytest
import torch

pytestmark = pytest.mark.slow


def names(trainer):
    from workbench import doctor

    return doctor(trainer).names


def test_a_healthy_trainer_has_nothing_wrong(make_trainer, make_lora):
    assert names(make_trainer()) == ()
    assert names(make_trainer(lora=make_lora())) == ()


def test_a_string_prompt_to_a_chat_model(make_trainer, functions):
    from workbench.adapters import as_dataset

    assert names(make_trainer(_by_text, dataset=as_dataset(functions))) == ("string-prompt",)


def test_a_string_that_the_template_has_rendered_is_none(make_trainer):
    from datasets import Dataset

    rendered = ["<|bos|><|task|>write f(xs): sum of xs<|end|><|act|>"] * 8
    rows = Dataset.from_list([{"prompt": text} for text in rendered])
    assert names(make_trainer(_by_text, dataset=rows)) == ()


def test_the_strings_that_a_rollout_function_gets_are_its_own_business(make_trainer, functions):
    from workbench.adapters import as_dataset

    def rollouts(prompts, trainer):
        raise NotImplementedError

    trainer = make_trainer(_by_text, dataset=as_dataset(functions), rollout_func=rollouts)
    assert names(trainer) == ()


def _by_text(completions, **_):
    return [1.0 / (1 + len(text)) for text in completions]


def test_a_pad_token_that_ends_turns(make_trainer):
    from transformers import AutoTokenizer

    from tests.diagnostics.conftest import TINY

    tokenizer = AutoTokenizer.from_pretrained(TINY, padding_side="left")
    tokenizer.pad_token = tokenizer.eos_token
    assert names(make_trainer(processing_class=tokenizer)) == ("pad-is-eos",)


@pytest.mark.parametrize(
    "settings, said",
    [
        (dict(top_p=0.9), "top_p=0.9 in the trainer's settings"),
        (dict(repetition_penalty=1.1), "repetition_penalty=1.1 in the trainer's settings"),
        (dict(generation_kwargs={"top_k": 20}), "top_k=20 in the trainer's settings"),
    ],
)
def test_decoding_filters_in_the_settings(make_trainer, settings, said):
    from workbench import doctor

    report = doctor(make_trainer(**settings))
    assert report.names == ("decoding-filters",) and report.symptoms[0].seen == said


@pytest.mark.parametrize("name, value", [("min_p", 0.05), ("no_repeat_ngram_size", 3)])
def test_decoding_filters_that_come_with_the_model(make_trainer, name, value):
    from workbench import doctor

    trainer = make_trainer()
    setattr(trainer.model.generation_config, name, value)
    (symptom,) = doctor(trainer).symptoms
    assert symptom.seen == f"{name}={value} from the model's generation_config"


def test_filters_of_the_model_that_the_trainer_overrides_are_none(make_trainer):
    trainer = make_trainer()
    trainer.model.generation_config.update(top_p=0.8, top_k=20, repetition_penalty=1.05)
    assert names(trainer) == ()


def environments(sandbox):
    from workbench import load_tasks
    from workbench.adapters import as_dataset, environment_factory
    from workbench.learning import HONEST

    tasks = load_tasks("bugfix", split="train", count=4)
    factory = environment_factory(tasks, sandbox, HONEST, max_turns=8)
    return dict(
        dataset=as_dataset(tasks, conversational=True),
        environment_factory=factory,
        reward_funcs=None,
    )


def test_a_budget_of_tokens_too_small_for_the_turns(make_trainer, sandbox):
    from workbench import doctor

    short = make_trainer(max_completion_length=128, **environments(sandbox))
    (symptom,) = doctor(short).symptoms
    assert symptom.check == "completion-budget"
    assert "8 turns of at least 32 tokens need 256, max_completion_length is 128" == symptom.seen
    assert names(make_trainer(max_completion_length=512, **environments(sandbox))) == ()


def test_groups_of_one(make_trainer):
    trainer = make_trainer()
    trainer.num_generations = 1  # the configuration refuses it; a subclass may set it
    assert names(trainer) == ("group-size",)


def test_the_default_learning_rate_with_adapters(make_trainer, make_lora):
    assert names(make_trainer(lora=make_lora(), learning_rate=1e-6)) == ("learning-rate",)
    assert names(make_trainer(learning_rate=1e-6)) == ()  # made for all weights
    assert names(make_trainer(learning_rate=0.0)) == ("learning-rate",)


def test_evaluation_rows_that_are_trained_on(make_trainer, functions):
    from workbench import doctor
    from workbench.adapters import as_dataset
    from workbench.tasks import load_tasks

    leaking = as_dataset([*load_tasks("functions", split="dev", count=2), functions[0]], True)
    (symptom,) = doctor(make_trainer(eval=leaking)).symptoms
    assert symptom.check == "eval-leak" and symptom.seen.startswith("1 of 3 evaluation tasks")
    apart = as_dataset(load_tasks("functions", split="dev", count=2), True)
    assert names(make_trainer(eval=apart)) == ()


def answers_a_crash_with_zero(completions, **_):
    """A reward that hides its own faults."""
    try:
        return [1.0 / len(c["content"]) for c in completions]  # a list has no "content"
    except Exception:
        return [0.0] * len(completions)


def lets_it_raise(completions, **_):
    """The same without."""
    try:
        return [1.0 / (1 + len(c[-1]["content"])) for c in completions]
    except ZeroDivisionError:
        return [0.0] * len(completions)


def test_a_reward_that_swallows_its_exceptions(make_trainer):
    from workbench import doctor

    (symptom,) = doctor(make_trainer(answers_a_crash_with_zero)).symptoms
    assert symptom.check == "swallowed-exceptions"
    assert "answers_a_crash_with_zero, line 5" in symptom.seen
    assert names(make_trainer(lets_it_raise)) == ()


def freeze(trainer):
    for name, parameter in trainer.model.named_parameters():
        if "lora_B" in name:
            parameter.requires_grad_(False)


def disable(trainer):
    trainer.model.base_model.disable_adapter_layers()


def merge(trainer):
    trainer.model.merge_adapter()


@pytest.mark.parametrize("fault", [freeze, disable, merge])
def test_adapters_that_cannot_learn(make_trainer, make_lora, fault):
    trainer = make_trainer(lora=make_lora())
    fault(trainer)
    assert "lora-frozen" in names(trainer)


def test_adapters_scaled_by_nothing(make_trainer, make_lora):
    assert names(make_trainer(lora=make_lora(lora_alpha=0))) == ("lora-frozen",)


def test_an_optimiser_made_for_another_model(make_trainer, make_lora):
    others = torch.nn.Linear(2, 2)
    optimiser = torch.optim.AdamW(others.parameters(), lr=1e-3)
    trainer = make_trainer(lora=make_lora(), optimizers=(optimiser, None))
    assert names(trainer) == ("optimiser",)


def test_dropout_in_training(make_trainer, make_lora):
    assert names(make_trainer(lora=make_lora(lora_dropout=0.1))) == ("dropout",)
    quiet = make_trainer(lora=make_lora(lora_dropout=0.1), disable_dropout=True)
    assert names(quiet) == ()


def test_a_kl_coefficient_without_a_reference(make_trainer):
    trainer = make_trainer(beta=0.04)
    assert names(trainer) == ()
    trainer.ref_model = trainer.model
    assert names(trainer) == ("reference",)
    trainer.ref_model = None
    assert names(trainer) == ("reference",)


def test_log_probs_of_another_temperature(make_trainer):
    from trl.trainer.utils import add_fused_lm_head

    trainer = make_trainer(temperature=0.7)
    assert names(trainer) == ()
    # as a trainer did that forgot the division (TRL #4159)
    add_fused_lm_head(trainer.model, temperature=1.0, outputs=("log_probs", "entropy"))
    assert names(trainer) == ("trainer-temperature",)
