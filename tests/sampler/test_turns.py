"""Choosing tokens: hand-made distributions, and frequencies against the exact ones."""

import pytest
import torch

from workbench.sampler import choose_tokens

HALF_QUARTERS = torch.log(torch.tensor([[0.5, 0.25, 0.0, 0.25]]))


@pytest.mark.parametrize(
    ("uniform", "token"), [(0.0, 0), (0.49, 0), (0.51, 1), (0.74, 1), (0.76, 3), (0.9999999, 3)]
)
def test_a_uniform_number_picks_the_slice_it_falls_into(uniform, token):
    ids, logprobs = choose_tokens(HALF_QUARTERS, torch.tensor([uniform]), 1.0)
    assert ids.tolist() == [token]
    assert logprobs.item() == pytest.approx(HALF_QUARTERS[0, token].item())


def test_a_temperature_of_one_half_squares_the_probabilities():
    """0.5, 0.25, 0.25 squared and normalised are 4/6, 1/6, 1/6."""
    ids, logprobs = choose_tokens(HALF_QUARTERS, torch.tensor([0.70]), 0.5)
    assert ids.tolist() == [1]
    assert logprobs.exp().item() == pytest.approx(1 / 6)


def test_temperature_zero_takes_the_likeliest_token_whatever_the_random_number():
    ids, logprobs = choose_tokens(HALF_QUARTERS, torch.tensor([0.99]), 0.0)
    assert ids.tolist() == [0]
    assert logprobs.exp().item() == pytest.approx(0.5)


def test_frequencies_match_the_distribution():
    logits = torch.randn(1, 6, generator=torch.Generator().manual_seed(0))
    uniforms = torch.rand(60_000, generator=torch.Generator().manual_seed(1))
    ids, _ = choose_tokens(logits.expand(60_000, -1), uniforms, 1.0)
    frequencies = torch.bincount(ids, minlength=6) / 60_000
    # five standard errors of a share p are at most 5 * sqrt(0.25 / 60000) = 0.0102
    assert torch.allclose(frequencies, logits.softmax(-1)[0], atol=0.0102)
