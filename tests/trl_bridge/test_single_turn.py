"""One turn, sampled by TRL: our reward, our log."""

from dataclasses import replace

import numpy as np
import pytest

from tests.trl_bridge.conftest import TASKS
from workbench.credit import gigpo
from workbench.evaluation import evaluate
from workbench.learning import RLConfig
from workbench.policies import open_policy
from workbench.rewards import RewardDesign, all_pass
from workbench.runlog import load_run
from workbench.tasks import load_tasks
from workbench.trl_bridge import SingleTurn, single_turn

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


def trainer_of(answers, model, tmp_path, *, data=None, dev=(), settings=None, **options):
    """TRL's own trainer; its run is logged in tmp_path / "run"."""
    from trl import GRPOTrainer

    from workbench.trl_bridge import RunLogCallback, grpo_config

    settings = dict(max_completion_length=24) | (settings or {})
    return GRPOTrainer(
        model=model,
        args=grpo_config(tmp_path / "trl", SMALL, **settings),
        train_dataset=data or answers.dataset(),
        reward_funcs=answers.reward,
        callbacks=[RunLogCallback(tmp_path / "run", answers, dev=dev)],
        **options,
    )


def test_trl_s_own_completions_are_paid_and_logged(folder, sandbox, tmp_path):
    answers = SingleTurn(FUNCTIONS, sandbox, DESIGN, SMALL)
    trainer = trainer_of(answers, folder, tmp_path)
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


def test_an_evaluation_of_trl_s_between_two_updates_is_not_in_the_log(folder, sandbox, tmp_path):
    answers = SingleTurn(FUNCTIONS, sandbox, DESIGN, SMALL)
    rows = answers.dataset()
    evaluating = dict(eval_strategy="steps", eval_steps=1, num_generations_eval=2)
    sets = dict(data=rows.select([0, 1]), eval_dataset=rows.select([2, 3]))
    trainer = trainer_of(answers, folder, tmp_path, settings=evaluating, **sets)
    trainer.train()
    (iteration,) = load_run(tmp_path / "run").iterations
    assert {task.task_id for task in iteration.tasks} == {t.task_id for t in FUNCTIONS[:2]}
    assert sum("eval_reward" in row for row in trainer.state.log_history) == 2


def test_groups_of_another_size_than_the_settings_say_are_refused(folder, sandbox, tmp_path):
    answers = SingleTurn(FUNCTIONS, sandbox, DESIGN, replace(SMALL, group_size=8))
    trainer = trainer_of(answers, folder, tmp_path)
    with pytest.raises(ValueError, match="expected groups of 8 equal ones"):
        trainer.train()


def test_a_base_model_is_told_the_same_in_training_and_in_evaluation(
    chat_folder, sandbox, tmp_path, monkeypatch
):
    folder, evaluated = chat_folder("llama", "llama3"), []
    (folder / "chat_template.jinja").unlink()
    with pytest.warns(UserWarning, match="no chat template"):
        tokenizer = open_policy(folder).tokenizer

    def watched(*given, **options):
        evaluated.append(evaluate(*given, **options))
        return evaluated[-1]

    monkeypatch.setattr(single_turn, "evaluate", watched)
    answers = SingleTurn(FUNCTIONS, sandbox, DESIGN, SMALL)
    told = dict(processing_class=tokenizer)  # the one in the folder has no template
    trainer_of(answers, str(folder), tmp_path, dev=FUNCTIONS[:1], **told).train()
    prompt = f"<|begin_of_text|>User:\n{FUNCTIONS[0].statement}\n\nAssistant:\n"
    message = answers.dataset()[0]["prompt"]
    options = dict(add_generation_prompt=True, tokenize=False)
    assert tokenizer.apply_chat_template(message, **options) == prompt
    assert len(evaluated) == 2
    for found in evaluated:
        (turn,) = found.groups[0].trajectories[0].turns
        assert tokenizer.decode(turn.action.new_ids) == prompt
    assert [row["kind"] for row in load_run(tmp_path / "run").metrics] == [
        *("evaluation", "iteration", "evaluation")
    ]


def test_what_is_not_trl_s_is_refused(sandbox):
    with pytest.raises(ValueError, match="expected tasks of one turn, got 'bugfix"):
        SingleTurn(TASKS, sandbox, DESIGN, SMALL)
    with pytest.raises(ValueError, match='tied_groups="keep"'):
        SingleTurn(FUNCTIONS, sandbox, DESIGN, RLConfig())
    with pytest.raises(ValueError, match="credit=broadcast"):
        SingleTurn(FUNCTIONS, sandbox, DESIGN, replace(SMALL, credit=gigpo))
    with pytest.raises(ValueError, match="different ids, got .* twice"):
        SingleTurn([FUNCTIONS[0], FUNCTIONS[0]], sandbox, DESIGN, SMALL)
