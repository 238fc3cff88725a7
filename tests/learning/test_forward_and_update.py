"""The forward pass, its gradient, and one update."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from workbench.episodes import rollout_many
from workbench.learning.batch import Batch, pack
from workbench.learning.config import RLConfig
from workbench.learning.forward import plain_attention, policy_logprobs
from workbench.learning.journal import StopRequested
from workbench.learning.loop import token_loss
from workbench.learning.losses import (
    clipped_ratio_loss,
    reinforce_loss,
    sequence_mean_weights,
    sequence_ratio_loss,
    token_mean_weights,
)
from workbench.learning.optimiser import make_optimiser, set_learning_rate
from workbench.learning.update import update


def random_batch(batch_size=5, length=40, seed=0):
    """A batch with prompt and sampled stretches and made-up advantages."""
    random = torch.Generator().manual_seed(seed)
    ids = torch.randint(7, 300, (batch_size, length), generator=random)
    lengths = torch.randint(20, length + 1, (batch_size, 1), generator=random)
    attention_mask = torch.arange(length) < lengths
    loss_mask = (torch.rand(batch_size, length, generator=random) < 0.3) & attention_mask
    loss_mask[:, 0] = False
    loss_mask[:, 5] = True
    old = -6 * torch.rand(batch_size, length, generator=random) * loss_mask
    advantages = torch.randn(batch_size, 1, generator=random).expand(-1, length) * loss_mask
    return Batch(ids, attention_mask, loss_mask, old, advantages)


SETTINGS = dict(grad_clip=1e9, dtype="float32", tokens_per_microbatch=10_000)


def gradient(policy, batch, weights=token_mean_weights, rl=RLConfig(), **settings):
    """Gradient of one update, and its statistics; the weights do not move."""
    optimiser = torch.optim.SGD(policy.model.parameters(), lr=0.0)
    stats = update(
        *(policy.model, optimiser, batch, token_loss(rl), weights), **(SETTINGS | settings)
    )
    return torch.cat([p.grad.flatten() for p in policy.model.parameters()]), stats


def test_logprobs_equal_those_of_the_whole_model_without_any_shortcut(make_policy):
    policy, batch = make_policy(), random_batch()
    logprobs, entropies = policy_logprobs(policy.model, batch)
    for b in range(len(batch)):
        ids = batch.ids[b, : int(batch.lengths[b])]
        logits = policy.model(ids[None]).logits[0].detach()
        all_logprobs = torch.log_softmax(logits, -1)
        for t in batch.loss_mask[b].nonzero()[:, 0].tolist():
            assert logprobs[b, t].item() == pytest.approx(
                all_logprobs[t - 1, ids[t]].item(), abs=2e-5
            )
            p = all_logprobs[t - 1].exp()
            assert entropies[b, t].item() == pytest.approx(-(p * p.log()).sum().item(), abs=2e-5)
    assert logprobs[~batch.loss_mask].abs().sum() == 0


def test_plain_attention_computes_the_same_and_is_put_back(make_policy):
    policy, batch = make_policy(), random_batch()
    before = policy.model.config._attn_implementation
    expected, _ = policy_logprobs(policy.model, batch)
    with plain_attention(policy.model):
        assert policy.model.config._attn_implementation == "eager"
        got, _ = policy_logprobs(policy.model, batch)
    assert torch.allclose(got, expected, atol=1e-5)
    assert policy.model.config._attn_implementation == before


def test_gradient_agrees_with_finite_differences(make_policy):
    policy, batch = make_policy(hidden=16, layers=1), random_batch()
    policy.model.double()
    batch = Batch(
        batch.ids,
        batch.attention_mask,
        batch.loss_mask,
        *(x.double() for x in (batch.old_logprobs, batch.advantages)),
    )
    weights = token_mean_weights(batch.loss_mask)

    def loss():
        logprobs, _ = policy_logprobs(policy.model, batch)
        return (weights * token_loss(RLConfig())(logprobs, batch)).sum()

    parameters = list(policy.model.parameters())
    rng = torch.Generator().manual_seed(0)
    direction = [torch.randn(p.shape, dtype=p.dtype, generator=rng) for p in parameters]
    slope = sum((g * d).sum() for g, d in zip(torch.autograd.grad(loss(), parameters), direction))

    def moved(by):
        with torch.no_grad():
            for p, d in zip(parameters, direction):
                p.add_(d, alpha=by)
            value = loss().item()
            for p, d in zip(parameters, direction):
                p.add_(d, alpha=-by)
        return value

    step = 1e-5  # so small that no token's ratio crosses the edge of the clip range
    assert (moved(step) - moved(-step)) / (2 * step) == pytest.approx(slope.item(), rel=1e-3)


@pytest.mark.parametrize("weights", [token_mean_weights, sequence_mean_weights])
def test_working_through_small_pieces_gives_the_gradient_of_the_whole(make_policy, weights):
    batch = random_batch()
    whole, stats = gradient(make_policy(), batch, weights)
    pieces, piece_stats = gradient(make_policy(), batch, weights, tokens_per_microbatch=64)
    assert torch.allclose(pieces, whole, atol=1e-6)
    assert piece_stats.loss == pytest.approx(stats.loss, abs=1e-6)
    assert piece_stats.entropy == pytest.approx(stats.entropy, abs=1e-5)
    assert piece_stats.num_tokens == stats.num_tokens == int(batch.loss_mask.sum())


@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_threads_change_no_bit_of_the_gradient(make_policy, dtype):
    settings = dict(tokens_per_microbatch=64, dtype=dtype)
    batch = random_batch(batch_size=24)
    alone, stats = gradient(make_policy(), batch, **settings)
    for _ in range(3):
        shared, shared_stats = gradient(make_policy(), batch, **settings, threads=3)
        assert torch.equal(shared, alone) and shared_stats == stats


def test_prompt_tokens_and_padding_get_no_say_in_the_gradient(make_policy):
    batch = random_batch()
    outside = ~batch.attention_mask
    changed = Batch(
        torch.where(outside, 99, batch.ids),
        batch.attention_mask,
        batch.loss_mask,
        torch.where(batch.loss_mask, batch.old_logprobs, -3.0),
        torch.where(batch.loss_mask, batch.advantages, 7.0),
    )
    assert torch.allclose(
        gradient(make_policy(), batch)[0], gradient(make_policy(), changed)[0], atol=1e-6
    )


def test_right_after_sampling_the_ratio_is_one(make_policy, tasks, sandbox):
    policy = make_policy()
    groups = rollout_many(policy, tasks[:2], sandbox, 3, seed=1, max_turns=2)
    batch = pack(groups, [[1.0, 0.5, -1.0]] * 2)
    _, stats = gradient(policy, batch)
    assert stats.ratio_gap_max < 1e-5
    assert stats.clip_fraction == 0
    _, rough = gradient(policy, batch, dtype="bfloat16")
    assert 1e-5 < rough.ratio_gap_max < 0.1  # the gap of bfloat16 is seen, and small


@pytest.mark.parametrize("loss", [clipped_ratio_loss, sequence_ratio_loss, reinforce_loss])
@pytest.mark.parametrize("size", [10_000, 50])
def test_a_token_is_counted_as_clipped_by_what_its_own_loss_does(make_policy, loss, size):
    policy, batch = make_policy(), random_batch()
    new = policy_logprobs(policy.model, batch)[0].detach()
    gaps = np.linspace(-0.8, 0.8, batch.loss_mask.sum())
    old = new.clone()
    old[batch.loss_mask] -= torch.tensor(gaps, dtype=torch.float32)  # ratios from 0.45 to 2.2
    batch = replace(batch, old_logprobs=old)
    ratios, advantages, clipped = np.exp(gaps), batch.advantages.numpy(), 0
    mask, start = batch.loss_mask.numpy(), 0
    for row, up in zip(mask, advantages):
        own = ratios[start : start + row.sum()]
        start += row.sum()
        if loss is sequence_ratio_loss:  # one ratio for all
            own = np.full(len(own), np.exp(np.log(own).mean()))
        over = own > 1.28 if up[row][0] > 0 else own < 0.8
        clipped += 0 if loss is reinforce_loss else over.sum()
    _, stats = gradient(policy, batch, rl=RLConfig(loss=loss), tokens_per_microbatch=size)
    assert stats.clip_fraction == pytest.approx(clipped / mask.sum())
    assert (clipped > 0) == (loss is not reinforce_loss)


def test_an_attempt_pulls_its_tokens_up_or_down_with_its_advantage(make_policy):
    for sign in (1.0, -1.0):
        policy, batch = make_policy(), random_batch()
        old = policy_logprobs(policy.model, batch)[0].detach()
        batch = Batch(
            batch.ids,
            batch.attention_mask,
            batch.loss_mask,
            old,
            sign * batch.loss_mask.float(),
        )
        optimiser = torch.optim.SGD(policy.model.parameters(), lr=0.5)
        update(
            policy.model, optimiser, batch, token_loss(RLConfig()), token_mean_weights, **SETTINGS
        )
        new = policy_logprobs(policy.model, batch)[0].detach()
        assert math.copysign(1, (new - old).sum()) == sign


def test_a_stop_between_pieces_leaves_the_weights_alone(make_policy):
    policy, batch, calls = make_policy(), random_batch(), []

    def check_stop():
        calls.append(1)
        if len(calls) == 3:
            raise StopRequested

    before = policy.version
    optimiser = torch.optim.SGD(policy.model.parameters(), lr=1.0)
    with pytest.raises(StopRequested):
        update(
            policy.model,
            optimiser,
            batch,
            token_loss(RLConfig()),
            token_mean_weights,
            **(SETTINGS | dict(tokens_per_microbatch=64)),
            check_stop=check_stop,
        )
    assert policy.version == before


def endless(logprobs, batch):
    """A loss with a mistake in it."""
    return logprobs * np.inf


def test_a_gradient_that_is_not_finite_stops_the_run_instead_of_spoiling_the_weights(make_policy):
    policy, batch = make_policy(), random_batch()
    before = policy.version
    optimiser = torch.optim.SGD(policy.model.parameters(), lr=1.0)
    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        update(policy.model, optimiser, batch, endless, token_mean_weights, **SETTINGS)
    assert policy.version == before


def test_learning_rate_falls_in_a_straight_line(make_policy):
    config = RLConfig(lr=1e-3, lr_final_fraction=0.1)
    optimiser = make_optimiser(make_policy().model, config)
    rates = [set_learning_rate(optimiser, config, done) for done in (0.0, 0.5, 1.0)]
    assert rates == pytest.approx([1e-3, 5.5e-4, 1e-4])
    assert optimiser.param_groups[0]["lr"] == pytest.approx(1e-4)
