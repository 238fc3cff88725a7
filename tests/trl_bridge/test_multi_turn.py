"""Our episodes under TRL's trainer: what reaches its loss, what it is paid, what it refuses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.trl_bridge.conftest import TASKS
from workbench.credit import gigpo, group_advantages, reroll_advantage, turn_gae
from workbench.learning import HONEST, RLConfig, pack
from workbench.learning.checkpoint import derive_seed
from workbench.process_rewards import Critic
from workbench.records import SamplerSettings
from workbench.rewards import RewardDesign, no_new_findings

pytestmark = pytest.mark.slow
SMALL = RLConfig(iterations=1, tasks_per_iteration=4, group_size=4, updates_per_iteration=2)


def shorter(trajectory, task):
    """A component: differs between most attempts, so that no group is tied."""
    return -trajectory.num_action_tokens / 100


BRIEF = RewardDesign(brevity=(shorter, 1.0))


@pytest.fixture
def adapters():
    """A small LoRA."""
    from peft import LoraConfig

    return LoraConfig(r=4, lora_alpha=8, target_modules="all-linear")


@pytest.fixture
def make(folder, sandbox, adapters, tmp_path, monkeypatch):
    """A function that makes (episodes, trainer)."""
    from workbench.trl_bridge import MultiTurn, TurnGRPOTrainer, grpo_config

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")

    def make(rl=SMALL, design=BRIEF, trainer=TurnGRPOTrainer, sampler=SamplerSettings(), **changes):
        episodes = MultiTurn(TASKS, sandbox, design, rl, max_turns=4, sampler=sampler)
        return episodes, trainer(
            model=folder,
            args=grpo_config(tmp_path / "trl", rl, **changes),
            train_dataset=episodes.dataset(),
            rollout_func=episodes.rollout,
            reward_funcs=episodes.reward,
            peft_config=adapters,
        )

    return make


def captured(trainer):
    """TRL's own tensors of the first generation batch, as they are split into minibatches."""
    trainer.train()
    return trainer._buffered_inputs


def test_sampled_ids_masks_logprobs_and_advantages_reach_trl_s_loss_unchanged(make):
    episodes, trainer = make(replace(SMALL, credit=gigpo))
    pieces = captured(trainer)
    rolled = episodes.last
    ours = pack(rolled.groups, rolled.credit)
    expected, found = set(), set()
    for b in range(len(ours)):
        row = ours.take([b])
        n, mask = int(row.lengths), row.loss_mask[0]
        ids = tuple(row.ids[0, :n].tolist())
        learned = row.advantages[0][mask].tolist(), row.old_logprobs[0][mask].tolist()
        expected.add((ids, tuple(mask[:n].tolist()), *map(tuple, learned)))
    for piece in pieces:
        for b in range(len(piece["prompt_ids"])):
            prompt = piece["prompt_ids"][b][piece["prompt_mask"][b].bool()].tolist()
            length = int(piece["completion_mask"][b].sum())
            said = piece["completion_ids"][b, :length].tolist()
            mask = piece["tool_mask"][b, :length].bool()
            learned = piece["advantages"][b, :length][mask], piece["sampling_per_token_logps"]
            whole = tuple([False] * len(prompt) + mask.tolist())
            logprobs = learned[1][b, :length][mask].tolist()
            row = (tuple(prompt + said), whole, tuple(learned[0].tolist()), tuple(logprobs))
            found.add(row)
    assert found == expected and len(found) > 1
    assert len({a for row in found for a in row[2]}) > len(found) / 2  # turns differ


def test_trl_is_paid_what_the_design_pays_and_the_adapters_move(make):
    lines = {c.name: (c.component, c.weight) for c in HONEST.components}
    tidy = RewardDesign(**lines, tidy=(no_new_findings("lint"), 0.1))  # which is collected first
    episodes, trainer = make(design=tidy)
    before = {n: p.detach().clone() for n, p in trainer.model.named_parameters()}
    trainer.train()
    logged = trainer.state.log_history[0]
    totals = np.array([[r.total for r in row] for row in episodes.last.rewards])
    assert logged["reward"] == pytest.approx(totals.mean(), abs=1e-6)
    expected = group_advantages(totals).ravel()
    assert np.allclose(sorted(trainer._logs["advantages"]), sorted(expected), atol=1e-5)
    moved = {n for n, p in trainer.model.named_parameters() if not torch.equal(p, before[n])}
    assert moved and all("lora_" in name for name in moved)
    gap = logged["sampling/sampling_logp_difference/max"]
    assert 0 <= gap < 1e-3  # our sampler and TRL's forward pass agree on the sampling policy
    assert trainer.model.training


def test_a_tied_group_is_in_no_mean(make):
    episodes, trainer = make(design=RewardDesign(nothing=(lambda t, task: 0.0, 1.0)))
    before = {n: p.detach().clone() for n, p in trainer.model.named_parameters()}
    pieces = captured(trainer)
    assert all(int((p["tool_mask"] * p["completion_mask"]).sum()) == 0 for p in pieces)
    assert episodes.last.num_tied == 4
    assert all(torch.equal(p, before[n]) for n, p in trainer.model.named_parameters())


def test_what_cannot_be_judged_is_none_to_trl_and_without_gradient(make):
    def not_the_longest(trajectory, task):
        return None if len(trajectory.turns) > 2 else shorter(trajectory, task)

    design = RewardDesign(some=(not_the_longest, 1.0))
    episodes, trainer = make(replace(SMALL, tied_groups="keep"), design)
    pieces = captured(trainer)
    attempts = [t for g in episodes.last.groups for t in g.trajectories]
    judged = [t.num_action_tokens for t in attempts if len(t.turns) <= 2]
    assert 0 < len(judged) < len(attempts)
    assert sum(int(p["tool_mask"].sum()) for p in pieces) >= sum(judged)
    learned = sum(int((p["tool_mask"] * p["completion_mask"]).sum()) for p in pieces)
    assert learned == sum(judged) == float(pieces[0]["num_items_in_batch"])


def test_what_ran_out_of_tokens_is_masked_if_trl_is_told_to_mask_it(make):
    sampler = SamplerSettings(max_context=200)
    episodes, trainer = make(sampler=sampler, mask_truncated_completions=True)
    trainer.eos_token_ids = []  # to TRL, no message ends: as where none ends as a text does
    pieces = captured(trainer)
    attempts = [t for g in episodes.last.groups for t in g.trajectories]
    whole = [t.num_action_tokens for t in attempts if not t.ran_out_of_tokens]
    assert 0 < len(whole) < len(attempts)
    learned = sum(int((p["tool_mask"] * p["completion_mask"]).sum()) for p in pieces)
    assert learned == sum(whole) == float(pieces[0]["num_items_in_batch"])


def test_the_same_seed_gives_the_same_run(make):
    curves = []
    for _ in range(2):
        episodes, trainer = make(replace(SMALL, iterations=2))
        trainer.train()
        steps = [row for row in trainer.state.log_history if "grad_norm" in row]
        curves.append([(row["loss"], row["grad_norm"]) for row in steps])
    assert curves[0] == curves[1] and len(curves[0]) == 4


def test_each_generation_batch_of_a_step_or_an_evaluation_has_a_seed_of_its_own(make):
    seeds = []

    def noted(trajectory, task):
        seeds.append(trajectory.seed)
        return shorter(trajectory, task)

    rl = replace(SMALL, tasks_per_iteration=1, updates_per_iteration=1)
    several = dict(steps_per_generation=1, gradient_accumulation_steps=2, max_steps=2)
    saving = dict(save_strategy="steps", save_steps=1, per_device_eval_batch_size=4)

    def trainer():
        return make(rl, RewardDesign(noted=(noted, 1.0)), **several, **saving)[1]

    whole = trainer()
    whole.train()
    trained = seeds[::4]
    assert len(trained) == len(set(trained)) == 4  # two steps of two batches of four attempts
    assert trained[::2] == [derive_seed(whole.args.seed, "trl", "sample", n, 0) for n in (0, 1)]

    seeds.clear()
    for _ in range(2):
        whole.evaluate(whole.train_dataset.select([0, 1]))
    first, second, *again = seeds[::4]
    assert again == [first, second] and first != second

    seeds.clear()
    trainer().train(resume_from_checkpoint=str(Path(whole.args.output_dir) / "checkpoint-1"))
    assert seeds[::4] == trained[2:]


def test_a_trainer_that_would_ignore_turns_is_refused(make):
    from trl import GRPOTrainer

    _, trainer = make(trainer=GRPOTrainer)
    with pytest.raises(ValueError, match="expected a TurnGRPOTrainer, got GRPOTrainer"):
        trainer.train()


def test_a_trainer_that_would_score_at_another_temperature_is_refused(make):
    _, trainer = make(temperature=0.7)
    with pytest.raises(ValueError, match="temperature: expected 1.0, .* got 0.7"):
        trainer.train()


def test_prompts_that_are_no_whole_groups_of_known_tasks_are_refused(make):
    episodes, trainer = make()
    with pytest.raises(ValueError, match="expected groups of 4 equal ones"):
        episodes.rollout([TASKS[0].task_id] * 2 + [TASKS[1].task_id] * 2, trainer)
    with pytest.raises(ValueError, match="expected ids of the 8 tasks given, got 'what'"):
        episodes.rollout(["what"] * 4, trainer)


def test_what_makes_no_sense_is_refused_at_once(sandbox):
    from workbench.trl_bridge import MultiTurn

    with pytest.raises(ValueError, match="different ids, got .* twice"):
        MultiTurn([TASKS[0], TASKS[0]], sandbox)
    with pytest.raises(ValueError, match="training needs 1.0, got 0.7"):
        MultiTurn(TASKS, sandbox, sampler=SamplerSettings(temperature=0.7))


def test_an_attempt_has_as_many_turns_as_suit_the_tasks(sandbox):
    from workbench.tasks import load_tasks
    from workbench.trl_bridge import MultiTurn

    assert MultiTurn(TASKS, sandbox).max_turns == 8
    assert MultiTurn(load_tasks("repos"), sandbox).max_turns == 40
    assert MultiTurn(load_tasks("repos"), sandbox, max_turns=20).max_turns == 20


def test_evidence_is_collected_before_the_credit(make):
    asked = []

    def evidence(policy, groups, tasks, sandbox, *, seed, reward, max_turns, stop):
        from workbench.counterfactuals import Cost

        asked.append((policy.version, len(groups), reward, max_turns, stop()))
        return groups, Cost(num_rollouts=7)

    episodes, trainer = make(replace(SMALL, evidence=evidence))
    trainer.train()
    assert asked == [(episodes.last.policy_version, 4, BRIEF, 4, False)]
    assert episodes.last.extra.num_rollouts == 7


def test_evaluation_teaches_no_critic_and_needs_no_evidence(make):
    """Held-out attempts that a critic learned from would be held out no longer."""
    asked = []
    rl = replace(SMALL, evidence=lambda *a, **more: asked.append(a), credit=reroll_advantage)
    episodes, trainer = make(rl)
    trainer.model.eval()
    columns = episodes.rollout([TASKS[0].task_id] * 4, trainer)
    assert not asked and episodes.last is None and not trainer.model.training
    paid = group_advantages(np.array([columns["reward"]]))[0]
    for numbers, mask, wanted in zip(columns["token_advantages"], columns["env_mask"], paid):
        assert np.allclose(np.array(numbers)[np.array(mask, bool)], wanted)


def test_a_run_whose_critic_is_in_no_checkpoint_is_not_resumed(make):
    episodes, trainer = make(replace(SMALL, evidence=Critic(), credit=turn_gae))
    trainer.state.global_step = 2
    with pytest.raises(ValueError, match="resume: .*checkpoints hold whole, got Critic"):
        episodes.rollout([TASKS[0].task_id] * 4, trainer)


def test_dropout_is_off_while_sampling_and_the_mode_comes_back(folder, sandbox, tmp_path):
    from workbench.policies import CausalLMPolicy
    from workbench.trl_bridge import MultiTurn, TurnGRPOTrainer, grpo_config

    modes = []

    def policy(model, tokenizer):
        found = CausalLMPolicy(model, tokenizer)
        modes.append(model.training)
        return found

    episodes = MultiTurn(TASKS, sandbox, BRIEF, SMALL, policy=policy)
    trainer = TurnGRPOTrainer(
        model=folder,
        args=grpo_config(tmp_path / "full", SMALL, lora=False),
        train_dataset=episodes.dataset(),
        rollout_func=episodes.rollout,
        reward_funcs=episodes.reward,
    )
    trainer.model.train()
    episodes.rollout([TASKS[0].task_id] * 4, trainer)
    assert modes == [False] and trainer.model.training


def test_dropout_in_the_adapters_makes_a_ratio_of_noise(folder, sandbox, tmp_path):
    """TRL computes the old logprobs in training mode: the reason to keep lora_dropout at 0."""
    from peft import LoraConfig

    from workbench.trl_bridge import MultiTurn, TurnGRPOTrainer, grpo_config

    episodes = MultiTurn(TASKS, sandbox, BRIEF, SMALL, max_turns=4)
    trainer = TurnGRPOTrainer(
        model=folder,
        args=grpo_config(tmp_path / "trl", SMALL),
        train_dataset=episodes.dataset(),
        rollout_func=episodes.rollout,
        reward_funcs=episodes.reward,
        peft_config=LoraConfig(
            r=4,
            lora_alpha=8,
            target_modules="all-linear",
            lora_dropout=0.2,
            init_lora_weights=False,
        ),
    )
    trainer.train()
    assert trainer.state.log_history[0]["sampling/sampling_logp_difference/max"] > 0.01
