"""Our settings in TRL's words."""

from dataclasses import replace
from functools import partial

import pytest

from workbench.learning import (
    RLConfig,
    constant_length_weights,
    reinforce_loss,
    sequence_ratio_loss,
)

pytestmark = pytest.mark.slow


def config(rl, folder, **changes):
    from workbench.trl_bridge import grpo_config

    return grpo_config(folder, rl, **changes)


def test_the_default_run_of_ours_in_trl_s_words(tmp_path):
    args = config(RLConfig(), tmp_path)
    assert (args.loss_type, args.scale_rewards, args.beta) == ("dapo", "group", 0.0)
    assert (args.epsilon, args.epsilon_high, args.temperature) == (0.2, 0.28, 1.0)
    assert (args.num_generations, args.generation_batch_size) == (8, 128)
    assert (args.per_device_train_batch_size, args.steps_per_generation) == (32, 4)
    assert (args.max_steps, args.gradient_accumulation_steps) == (320, 1)
    assert args.learning_rate == 1e-3 and (args.adam_beta1, args.adam_beta2) == (0.9, 0.95)
    assert args.max_grad_norm == 1.0 and args.top_k == 0 and args.top_p == 1.0


def test_the_learning_rate_falls_in_a_straight_line_to_a_tenth(tmp_path):
    import torch
    from transformers import get_scheduler

    args = config(RLConfig(iterations=10, updates_per_iteration=1), tmp_path, lora=False)
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=args.learning_rate)
    schedule = get_scheduler(
        *(args.lr_scheduler_type, optimiser),
        num_warmup_steps=args.get_warmup_steps(args.max_steps),
        num_training_steps=args.max_steps,
        scheduler_specific_kwargs=args.lr_scheduler_kwargs,
    )
    rates = []
    for _ in range(11):
        rates.append(schedule.get_last_lr()[0])
        optimiser.step()
        schedule.step()
    expected = [3e-4 * (1 - 0.9 * done / 10) for done in range(11)]
    assert rates == pytest.approx(expected)


def test_a_rate_that_does_not_fall_is_constant_in_trl_s_words_too(tmp_path):
    from workbench.trl_bridge import sft_config

    for args in (config(RLConfig(lr_final_fraction=1.0), tmp_path), sft_config(tmp_path)):
        assert (args.lr_scheduler_type, args.lr_scheduler_kwargs) == ("constant", {})


def test_methods_have_their_loss_types(tmp_path):
    from workbench.trl_bridge import DAPO, DR_GRPO, GRPO

    grpo, dapo, dr = (config(rl, tmp_path) for rl in (GRPO, DAPO, DR_GRPO))
    assert (grpo.loss_type, grpo.epsilon_high) == ("grpo", 0.2)
    assert (dapo.loss_type, dapo.epsilon_high) == ("dapo", 0.28)
    assert (dr.loss_type, dr.scale_rewards, dr.max_completion_length) == ("dr_grpo", "none", 256)
    longer = replace(DR_GRPO, token_weights=partial(constant_length_weights, length=1000))
    assert config(longer, tmp_path).max_completion_length == 1000
    gspo = replace(GRPO, loss=sequence_ratio_loss)
    assert config(gspo, tmp_path).importance_sampling_level == "sequence"


def test_what_trl_has_no_word_for_is_refused(tmp_path):
    for rl, message in (
        (RLConfig(advantage_ddof=0), "sample standard deviation only"),
        (RLConfig(loss=reinforce_loss), "TRL has a word for clipped_ratio_loss"),
        (RLConfig(token_weights=lambda mask: mask), "TRL has a word for sequence_mean_weights"),
        (RLConfig(tasks_per_iteration=3, updates_per_iteration=5), "a divisor of 24 rollouts"),
    ):
        with pytest.raises(ValueError, match=message):
            config(rl, tmp_path)


def test_changes_win(tmp_path):
    args = config(RLConfig(), tmp_path, learning_rate=1e-4, seed=7)
    assert args.learning_rate == 1e-4 and args.seed == 7
