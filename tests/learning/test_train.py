"""Whole runs of a policy that has learned nothing, with a reward it can learn."""

import math
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from workbench.credit import (
    gigpo,
    potential_shaping,
    return_to_go,
    seen_passing,
    tool_status_rewards,
    transitions,
)
from workbench.learning import RFTConfig, RLConfig, TrainConfig, pack, token_mean_weights, train
from workbench.learning.batch import split_minibatches
from workbench.learning.checkpoint import derive_seed
from workbench.learning.config import resolve
from workbench.learning.forward import plain_attention
from workbench.learning.loop import credit_turns, tasks_of_iteration, token_loss
from workbench.learning.losses import sequence_mean_weights
from workbench.learning.run import HONEST
from workbench.learning.update import update
from workbench.policies import ScriptedPolicy
from workbench.rewards import RewardDesign, all_pass
from workbench.runlog import load_run
from workbench.sandbox import CallResult, CaseResult

SMALL = TrainConfig(
    rft=RFTConfig(num_tasks=4, group_size=2, tasks_per_iteration=2),
    rl=RLConfig(
        iterations=2, tasks_per_iteration=2, group_size=4, updates_per_iteration=2
    ),
    max_turns=2,
    dtype="float32",
)


def all_equal(trajectory, task):
    """Component: everybody gets the same."""
    return 0.5


def without_seconds(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def test_same_seed_same_numbers_and_another_seed_others(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    rows, versions = [], []
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        policy = make_policy()
        run = train(
            policy,
            tasks,
            sandbox,
            "rft_then_rl",
            config=SMALL,
            reward=brevity,
            seed=seed,
            folder=tmp_path / name,
        )
        assert run.wait().state == "finished"
        rows.append(without_seconds(run.metrics))
        versions.append(policy.version)
    assert rows[0] == rows[1] and versions[0] == versions[1]
    assert rows[0] != rows[2] and versions[0] != versions[2]


def test_a_batch_rebuilt_from_the_stored_run_gives_the_same_updates_bit_for_bit(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    config = replace(SMALL, rl=replace(SMALL.rl, iterations=1))
    run = train(
        make_policy(), tasks, sandbox, "rl", config=config, reward=brevity, folder=tmp_path / "run"
    )
    row = run.wait() and run.metrics[0]
    stored = load_run(tmp_path / "run").iterations[0]

    policy, rl = make_policy(), config.rl
    optimiser = torch.optim.AdamW(
        policy.model.parameters(), lr=3e-4, betas=rl.betas, weight_decay=0.0
    )
    batch = pack(stored.groups, stored.advantages)
    rng = np.random.default_rng(derive_seed(0, "rl", 0, "minibatches"))
    with plain_attention(policy.model):
        losses = [
            update(
                policy.model,
                optimiser,
                minibatch,
                token_loss(rl),
                token_mean_weights,
                grad_clip=1.0,
                dtype="float32",
                tokens_per_microbatch=1024,
            ).loss
            for minibatch in split_minibatches(batch, 2, rng)
        ]
    assert float(np.mean(losses)) == row["loss"]
    assert policy.version == run.result.policy.version  # the weights, too


def test_stored_rewards_and_advantages_belong_to_the_stored_trajectories(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    config = replace(SMALL, rl=replace(SMALL.rl, iterations=1))
    train(
        make_policy(), tasks, sandbox, "rl", config=config, reward=brevity, folder=tmp_path / "run"
    ).wait()
    run = load_run(tmp_path / "run")
    stored = run.iterations[0]
    assert brevity.score_groups(stored.groups, run.tasks) == [list(row) for row in stored.rewards]
    for rewards, advantages in zip(stored.rewards, stored.advantages):
        totals = np.array([r.total for r in rewards])
        if not np.isnan(advantages).any():
            expected = (totals - totals.mean()) / (totals.std(ddof=1) + 1e-4)
            assert np.allclose(advantages, expected)


def test_the_reward_rises_in_a_few_iterations(make_policy, tasks, sandbox, brevity, tmp_path):
    config = replace(
        SMALL, rl=RLConfig(iterations=6, tasks_per_iteration=4, group_size=8, lr=6e-3), max_turns=1
    )
    run = train(
        make_policy(), tasks, sandbox, "rl", config=config, reward=brevity, folder=tmp_path / "run"
    )
    run.wait()
    rewards = [row["reward_mean"] for row in run.metrics]
    assert np.mean(rewards[-3:]) > np.mean(rewards[:3]) + 0.05  # at least five tokens fewer


def test_tied_groups_teach_nothing_and_are_counted(make_policy, tasks, sandbox, tmp_path):
    policy = make_policy()
    before = policy.version
    reward = RewardDesign(same=(all_equal, 1.0))
    run = train(policy, tasks, sandbox, "rl", config=SMALL, reward=reward, folder=tmp_path / "run")
    run.wait()
    assert [row["num_tied"] for row in run.metrics] == [2, 2]
    assert [row["num_updates"] for row in run.metrics] == [0, 0]
    assert policy.version == before


def test_keeping_tied_groups_is_a_setting_and_leaves_them_in_the_denominator(
    make_policy, tasks, sandbox, tmp_path
):
    policy = make_policy()
    before = policy.version
    config = replace(SMALL, rl=replace(SMALL.rl, tied_groups="keep", iterations=1))
    reward = RewardDesign(same=(all_equal, 1.0))
    run = train(policy, tasks, sandbox, "rl", config=config, reward=reward, folder=tmp_path / "run")
    run.wait()
    assert run.metrics[0]["num_updates"] == 2 and run.metrics[0]["grad_norm"] == 0.0
    assert policy.version == before  # zero advantage: a zero gradient


def test_the_log_counts_what_happened(make_policy, tasks, sandbox, brevity, tmp_path):
    run = train(
        make_policy(),
        tasks,
        sandbox,
        "rft_then_rl",
        config=replace(SMALL, evaluate_every=1),
        reward=brevity,
        dev=tasks[:2],
        folder=tmp_path / "run",
    )
    run.wait()
    kinds = [(row["kind"], row["stage"], row.get("iteration")) for row in run.metrics]
    assert kinds == [
        ("evaluation", "base", 0),
        ("iteration", "rft", 0),
        ("iteration", "rft", 1),
        ("fine_tuning", "rft", None),
        ("evaluation", "rft", 0),
        ("iteration", "rl", 0),
        ("evaluation", "rl", 1),
        ("iteration", "rl", 1),
        ("evaluation", "rl", 2),
    ]
    row = run.metrics[5]
    assert row["num_rollouts"] == 8 and row["mean_turns"] == 2.0
    assert row["malformed_share"] > 0.9 and row["submit_share"] == 0.0
    assert 0 <= row["ratio_gap_max"] < 1e-5 and row["entropy"] > 5
    assert row["seconds"]["sampling_cpu"] > 0 and row["seconds"]["update_cpu"] > 0
    assert run.progress.num_done == run.progress.num_total == 2
    assert run.progress.left_s == 0.0


def test_the_configured_loss_and_mean_are_used(make_policy, tasks, sandbox, brevity, tmp_path):
    losses = []
    for weights in (token_mean_weights, sequence_mean_weights):
        config = replace(SMALL, rl=replace(SMALL.rl, iterations=1, token_weights=weights))
        run = train(
            make_policy(),
            tasks,
            sandbox,
            "rl",
            config=config,
            reward=brevity,
            folder=tmp_path / weights.__name__,
        )
        run.wait()
        losses.append(run.metrics[0]["loss"])
    assert losses[0] != losses[1]


@pytest.mark.parametrize(
    "scheme",
    [
        partial(return_to_go, gamma=0.9, turn_rewards=tool_status_rewards),
        partial(gigpo, gamma=0.9),
        partial(transitions, baseline="trajectory", agents=("solver",)),
        partial(potential_shaping, potential=seen_passing),
    ],
    ids=lambda scheme: scheme.func.__name__,
)
def test_a_scheme_says_which_turn_learns_what_and_the_log_keeps_it(
    make_policy, tasks, sandbox, brevity, tmp_path, scheme
):
    config = replace(SMALL, rl=replace(SMALL.rl, iterations=1, credit=scheme))
    run = train(
        make_policy(), tasks, sandbox, "rl", config=config, reward=brevity, folder=tmp_path / "run"
    )
    assert run.wait().state == "finished" and run.metrics[0]["num_updates"] == 2
    stored = load_run(tmp_path / "run").iterations[0]
    for group, rewards, advantages in zip(stored.groups, stored.rewards, stored.advantages):
        totals = [np.nan if r.total is None else r.total for r in rewards]
        credit = scheme(group, totals, scale="std", ddof=1)
        if not any(numbers.any() for numbers in credit):
            credit = [np.full(len(numbers), np.nan) for numbers in credit]  # dropped
        for said, kept in zip(credit, advantages):
            assert np.array_equal(said, np.broadcast_to(kept, len(said)), equal_nan=True)


def nothing_returned(group, rewards, *, scale, ddof):
    """Scheme with a mistake in it."""


def one_an_attempt(group, rewards, *, scale, ddof):
    """Scheme of numbers that are not arrays."""
    return [0.5 for _ in group.trajectories]


def lists(group, rewards, *, scale, ddof):
    """Scheme whose numbers are no arrays, and might be."""
    return [[0.5] * len(t.turns) for t in group.trajectories]


@pytest.mark.parametrize("scheme", [nothing_returned, one_an_attempt])
def test_a_scheme_that_gives_no_number_a_turn_is_told_what_is_expected(by_hand, scheme):
    attempt = by_hand.trajectory([by_hand.turn([5], [-0.1], [4], 0)] * 2)
    group = by_hand.group(attempt, attempt)
    wanted = r"a number a turn, shapes \[\(2,\), \(2,\)\], got (None|\[0.5)"
    with pytest.raises(ValueError, match=wanted):
        credit_turns([group], np.array([[0.0, 1.0]]), RLConfig(credit=scheme))
    (row,) = credit_turns([group], np.array([[0.0, 1.0]]), RLConfig(credit=lists))
    assert [numbers.tolist() for numbers in row] == [[0.5, 0.5], [0.5, 0.5]]


def test_a_scheme_that_returns_an_infinite_number_is_told_so(by_hand):
    attempt = by_hand.trajectory([by_hand.turn([5], [-0.1], [4], 0)] * 2)
    scheme = RLConfig(credit=lambda group, rewards, **_: [[0.0, np.inf], [np.nan, 1.0]])
    wanted = r"credit: expected finite numbers, .* got \[0.0, inf\] for attempt 0 of task 'by-hand'"
    with pytest.raises(ValueError, match=wanted):
        credit_turns([by_hand.group(attempt, attempt)], np.array([[0.0, 1.0]]), scheme)


def test_a_scheme_that_finds_nothing_to_teach_changes_nothing(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    def nothing(group, rewards, *, scale, ddof):
        return [np.zeros(len(t.turns)) for t in group.trajectories]

    policy = make_policy()
    before = policy.version
    config = replace(SMALL, rl=replace(SMALL.rl, iterations=1, credit=nothing))
    run = train(
        policy, tasks, sandbox, "rl", config=config, reward=brevity, folder=tmp_path / "run"
    )
    run.wait()
    assert run.metrics[0]["num_updates"] == 0 and policy.version == before


def test_stop_ends_the_run_in_mid_iteration_and_undoes_it(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    policy, first = make_policy(), threading.Event()
    config = replace(SMALL, rl=RLConfig(iterations=1000, tasks_per_iteration=4, group_size=8))
    run = train(
        policy,
        tasks,
        sandbox,
        "rl",
        config=config,
        reward=brevity,
        folder=tmp_path / "run",
        on_metrics=lambda row: first.set(),
    )
    assert first.wait(60) and run.state == "running"
    run.stop()
    assert run.wait(timeout_s=60).state == "stopped"
    stored = load_run(tmp_path / "run")
    assert stored.metrics == run.metrics and len(stored.iterations) == len(run.metrics)
    assert stored.status["state"] == "stopped"
    weights = torch.load(stored.checkpoints[-1] / "weights.pt", weights_only=True)
    assert all(torch.equal(weights[n], p) for n, p in policy.model.named_parameters())


def test_stop_is_noticed_in_the_middle_of_sampling(make_policy, tasks, sandbox, tmp_path):
    config = replace(SMALL, rl=RLConfig(iterations=1, tasks_per_iteration=16, group_size=64))
    run = train(make_policy(), tasks, sandbox, "rl", config=config, folder=tmp_path / "run")
    run.stop()
    assert run.wait(60).state == "stopped"
    assert run.metrics == [] and load_run(tmp_path / "run").groups() == []


def test_an_interrupt_while_waiting_stops_the_run_and_leaves_a_readable_log(
    make_policy, tasks, sandbox, brevity, tmp_path
):
    config = replace(SMALL, rl=RLConfig(iterations=1000, tasks_per_iteration=4, group_size=4))
    first = []

    def interrupt_once(row):
        if not first:
            first.append(os.kill(os.getpid(), signal.SIGINT))

    run = train(
        *(make_policy(), tasks, sandbox, "rl"),
        config=config,
        reward=brevity,
        folder=tmp_path / "run",
        on_metrics=interrupt_once,
    )
    with pytest.raises(KeyboardInterrupt):
        run.wait()
    assert run.done and run.state == "stopped"
    stored = load_run(tmp_path / "run")
    assert stored.metrics == run.metrics and len(stored.iterations) == len(stored.metrics)


def broken(trajectory, task):
    """Component with a mistake in it."""
    raise ZeroDivisionError("a mistake in the reward")


def test_an_error_in_the_thread_is_raised_by_wait_and_stays_in_the_log(
    make_policy, tasks, sandbox, tmp_path
):
    reward = RewardDesign(broken=(broken, 1.0))
    run = train(
        make_policy(), tasks, sandbox, "rl", config=SMALL, reward=reward, folder=tmp_path / "run"
    )
    with pytest.raises(ZeroDivisionError, match="a mistake in the reward"):
        run.wait()
    assert run.state == "failed"
    assert "ZeroDivisionError" in load_run(tmp_path / "run").status["error"]


def test_lora_trains_only_the_adapters_with_their_own_learning_rate(
    tokenizer, tasks, sandbox, brevity, tmp_path
):
    from peft import LoraConfig, get_peft_model

    from workbench.policies import CausalLMPolicy, build_model

    model = build_model(tokenizer, hidden=32, layers=2, heads=2, intermediate=64)
    base = {n: p.detach().clone() for n, p in model.named_parameters()}
    torch.manual_seed(0)  # peft draws the adapters' first weights from the global generator
    lora = LoraConfig(r=4, lora_alpha=8, target_modules="all-linear", task_type="CAUSAL_LM")
    policy = CausalLMPolicy(get_peft_model(model, lora), tokenizer)
    before = policy.version
    run = train(policy, tasks, sandbox, "rl", config=SMALL, reward=brevity, folder=tmp_path / "run")
    run.wait()
    assert policy.version != before
    gaps = [row["ratio_gap_max"] for row in run.metrics if row["num_updates"]]
    assert run.metrics[0]["lr"] == 1e-3 and gaps and max(gaps) < 1e-4
    for name, parameter in policy.model.get_base_model().named_parameters():
        if "lora" not in name:
            assert torch.equal(parameter, base[name.replace(".base_layer", "")])
    assert (tmp_path / "run" / "policy" / "adapter_model.safetensors").exists()


def test_every_task_is_met_once_before_any_is_met_again(tasks):
    met = [t.task_id for i in range(4) for t in tasks_of_iteration(tasks, 4, i, seed=0)]
    assert sorted(met) == sorted(t.task_id for t in tasks)
    again = [t.task_id for i in range(4, 8) for t in tasks_of_iteration(tasks, 4, i, seed=0)]
    assert sorted(again) == sorted(met) and again != met


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(recipe="dpo"), "recipe: expected one of"),
        (dict(tasks=[]), "tasks: expected at least one"),
        (dict(policy=ScriptedPolicy(["submit"])), "policy: expected one with weights"),
        (dict(policy="tiny"), "policy: expected one with weights"),
        (dict(tasks="bugfix"), "tasks: expected a list of tasks, got 'bugfix'; load_tasks"),
        (dict(dev="bugfix"), "dev: expected a list of tasks, got 'bugfix'; load_tasks"),
        (dict(sandbox=None), r"sandbox: expected one that open_sandbox\(\) opens, got None"),
        (dict(reward=all_equal), r"reward: expected a RewardDesign, got <function all_equal.*=\("),
        (dict(reward=all_pass("hidden")), r"reward: expected a RewardDesign, got all_pass\('hidd"),
        (dict(seed="0"), "seed: expected a whole number from 0 up, got '0'"),
        (dict(seed=-1), "seed: expected a whole number from 0 up, got -1"),
        (dict(seed=None), "seed: expected a whole number from 0 up, got None"),
        (dict(seed=0.5), "seed: expected a whole number from 0 up, got 0.5"),
        (dict(config=RLConfig()), r"config: expected a TrainConfig, got RLConfig.*write TrainConf"),
        (dict(config=replace(SMALL, evaluate_every=1)), "dev: expected tasks"),
        (dict(config=TrainConfig(rl=RLConfig(iterations=0))), "rl.iterations: expected at least 1"),
        (dict(config=replace(SMALL, rl=RLConfig(group_size=1))), "group_size: expected at least 2"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(
    make_policy, tasks, sandbox, tmp_path, change, message
):
    arguments = dict(policy=make_policy(), tasks=tasks, sandbox=sandbox, recipe="rl", config=SMALL)
    with pytest.raises(ValueError, match=message):
        train(**(arguments | change), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (dict(tied_groups="dorp"), 'tied_groups: expected "drop" or "keep", got \'dorp\''),
        (dict(advantage_scale="max"), 'advantage_scale: expected "std" or "none", got \'max\''),
        (dict(advantage_ddof=2), "advantage_ddof: expected 0 or 1, got 2"),
        (dict(lr="1e-4"), "lr: expected None or a finite number from 0 up, got '1e-4'"),
        (dict(lr=-1), "lr: expected None or a finite number from 0 up, got -1"),
        (dict(lr=math.nan), "lr: expected None or a finite number from 0 up, got nan"),
        (dict(evidence=4), "evidence: expected None or what can be called, got 4"),
        (dict(clip_low=-0.1), "clip_low: expected a number from 0 up, got -0.1"),
        (dict(grad_clip=None), "grad_clip: expected a number above 0, got None"),
        (dict(betas=0.9), r"betas: expected two numbers in \[0, 1\), got 0.9"),
        (dict(betas=(0.9, 1.0)), r"betas: expected two numbers in \[0, 1\), got \(0.9, 1.0\)"),
    ],
)
def test_a_setting_that_is_none_of_its_words_or_out_of_range_is_refused(setting, message):
    with pytest.raises(ValueError, match=f"^rl.{message}"):
        resolve(TrainConfig(rl=RLConfig(**setting)), lora=False)


def test_an_option_that_a_scheme_does_not_have_is_named():
    misspelt = RLConfig(credit=partial(gigpo, gama=0.9))
    with pytest.raises(ValueError, match="rl.credit: .* unexpected keyword argument 'gama'"):
        resolve(TrainConfig(rl=misspelt), lora=False)


def test_settings_of_the_other_records_are_checked_too_and_their_limits_are_allowed():
    with pytest.raises(ValueError, match="^rft.lr: expected None or a finite number from 0 up"):
        resolve(TrainConfig(rft=RFTConfig(lr=math.inf)), lora=False)
    with pytest.raises(ValueError, match='^dtype: expected "auto", "float32" or "bfloat16", got'):
        resolve(TrainConfig(dtype="fp16"), lora=False)
    most = RLConfig(lr=0, grad_clip=math.inf, clip_high=math.inf, betas=[0, 0.5], advantage_ddof=0)
    assert resolve(TrainConfig(rl=most), lora=False).rl == most


@pytest.mark.parametrize("recipe", ["rft", "rl"])
def test_when_nothing_can_be_judged_the_run_fails_and_loses_nothing(
    recipe, make_policy, tasks, sandbox, brevity, tmp_path, monkeypatch
):
    policy = make_policy()
    before = policy.version
    with monkeypatch.context() as broken:
        broken.setattr(
            type(sandbox), "call", lambda self, f, e, p, inputs, limits=None: CallResult(
                "sandbox_error",
                (CaseResult("missing", error="no room"),) * len(inputs),
                "no room",
            )
        )  # fmt: skip
        run = train(policy, tasks, sandbox, recipe, config=SMALL, reward=HONEST,
                    folder=tmp_path / "run")  # fmt: skip
        with pytest.raises(RuntimeError, match="not one of .*sandbox_error.*folder="):
            run.wait()
    assert run.state == "failed" and policy.version == before
    assert load_run(tmp_path / "run").metrics == []
    again = train(policy, tasks, sandbox, recipe, config=SMALL, reward=HONEST,
                  folder=tmp_path / "run", resume=True)  # fmt: skip
    assert again.wait().state == "finished"


def forgets_to_return(trajectory, task):
    """Component with another mistake in it."""
    trajectory.num_action_tokens  # noqa: B018


@pytest.mark.parametrize("recipe", ["rft", "rl"])
def test_a_component_that_returns_nothing_is_named_and_the_sandbox_is_not_blamed(
    recipe, make_policy, tasks, sandbox, tmp_path
):
    reward = RewardDesign(same=(all_equal, 1.0), mine=(forgets_to_return, 1.0))
    run = train(make_policy(), tasks, sandbox, recipe, config=SMALL, reward=reward,
                folder=tmp_path / "run")  # fmt: skip
    count = 8 if recipe == "rl" else 4
    with pytest.raises(ValueError, match=f"'mine' returned None for {count} of the {count} ") as e:
        run.wait()
    assert "guarantees" not in str(e.value)


SCRIPT = """
import sys
from workbench import load_tasks, open_policy, open_sandbox, train
if __name__ == "__main__":
    policy, tasks = open_policy(), load_tasks("bugfix", count=16)
    run = train(policy, tasks, open_sandbox("local"), "rl", folder=sys.argv[1])
"""


@pytest.mark.slow
def test_a_script_that_ends_stops_its_run_and_says_so(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "run")],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"stopped its run in {tmp_path / 'run'}. Wait for it" in done.stderr
    assert load_run(tmp_path / "run").status["state"] == "stopped"
