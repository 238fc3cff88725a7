"""Which scheme finds the turn that decided, and what does it cost? Against exact values.

    python benchmarks/credit.py [--tasks 8] [--groups 8] [--group-size 8] [--seed 0]

A planted policy (`workbench.counterfactuals.planted_policy`) repairs bugfix tasks with a known
probability among looks, runs and edits that do nothing. Its continuations can be counted, so the
true advantage of every turn is known. Every scheme sees the same groups and the same rewards.

    rank      mean place of the decisive turn among its attempt's turns, 1 = first (solved attempts;
              a guess is the mean place of a turn)
    first     share of the solved attempts in which the decisive turn has the most credit, alone
    corr      Pearson's correlation with the true advantage, over all turns
    rmse      error against it, in units of reward (schemes are asked not to divide by the spread)
    noise     standard deviation of a group's policy gradient over its mean in the true direction:
              lower is better; 1 means that one group's gradient is as much noise as signal
    rollouts  episodes played for it, beyond the group itself, per attempt
    cpu ms    CPU milliseconds for it, sandbox included, per attempt

In brackets 95 % intervals by a bootstrap that resamples groups. About two CPU-minutes.
The gradient is that of the policy's move probabilities as softmax logits, one set for when nothing
is known and one for after the tests passed, both shared by all tasks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from workbench import load_tasks, open_sandbox, rollout
from workbench.counterfactuals import (
    Cost,
    decisive_turn,
    exact_turn_values,
    planted_policy,
    replay_subsets,
    reroll,
)
from workbench.counterfactuals.planted import PROBABILITIES, WHEN_GREEN, moves
from workbench.credit import (
    Agreement,
    agreement,
    broadcast,
    deletion,
    discounted_returns,
    gigpo,
    potential_shaping,
    rank_of_turn,
    reroll_advantage,
    return_to_go,
    seen_passing,
    shapley,
    transitions,
)
from workbench.evaluation import SOLVED
from workbench.records import Group, Task
from workbench.sandbox import Sandbox

MAX_TURNS = 6
NUM_RESAMPLES = 400
MOVES = tuple(PROBABILITIES)
Scheme = Callable[[Group, np.ndarray], list[np.ndarray]]
Prepare = Callable[[Group, Task], tuple[Group, Cost]]


@dataclass(frozen=True)
class Sample:
    """One group, with what is true about it."""

    task: Task
    group: Group
    rewards: np.ndarray
    truth: list[np.ndarray]
    cost: Cost


@dataclass
class Found:
    """What one scheme said: an entry a group."""

    ranks: list[list[float]] = field(default_factory=list)
    credit: list[list[np.ndarray]] = field(default_factory=list)
    gradients: list[np.ndarray] = field(default_factory=list)
    cost: Cost = Cost()


def centred(group: Group, rewards: np.ndarray) -> list[np.ndarray]:
    """Broadcast in units of reward."""
    return broadcast(group, rewards, scale="none")


def anchors_only(group: Group, rewards: np.ndarray) -> list[np.ndarray]:
    """The part of gigpo that compares turns."""
    whole = gigpo(group, rewards, scale="none")
    return [a - b for a, b in zip(whole, centred(group, rewards))]


def shaped(group: Group, rewards: np.ndarray) -> list[np.ndarray]:
    """A person's guess as potential: .8 once the tests were seen to pass, else the mean reward."""
    start = float(np.mean(rewards))

    def potential(trajectory, k):
        return start + (0.8 - start) * seen_passing(trajectory, k)

    return potential_shaping(group, rewards, potential=potential)


def shaped_to_go(group: Group, rewards: np.ndarray) -> list[np.ndarray]:
    """What shaping was made for: the shaped rewards from a turn on, the potential as baseline."""
    return [discounted_returns(earned) for earned in shaped(group, rewards)]


def contestants(sandbox: Sandbox, seed: int) -> dict[str, tuple[Scheme, Prepare | None]]:
    """Name -> (scheme, what makes its evidence; None = the exact values are the evidence)."""

    def nothing(group: Group, task: Task) -> tuple[Group, Cost]:
        return group, Cost()

    def rerolls(num: int) -> Prepare:
        return lambda group, task: reroll(
            planted_policy(task), group, task, sandbox, num, seed, max_turns=MAX_TURNS
        )

    def replays(**options) -> Prepare:
        return lambda group, task: replay_subsets(group, task, sandbox, **options)

    to_go = partial(return_to_go, gamma=0.9)
    few = dict(num_orders=4, seed=seed)
    return {
        "broadcast": (centred, nothing),
        "transitions": (partial(transitions, scale="none"), nothing),
        "return_to_go, gamma .9": (to_go, nothing),
        "  same, turn_index": (partial(to_go, baseline="turn_index"), nothing),
        "gigpo": (partial(gigpo, scale="none"), nothing),
        "  same, anchors only": (anchors_only, nothing),
        "potential, the turn's change": (shaped, nothing),
        "  same, return to go": (shaped_to_go, nothing),
        "reroll x 2": (reroll_advantage, rerolls(2)),
        "reroll x 8": (reroll_advantage, rerolls(8)),
        "reroll x 32": (reroll_advantage, rerolls(32)),
        "deletion": (deletion, replays(subsets="without_one")),
        "shapley, 4 orders": (partial(shapley, **few), replays(**few)),
        "shapley, exact": (shapley, replays()),
        "exact advantage (truth)": (reroll_advantage, None),
    }


def sample(tasks: Sequence[Task], num_groups: int, group_size: int, sandbox, seed: int):
    """Groups with their exact values."""
    samples, own_seeds = [], iter(np.random.SeedSequence(seed).generate_state(9999).tolist())
    for task in tasks:
        policy = planted_policy(task)
        for _ in range(num_groups):
            options = dict(n=group_size, seed=next(own_seeds), max_turns=MAX_TURNS)
            group = rollout(policy, task, sandbox, **options)
            rewards = np.array([SOLVED.score(t, task).total for t in group.trajectories])
            known, cost = exact_turn_values(policy, group, task, sandbox, max_turns=MAX_TURNS)
            samples.append(Sample(task, known, rewards, reroll_advantage(known, rewards), cost))
    return samples


def policy_gradient(sample: Sample, credit: Sequence[np.ndarray]) -> np.ndarray:
    """(2 * moves,) mean over the attempts of the sum over turns of credit times score."""
    commands = moves(sample.task)
    move_of = {command: move for move, command in commands.items()}
    total = np.zeros((2, len(MOVES)))
    for trajectory, numbers in zip(sample.group.trajectories, credit):
        heard = sample.task.statement
        for turn, number in zip(trajectory.turns, numbers):
            is_green = heard.startswith("ok ")
            menu = WHEN_GREEN if is_green else PROBABILITIES
            score = -np.array([menu.get(move, 0.0) for move in MOVES])
            score[MOVES.index(move_of[turn.action.text])] += 1.0
            total[int(is_green)] += number * score
            heard = turn.observation
    return total.flatten() / len(sample.group.trajectories)


def judge(scheme: Scheme, prepare: Prepare | None, samples: Sequence[Sample]) -> Found:
    """Run one scheme over all groups."""
    found = Found()
    for s in samples:
        group, cost = s.group, s.cost
        if prepare is not None:
            bare = replace(s.group, turn_values=())
            group, cost = prepare(bare, s.task)
        start = time.process_time()
        credit = scheme(group, s.rewards)
        found.cost += cost + Cost(cpu_s=time.process_time() - start)
        found.credit.append(credit)
        found.gradients.append(policy_gradient(s, credit))
        decided = [decisive_turn(trajectory, s.task) for trajectory in s.group.trajectories]
        found.ranks.append(
            [
                rank_of_turn(numbers, k)
                for numbers, k in zip(credit, decided)
                if k is not None and len(numbers) > 1
            ]
        )
    return found


def noise(gradients: Sequence[np.ndarray], direction: np.ndarray) -> float:
    """Spread of a group's gradient over the mean's part in the true direction."""
    gradients = np.array(gradients)
    signal = gradients.mean(0) @ direction / np.linalg.norm(direction)
    return float(np.sqrt(gradients.var(0, ddof=1).sum()) / signal) if signal > 0 else np.inf


def cells(found: Found, samples: Sequence[Sample], direction: np.ndarray, seed: int) -> list[str]:
    """The cells of one scheme's row."""
    truth = [s.truth for s in samples]

    def ranks(some: np.ndarray) -> np.ndarray:
        return np.concatenate([found.ranks[g] for g in some])

    def match(some: np.ndarray) -> Agreement:
        said, true = ([x for g in some for x in numbers[g]] for numbers in (found.credit, truth))
        return agreement(said, true)

    def statistics(some: np.ndarray) -> list[float]:
        matched = match(some)
        return [
            ranks(some).mean(),
            100 * (ranks(some) == 1.0).mean(),
            matched.correlation,
            matched.rmse,
            noise([found.gradients[g] for g in some], direction),
        ]

    rng, n = np.random.default_rng(seed), len(samples)
    resampled = [statistics(rng.integers(n, size=n)) for _ in range(NUM_RESAMPLES)]
    ends = np.quantile(resampled, [0.025, 0.975], axis=0, method="nearest")
    num_attempts = sum(map(len, truth))
    return [
        f"{x:.{places}f} [{low:.{places}f}, {high:.{places}f}]"
        for x, low, high, places in zip(statistics(np.arange(n)), *ends, (2, 0, 2, 2, 2))
    ] + [
        f"{found.cost.num_rollouts / num_attempts:.1f}",
        f"{1000 * found.cost.cpu_s / num_attempts:.1f}",
    ]


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--groups", type=int, default=8, help="groups of each task")
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tasks = load_tasks("bugfix", split="dev", count=options.tasks)
    with open_sandbox("auto") as sandbox:
        samples = sample(tasks, options.groups, options.group_size, sandbox, options.seed)
        results = {}
        for name, (scheme, prepare) in contestants(sandbox, options.seed).items():
            results[name] = judge(scheme, prepare, samples)
    direction = np.mean(results["exact advantage (truth)"].gradients, axis=0)
    num_attempts = sum(len(s.truth) for s in samples)
    num_turns = sum(len(numbers) for s in samples for numbers in s.truth)
    num_solved = sum(s.rewards.sum() for s in samples)
    print(
        f"{len(samples)} groups of {options.group_size}, {num_solved:.0f} of {num_attempts} "
        f"attempts solved, {num_turns / num_attempts:.1f} turns an attempt"
    )
    heads = ("rank", "first, %", "corr", "rmse", "noise", "rollouts", "cpu ms")
    print(f"{'scheme':<28}" + "".join(f"{head:>19}" for head in heads))
    for name, found in results.items():
        row = cells(found, samples, direction, options.seed)
        print(f"{name:<28}" + "".join(f"{cell:>19}" for cell in row))


if __name__ == "__main__":
    main()
