"""The tiny policy's parts."""

import pytest
import torch
from transformers import AutoModelForCausalLM

from workbench.policies import build_model, build_tokenizer


def test_the_default_model_has_the_documented_number_of_parameters(tokenizer):
    """512 x 128 embeddings; a block has 4 x 128 x 128, 3 x 128 x 320 and two norms."""
    model = build_model(tokenizer)
    block = 4 * 128 * 128 + 3 * 128 * 320 + 2 * 128
    assert sum(p.numel() for p in model.parameters()) == len(tokenizer) * 128 + 4 * block + 128
    assert 512 * 128 + 4 * block + 128 == 820_352
    assert model.dtype == torch.float32


def test_the_same_seed_gives_the_same_weights_and_leaves_torchs_random_state_alone(tokenizer):
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first, again, other = (build_model(tokenizer, seed=s) for s in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.lm_head.weight, again.lm_head.weight)
    assert not torch.equal(first.lm_head.weight, other.lm_head.weight)


def test_a_saved_model_loads_with_transformers_alone(tokenizer, tmp_path):
    model = build_model(tokenizer, layers=1, positions=256)
    model.save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path)
    assert torch.equal(loaded.model.embed_tokens.weight, model.model.embed_tokens.weight)
    assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    assert (loaded.config.eos_token_id, loaded.config.max_position_embeddings) == (2, 256)


def test_a_vocabulary_too_small_for_the_bytes_is_refused():
    with pytest.raises(ValueError, match="expected at least 272, got 256"):
        build_tokenizer(["x"], vocab_size=256)
