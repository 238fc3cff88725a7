"""What was left out of the dozen lines is named."""

import pytest

from workbench.learning import HONEST
from workbench.tasks import load_tasks
from workbench.trl_bridge import GRPO, MultiTurn, SingleTurn

TASKS = load_tasks("functions", split="train", count=1)


@pytest.mark.parametrize("make", [SingleTurn, MultiTurn])
def test_a_sandbox_or_a_design(make, sandbox):
    with pytest.raises(ValueError, match="sandbox: expected .*open_sandbox.* got RewardDesign"):
        make(TASKS, HONEST, GRPO)
    with pytest.raises(ValueError, match="design: expected a RewardDesign, got RLConfig"):
        make(TASKS, sandbox, GRPO)


def test_a_rollout_function(sandbox):
    """Then TRL samples by itself and calls the reward without the columns of `rollout`."""
    episodes = MultiTurn(TASKS, sandbox)
    told = dict(prompts=[""], completions=[""], completion_ids=[[1]], log_metric=print)
    with pytest.raises(ValueError, match="pass rollout_func=episodes.rollout"):
        episodes.reward(**told, task_id=[TASKS[0].task_id])
