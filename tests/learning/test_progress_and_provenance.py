"""What a run says about itself: how far it is, and what it was made of."""

import json
from dataclasses import replace
from functools import partial

import pytest

from workbench.counterfactuals import Rerolls
from workbench.credit import (
    broadcast,
    deletion,
    gigpo,
    potential_shaping,
    reroll_advantage,
    rudder,
    shapley,
    turn_gae,
)
from workbench.learning import HONEST, RFTConfig, RLConfig, TrainConfig
from workbench.learning.config import LR_LORA, resolve
from workbench.learning.progress import RL_PER_RFT, progress_of
from workbench.learning.provenance import (
    describe_config,
    describe_function,
    describe_reward,
    describe_tasks,
    practised_dev,
)
from workbench.records import SamplerSettings
from workbench.rewards import RewardDesign, all_pass
from workbench.tasks import load_tasks

CONFIG = TrainConfig(
    rft=RFTConfig(num_tasks=64, group_size=8, tasks_per_iteration=32),
    rl=RLConfig(iterations=10, tasks_per_iteration=16, group_size=8),
)


def row(stage, iteration, wall):
    return {
        "kind": "iteration",
        "stage": stage,
        "iteration": iteration,
        "seconds": {"wall": wall},
    }


def test_progress_before_anything_was_timed_promises_nothing():
    progress = progress_of([], CONFIG, "rft_then_rl", 1000)
    assert (progress.num_done, progress.num_total, progress.left_s) == (0, 12, None)
    assert str(progress) == "starting"


def test_time_left_within_a_stage_follows_its_own_pace():
    rows = [row("rl", 0, 4.0), row("rl", 1, 6.0)]
    progress = progress_of(rows, CONFIG, "rl", 1000)
    assert progress.left_s == pytest.approx(8 * 5.0) and progress.elapsed_s == 10.0
    assert str(progress) == "rl 2/10, 0:40 left"


def test_time_left_for_a_stage_not_begun_is_scaled_by_its_rollouts():
    progress = progress_of([row("rft", 0, 6.0)], CONFIG, "rft_then_rl", 1000)
    # one RFT iteration more; an RL iteration has half as many rollouts, each RL_PER_RFT as dear
    assert progress.left_s == pytest.approx(6.0 + 10 * 3.0 * RL_PER_RFT)


def test_fewer_tasks_than_asked_for_make_fewer_iterations():
    assert progress_of([row("rft", 0, 1.0)], CONFIG, "rft", 20).num_total == 1


def test_learning_rates_follow_the_kind_of_policy():
    assert resolve(TrainConfig(), lora=False).rl.lr == 3e-4
    assert resolve(TrainConfig(), lora=True).rft.lr == LR_LORA["rft"]
    assert resolve(TrainConfig(rl=RLConfig(lr=1.0)), lora=True).rl.lr == 1.0
    assert resolve(TrainConfig(), lora=False).dtype in ("float32", "bfloat16")


def test_turns_follow_the_tasks_and_are_stored_as_a_number():
    (small,), repository = load_tasks("bugfix", "train", 1), load_tasks("repos")[0]
    turns = [
        resolve(TrainConfig(max_turns=given), lora=False, tasks=tasks).max_turns
        for given, tasks in ((None, [small]), (None, [small, repository]), (6, [repository]))
    ]
    assert turns == [8, 40, 6]


def test_a_temperature_other_than_one_is_refused():
    cold = TrainConfig(sampler=SamplerSettings(temperature=0.6))
    with pytest.raises(ValueError, match="training needs 1.0, got 0.6"):
        resolve(cold, lora=False)


def test_settings_become_json_with_functions_by_name_and_source():
    described = json.loads(json.dumps(describe_config(TrainConfig())))
    assert described["rl"]["clip_high"] == 0.28
    loss = described["rl"]["loss"]
    assert loss["function"] == "workbench.learning.losses:clipped_ratio_loss"
    assert len(loss["source_hash"]) == 16


def test_settings_that_can_be_called_are_described_by_their_name_and_fields():
    two, four = (describe_config(RLConfig(evidence=Rerolls(n)))["evidence"] for n in (2, 4))
    assert two["function"] == "workbench.counterfactuals.rerolls:Rerolls"
    assert two["num_rerolls"] == 2 and two | {"num_rerolls": 4} == four
    assert describe_config(RLConfig())["evidence"] is None


def test_a_reward_is_described_by_components_settings_and_weights():
    tests, tampering = describe_reward(HONEST)
    assert (tests["name"], tests["weight"], tests["args"]) == ("tests", 1.0, ["hidden"])
    assert tests["function"] == "workbench.rewards.outcomes:all_pass"
    assert (tampering["function"], tampering["weight"]) == (
        "workbench.rewards.conduct:tampered",
        -1.0,
    )
    other = describe_reward(RewardDesign(tests=(all_pass("visible_as_left"), 1.0)))
    assert other[0]["args"] != tests["args"] and other[0]["source_hash"] == tests["source_hash"]


def test_the_bound_arguments_of_a_function_are_part_of_its_description():
    five, six = (describe_function(partial(round, ndigits=n)) for n in (5, 6))
    assert five != six


def test_the_hash_of_tasks_sees_every_field_and_their_order(tasks):
    a, b = describe_tasks(tasks[:2]), describe_tasks(tasks[1::-1])
    assert a["num"] == b["num"] == 2 and a["splits"] == ["train"] and a["hash"] != b["hash"]


def test_a_dev_task_is_practised_on_under_any_name_and_not_because_its_split_is_called_train(tasks):
    renamed = [replace(t, task_id=f"mine/{i}", suite="", split="dev") for i, t in enumerate(tasks)]
    assert practised_dev(tasks, renamed[:4]) == ["mine/0", "mine/1", "mine/2", "mine/3"]
    assert practised_dev(tasks[:12], tasks[12:]) == practised_dev(tasks, ()) == []
    asked = replace(renamed[0], statement="another")
    judged = replace(renamed[0], hidden=renamed[1].hidden)
    repository = replace(renamed[0], fail_to_pass=("tests.py::test_it",))
    assert practised_dev(tasks, [asked, judged, repository]) == []


@pytest.mark.parametrize("credit", [shapley, deletion, rudder, potential_shaping, "gigpo"])
def test_a_scheme_that_the_loop_cannot_call_is_refused_before_anything_is_sampled(credit):
    with pytest.raises(ValueError, match="rl.credit: expected a scheme .* functools.partial"):
        resolve(TrainConfig(rl=RLConfig(credit=credit)), lora=False)


@pytest.mark.parametrize(
    "credit",
    [broadcast, gigpo, reroll_advantage, partial(turn_gae, lam=0.8), lambda g, r, **options: []],
)
def test_schemes_that_the_loop_can_call_pass(credit):
    assert resolve(TrainConfig(rl=RLConfig(credit=credit)), lora=False).rl.credit is credit


def test_a_class_is_no_evidence():
    with pytest.raises(ValueError, match=r"got the class Rerolls; make one: Rerolls\(...\)"):
        resolve(TrainConfig(rl=RLConfig(evidence=Rerolls)), lora=False)
