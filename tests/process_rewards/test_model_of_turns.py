"""A model of turns reads where it says, learns what it is told, and is the same again from disk."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from workbench.policies import CausalLMPolicy
from workbench.process_rewards import FitConfig, TurnModel, fit
from workbench.process_rewards.places import batches, place, rows_of
from workbench.records import Action
from workbench.records.groups import GUESSED

QUICK = FitConfig(epochs=8, batch_size=4, lr=1e-2)


def alternating(by_hand, n=8):
    """Attempts of four turns, each saying a good or a bad word, in every pattern."""
    words = [[by_hand.good if i >> k & 1 else by_hand.bad for k in range(4)] for i in range(16)]
    return [by_hand.group(*[by_hand.attempt(w) for w in words[:n]])]


def said_good(groups, good):
    """Labels: 1 at the turns that say the good word."""
    return [
        [np.array([float(turn.action.ids[0] == good) for turn in t.turns]) for t in g.trajectories]
        for g in groups
    ]


def test_places_are_the_token_before_a_turn_or_its_last_one(by_hand):
    attempt = by_hand.attempt([by_hand.good, by_hand.bad])  # 5 302 | 300 2 | 5 302 | 301 2
    (before,), (end,) = rows_of(attempt, "before"), rows_of(attempt, "end")
    assert before.ids == end.ids == (5, 302, 300, 2, 5, 302, 301, 2)
    assert before.places == (1, 5) and end.places == (3, 7) and end.turns == (0, 1)


def test_a_turn_that_keeps_less_of_the_prompt_begins_a_row(by_hand):
    attempt = by_hand.attempt([by_hand.good, by_hand.bad, by_hand.good], forgets=(1,))
    first, second = rows_of(attempt, "end")
    assert first.ids == (5, 302, 300, 2) and first.turns == (0,)
    assert second.ids == (5, 302, 5, 302, 301, 2, 5, 302, 300, 2) and second.turns == (1, 2)
    assert second.places == (5, 9)


def test_rows_are_padded_and_their_places_kept(by_hand):
    long, short = by_hand.attempt([by_hand.good] * 9), by_hand.attempt([by_hand.bad])
    rows = [row for t in (long, short) for row in rows_of(t, "end")]
    placed = place(rows)
    assert placed.ids.shape == (2, 64) and placed.attention_mask.sum(1).tolist() == [36, 4]
    assert placed.rows.tolist() == [0] * 9 + [1]
    assert placed.ids[placed.rows, placed.places].tolist() == [2] * 10
    assert batches(rows, 64) == [[1], [0]]  # together they would be 2 x 64


def test_an_unfitted_model_says_one_half_and_leaves_the_policy_alone(policy, by_hand):
    version = policy.version
    model = TurnModel.from_policy(policy)
    groups = alternating(by_hand)
    assert all((p == 0.5).all() and p.shape == (4,) for p in model.predict(groups)[0])
    fit(model, groups, said_good(groups, by_hand.good), FitConfig(epochs=1))
    assert policy.version == version and model.version != TurnModel.from_policy(policy).version


def test_it_learns_which_turns_are_good_and_same_seed_same_numbers(policy, by_hand):
    groups = alternating(by_hand, n=16)
    labels = said_good(groups, by_hand.good)
    models = [TurnModel.from_policy(policy) for _ in range(3)]
    losses = [fit(m, groups, labels, QUICK, seed=s) for m, s in zip(models, (0, 0, 1))]
    assert losses[0][0] > 0.5 and losses[0][-1] < 0.1
    assert losses[0] == losses[1] != losses[2]
    assert models[0].version == models[1].version != models[2].version
    predicted = np.concatenate(models[0].predict(groups)[0])
    assert (np.abs(predicted - np.concatenate(labels[0])) < 0.3).all()


def test_soft_labels_are_met_by_their_mean(policy, by_hand):
    attempt = by_hand.attempt([by_hand.good])
    groups = [by_hand.group(attempt, attempt, attempt, attempt)]
    labels = [[np.array([label]) for label in (1.0, 0.5, 0.0, 0.0)]]
    model = TurnModel.from_policy(policy)
    fit(model, groups, labels, FitConfig(epochs=60, batch_size=4, lr=1e-2, weight_decay=0.0))
    assert model.predict(groups)[0][0] == pytest.approx(0.375, abs=0.01)


def test_a_turn_without_a_label_is_no_target(policy, by_hand):
    groups = alternating(by_hand, n=8)
    labels = said_good(groups, by_hand.good)
    other = [[np.where([0, 1, 0, 0], np.nan, numbers) for numbers in labels[0]]]
    misled = [[np.where([0, 1, 0, 0], 1 - numbers, numbers) for numbers in labels[0]]]
    versions = []
    for given in (other, labels, misled):
        model = TurnModel.from_policy(policy)
        fit(model, groups, given, FitConfig(epochs=1))
        versions.append(model.version)
    assert len(set(versions)) == 3
    masked = [[np.where([0, 1, 0, 0], np.nan, numbers) for numbers in misled[0]]]
    model = TurnModel.from_policy(policy)
    fit(model, groups, masked, FitConfig(epochs=1))
    assert model.version == versions[0]


def test_with_the_head_alone_the_backbone_stays_the_policys(policy, by_hand):
    model = TurnModel.from_policy(policy)
    groups = alternating(by_hand)
    fit(model, groups, said_good(groups, by_hand.good), FitConfig(epochs=1, trains="head"))
    ours, theirs = model.backbone.state_dict(), policy.model.model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert model.head.weight.abs().sum() > 0


@pytest.mark.parametrize("setting", [{"epochs": 0}, {"batch_size": 0}, {"trains": "heads"}])
def test_a_config_that_fits_nothing_is_refused(policy, by_hand, setting):
    groups = alternating(by_hand, n=2)
    with pytest.raises(ValueError, match="config: expected trains .*, got FitConfig"):
        fit(TurnModel.from_policy(policy), groups, said_good(groups, by_hand.good),
            FitConfig(**setting))  # fmt: skip


def test_predictions_do_not_depend_on_the_padding_or_the_company(policy, by_hand):
    model = TurnModel.from_policy(policy)
    torch.nn.init.normal_(model.head.weight, generator=torch.Generator().manual_seed(0))
    short, long = by_hand.attempt([by_hand.bad] * 2), by_hand.attempt([by_hand.good] * 20)
    alone = model.predict([by_hand.group(short)])[0][0]
    together = model.predict([by_hand.group(long, short)])[0][1]
    assert alone == pytest.approx(together, abs=1e-6) and alone[0] != 0.5


def test_turn_values_stand_where_they_were_read(policy, by_hand):
    groups = alternating(by_hand, n=2)
    for reads, first, how in (("before", -1, "critic"), ("end", 0, "prm")):
        (group,) = TurnModel.from_policy(policy, reads=reads).annotate(groups)
        values = [v for v in group.turn_values if v.trajectory_index == 1]
        assert [v.turn_index for v in values] == [first + k for k in range(4)]
        assert all(v.how == how and v.estimate == 0.5 for v in values) and how in GUESSED
        assert np.isnan(values[0].standard_error) and values[0].num_rerolls == 0


def test_a_model_comes_back_from_disk(policy, by_hand, tmp_path):
    model = TurnModel.from_policy(policy, reads="before")
    groups = alternating(by_hand)
    fit(model, groups, said_good(groups, by_hand.good), FitConfig(epochs=1))
    model.save(tmp_path / "model")
    again = TurnModel.load(tmp_path / "model")
    assert again.version == model.version and again.reads == "before"
    said, says = (m.predict(groups)[0] for m in (model, again))
    assert all(np.array_equal(a, b) for a, b in zip(said, says))
    with pytest.raises(ValueError, match="expected a saved TurnModel"):
        TurnModel.load(tmp_path)


def test_adapters_are_merged_into_the_backbone(policy, by_hand):
    from peft import LoraConfig, get_peft_model

    wrapped = get_peft_model(
        policy.model, LoraConfig(r=2, target_modules="all-linear", init_lora_weights=False)
    )
    adapted = CausalLMPolicy(wrapped, policy.tokenizer)
    model = TurnModel.from_policy(adapted)
    assert not any("lora" in name for name in model.backbone.state_dict())
    (row,) = rows_of(by_hand.attempt([by_hand.good]), "end")
    wanted = wrapped(torch.tensor([row.ids]), output_hidden_states=True).hidden_states[-1][0, -1]
    got = model.features(place([row]))[0]
    assert torch.allclose(got, wanted, atol=1e-5)


@pytest.mark.parametrize(
    "labels, message",
    [
        ([[np.zeros(3)]], r"expected one number a turn"),
        ([[np.array([0.0, 1.5])]], r"expected numbers in \[0, 1\] or NaN"),
        ([[np.array([np.nan, np.nan])]], r"got NaN only"),
    ],
)
def test_labels_that_cannot_be_are_refused(policy, by_hand, labels, message):
    groups = [by_hand.group(by_hand.attempt([by_hand.good, by_hand.bad]))]
    with pytest.raises(ValueError, match=message):
        fit(TurnModel.from_policy(policy), groups, labels)


def test_an_unknown_place_to_read_is_refused(policy):
    with pytest.raises(ValueError, match='expected "before" or "end"'):
        TurnModel.from_policy(policy, reads="middle")


@pytest.mark.parametrize("reads", ["before", "end"])
def test_an_attempt_without_any_token_is_not_read_off_its_padding(by_hand, reads):
    whole = by_hand.attempt([by_hand.good])
    said = Action((), (), "", "context")
    empty = replace(whole, turns=(replace(whole.turns[0], action=said),))
    with pytest.raises(ValueError, match="a token to read at turn 0, got none; if the statement"):
        list(rows_of(empty, reads))


def test_an_agent_s_turns_are_read_in_what_that_agent_has_read(by_hand):
    """Two agents take turns; each context grows by itself: 5 302 | word 2 | 5 302 | word 2."""
    spoken = by_hand.attempt([by_hand.good, by_hand.bad] * 2)
    agents, kept = ("locator", "editor") * 2, (0, 0, 4, 4)
    turns = tuple(
        replace(turn, agent=agent, action=replace(turn.action, kept_prefix=prefix))
        for turn, agent, prefix in zip(spoken.turns, agents, kept)
    )
    rows = list(rows_of(replace(spoken, turns=turns), "end"))
    assert [(row.ids, row.turns, row.places) for row in rows] == [
        ((5, 302, 300, 2, 5, 302, 300, 2), (0, 2), (3, 7)),
        ((5, 302, 301, 2, 5, 302, 301, 2), (1, 3), (3, 7)),
    ]
