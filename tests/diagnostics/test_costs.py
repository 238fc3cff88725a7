"""Costs: proportion by hand, memory against what torch keeps, prediction against a real run."""

from types import SimpleNamespace

import pytest

from workbench.diagnostics import (
    Calibration,
    CostEstimate,
    calibration_from,
    estimate_cost,
    gpu_memory,
)
from workbench.diagnostics.memory import (
    kv_numbers_a_token,
    num_lora_parameters,
    numbers_a_layer,
)
from workbench.learning import RFTConfig, RLConfig, TrainConfig

MEASURED = Calibration(
    num_rollouts=64,
    tokens=200.0,
    sampled_tokens=40.0,
    sampling_cpu_s=0.02,
    sandbox_cpu_s=0.001,
    update_cpu_s=0.03,
    teaching_share=0.5,
    kept_share=0.125,
    wall_per_cpu=1.5,
)


def test_an_rl_run_costs_its_rollouts_and_the_updates_of_those_that_teach():
    config = TrainConfig(rl=RLConfig(iterations=10, tasks_per_iteration=16, group_size=8))
    cost = estimate_cost(MEASURED, config, "rl", num_tasks=100)
    assert cost.rollouts == 1280 and cost.tokens == 256_000 and cost.sampled_tokens == 51_200
    assert cost.sampling_cpu_s == pytest.approx(25.6)  # 1280 * 0.02
    assert cost.sandbox_cpu_s == pytest.approx(1.28)
    assert cost.update_cpu_s == pytest.approx(19.2)  # 640 rollouts teach, 0.03 s each
    assert cost.wall_minutes == pytest.approx(1.12)  # 44.8 s * 1.5 / 60


def test_fine_tuning_costs_its_examples_once_an_epoch_and_no_more_tasks_than_there_are():
    config = TrainConfig(rft=RFTConfig(num_tasks=256, group_size=8, epochs=2))
    cost = estimate_cost(MEASURED, config, "rft", num_tasks=100)
    assert cost.rollouts == 800
    assert cost.update_cpu_s == pytest.approx(6.0)  # 100 examples, twice, 0.03 s
    both = estimate_cost(MEASURED, config, "rft_then_rl", num_tasks=100)
    assert both.rollouts == 800 + 80 * 16 * 8


ROW = {
    "kind": "iteration", "stage": "rl", "num_groups": 4, "num_tied": 1, "num_rollouts": 16,
    "num_tokens": 3200, "num_sampled_tokens": 640,
    "seconds": {"sampling_cpu": 0.8, "sandbox_cpu": 0.16, "update_cpu": 1.2, "sampling_wall": 2.0,
                "update_wall": 2.0},
}  # fmt: skip


def test_the_cost_of_a_recipe_that_is_none_is_not_known():
    with pytest.raises(ValueError, match=r"recipe: expected one of \['rft', .*got 'ppo'"):
        estimate_cost(MEASURED, TrainConfig(), "ppo", num_tasks=1)


def test_the_first_iterations_of_a_run_say_what_the_rest_will_take():
    measured = calibration_from([ROW, ROW, {"kind": "evaluation", "seconds": {"wall": 9.0}}])
    assert (measured.num_rollouts, measured.tokens, measured.sampled_tokens) == (32, 200.0, 40.0)
    assert measured.sampling_cpu_s == pytest.approx(0.05)
    assert measured.sandbox_cpu_s == pytest.approx(0.01)
    assert measured.teaching_share == 0.75
    assert measured.update_cpu_s == pytest.approx(0.1)  # 1.2 s for the 12 rollouts of 3 groups
    assert measured.wall_per_cpu == pytest.approx(2.0)
    with pytest.raises(ValueError, match="at least one RL iteration"):
        calibration_from([])


def test_predicted_stands_beside_measured():
    rows = [
        {
            "kind": "iteration", "num_rollouts": 10, "num_tokens": 1000, "num_sampled_tokens": 200,
            "seconds": {"sampling_cpu": 1.0, "sandbox_cpu": 0.5, "update_cpu": 2.0,
                        "sampling_wall": 40.0, "update_wall": 20.0},
        },
        {"kind": "evaluation", "seconds": {"wall": 99.0}},
    ]  # fmt: skip
    predicted = CostEstimate(10, 1500, 200, 1.1, 0.5, 1.0, 1.0)
    comparison = predicted.against(rows)
    assert predicted.against(SimpleNamespace(metrics=rows)) == comparison
    errors = comparison.errors
    assert errors["tokens"] == pytest.approx(0.5) and errors["update_cpu_s"] == pytest.approx(-0.5)
    assert errors["sampling_cpu_s"] == pytest.approx(0.1) and errors["wall_minutes"] == 0.0
    assert "+50%" in repr(comparison) and "-50%" in repr(comparison)


def llama(**changes):
    from transformers import LlamaConfig

    sizes = dict(
        vocab_size=512, hidden_size=128, intermediate_size=320, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, tie_word_embeddings=True,
    )  # fmt: skip
    return LlamaConfig(**(sizes | changes))


def of_family(family):
    import transformers

    fields = (
        "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
        "num_attention_heads", "num_key_value_heads", "head_dim", "tie_word_embeddings",
    )  # fmt: skip
    made = getattr(transformers, f"{family}Config")
    return made(**{name: getattr(llama(), name) for name in fields})


@pytest.mark.parametrize("family", ["Llama", "Qwen2", "Qwen3"])
def test_adapters_and_cache_are_those_of_peft_and_transformers(family):
    import torch
    import transformers
    from peft import LoraConfig, get_peft_model

    config = of_family(family)
    model = transformers.AutoModelForCausalLM.from_config(config)
    cache = model(torch.ones(1, 7, dtype=torch.long), use_cache=True).past_key_values
    held = sum(layer.keys.numel() + layer.values.numel() for layer in cache.layers)
    assert held == 7 * kv_numbers_a_token(config)
    adapted = get_peft_model(model, LoraConfig(r=8, target_modules="all-linear"))
    trained = sum(p.numel() for p in adapted.parameters() if p.requires_grad)
    assert trained == num_lora_parameters(config, 8)


@pytest.mark.parametrize("family", ["Llama", "Qwen3"])
def test_activations_are_what_torch_keeps_for_the_backward_pass(family):
    import torch
    import transformers

    config = of_family(family)
    model = transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes(), tensor
        return tensor

    ids = torch.zeros(4, 256, dtype=torch.long)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state
    measured = sum(size for size, _ in kept.values()) / (4 * 256) / 2  # numbers a token
    assert hidden.requires_grad
    assert 4 * numbers_a_layer(config) == pytest.approx(measured, rel=0.05)


def test_the_memory_of_a_seven_billion_model_by_hand():
    """Qwen2.5-7B's shape: 28 layers, hidden 3584, 28 heads of 128, 4 of keys, 18944, 152064."""
    config = llama(
        vocab_size=152_064, hidden_size=3584, intermediate_size=18_944, num_hidden_layers=28,
        num_attention_heads=28, num_key_value_heads=4, head_dim=128, tie_word_embeddings=False,
    )  # fmt: skip
    need = gpu_memory(config, lora_rank=16, sequences=8, context=4096, microbatch=1)
    assert need.weights == 2 * 7_615_487_488  # the model card's 7.61 B, biases left out
    assert need.kv_cache == 8 * 4096 * 2 * 28 * 4 * 128 * 2  # 1.75 GiB
    layer = 2 * (3584 + 3584) + 2 * (3584 + 512) + 3 * (3584 + 18_944)
    assert need.trained == 28 * 16 * layer * 16
    assert "total" in repr(need)
    whole = gpu_memory(config, lora_rank=None)
    assert whole.weights + whole.trained == 16 * 7_615_487_488
    four_bit = gpu_memory(config, dtype="nf4")
    assert four_bit.weights == 0.5625 * 7_615_487_488
    with pytest.raises(ValueError, match="expected one of"):
        gpu_memory(config, dtype="fp4")
    with pytest.raises(ValueError, match="config: expected a model's configuration, got 'folder'"):
        gpu_memory("folder")


@pytest.mark.slow
def test_a_short_run_takes_what_was_predicted(sandbox, tmp_path):
    """Counts alone: what a second is worth, the neighbours decide."""
    from workbench import load_tasks, open_policy, train
    from workbench.diagnostics import calibrate

    tasks, policy = load_tasks("bugfix", split="train", count=24), open_policy("tiny")
    config = TrainConfig(rl=RLConfig(iterations=2, tasks_per_iteration=8, group_size=4))
    before = policy.version
    calibration = calibrate(policy, tasks, sandbox, config=config, num_tasks=8)
    assert policy.version == before and calibration.num_rollouts == 32
    predicted = estimate_cost(calibration, config, "rl", num_tasks=len(tasks))
    run = train(policy, tasks, sandbox, "rl", config=config, folder=tmp_path / "run")
    run.wait()
    errors = predicted.against(run.metrics).errors
    assert errors["rollouts"] == 0.0
    assert abs(errors["tokens"]) < 0.25 and abs(errors["sampled_tokens"]) < 0.25
