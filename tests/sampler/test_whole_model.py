"""Any model's own forward pass says what the fast sampler says, and keeps the same promises."""

from dataclasses import replace

import pytest
import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, GPT2Config, GPT2LMHeadModel

from workbench.records import SamplerSettings
from workbench.sampler import CausalLMSession, WholeModelSession, extract_weights

SETTINGS = SamplerSettings(max_action_tokens=6, max_context=80)
HEARD = ["fix f", "lib.py:1: def f(xs):", "FAIL f([3, -3]) got 2"]


def whole(policy, n, seed=3, sampler=SETTINGS):
    return WholeModelSession(policy.model, policy._codec, n, seed=seed, sampler=sampler)


def fast(policy, n, seed=3, sampler=SETTINGS):
    weights = extract_weights(policy.model, sampler.max_context)
    return CausalLMSession(weights, policy._codec, n, seed=seed, sampler=sampler)


def played(session, rows=3, turns=3):
    """Actions of every row; row i first hears the i-th text."""
    actions = []
    for k in range(turns):
        for i in range(rows):
            session.observe(i, HEARD[(i + k) % 3])
        actions.append(session.act(list(range(rows))))
    return actions


def alike(some, others):
    for one, other in zip(sum(some, []), sum(others, []), strict=True):
        assert replace(one, logprobs=()) == replace(other, logprobs=())
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_it_samples_what_the_fast_sampler_samples(policy, temperature):
    sampler = replace(SETTINGS, temperature=temperature)
    alike(played(whole(policy, 3, sampler=sampler)), played(fast(policy, 3, sampler=sampler)))


@pytest.mark.parametrize("make", [whole, fast])
def test_a_rewound_row_goes_on_as_if_the_rest_had_never_been(tiny, make):
    sampler = replace(SETTINGS, temperature=0.0)
    long, short = make(tiny, 2, sampler=sampler), make(tiny, 2, sampler=sampler)
    for session in (long, short):
        played(session, rows=2, turns=1)
    long.observe(0, HEARD[1])
    long.act([0])
    kept = len(tiny._codec.encode(HEARD[0], True)) + 2  # two sampled tokens stay
    for session in (long, short):
        session.rewind(0, kept)
        session.observe(0, HEARD[2])
        session.observe(1, HEARD[1])
    said = long.act([1, 0])
    alike([said], [short.act([1, 0])])
    assert said[1].kept_prefix == kept
    with pytest.raises(ValueError, match="expected a length up to"):
        long.rewind(0, 10_000)


def test_a_model_of_another_architecture_samples(tokenizer, tiny):
    config = GPT2Config(n_layer=1, n_embd=32, n_head=2, vocab_size=len(tokenizer), n_positions=128)
    model = GPT2LMHeadModel(config).eval()
    session = WholeModelSession(model, tiny._codec, 2, sampler=SETTINGS)
    for actions in played(session, rows=2, turns=2):
        for action in actions:
            assert action.ids and len(action.ids) <= 6
    ids = torch.tensor([session._rows[0].ids])
    count = len(actions[0].ids)
    with torch.no_grad():
        logprobs = model(ids).logits[0, :-1].log_softmax(-1)
    expected = logprobs.gather(-1, ids[0, 1:, None])[-count:, 0].tolist()
    assert actions[0].logprobs == pytest.approx(expected, abs=1e-4)


def test_a_sliding_window_and_logits_of_the_newest_token_alone(tokenizer, tiny):
    config = Gemma3TextConfig(
        **dict(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, head_dim=16),
        **dict(num_hidden_layers=6, num_attention_heads=2, num_key_value_heads=1),
        **dict(sliding_window=8, max_position_embeddings=128, pad_token_id=0),
    )
    torch.manual_seed(0)
    model = Gemma3ForCausalLM(config).eval()
    assert set(config.layer_types) == {"sliding_attention", "full_attention"}
    widths = []
    model.register_forward_hook(lambda _, __, output: widths.append(output.logits.shape[1]))
    session = WholeModelSession(model, tiny._codec, 2, sampler=SETTINGS)
    *_, last = played(session, rows=2, turns=2)
    assert set(widths) == {1}
    for row, action in zip(session._rows, last):
        ids, count = torch.tensor([row.ids]), len(action.ids)
        assert ids.shape[1] > 2 * config.sliding_window
        with torch.no_grad():
            logprobs = model(ids).logits[0, :-1].log_softmax(-1)
        expected = logprobs.gather(-1, ids[0, 1:, None])[-count:, 0].tolist()
        assert action.logprobs == pytest.approx(expected, abs=1e-4)


def test_copies_recall_and_the_end_of_the_context(tiny):
    session, other = whole(tiny, 1), whole(tiny, 1, seed=9)
    (first,) = played(session, rows=1, turns=1)
    other.observe(0, HEARD[0])
    other.recall([0], first)
    copies = other.take([0, 0])
    for i in (0, 1):
        copies.observe(i, HEARD[1])
    actions = copies.act([0, 1])
    assert actions[0].new_ids == actions[1].new_ids and actions[0].ids != actions[1].ids
    assert actions[0].kept_prefix == len(first[0].new_ids) + len(first[0].ids)
    with pytest.raises(ValueError, match="row 0: expected an action sampled after"):
        copies.recall([0], first)
    full = whole(tiny, 1, sampler=replace(SETTINGS, max_context=4))
    full.observe(0, HEARD[1])
    assert full.act([0])[0].finish == "context"
    with pytest.raises(ValueError, match="rows to act on"):
        full.act([0])
