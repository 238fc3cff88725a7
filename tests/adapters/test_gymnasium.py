"""The environment as gymnasium plays it."""

import math
import warnings
from dataclasses import replace

import pytest

from tests.adapters.conftest import HONEST
from workbench.adapters import as_gymnasium
from workbench.adapters.gymnasium_env import REPLACEMENT
from workbench.rewards import RewardDesign, no_new_findings
from workbench.tasks import load_tasks

gymnasium = pytest.importorskip("gymnasium", reason="the extra `adapters` is not installed")
BUGFIX = load_tasks("bugfix", split="dev", count=3)
FUNCTIONS = load_tasks("functions", split="dev", count=3)


@pytest.mark.parametrize("tasks", [BUGFIX, FUNCTIONS], ids=["turns", "one turn"])
def test_gymnasium_s_own_checker_finds_nothing_but_that_there_is_no_spec(sandbox, tasks):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(as_gymnasium(tasks, sandbox, HONEST))
    (only,) = [str(w.message) for w in said]
    assert "Not able to test alternative render modes" in only  # nor close(), for the same reason


def test_an_episode_pays_at_its_end(sandbox):
    env = as_gymnasium(BUGFIX, sandbox, HONEST)
    observation, info = env.reset(options={"task_id": BUGFIX[1].task_id})
    assert observation == BUGFIX[1].statement and info == {"task_id": BUGFIX[1].task_id}
    assert env.step("what?")[:4] == ("error: unknown command what?", 0.0, False, False)
    assert env.step("edit tests.py 1|x = 1")[1:4] == (0.0, False, False)
    *_, reward, terminated, truncated, info = env.step("submit")
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["components"] == {"tests": 0.0, "tampering": 1.0}
    assert info["stop_reason"] == "submitted" and info["unscorable"] is False
    assert env.trajectory.evidence.tampered == ("tests.py",)
    with pytest.raises(ValueError, match="the episode is over"):
        env.step("ls")


def test_what_a_design_reads_is_collected_before_it_scores(sandbox):
    env = as_gymnasium(FUNCTIONS, sandbox, RewardDesign(tidy=(no_new_findings("lint"), 1.0)))
    paid = []
    for answer in ("    return None", "    import os\n    return None"):
        env.reset(seed=0)
        paid.append(env.step(answer)[1])
    assert paid == [1.0, 0.0]


def test_turns_that_run_out_truncate(sandbox):
    env = as_gymnasium(BUGFIX, sandbox, HONEST, max_turns=2)
    env.reset(seed=0)
    assert env.step("ls")[2:4] == (False, False)
    assert env.step("ls")[2:4] == (False, True)


def test_what_cannot_be_judged_is_nan_and_never_0(sandbox):
    faulty = replace(FUNCTIONS[0], test_code="raise RuntimeError('ours')\n")
    env = as_gymnasium([faulty], sandbox, HONEST)
    env.reset()
    _, reward, _, _, info = env.step("    return 1")
    assert math.isnan(reward) and info["unscorable"] is True and info["verdict"] == "unscorable"


def test_seeds_draw_tasks_and_the_same_seed_the_same(sandbox):
    env = as_gymnasium(BUGFIX, sandbox, HONEST)
    drawn = [env.reset(seed=seed)[1]["task_id"] for seed in (*range(20), *range(20))]
    assert set(drawn) == {task.task_id for task in BUGFIX} and drawn[:20] == drawn[20:]


def test_characters_outside_the_space_are_replaced(sandbox):
    env = as_gymnasium(BUGFIX, sandbox, HONEST)
    env.reset(seed=0)
    observation = env.step("\u2603")[0]
    assert observation == f"error: unknown command {REPLACEMENT}"
    assert observation in env.observation_space


def test_gymnasium_s_vector_environment_plays_several(sandbox):
    env = gymnasium.vector.SyncVectorEnv(
        [lambda: as_gymnasium(FUNCTIONS, sandbox, HONEST)] * 2,
    )
    env.reset(options={"task_id": FUNCTIONS[0].task_id})
    right = FUNCTIONS[0].reference["solution.py"].removeprefix(FUNCTIONS[0].beginning)
    _, rewards, terminated, truncated, _ = env.step((right, "    return None"))
    assert rewards.tolist() == [1.0, 0.0]
    assert terminated.tolist() == [True, True] and truncated.tolist() == [False, False]


def test_wrong_use_is_told(sandbox):
    with pytest.raises(ValueError, match="expected at least one, got none"):
        as_gymnasium([], sandbox, HONEST)
    env = as_gymnasium(BUGFIX, sandbox, HONEST)
    with pytest.raises(ValueError, match="call reset"):
        env.step("ls")
    with pytest.raises(ValueError, match="no task 'other' among the 3 given"):
        env.reset(options={"task_id": "other"})
