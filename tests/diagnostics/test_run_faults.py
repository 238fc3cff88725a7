"""Faults planted in runs of our own loop: each is named by `doctor(run)`."""

import copy
import json
import shutil
from dataclasses import replace

import pytest

from workbench import RewardDesign, doctor, open_policy, train
from workbench.diagnostics import SamplerProbe
from workbench.learning import HONEST, RLConfig, TrainConfig, clipped_ratio_loss, reinforce_loss
from workbench.policies import CausalLMPolicy
from workbench.runlog import RunLog, StoredIteration, load_run
from workbench.tasks import load_tasks

pytestmark = pytest.mark.slow
TASKS = load_tasks("bugfix", split="train", count=16)
DEV = load_tasks("bugfix", split="dev", count=2)
SMALL = RLConfig(iterations=3, tasks_per_iteration=4, group_size=4, updates_per_iteration=2)


@pytest.fixture
def make_run(sandbox, tmp_path):
    """A function that makes a run in which nothing is wrong, but for what it is told."""

    def make(policy=None, reward=HONEST, *, tasks=TASKS, dev=(), recipe="rl", probe=None, **rl):
        more = {k: rl.pop(k) for k in ("sampler", "max_turns", "dtype") if k in rl}
        config = TrainConfig(rl=replace(SMALL, **rl), **more)
        options = dict(config=config, reward=reward, dev=dev, on_metrics=probe)
        policy = policy or open_policy("tiny")
        return train(policy, tasks, sandbox, recipe, folder=tmp_path / "run", **options)

    return make


def finished(run):
    run.wait()
    return doctor(run.folder)


def test_a_healthy_run_while_it_goes_on_and_afterwards(make_run):
    policy = open_policy("tiny")
    probe = SamplerProbe(policy)
    run = make_run(policy, dev=DEV, probe=probe, iterations=4)
    assert doctor(run).names == ()  # whatever it has done by now
    run.wait()
    report = doctor(run, probe=probe)
    assert report.names == () and {"stale-sampler", "sampler-gap", "mask"} <= set(report.passed)
    assert max(p.gap for p in probe.probes) < 1e-4  # float32 on both sides


def spoil(run, **entries):
    """The run's config.json with other entries, as somebody's own loop might have them."""
    run.wait()
    path = run.folder / "config.json"
    config = json.loads(path.read_text())
    for name, value in entries.items():
        config["config"][name].update(value)
    path.write_text(json.dumps(config))
    return doctor(run.folder)


@pytest.mark.parametrize(
    "entries, name",
    [
        (dict(sampler={"temperature": 0.7}), "temperature"),
        (dict(rl={"group_size": 1}), "group-size"),
    ],
)
def test_settings_that_our_loop_refuses(make_run, entries, name):
    assert spoil(make_run(iterations=1), **entries).names == (name,)


def test_too_little_context(make_run):
    sampler = replace(TrainConfig().sampler, max_context=128)
    report = finished(make_run(sampler=sampler, iterations=1))
    assert set(report.names) == {"completion-budget", "truncated"}


def test_actions_that_are_cut_off(make_run):
    sampler = replace(TrainConfig().sampler, max_action_tokens=2)
    assert "truncated" in finished(make_run(sampler=sampler, iterations=1)).names


def test_adapters_at_a_rate_for_all_weights(make_run, make_lora):
    policy = open_policy("tiny", lora=make_lora())
    assert finished(make_run(policy, lr=1e-6, iterations=1)).names == ("learning-rate",)


def test_adapters_that_never_moved(make_run, make_lora):
    policy = open_policy("tiny", lora=make_lora())
    report = finished(make_run(policy, lr=0.0, iterations=2))
    assert "lora-dead" in report.names and "28 of 28 saved modules" in str(report)
    healthy = open_policy("tiny", lora=make_lora())
    shutil.rmtree(load_run(report.subject.split()[-1]).folder)
    assert "lora-dead" in finished(make_run(healthy, iterations=2)).passed


def test_evaluation_on_what_is_trained_on(make_run):
    renamed = replace(TASKS[0], task_id="mine/0", suite="mine", split="dev")
    report = finished(make_run(dev=[*DEV, renamed], iterations=1))
    assert report.names == ("eval-leak",)
    assert report.symptoms[0].seen.startswith("1 of 3 evaluation tasks are trained on")


def always(number):
    def component(trajectory, task):
        return number

    return RewardDesign(always=(component, 1.0))


@pytest.mark.parametrize(
    "number, name", [(0.0, "reward-never-positive"), (0.25, "reward-constant")]
)
def test_a_reward_that_is_always_the_same(make_run, number, name):
    run = make_run(reward=always(number), tied_groups="keep", iterations=4, max_turns=2)
    assert finished(run).names == (name,)


def by_task(trajectory, task):
    return float(len(task.statement))


def test_all_groups_tied(make_run):
    design = RewardDesign(by_task=(by_task, 1.0))
    report = finished(make_run(reward=design, tied_groups="keep", iterations=4, max_turns=2))
    assert report.names == ("tied-groups",)


def test_nothing_to_imitate(make_run):
    report = finished(make_run(recipe="rft", max_turns=1))  # no task is solved in one turn
    assert report.names == ("reward-never-positive",)
    assert "nothing to imitate" in report.symptoms[0].seen


def test_a_sandbox_that_cannot_judge(make_run):
    faulty = [replace(task, test_code="raise RuntimeError('ours')\n") for task in TASKS[::2]]
    report = finished(make_run(tasks=[*faulty, *TASKS[1::2]], iterations=2))
    assert "unscorable" in report.names


def test_nearly_every_token_clipped(make_run):
    settings = dict(clip_low=0.0, clip_high=0.0, lr=1e-2, updates_per_iteration=8, max_turns=2)
    report = finished(make_run(reward=BREVITY, iterations=2, **settings))
    assert "clip-high" in report.names


@pytest.mark.parametrize(
    ("loss", "found"), [(clipped_ratio_loss, ("clip-zero",)), (reinforce_loss, ())]
)
def test_not_one_token_ever_clipped(make_run, loss, found):
    settings = dict(lr=1e-9, iterations=10, tasks_per_iteration=2, max_turns=2)
    assert finished(make_run(reward=BREVITY, loss=loss, **settings)).names == found


def brevity(trajectory, task):
    """Differs between attempts, so that no group is tied."""
    return 1.0 / (1 + trajectory.num_action_tokens)


BREVITY = RewardDesign(brevity=(brevity, 1.0))


def no_loss(logprobs, *_, **__):
    return 0.0 * logprobs


def test_a_loss_that_does_not_reach_the_weights(make_run):
    assert finished(make_run(reward=BREVITY, loss=no_loss, max_turns=2)).names == ("no-gradient",)


class Stale(CausalLMPolicy):
    """A policy whose sessions sample from the weights it was opened with."""

    def open(self, n, **options):
        if not hasattr(self, "_old"):
            self._old = CausalLMPolicy(copy.deepcopy(self.model), self.tokenizer)
        return self._old.open(n, **options)


def test_a_sampler_that_keeps_its_first_weights(make_run, make_lora):
    opened = open_policy("tiny", lora=make_lora())
    policy = Stale(opened.model, opened.tokenizer)
    probe = SamplerProbe(policy)
    run = make_run(policy, probe=probe)
    run.wait()
    report = doctor(run, probe=probe)
    assert report.names == ("stale-sampler",)


def test_a_sampler_whose_weights_are_far_from_the_trainer_s(make_run):
    opened = open_policy("tiny")
    policy = Stale(opened.model, opened.tokenizer)
    report = finished(make_run(policy, BREVITY, lr=1e-3, iterations=4, max_turns=2))
    assert "sampler-gap" in report.names  # the log alone says so, without a probe


def test_logprobs_that_are_missing(make_run):
    run = make_run(iterations=1)
    run.wait()
    (stored,) = load_run(run.folder).iterations
    group = stored.groups[0]
    first = group.trajectories[0]
    turn = first.turns[0]
    short = replace(turn, action=replace(turn.action, logprobs=turn.action.logprobs[:-1]))
    broken = replace(first, turns=(short, *first.turns[1:]))
    groups = (replace(group, trajectories=(broken, *group.trajectories[1:])), *stored.groups[1:])
    spoiled = StoredIteration("rl", 1, stored.tasks, groups, stored.rewards, stored.advantages)
    RunLog(run.folder).append_iteration(spoiled)
    report = doctor(run.folder)
    assert report.names == ("mask",) and "turn 1:" in report.symptoms[0].seen
