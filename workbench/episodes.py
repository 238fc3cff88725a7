"""Rollouts: many episodes at once, from a policy and tasks to groups of trajectories.

Stage: sampling. Token in, token out: what the session sampled is stored untouched. Episodes play
in lanes, each with its own session and seed; while the sandbox works for one lane the policy
samples for the next, and neither the number of threads nor their timing changes what is sampled.
Left out: refilling a lane whose short episodes are over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.environments import Environment, Step
from workbench.records import Action, Agent, Group, SamplerSettings, Task, Trajectory, Turn
from workbench.records.arguments import expect, expect_episode, expect_seed

if TYPE_CHECKING:
    from workbench.policies import Policy, Session
    from workbench.sandbox import Sandbox

LANE_ROWS = 64
"""Episodes that share a session. Another number is another stream of random numbers."""
LANES_IN_FLIGHT = 2
"""Sessions open at once: one samples while the other one's commands run."""


class RolloutStopped(RuntimeError):
    """`stop` said True: nothing is returned, the unfinished groups are gone."""


@dataclass(frozen=True)
class RolloutProgress:
    """How far a call of `rollout_many` is, and where its time went."""

    num_done: int
    """Episodes that are over."""
    num_total: int
    """Episodes in all."""
    sampling_s: float
    """Wall-clock seconds inside the policy."""
    waiting_s: float
    """Wall-clock seconds of waiting for the sandbox: what its work costs the rollout."""


def rollout(
    policy: Policy,
    task: Task,
    sandbox: Sandbox,
    n: int = 8,
    seed: int = 0,
    sampler: SamplerSettings = SamplerSettings(),
    max_turns: int | None = None,
) -> Group:
    """A group: `n` trajectories of one task. Same arguments and weights, same trajectories.
    Raises ValueError as `rollout_many` does."""
    expect("task", task, Task, "one task", "a list of them is for episodes.rollout_many")
    return rollout_many(policy, [task], sandbox, n, seed, sampler=sampler, max_turns=max_turns)[0]


def rollout_many(
    policy: Policy,
    tasks: Sequence[Task],
    sandbox: Sandbox,
    n: int = 8,
    seed: int = 0,
    *,
    sampler: SamplerSettings = SamplerSettings(),
    max_turns: int | None = None,
    loop_limit: int | None = None,
    can_abstain: bool = False,
    lane_rows: int = LANE_ROWS,
    on_progress: Callable[[RolloutProgress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[Group]:
    """One group of `n` trajectories for each task, in the order of `tasks`.

    Args:
        policy: anything that keeps the Policy protocol; a `policies.Team` for several agents.
        sandbox: runs the tests and the grading, `sandbox.workers` at a time.
        seed: same seed, same trajectories, up to the fields that hold seconds.
        max_turns, loop_limit, can_abstain: see `Environment`.
        lane_rows: episodes that share a session.
        on_progress: called after every turn of a lane, and once when all is graded.
        stop: asked before every turn of a lane, for instance `threading.Event().is_set`.
    Raises:
        ValueError: if n or lane_rows < 1, or one of the others is not what it should be.
        RolloutStopped: once `stop` returns True.
    """
    expect_episode(policy, tasks, sandbox)
    seed = expect_seed("seed", seed)
    if n < 1 or lane_rows < 1:
        raise ValueError(f"n and lane_rows: expected at least 1, got {n} and {lane_rows}")
    limits = dict(max_turns=max_turns, loop_limit=loop_limit, can_abstain=can_abstain)
    limits["agents"] = agents_of(policy)
    episodes = [_Episode(Environment(t, sandbox, **limits)) for t in tasks for _ in range(n)]
    version, clock, report = policy.version, _Clock(), on_progress or (lambda progress: None)
    pool = ThreadPoolExecutor(max(1, sandbox.workers), thread_name_prefix="rollout")
    lanes = [
        _play(policy, episodes[i : i + lane_rows], lane_seed(seed, i), sampler, pool, clock)
        for i in range(0, len(episodes), lane_rows)
    ]
    try:
        for _ in _take_turns(lanes):
            report(_progress(episodes, clock))
            if stop is not None and stop():
                raise RolloutStopped(f"{len(tasks)} groups of {n} were under way")
        with clock.time("waiting"):
            done = [e.trajectory(seed, sampler, version) for e in episodes]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    report(_progress(episodes, clock))
    groups = (tuple(done[i : i + n]) for i in range(0, len(done), n))
    return [Group(group[0].task_id, version, group) for group in groups]


def play_on(
    session: Session,
    environments: Sequence[Environment],
    turns: Sequence[Sequence[Turn]],
    *,
    seed: int,
    sampler: SamplerSettings,
    version: str,
) -> list[Trajectory]:
    """Episodes that are under way, played to their end: one trajectory a row, turns so far first.

    Args:
        session: row i continues episode i and has an observation to act on. It is not closed.
        environments: one a row, where its episode stands, `Environment.restore`d for instance.
        turns: the turns each episode has had.
        seed, sampler, version: what the trajectories are to say about how they were sampled.
    """
    episodes = [_Episode(*start) for start in zip(environments, turns, strict=True)]
    workers = max(e.sandbox.workers for e in environments)
    pool, clock = ThreadPoolExecutor(max(1, workers), thread_name_prefix="rollout"), _Clock()
    try:
        for _ in _to_the_end(session, episodes, pool, clock):
            pass
        return [episode.trajectory(seed, sampler, version) for episode in episodes]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def agents_of(policy: Policy) -> tuple[Agent, ...]:
    """The agents of a `policies.Team`, for its environments; () for any other policy."""
    return getattr(policy, "agents", ())


def tell(session: Session, i: int, environment: Environment, observation: str) -> None:
    """Give row `i` its next observation: of a team's, to the agent that has the floor."""
    if environment.agents:
        session.address(i, environment.speaker)
    session.observe(i, observation)


def lane_seed(seed: int, first_row: int) -> int:
    """The seed of a lane's session, so that no two lanes share a stream of random numbers."""
    return int(np.random.SeedSequence((seed, first_row)).generate_state(1)[0])


def _take_turns(lanes: Sequence[Iterator[None]]) -> Iterator[None]:
    """Advance the lanes in turn, LANES_IN_FLIGHT at a time; yields after every turn of one."""
    unopened = deque(lanes)
    in_flight: deque[Iterator[None]] = deque()
    try:
        while unopened or in_flight:
            while unopened and len(in_flight) < LANES_IN_FLIGHT:
                in_flight.append(unopened.popleft())
            lane = in_flight[0]
            is_over = next(lane, "over") == "over"
            in_flight.popleft() if is_over else in_flight.rotate(-1)
            yield
    finally:
        for lane in in_flight:
            lane.close()  # also closes the lane's session


def _play(
    policy: Policy,
    episodes: Sequence[_Episode],
    seed: int,
    sampler: SamplerSettings,
    pool: ThreadPoolExecutor,
    clock: _Clock,
) -> Iterator[None]:
    """Play one lane to its end; yields whenever its commands have just begun to run."""
    with clock.time("sampling"):
        session = policy.open(len(episodes), seed=seed, sampler=sampler)
    try:
        for i, episode in enumerate(episodes):
            tell(session, i, episode.environment, episode.environment.reset())
        yield from _to_the_end(session, episodes, pool, clock)
    finally:
        session.close()


def _to_the_end(
    session: Session, episodes: Sequence[_Episode], pool: ThreadPoolExecutor, clock: _Clock
) -> Iterator[None]:
    """Play episodes whose rows have an observation to act on; yields as `_play` does."""
    live = list(range(len(episodes)))
    while live:
        with clock.time("sampling"):
            actions = session.act(live)
        for i, action in zip(live, actions, strict=True):
            episodes[i].begin(action, pool)
        yield
        with clock.time("waiting"):
            observations = {i: episodes[i].end(pool) for i in live}
        live = [i for i in live if observations[i] is not None]
        for i in live:
            tell(session, i, episodes[i].environment, observations[i])


class _Episode:
    """One episode while it is played."""

    def __init__(self, environment: Environment, turns: Sequence[Turn] = ()) -> None:
        self.environment, self.turns = environment, list(turns)
        self.grading: Future | None = None  # present once the episode is over

    def begin(self, action: Action, pool: ThreadPoolExecutor) -> None:
        """Begin the turn an action asks for. Only what runs code goes to the pool."""
        self._action, self._speaker = action, self.environment.speaker
        if action.finish == "end_of_turn" and self.environment.needs_sandbox(action.text):
            self._step = pool.submit(self._timed_step, action)
        else:
            self._step = Future()
            self._step.set_result(self._timed_step(action))

    def end(self, pool: ThreadPoolExecutor) -> str | None:
        """Wait for the turn and record it: the next observation, or None if that was the last."""
        step, seconds = self._step.result()
        turn = Turn(
            action=self._action,
            tool_call=step.tool_call,
            parse_error=step.parse_error,
            observation=step.observation,
            workspace_hash=self.environment.workspace_hash,
            agent=self._speaker,
            seconds=seconds,
        )
        self.turns.append(turn)
        if not step.done:
            return step.observation
        self.grading = pool.submit(self.environment.finish)
        return None

    def trajectory(self, seed: int, sampler: SamplerSettings, version: str) -> Trajectory:
        """The finished record; waits for the grading."""
        verdict, evidence = self.grading.result()
        return Trajectory(
            task_id=self.environment.task.task_id,
            seed=seed,
            sampler=sampler,
            turns=tuple(self.turns),
            final_files=dict(self.environment.files),
            verdict=verdict,
            evidence=evidence,
            stop_reason=self.environment.stop_reason,
            policy_version=version,
        )

    def _timed_step(self, action: Action) -> tuple[Step, float]:
        start, environment = time.perf_counter(), self.environment
        unsaid = {"context": environment.out_of_context, "fault": environment.out_of_order}
        if action.finish in unsaid:
            step = unsaid[action.finish]()
        else:
            step = environment.step(action.text, too_long=action.finish == "length")
        return step, time.perf_counter() - start


class _Clock:
    """Adds up where the wall-clock time of one call goes."""

    def __init__(self) -> None:
        self.seconds = {"sampling": 0.0, "waiting": 0.0}

    @contextmanager
    def time(self, what: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] += time.perf_counter() - start


def _progress(episodes: Sequence[_Episode], clock: _Clock) -> RolloutProgress:
    num_done = sum(episode.grading is not None for episode in episodes)
    return RolloutProgress(num_done, len(episodes), *clock.seconds.values())
