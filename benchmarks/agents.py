"""Two agents, one reward: whom does each scheme pay?

    python benchmarks/agents.py [--tasks 4] [--groups 8] [--group-size 16] [--plays 8] [--seed 0]

A planted team (`workbench.counterfactuals.planted_team`) of a locator that hands over the right
place half of the time and an editor that writes the right text four times in five; handed the wrong
place it finds the right one by itself a quarter of the time. What each agent did is known, so an
attempt falls into one of four cases, and the true worth of each agent's part follows by hand from
the three probabilities:

    p = locates, q = edits, s = finds_alone * edits; before anything, V = p q + (1 - p) s
    locator: q - V if right, s - V if wrong;  editor: reward - q if told right, reward - s if not

Every scheme sees the same groups and is asked not to divide by the spread. The table shows the mean
credit of each agent (summed over its turns) in each case; `error` is the root mean square
difference from the truth over agents and attempts, with a 95 % interval by a bootstrap that
resamples groups, `corr` Pearson's correlation with it, and `plays` the episodes played for it,
beyond the group, per attempt.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np

from workbench import load_tasks, open_sandbox, rollout
from workbench.counterfactuals import (
    Cost,
    planted_team,
    play_agents,
    replay_subsets,
    reroll,
)
from workbench.counterfactuals.planted import moves
from workbench.credit import (
    agent_shapley,
    agreement,
    broadcast,
    difference_rewards,
    gigpo,
    reroll_advantage,
    shapley,
    sum_by_agent,
    transitions,
)
from workbench.evaluation import SOLVED
from workbench.records import Group, Task

CHANCES = dict(locates=0.5, edits=0.8, finds_alone=0.25)
CASES = ("told right, solved", "told right, failed", "told wrong, solved", "told wrong, failed")
AGENTS = ("locator", "editor")
Shares = dict[str, np.ndarray]


def told_right(trajectory, task: Task) -> bool:
    """Whether the locator handed over the wrong line's place."""
    place = moves(task)["repair"].split("|")[0].removeprefix("edit ").replace(" ", ":")
    return any(turn.action.text == f"hand {place}" for turn in trajectory.turns)


def truth(group: Group, rewards: np.ndarray, task: Task) -> Shares:
    """What each agent's part changed, by hand."""
    p, q = CHANCES["locates"], CHANCES["edits"]
    s = CHANCES["finds_alone"] * q
    start = p * q + (1 - p) * s
    middle = np.array([q if told_right(t, task) else s for t in group.trajectories])
    return {"locator": middle - start, "editor": rewards - middle}


def centred(shares: Shares) -> Shares:
    """Each agent's shares against their mean in the group: what it learns from."""
    return {name: share - share.mean() for name, share in shares.items()}


def contestants(sandbox, plays: int, seed: int) -> dict[str, Callable]:
    """Name -> (group, rewards, task, team, stand-ins) -> ({agent: (G,)}, cost)."""
    seeds = iter(np.random.SeedSequence((seed, 1)).generate_state(99_999).tolist())

    def of_turns(scheme, prepare=None):
        def shares(group, rewards, task, team, stand_ins):
            group, cost = prepare(team, group, task) if prepare else (group, Cost())
            return sum_by_agent(group, scheme(group, rewards)), cost

        return shares

    def of_agents(scheme):
        def shares(group, rewards, task, team, stand_ins):
            known, cost = play_agents(
                team, stand_ins, group, task, sandbox, num_plays=plays, seed=next(seeds)
            )
            return centred(scheme(known, rewards)), cost

        return shares

    def again(team, group, task):
        return replay_subsets(group, task, sandbox, agents=team.agents)

    def rerolled(team, group, task):
        return reroll(team, group, task, sandbox, plays, next(seeds))

    return {
        "broadcast": of_turns(partial(broadcast, scale="none")),
        "transitions": of_turns(partial(transitions, scale="none")),
        "gigpo": of_turns(partial(gigpo, scale="none")),
        "reroll": of_turns(reroll_advantage, rerolled),
        "shapley of turns, replayed": of_turns(shapley, again),
        "shapley of agents": of_agents(agent_shapley),
        "difference rewards": of_agents(difference_rewards),
    }


def sample(num_tasks: int, num_groups: int, group_size: int, sandbox, seed: int):
    """(task, team, stand-ins, group, rewards) of every group."""
    seeds = iter(np.random.SeedSequence(seed).generate_state(num_tasks * num_groups).tolist())
    for task in load_tasks("bugfix", split="dev", count=num_tasks):
        team, stand_ins = planted_team(task, **CHANCES)
        for _ in range(num_groups):
            group = rollout(team, task, sandbox, n=group_size, seed=next(seeds))
            rewards = np.array([SOLVED.score(t, task).total for t in group.trajectories])
            yield task, team, stand_ins, group, rewards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in dict(tasks=4, groups=8, group_size=16, plays=8, seed=0).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    args = parser.parse_args()
    with open_sandbox("local") as sandbox:
        samples = list(sample(args.tasks, args.groups, args.group_size, sandbox, args.seed))
        true = [truth(group, rewards, task) for task, _, _, group, rewards in samples]
        cases = [
            2 * (not told_right(t, task)) + (not reward)
            for task, _, _, group, rewards in samples
            for t, reward in zip(group.trajectories, rewards)
        ]
        counts = np.bincount(cases, minlength=4)
        print(f"{len(cases)} attempts: " + "; ".join(f"{c} {n}" for c, n in zip(CASES, counts)))
        print(f"{'locator / editor':27}" + "".join(f"{case:>21}" for case in CASES), end="")
        print(f"{'error':>21}{'corr':>7}{'plays':>7}")
        report("truth, by hand", true, true, cases, 0.0)
        for name, shares in contestants(sandbox, args.plays, args.seed).items():
            found = [shares(g, r, task, team, ins) for task, team, ins, g, r in samples]
            cost = sum((c for _, c in found), Cost())
            report(name, [f for f, _ in found], true, cases, cost.num_rollouts / len(cases))


def report(name: str, found: list[Shares], true: list[Shares], cases: list[int], plays: float):
    """One row of the table."""
    said = {agent: np.concatenate([shares[agent] for shares in found]) for agent in AGENTS}
    right = {agent: np.concatenate([shares[agent] for shares in true]) for agent in AGENTS}
    means = defaultdict(list)
    for case in range(len(CASES)):
        here = np.array(cases) == case
        means[case] = [said[a][here].mean() if here.any() else np.nan for a in AGENTS]
    match = agreement([said[a] for a in AGENTS], [right[a] for a in AGENTS])
    print(f"{name:27}" + "".join(f"{m[0]:+13.2f} / {m[1]:+.2f}" for m in means.values()), end="")
    low, high = error_between(found, true)
    print(f"{match.rmse:8.2f} [{low:.2f}, {high:.2f}]{match.correlation:7.2f}{plays:7.1f}")


def error_between(found: list[Shares], true: list[Shares]) -> tuple[float, float]:
    """The ends of the error's interval, groups resampled."""
    squares = np.array([np.mean([(f[a] - t[a]) ** 2 for a in AGENTS]) for f, t in zip(found, true)])
    picked = np.random.default_rng(0).integers(len(squares), size=(4000, len(squares)))
    return tuple(np.sqrt(np.quantile(squares[picked].mean(axis=1), [0.025, 0.975])))


if __name__ == "__main__":
    main()
