"""Our loss and TRL's on the same batch: two independent implementations of the same formulas."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from workbench.credit import gigpo, return_to_go
from workbench.policies import open_policy
from workbench.trl_bridge import conformance
from workbench.trl_bridge.side_by_side import one_update_each

pytestmark = pytest.mark.slow
METHODS = ("GRPO", "DAPO", "Dr. GRPO")
CLOSE = dict(abs=2e-7, rel=2e-5)
"""Of losses near 0.01, in float32."""


def method(name):
    from workbench.trl_bridge import METHODS

    return METHODS[name]


def assert_equal(found):
    assert found.theirs == pytest.approx(found.ours, **CLOSE)
    assert found.advantage_gap < 2e-6
    assert found.gradient_gap < 2e-5
    assert abs(found.ours) > 1e-4 and found.clip_fraction > 0.01  # there was something to compare


@pytest.mark.parametrize("name", METHODS)
def test_advantages_loss_and_lora_gradients_are_trl_s(name, folder, groups, rewards):
    assert_equal(conformance(folder, groups, rewards, method(name)))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("scheme", [gigpo, return_to_go])
def test_with_an_advantage_a_turn_trl_s_loss_is_ours(name, scheme, folder, groups, rewards):
    def several(group, rewards, **options):  # turns differ under every scheme
        credit = scheme(group, rewards, **options)
        return [numbers + 0.1 * np.arange(len(numbers)) for numbers in credit]

    rl = replace(method(name), credit=several)
    assert_equal(conformance(folder, groups, rewards, rl, per_turn=True))


def test_an_update_of_ours_and_one_of_trl_s_move_the_weights_alike(folder, groups, rewards):
    """What benchmarks/conformance.py times. Adam moves a weight by the rate whatever the size of
    its gradient, so that weights with hardly any differ."""
    start = dict(open_policy(folder).model.named_parameters())
    sides = one_update_each(folder, groups, rewards, method("DAPO"))
    moves = []
    for side in sides:
        side.update()
        moved = [(p - start[n]).flatten() for n, p in side.model.named_parameters()]
        moves.append(torch.cat(moved).detach())
    assert all(float(move.abs().max()) == pytest.approx(3e-4, rel=0.05) for move in moves)
    assert float(torch.cosine_similarity(*moves, dim=0)) > 0.99


def test_a_turn_without_gradient_is_in_no_mean_of_either(folder, groups, rewards):
    def without_first_turns(group, rewards, **options):
        credit = gigpo(group, rewards, **options)
        return [np.where(np.arange(len(c)) > 0, c, np.nan) if len(c) > 1 else c for c in credit]

    rl = replace(method("DAPO"), credit=without_first_turns)
    assert_equal(conformance(folder, groups, rewards, rl, per_turn=True))


@pytest.mark.parametrize(
    "changes",
    [
        *(dict(loss_type=t) for t in ("grpo", "dapo", "dr_grpo", "bnpo", "cispo", "sapo", "vespo")),
        dict(loss_type="luspo", importance_sampling_level="sequence"),
        dict(loss_type="grpo", importance_sampling_level="sequence"),
        dict(loss_type="dapo", delta=1.5),
        dict(loss_type="dapo", beta=0.04),
        dict(loss_type="dapo", off_policy_mask_threshold=0.05),
    ],
    ids=lambda changes: "-".join(map(str, changes.values())),
)
def test_equal_turns_give_trl_s_own_loss_and_gradients(changes, folder, groups, rewards):
    from workbench.trl_bridge import GRPO
    from workbench.trl_bridge.side_by_side import MOVED, replaying_trainer, trl_outcome

    plain, turns = (
        trl_outcome(replaying_trainer(folder, groups, rewards, GRPO, per_turn, MOVED, **changes))
        for per_turn in (False, True)
    )
    assert turns.loss == pytest.approx(plain.loss, rel=1e-5, abs=1e-7)
    for name, gradient in plain.gradients.items():
        rounding = 1e-5 * float(gradient.abs().max())
        assert torch.allclose(turns.gradients[name], gradient, rtol=0.0, atol=rounding), name
    assert sum(float(g.abs().sum()) for g in plain.gradients.values()) > 0


def test_trl_divides_a_minibatch_of_dapo_by_the_mean_number_of_tokens(folder, groups, rewards):
    """Ours by the minibatch's own: with tokens 10 and 30, TRL's two losses are sums over 20."""
    from workbench.trl_bridge import DAPO
    from workbench.trl_bridge.side_by_side import MOVED, replaying_trainer, trl_outcome

    whole = trl_outcome(replaying_trainer(folder, groups, rewards, DAPO, True, MOVED, beta=0.0))
    split = replaying_trainer(
        *(folder, groups, rewards, DAPO, True, MOVED),
        learning_rate=0.0,
        lr_scheduler_type="constant",
        lr_scheduler_kwargs={},
        per_device_train_batch_size=6,
        steps_per_generation=2,
        max_steps=2,
    )
    split.train()  # at ratio 1, as TRL recomputes the old logprobs itself
    losses = [row["loss"] for row in split.state.log_history if "loss" in row]
    assert len(losses) == 2 and losses[0] != losses[1]
    tokens = sum(t.num_action_tokens for g in groups for t in g.trajectories)
    advantages = whole.advantages
    assert len(advantages) == tokens
    at_ratio_one = -float(advantages.sum()) / tokens
    assert np.mean(losses) == pytest.approx(at_ratio_one, abs=1e-5)


def test_the_updates_that_are_timed_take_turns():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "conformance.py"
    spec = importlib.util.spec_from_file_location("conformance_benchmark", path)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    order = []
    sides = [SimpleNamespace(update=lambda name=name: order.append(name)) for name in "ab"]
    assert benchmark.update_ms(sides, rounds=2).shape == (2,)
    assert order == list("ababab")  # the first round warms up
