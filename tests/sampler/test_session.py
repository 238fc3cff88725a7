"""Sessions give the numbers of the model they sample from, whatever happens around a row."""

import math
from dataclasses import replace

import pytest
import torch
from peft import LoraConfig, get_peft_model

from workbench.policies import CausalLMPolicy, build_model
from workbench.policies.wire import SPECIAL_TOKENS, prompt_ids
from workbench.records import SamplerSettings

SHORT = SamplerSettings(max_action_tokens=9, max_context=256)
GREEDY = replace(SHORT, temperature=0.0)


def play(session, num_turns=3, live=(0, 1, 2)):
    """Actions of a fixed conversation in which rows hear texts of different lengths."""
    actions = []
    for turn in range(num_turns):
        for i in live:
            session.observe(i, f"lib.py:{turn}: " + "x, " * (1 + 5 * i))
        actions.append(session.act(list(live)))
    return actions


def sequence(actions, row):
    """(ids, positions sampled, their log-probabilities) of one row; checks kept_prefix."""
    ids, sampled, logprobs = [], [], []
    for turn in actions:
        action = turn[row]
        assert action.kept_prefix == len(ids)
        ids += action.new_ids
        sampled += range(len(ids), len(ids) + len(action.ids))
        ids += action.ids
        logprobs += action.logprobs
    return ids, sampled, logprobs


@torch.no_grad()
def reference(model, ids, temperature=1.0):
    """Log-probabilities of every token given those before it, by the transformers model."""
    logits = model(torch.tensor([ids])).logits[0].float() / temperature
    logprobs = torch.log_softmax(logits, -1)
    return [0.0] + [logprobs[t - 1, ids[t]].item() for t in range(1, len(ids))]


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_logprobs_of_three_turns_agree_with_the_transformers_model(policy, temperature):
    settings = replace(SHORT, temperature=temperature)
    actions = play(policy.open(3, seed=1, sampler=settings))
    for row in range(3):
        ids, sampled, logprobs = sequence(actions, row)
        expected = reference(policy.model, ids, temperature)
        assert logprobs == pytest.approx([expected[t] for t in sampled], abs=1e-5)


def test_greedy_takes_the_likeliest_token_and_reports_its_logprob_at_temperature_one(policy):
    actions = play(policy.open(3, sampler=GREEDY))
    for row in range(3):
        ids, sampled, logprobs = sequence(actions, row)
        with torch.no_grad():
            best = policy.model(torch.tensor([ids])).logits[0].argmax(-1)
        assert [ids[t] for t in sampled] == [int(best[t - 1]) for t in sampled]
        expected = reference(policy.model, ids)
        assert logprobs == pytest.approx([expected[t] for t in sampled], abs=1e-5)


def test_the_same_seed_gives_the_same_actions_and_another_seed_others(tiny):
    first = play(tiny.open(3, seed=5, sampler=SHORT))
    assert play(tiny.open(3, seed=5, sampler=SHORT)) == first
    assert play(tiny.open(3, seed=6, sampler=SHORT)) != first


def test_opening_and_acting_leave_torchs_random_state_alone(tiny):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    play(tiny.open(3, seed=5, sampler=SHORT))
    assert torch.equal(torch.get_rng_state(), before)


def test_rows_may_rest_and_come_in_any_order(tiny):
    alone = play(tiny.open(3, sampler=GREEDY), live=[2])
    session = tiny.open(3, sampler=GREEDY)
    play(session, num_turns=1, live=[1])
    play(session, num_turns=2, live=[0])
    mixed = [[turn[0]] for turn in play(session, live=[2, 0])]
    assert [turn[0].ids for turn in mixed] == [turn[0].ids for turn in alone]


def test_a_fork_continues_as_if_its_prefix_had_been_played_again(policy):
    session = policy.open(3, sampler=GREEDY)
    played = play(session, num_turns=2)
    fork = session.take([1] * 4)
    for i in range(4):
        fork.observe(i, "what now")
    forked = fork.act(range(4))
    session.observe(1, "what now")
    direct = session.act([1])[0]
    assert all(action.ids == direct.ids for action in forked)
    ids, _, _ = sequence([*played, [None, direct]], 1)
    expected = reference(policy.model, ids)[-len(direct.ids) :]
    for action in forked:
        assert action.kept_prefix == direct.kept_prefix
        assert action.logprobs == pytest.approx(expected, abs=1e-5)


def test_rows_of_a_fork_draw_different_random_numbers_and_leave_the_parents_alone(tiny):
    undisturbed = play(tiny.open(3, seed=2, sampler=SHORT))
    session = tiny.open(3, seed=2, sampler=SHORT)
    first = play(session, num_turns=1)
    fork, again = session.take([0] * 8), session.take([0] * 8)
    for i in range(8):
        fork.observe(i, "x")
        again.observe(i, "x")
    sampled = {action.ids for action in fork.act(range(8))}
    assert len(sampled) == 8
    assert sampled.isdisjoint(action.ids for action in again.act(range(8)))
    assert first == undisturbed[:1]
    assert session.take([2, 1, 1])._rows == [session._rows[i] for i in (2, 1, 1)]


def test_copies_of_a_row_with_an_unread_prompt_share_its_reading(policy):
    """What is read ahead for all copies gives the numbers that each would have got alone."""
    session = policy.open(3, sampler=GREEDY)
    played = play(session, num_turns=2)
    session.observe(1, "what now, after a rather long observation")
    copies = session.take([1, 1, 1])
    assert [len(row.unread) for row in copies._rows] == [1, 1, 1]
    forked, direct = copies.act(range(3)), session.act([1])[0]
    ids, _, _ = sequence([*played, [None, direct]], 1)
    expected = reference(policy.model, ids)[-len(direct.ids) :]
    for action in (*forked, direct):
        assert (action.ids, action.new_ids) == (direct.ids, direct.new_ids)
        assert action.logprobs == pytest.approx(expected, abs=1e-5)


def test_recalled_actions_lead_to_where_sampled_ones_did(policy):
    session = policy.open(3, sampler=GREEDY)
    played = play(session, num_turns=3)
    again = policy.open(3, seed=9, sampler=GREEDY)
    for turn in range(2):
        for i in range(3):
            again.observe(i, f"lib.py:{turn}: " + "x, " * (1 + 5 * i))
        again.recall(range(3), played[turn])
    for i in range(3):
        again.observe(i, "lib.py:2: " + "x, " * (1 + 5 * i))
    third = again.act([2, 0, 1])
    for i, action in zip([2, 0, 1], third):
        assert action.ids == played[2][i].ids and action.kept_prefix == played[2][i].kept_prefix
        assert action.logprobs == pytest.approx(played[2][i].logprobs, abs=1e-5)


def test_an_action_of_another_place_cannot_be_recalled(tiny):
    first, second = play(tiny.open(3, sampler=GREEDY), num_turns=2)
    session = tiny.open(3, sampler=GREEDY)
    with pytest.raises(ValueError, match="row 0: expected an action sampled after 0 tokens"):
        session.recall([0], [first[0]])  # nothing was observed yet
    session.observe(0, "another observation")
    for action in (first[0], second[0]):
        with pytest.raises(ValueError, match="row 0: expected an action sampled after 0 tokens"):
            session.recall([0], [action])


def test_special_token_text_in_an_observation_never_becomes_a_special_id(tiny, tokenizer):
    session = tiny.open(1, sampler=SHORT)
    session.observe(0, "cat " + "".join(SPECIAL_TOKENS))
    (action,) = session.act([0])
    markers = tokenizer.convert_tokens_to_ids(["<|bos|>", "<|task|>", "<|end|>", "<|act|>"])
    assert [i for i in action.new_ids if i in tokenizer.all_special_ids] == markers
    assert tokenizer.decode(action.new_ids[2:-2]) == "cat " + "".join(SPECIAL_TOKENS)


def test_prompts_are_the_wire_formats(tiny, tokenizer):
    session = tiny.open(1, sampler=SHORT)
    session.observe(0, "fix f")
    assert list(session.act([0])[0].new_ids) == prompt_ids(tokenizer, "task", "fix f", first=True)
    session.observe(0, "ok 2 passed")
    assert list(session.act([0])[0].new_ids) == prompt_ids(tokenizer, "obs", "ok 2 passed")


def test_sampling_stops_at_the_end_token_the_action_limit_or_the_context(tiny):
    """An untrained model hardly ever ends a turn by itself; one that always does is made here."""
    prompt = len(prompt_ids(tiny.tokenizer, "task", "fix f", first=True))
    session = tiny.open(1, sampler=SHORT)
    session.observe(0, "fix f")
    assert (session.act([0])[0].finish, session._rows[0].length) == ("length", prompt + 9)

    session = tiny.open(1, sampler=replace(SHORT, max_context=prompt + 4))
    session.observe(0, "fix f")
    (action,) = session.act([0])
    assert (len(action.ids), action.finish) == (4, "context")
    session.observe(0, "more")
    (action,) = session.act([0])
    assert (action.ids, action.new_ids, action.finish) == ((), (), "context")

    model = build_model(tiny.tokenizer)
    ender = CausalLMPolicy(_always_says(model, tiny.tokenizer.eos_token_id), tiny.tokenizer)
    session = ender.open(1, sampler=GREEDY)
    session.observe(0, "fix f")
    (action,) = session.act([0])
    assert (action.ids, action.text, action.finish) == ((2,), "", "end_of_turn")


def _always_says(model, token):
    """Zero every block and point all embeddings' read-out at one token."""
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        model.model.norm.weight.fill_(1.0)
        model.model.embed_tokens.weight.abs_()
        model.model.embed_tokens.weight[token] = 10.0
    return model


def test_observing_twice_or_acting_unasked_is_an_error(tiny):
    session = tiny.open(2, sampler=SHORT)
    with pytest.raises(ValueError, match="row 1: expected observe"):
        session.act([1])
    session.observe(0, "fix f")
    with pytest.raises(ValueError, match="row 0: expected act"):
        session.observe(0, "fix f")
    with pytest.raises(ValueError, match="at most once"):
        session.act([0, 0])


def test_a_session_opened_after_an_update_has_the_new_weights_and_an_open_one_keeps_its_own(tiny):
    before, old = tiny.version, tiny.open(3, sampler=GREEDY)
    expected = play(tiny.open(3, sampler=GREEDY))
    optimiser = torch.optim.AdamW(tiny.model.parameters(), lr=0.05)
    tiny.model(torch.tensor([[1, 3, 20, 30]])).logits[..., 40].sum().backward()
    optimiser.step()
    assert tiny.version != before
    assert play(old) == expected
    actions = play(tiny.open(3, sampler=GREEDY))
    ids, sampled, logprobs = sequence(actions, 0)
    reread = reference(tiny.model, ids)
    assert logprobs == pytest.approx([reread[t] for t in sampled], abs=1e-5)
    assert actions != expected


def test_lora_adapters_count_and_can_be_switched_off(policy):
    plain = play(policy.open(3, sampler=GREEDY))
    config = LoraConfig(r=4, lora_alpha=16, target_modules="all-linear")
    adapted = CausalLMPolicy(get_peft_model(policy.model, config), policy.tokenizer)
    assert play(adapted.open(3, sampler=GREEDY)) == plain  # B starts at zero
    with torch.no_grad():
        for name, parameter in adapted.model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.1, generator=torch.Generator().manual_seed(0))
    actions = play(adapted.open(3, sampler=GREEDY))
    for row in range(3):
        ids, sampled, logprobs = sequence(actions, row)
        expected = reference(adapted.model, ids)
        assert logprobs == pytest.approx([expected[t] for t in sampled], abs=1e-5)
    assert actions != plain
    with adapted.model.disable_adapter():
        assert play(adapted.open(3, sampler=GREEDY)) == plain


def test_every_logprob_is_a_finite_number_at_most_zero(tiny):
    for turn in play(tiny.open(3, sampler=SHORT)):
        assert all(math.isfinite(lp) and lp <= 0 for action in turn for lp in action.logprobs)


def test_half_precision_weights_are_sampled_with_logprobs_near_the_models(policy):
    half = CausalLMPolicy(policy.model.to(torch.bfloat16), policy.tokenizer)
    actions = play(half.open(3, sampler=SHORT))
    ids, sampled, logprobs = sequence(actions, 1)
    expected = reference(half.model, ids)
    assert logprobs == pytest.approx([expected[t] for t in sampled], abs=0.2)
