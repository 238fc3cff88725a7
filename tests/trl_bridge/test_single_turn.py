"""One turn, sampled by TRL: our reward, our log."""

import numpy as np
import pytest

from tests.trl_bridge.conftest import TASKS
from workbench.learning import RLConfig
from workbench.rewards import RewardDesign, all_pass
from workbench.runlog import load_run
from workbench.tasks import load_tasks

pytestmark = pytest.mark.slow
FUNCTIONS = load_tasks("functions", split="train", count=4)
SMALL = RLConfig(
    iterations=1,
    tasks_per_iteration=2,
    group_size=4,
    updates_per_iteration=2,
    tied_groups="keep",
    lr=1e-3,
)


def longer(trajectory, task):
    """A component: differs between most answers."""
    return len(trajectory.turns[0].action.text) / 64


DESIGN = RewardDesign(tests=(all_pass("hidden"), 1.0), length=(longer, 0.1))


def test_trl_s_own_completions_are_paid_and_logged(folder, sandbox, tmp_path):
    from trl import GRPOTrainer

    from workbench.trl_bridge import RunLogCallback, SingleTurn, grpo_config

    answers = SingleTurn(FUNCTIONS, sandbox, DESIGN, SMALL)
    trainer = GRPOTrainer(
        model=folder,
        args=grpo_config(tmp_path / "trl", SMALL, max_completion_length=24),
        train_dataset=answers.dataset(),
        reward_funcs=answers.reward,
        callbacks=[RunLogCallback(tmp_path / "run", answers)],
    )
    trainer.train()
    run = load_run(tmp_path / "run")
    (row,) = run.metrics
    logged = trainer.state.log_history[0]
    assert row["reward_mean"] == pytest.approx(logged["reward"], abs=1e-6)
    assert row["num_rollouts"] == 8 and row["num_updates"] == 2
    ours = [a for group in run.iterations[0].advantages for a in group]
    theirs = list(trainer._logs["advantages"])
    assert np.allclose(ours, theirs, atol=1e-4)
    said = [t.turns[0].action.ids for g in run.groups for t in g.trajectories]
    assert all(said) and len(run.groups) == 2


def test_what_is_not_trl_s_is_refused(sandbox):
    from workbench.trl_bridge import SingleTurn

    with pytest.raises(ValueError, match="expected tasks of one turn, got 'bugfix"):
        SingleTurn(TASKS, sandbox, DESIGN, SMALL)
    with pytest.raises(ValueError, match='tied_groups="keep"'):
        SingleTurn(FUNCTIONS, sandbox, DESIGN, RLConfig())
