"""Scores are stored once, in training as well; padded attempts are real ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from workbench import RewardDesign, load_tasks, rollout, train
from workbench.counterfactuals.planted import moves
from workbench.credit import score_changes
from workbench.learning import RLConfig, TrainConfig
from workbench.policies import ScriptedPolicy
from workbench.process_rewards import (
    PROBES,
    FitConfig,
    Refitting,
    Scoring,
    TurnModel,
    padded,
    score_turns,
)
from workbench.process_rewards.places import rows_of
from workbench.records import SamplerSettings
from workbench.rewards import prm_score
from workbench.runlog import load_run


@pytest.fixture
def model(policy):
    """One that says something, whatever it is."""
    model = TurnModel.from_policy(policy)
    torch.nn.init.normal_(model.head.weight, generator=torch.Generator().manual_seed(1))
    return model


def test_scores_lie_in_the_evidence_with_the_models_version(model, by_hand, task):
    words = [by_hand.good, by_hand.bad]
    groups = [by_hand.group(by_hand.attempt(words), by_hand.attempt(words[::-1], tampered=("t",)))]
    (scored,) = score_turns(model, groups)
    for attempt, wanted in zip(scored.trajectories, model.predict(groups)[0]):
        assert attempt.evidence.turn_scores == pytest.approx(wanted.tolist())
        assert attempt.evidence.turn_scores_by == model.version
        assert prm_score("last")(attempt, task) == pytest.approx(wanted[-1])
    assert scored.trajectories[1].evidence.tampered == ("t",)
    assert groups[0].trajectories[0].evidence.turn_scores is None


def test_what_is_no_policy_or_no_list_of_groups_is_refused(policy, by_hand):
    group = by_hand.group(by_hand.attempt([by_hand.good]))
    with pytest.raises(ValueError, match="policy: expected a policy, got 'tiny'; open_policy"):
        TurnModel.from_policy("tiny")
    for read in (score_turns, TurnModel.annotate):
        with pytest.raises(ValueError, match=r"groups: expected a list .* got Group.*\[group\]"):
            read(TurnModel.from_policy(policy), group)


def test_a_critic_does_not_score(policy, by_hand):
    with pytest.raises(ValueError, match='expected one that reads "end"'):
        score_turns(TurnModel.from_policy(policy, reads="before"), [])


def test_training_is_paid_by_the_scores_and_stores_them(policy, model, sandbox, tmp_path):
    tasks = load_tasks("bugfix", split="train", count=2)
    rl = RLConfig(iterations=1, tasks_per_iteration=2, group_size=2, evidence=Scoring(model),
                  credit=score_changes)  # fmt: skip
    sampler = SamplerSettings(max_action_tokens=4)
    config = TrainConfig(rl=rl, max_turns=2, sampler=sampler, dtype="float32")
    design = RewardDesign(prm=(prm_score("mean"), 1.0))
    options = dict(config=config, reward=design, folder=tmp_path / "run")
    train(policy, tasks, sandbox, "rl", **options).wait()
    stored = load_run(tmp_path / "run")
    for group in stored.groups:
        wanted = model.predict([group])[0]
        for attempt, scores in zip(group.trajectories, wanted):
            assert attempt.evidence.turn_scores == pytest.approx(scores.tolist(), abs=1e-6)
            assert attempt.evidence.turn_scores_by == model.version
    assert stored.metrics[0]["num_extra_rollouts"] == 0
    described = stored.config["config"]["rl"]["evidence"]
    assert described["model"] == {"version": model.version}


@pytest.mark.parametrize("name", PROBES)
def test_a_padded_attempt_ends_with_the_same_files_and_says_more(name, policy, sandbox):
    repair = load_tasks("bugfix", split="train", count=1)[0]
    does = moves(repair)
    script = [does["look"], does["repair"], "run", "submit"]
    attempt = rollout(ScriptedPolicy(script), repair, sandbox, n=1).trajectories[0]
    plain = padded(attempt, repair, lambda commands, task: list(commands), sandbox,
                   policy.tokenizer)  # fmt: skip
    known = replace(attempt.evidence, turn_scores=(0.5,) * 4, turn_scores_by="a model")
    scored = replace(attempt, evidence=known)
    longer = padded(scored, repair, PROBES[name], sandbox, policy.tokenizer)
    assert longer.evidence == attempt.evidence  # the scores were of other turns
    assert [t.action.text for t in plain.turns] == script
    assert [t.observation for t in plain.turns] == [t.observation for t in attempt.turns]
    assert longer.turns[-1].workspace_hash == attempt.turns[-1].workspace_hash
    assert len(longer.turns) > 4 and longer.turns[-1].action.text == "submit"
    assert len(list(rows_of(longer, "end"))) == 1  # its tokens lie in one row


def test_a_padded_attempt_has_the_tokens_the_policy_would_have_seen(policy, sandbox):
    repair = load_tasks("bugfix", split="train", count=1)[0]
    sampler = SamplerSettings(max_action_tokens=6)
    attempt = rollout(policy, repair, sandbox, n=1, sampler=sampler, max_turns=3).trajectories[0]
    again = padded(attempt, repair, lambda commands, task: list(commands), sandbox,
                   policy.tokenizer)  # fmt: skip
    assert again.turns[0].action.new_ids == attempt.turns[0].action.new_ids


def test_probes_leave_the_truth_as_it_is(by_hand, sandbox, policy):
    repair = load_tasks("bugfix", split="train", count=1)[0]
    attempt = rollout(ScriptedPolicy(["ls", "submit"]), repair, sandbox, n=1).trajectories[0]
    longer = padded(attempt, repair, PROBES["idle"], sandbox, policy.tokenizer)
    assert longer.verdict == attempt.verdict and longer.stop_reason == "submitted"
    assert replace(longer, turns=attempt.turns) == attempt
    assert np.array_equal([t.action.text for t in longer.turns],
                          ["ls", "ls", f"grep {repair.entry_point}", "submit"])  # fmt: skip


def test_a_model_that_is_refitted_follows_how_attempts_end(policy, by_hand, task):
    words = [[by_hand.good], [by_hand.bad]] * 4
    ends = [by_hand.attempt(w, hidden="p" if w == [by_hand.good] else "w") for w in words]
    group = by_hand.group(*ends)
    start = TurnModel.from_policy(policy)
    config = FitConfig(epochs=10, batch_size=4, lr=1e-2)
    hook = Refitting(start, every=2, config=config)
    scored = []
    for _ in range(3):
        (annotated,), cost = hook(policy, [group], [task], None, seed=0, max_turns=8)
        scored.append([t.evidence.turn_scores[0] for t in annotated.trajectories])
        assert cost.num_rollouts == 0
    assert scored[0] == scored[1] == [0.5] * 8  # not fitted yet
    assert hook.num_fits == 1 and hook.version != start.version
    assert min(scored[2][::2]) > 0.5 > max(scored[2][1::2])
    assert start.predict([group])[0][0].tolist() == [0.5]  # the one that was given is as it was
    with pytest.raises(ValueError, match="every: expected at least 1"):
        Refitting(start, every=0)


def test_a_run_that_refits_begins_with_the_first_model_and_cannot_be_resumed(
    policy, sandbox, by_hand, task, tmp_path
):
    group = by_hand.group(by_hand.attempt([by_hand.good]), by_hand.attempt([by_hand.bad]))
    hook = Refitting(TurnModel.from_policy(policy), every=1, seed=3)
    begins_as = hook.version
    for _ in range(2):
        hook(policy, [group], [task], None)
    assert hook.num_fits == 1 and hook.version != begins_as
    again = hook.fresh()
    assert (again.num_fits, again.version) == (0, begins_as)
    for _ in range(2):
        again(policy, [group], [task], None)
    assert again.version == hook.version  # every, config and seed are the same, too
    config = TrainConfig(rl=RLConfig(evidence=hook))
    with pytest.raises(ValueError, match="resume: .*checkpoints hold whole, got Refitting"):
        train(policy, [task], sandbox, "rl", config=config, folder=tmp_path, resume=True)
