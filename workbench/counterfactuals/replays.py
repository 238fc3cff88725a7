"""Replays: the commands of an attempt played again, some of them left out, and graded again.

Stage: counterfactuals. An attempt and a choice of its turns in; what it would have been in a fresh
environment, or for every choice the reward, out. Nothing is sampled: the policy is taken to say
the same whatever it hears, so a replay answers "was this command needed?", not "what would have
been done without it?" (that is what re-rolls are for).
Left out: commands that do something else when others are missing, such as an edit whose line has
moved: they are played as they are, which is part of the answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from workbench.counterfactuals.cost import Cost, CpuMeter
from workbench.credit import draw_orders
from workbench.environments import Environment
from workbench.evaluation import SOLVED
from workbench.records import Agent, Group, SubsetValue, Task, Trajectory, Turn
from workbench.records.arguments import expect_task_of
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    from workbench.sandbox import Sandbox

MAX_PLAYERS = 10
"""Turns of which every subset is replayed at most: 1,024 replays."""


def replay(
    trajectory: Trajectory,
    task: Task,
    sandbox: Sandbox,
    kept: Collection[int] | None = None,
    agents: Sequence[Agent] = (),
) -> Trajectory:
    """What comes of the turns in `kept` (None = all), played in order in a fresh environment.

    Where the commands end without handing in, the stop reason is "max_turns". With nothing kept
    the trajectory has no turns. Actions keep the ids and logprobs they had, which belong to the
    original episode: a replay is not to be trained on. Of a team's attempt give its `agents`: each
    turn is then taken by the agent that took it, also where a hand-over was left out.

    Raises ValueError if `kept` names a turn that is not there, or the task is another one.
    """
    expect_task_of(trajectory, task)
    turns = _chosen(trajectory, kept)
    environment = Environment(task, sandbox, max_turns=max(1, len(turns)), agents=agents)
    environment.reset()
    played = []
    for turn in turns:
        if environment.stop_reason is not None:
            break
        played.append(_take_again(environment, turn))
    verdict, evidence = environment.finish()
    return replace(
        trajectory,
        turns=tuple(played),
        final_files=dict(environment.files),
        verdict=verdict,
        evidence=evidence,
        stop_reason=environment.stop_reason or "max_turns",
    )


def replay_without(
    trajectory: Trajectory,
    turns: Collection[int],
    task: Task,
    sandbox: Sandbox,
    agents: Sequence[Agent] = (),
) -> Trajectory:
    """`replay` of all turns but these."""
    _chosen(trajectory, turns)  # complains about turns that are not there
    kept = set(range(len(trajectory.turns))) - set(turns)
    return replay(trajectory, task, sandbox, kept, agents)


def ends_nothing(turn: Turn) -> bool:
    """True unless the turn hands in: without it nothing counts, so it is no question of credit."""
    return turn.tool_call is None or turn.tool_call.name not in ("submit", "write")


def replay_subsets(
    group: Group,
    task: Task,
    sandbox: Sandbox,
    *,
    subsets: Literal["all", "without_one"] = "all",
    num_orders: int | None = None,
    seed: int = 0,
    players: Callable[[Turn], bool] = ends_nothing,
    reward: RewardDesign = SOLVED,
    agents: Sequence[Agent] = (),
) -> tuple[Group, Cost]:
    """The group with `subset_values`, for `credit.shapley` and `credit.deletion`, and their cost.

    Args:
        subsets: "all": every choice of players, 2^n replays of an attempt. "without_one": all
            turns, and all but each one, n + 1 replays, enough for `deletion`.
        num_orders: in place of all subsets those that so many random orders of the players pass
            through, at most n a random order; give `shapley` the same number and seed.
        players: the turns that can be left out; the others are always played.
        reward: what an episode is worth.
        agents: of a team's attempts, its agents.
    Returns:
        (group, cost). An attempt of which one replay could not be judged has no values.
    Raises:
        ValueError: for an attempt with more than MAX_PLAYERS players, unless `num_orders` or
            "without_one" is given; for another task's group.
    """
    expect_task_of(group, task)
    meter = CpuMeter(sandbox)
    jobs = [
        (i, trajectory, kept)
        for i, trajectory in enumerate(group.trajectories)
        for kept in _subsets(trajectory, players, subsets, num_orders, seed)
    ]

    def earned(job: tuple[int, Trajectory, tuple[int, ...]]) -> float | None:
        _, trajectory, kept = job
        return reward.score(replay(trajectory, task, sandbox, kept, agents), task).total

    with ThreadPoolExecutor(max(1, sandbox.workers), "replay") as pool:
        totals = list(pool.map(earned, jobs))
    unjudged = {i for (i, _, _), total in zip(jobs, totals) if total is None}
    values = tuple(
        SubsetValue(i, kept, total)
        for (i, _, kept), total in zip(jobs, totals)
        if i not in unjudged
    )
    return replace(group, subset_values=values), Cost(len(jobs), 0, meter.seconds())


def _subsets(
    trajectory: Trajectory,
    players: Callable[[Turn], bool],
    subsets: str,
    num_orders: int | None,
    seed: int,
) -> list[tuple[int, ...]]:
    """The choices of turns to replay, each rising, none twice."""
    if subsets not in ("all", "without_one"):
        raise ValueError(f'subsets: expected "all" or "without_one", got {subsets!r}')
    able = [k for k, turn in enumerate(trajectory.turns) if players(turn)]
    always = set(range(len(trajectory.turns))) - set(able)
    if subsets == "without_one":
        chosen = [set(able), *(set(able) - {k} for k in able)]
    elif num_orders is not None:
        orders = draw_orders(able, num_orders, seed)
        chosen = [set(order[:size]) for order in orders for size in range(len(able) + 1)]
    elif len(able) > MAX_PLAYERS:
        raise ValueError(
            f"an attempt of {len(able)} turns that can be left out has {2 ** len(able)} subsets; "
            f"expected at most {MAX_PLAYERS} such turns: give num_orders, or players that are fewer"
        )
    else:
        sizes = range(len(able) + 1)
        chosen = [set(c) for size in sizes for c in itertools.combinations(able, size)]
    return list(dict.fromkeys(tuple(sorted(kept | always)) for kept in chosen))


def _chosen(trajectory: Trajectory, kept: Collection[int] | None) -> Sequence[Turn]:
    turns = trajectory.turns
    if kept is None:
        return turns
    if strangers := sorted(set(kept) - set(range(len(turns)))):
        raise ValueError(f"turns: expected numbers from 0 to {len(turns) - 1}, got {strangers}")
    return [turns[k] for k in sorted(set(kept))]


def _take_again(environment: Environment, turn: Turn) -> Turn:
    action = turn.action
    if environment.agents and environment.speaker != turn.agent:
        environment.give_floor(turn.agent)
    if action.finish == "context":
        said = environment.out_of_context()
    elif action.finish == "fault":
        said = environment.out_of_order()
    else:
        said = environment.step(action.text, too_long=action.finish == "length")
    return replace(
        turn,
        tool_call=said.tool_call,
        parse_error=said.parse_error,
        observation=said.observation,
        workspace_hash=environment.workspace_hash,
    )
