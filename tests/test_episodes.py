import threading
from dataclasses import replace

import pytest

from workbench import load_tasks, rollout
from workbench.episodes import LANE_ROWS, RolloutStopped, lane_seed, rollout_many
from workbench.policies import ScriptedPolicy
from workbench.records import Action, SamplerSettings
from workbench.rewards import abstention


def solver(task):
    """A script that repairs the task: it looks, edits every line that differs, and hands in."""
    wrong, right = (f[task.entry_file].splitlines() for f in (task.files, task.reference))
    edits = [
        f"edit {task.entry_file} {number}|{line}"
        for number, (old, line) in enumerate(zip(wrong, right, strict=True), 1)
        if old != line
    ]
    return ["run", *edits, "run", "submit"]


def timeless(groups):
    """The groups without the fields that hold seconds."""
    return [
        replace(
            group,
            trajectories=tuple(
                replace(
                    t,
                    turns=tuple(replace(turn, seconds=0.0) for turn in t.turns),
                    evidence=replace(t.evidence, cpu_s=None),
                )
                for t in group.trajectories
            ),
        )
        for group in groups
    ]


class DicePolicy:
    """A policy whose commands are drawn at random from the session's seed."""

    version = "dice"

    def __init__(self, commands=("ls", "run", "grep def", "xyz", "edit lib.py 1|pass", "submit")):
        self.commands = commands

    def open(self, n, *, seed=0, sampler=SamplerSettings()):
        import numpy as np

        return DiceSession(self.commands, np.random.default_rng(seed))


class DiceSession:
    open_sessions = 0

    def __init__(self, commands, rng):
        self.commands, self.rng = commands, rng
        DiceSession.open_sessions += 1

    def observe(self, i, text):
        pass

    def act(self, live):
        texts = [self.commands[self.rng.integers(len(self.commands))] for _ in live]
        return [Action((1, 2), (-0.5, -0.5), text, "end_of_turn") for text in texts]

    def close(self):
        DiceSession.open_sessions -= 1


class CutPolicy:
    """A policy whose messages end for a given reason."""

    version = "cut"

    def __init__(self, *actions):
        self.actions = actions

    def open(self, n, *, seed=0, sampler=SamplerSettings()):
        assert n == 1
        return CutSession(list(self.actions))


class CutSession:
    def __init__(self, actions):
        self.actions = actions

    def observe(self, i, text):
        pass

    def act(self, live):
        return [self.actions.pop(0)]

    def close(self):
        pass


def test_a_rollout_records_every_turn_of_a_repair(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    group = rollout(ScriptedPolicy(solver(task)), task, sandbox, n=2, seed=5)
    assert group.task_id == task.task_id and len(group.trajectories) == 2
    trajectory = group.trajectories[0]
    assert [turn.action.text for turn in trajectory.turns] == solver(task)
    assert [turn.parse_error for turn in trajectory.turns] == [None] * 4
    assert trajectory.turns[0].observation.startswith(("FAIL", "NameError", "TypeError"))
    assert trajectory.turns[2].observation == "ok 2 passed"
    assert trajectory.stop_reason == "submitted" and trajectory.seed == 5
    assert dict(trajectory.final_files) == dict(task.reference)
    assert {o.status for o in trajectory.verdict.outcomes} == {"passed"}
    assert trajectory.turns[0].workspace_hash != trajectory.turns[1].workspace_hash


def test_sampled_ids_and_logprobs_are_kept_as_the_session_gave_them(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    turns = rollout(ScriptedPolicy(["ls", "submit"]), task, sandbox, n=1).trajectories[0].turns
    assert turns[0].action.ids == (*b"ls", 256) and turns[0].action.logprobs == (0.0,) * 3
    assert turns[1].action.kept_prefix == len(turns[0].action.new_ids) + 3


def test_single_turn_tasks_go_through_the_same_door(sandbox):
    task = load_tasks("functions", split="dev", count=1)[0]
    body = task.reference[task.entry_file].split("\n", 1)[1].rstrip("\n")
    trajectory = rollout(ScriptedPolicy([body]), task, sandbox, n=1).trajectories[0]
    assert len(trajectory.turns) == 1 and trajectory.stop_reason == "submitted"
    assert {o.status for o in trajectory.verdict.of_suite("hidden")} == {"passed"}


def test_groups_come_in_the_order_of_the_tasks_also_over_several_lanes(sandbox):
    tasks = load_tasks("bugfix", split="dev", count=6)
    groups = rollout_many(DicePolicy(), tasks, sandbox, n=3, lane_rows=4)
    assert [g.task_id for g in groups] == [t.task_id for t in tasks]
    assert all(t.task_id == g.task_id for g in groups for t in g.trajectories)
    assert {len(g.trajectories) for g in groups} == {3}


def test_the_same_seed_gives_the_same_trajectories_and_another_one_others(sandbox):
    from workbench import open_sandbox

    tasks = load_tasks("bugfix", split="dev", count=8)
    first = rollout_many(DicePolicy(), tasks, sandbox, n=2, seed=3, lane_rows=5)
    with open_sandbox("local", workers=1, reuse=False) as slow:  # other threads, other timing
        again = rollout_many(DicePolicy(), tasks, slow, n=2, seed=3, lane_rows=5)
    other = rollout_many(DicePolicy(), tasks, sandbox, n=2, seed=4, lane_rows=5)
    assert timeless(first) == timeless(again)
    assert timeless(first) != timeless(other)


def test_lanes_and_neighbouring_seeds_do_not_share_random_numbers():
    seeds = {lane_seed(seed, row) for seed in range(50) for row in range(0, 640, LANE_ROWS)}
    assert len(seeds) == 500


def test_a_message_cut_at_its_limit_is_recorded_as_malformed(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    policy = CutPolicy(
        Action((1,) * 64, (-1.0,) * 64, "run", "length"),
        Action((1, 2), (-1.0,) * 2, "submit", "end_of_turn"),
    )
    trajectory = rollout(policy, task, sandbox, n=1).trajectories[0]
    assert trajectory.turns[0].parse_error == "message too long"
    assert trajectory.turns[0].observation == "error: message too long"
    assert trajectory.stop_reason == "submitted"


def test_an_episode_without_room_ends_with_the_context(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    policy = CutPolicy(
        Action((1, 2), (-1.0,) * 2, "ls", "end_of_turn"), Action((), (), "", "context")
    )
    trajectory = rollout(policy, task, sandbox, n=1).trajectories[0]
    assert trajectory.stop_reason == "context" and len(trajectory.turns) == 2
    assert trajectory.verdict.status == "ok"


def test_turns_that_run_out_are_a_stop_reason(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    trajectory = rollout(ScriptedPolicy(["ls"] * 9), task, sandbox, n=1, max_turns=3)
    assert [len(t.turns) for t in trajectory.trajectories] == [3]
    assert trajectory.trajectories[0].stop_reason == "max_turns"


def test_progress_counts_up_to_all_episodes(sandbox):
    seen = []
    tasks = load_tasks("bugfix", split="dev", count=4)
    rollout_many(DicePolicy(), tasks, sandbox, n=2, lane_rows=3, on_progress=seen.append)
    done = [progress.num_done for progress in seen]
    assert done == sorted(done) and done[0] < 8 and done[-1] == 8
    assert {progress.num_total for progress in seen} == {8}
    assert seen[-1].waiting_s > 0 and seen[-1].sampling_s > 0


def test_stop_ends_a_rollout_in_the_middle_and_closes_its_sessions(sandbox):
    event = threading.Event()
    tasks = load_tasks("bugfix", split="dev", count=4)
    with pytest.raises(RolloutStopped):
        rollout_many(
            DicePolicy(("ls",)),
            tasks,
            sandbox,
            n=2,
            lane_rows=3,
            on_progress=lambda progress: event.set(),
            stop=event.is_set,
        )
    assert DiceSession.open_sessions == 0


def test_an_error_of_the_policy_is_raised_and_leaves_no_session_open(sandbox):
    class Failing(DiceSession):
        def act(self, live):
            raise RuntimeError("out of memory")

    class FailingPolicy(DicePolicy):
        def open(self, n, *, seed=0, sampler=SamplerSettings()):
            return Failing(self.commands, None)

    with pytest.raises(RuntimeError, match="out of memory"):
        rollout_many(FailingPolicy(), load_tasks("bugfix", split="dev", count=2), sandbox)
    assert DiceSession.open_sessions == 0


def test_a_rollout_without_attempts_is_refused(sandbox):
    with pytest.raises(ValueError, match="expected at least 1, got 0"):
        rollout(DicePolicy(), load_tasks("bugfix", split="dev", count=1)[0], sandbox, n=0)


def test_a_rollout_is_of_one_task(sandbox):
    tasks = load_tasks("bugfix", split="dev", count=2)
    with pytest.raises(ValueError, match=r"task: expected one task, got \[Task\(.*rollout_many"):
        rollout(DicePolicy(), tasks, sandbox)


def test_an_agent_may_say_that_it_has_no_answer(sandbox):
    task = load_tasks("bugfix", split="dev", count=1)[0]
    policy = ScriptedPolicy(["ls", "abstain"])
    group = rollout_many(policy, [task], sandbox, n=1, can_abstain=True)[0]
    trajectory = group.trajectories[0]
    assert trajectory.stop_reason == "abstained" and len(trajectory.turns) == 2
    assert abstention(value=0.2)(trajectory, task) == 0.2
