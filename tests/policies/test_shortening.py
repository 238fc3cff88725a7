"""Old observations make room: what is read again, what is learned, and only when it must be."""

from dataclasses import replace

import pytest

from workbench.learning.batch import pack
from workbench.learning.forward import policy_logprobs
from workbench.policies import CausalLMPolicy, build_model
from workbench.policies.shortening import NOTE
from workbench.records import Evidence, Group, SamplerSettings, Trajectory, Turn, Verdict

LONG = "lib.py:1: def f(xs): " * 8
SETTINGS = SamplerSettings(max_action_tokens=8, max_context=700)


@pytest.fixture
def policy(tokenizer):
    model = build_model(tokenizer, hidden=32, layers=2, heads=2)
    return CausalLMPolicy(model, tokenizer, shorten=True)


def episode(session, texts, i=0):
    """The actions after each text."""
    actions = []
    for text in texts:
        session.observe(i, text)
        actions += session.act([i])
    return actions


def sequences(actions):
    """All that the policy had before it at each action: kept prefix, new ids."""
    whole, before = [], []
    for action in actions:
        before = whole[: action.kept_prefix] + list(action.new_ids)
        whole = before + list(action.ids)
        yield before


def test_while_there_is_room_nothing_is_changed(policy, tokenizer):
    plain = CausalLMPolicy(policy.model, tokenizer)
    texts = ["fix f", LONG, "ok 2 passed"]
    assert episode(policy.open(1, seed=2, sampler=SETTINGS), texts) == episode(
        plain.open(1, seed=2, sampler=SETTINGS), texts
    )


def test_old_observations_become_notes_and_the_rest_stays(policy):
    texts = ["fix f", *[LONG] * 9]
    actions = episode(policy.open(1, sampler=SETTINGS), texts)
    assert all(action.finish != "context" for action in actions)
    lengths = [len(before) for before in sequences(actions)]
    assert max(lengths) <= SETTINGS.max_context - SETTINGS.max_action_tokens
    cut = [k for k, action in enumerate(actions) if k and action.kept_prefix < lengths[k - 1]]
    assert cut  # it did happen
    k = cut[0]
    before = list(sequences(actions))[k]
    text = policy.tokenizer.decode(before)
    assert text.startswith("<|bos|><|task|>fix f<|end|><|act|>")
    assert NOTE.format(len(LONG)) in text and LONG in text  # the newest is whole
    for action in actions[:k]:  # everything the policy said is still there, as it was sampled
        said = list(action.ids)
        assert any(before[j : j + len(said)] == said for j in range(len(before)))


def test_each_sampled_token_is_learned_once_in_the_context_it_was_sampled_in(policy):
    actions = episode(policy.open(1, seed=1, sampler=SETTINGS), ["fix f", *[LONG] * 9])
    turns = tuple(Turn(action, None, None, "", "") for action in actions)
    trajectory = Trajectory(
        *("t", 0, SETTINGS, turns, {}, Verdict("call", "ok", ()), Evidence(), "max_turns")
    )
    batch = pack([Group("t", "", (trajectory,))], [[1.0]])
    assert len(batch) > 1
    assert batch.num_policy_tokens == sum(len(action.ids) for action in actions)
    logprobs, _ = policy_logprobs(policy.model, batch)
    assert (logprobs.detach() - batch.old_logprobs).abs().max() < 1e-4


def test_copies_and_recalled_turns_shorten_alike(policy):
    texts = ["fix f", *[LONG] * 5]
    actions = episode(policy.open(1, seed=1, sampler=SETTINGS), texts)
    other = policy.open(1, seed=9, sampler=SETTINGS)
    for text, action in zip(texts, actions):
        other.observe(0, text)
        other.recall([0], [action])
    greedy = other.take([0, 0])
    greedy.observe(0, LONG), greedy.observe(1, LONG)
    first, second = greedy.act([0, 1])
    assert (first.kept_prefix, first.new_ids) == (second.kept_prefix, second.new_ids)


def test_what_cannot_be_made_to_fit_ends_the_episode(policy):
    small = replace(SETTINGS, max_context=60)
    session = policy.open(1, sampler=small)
    assert episode(session, ["fix f", LONG * 9])[-1].finish == "context"
