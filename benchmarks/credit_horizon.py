"""When does credit a turn pay? One repair, among more and more turns that do nothing.

    python benchmarks/credit_horizon.py [--turns 4 8 16 32] [--seeds 10] [--rollouts 2048]
                                        [--count rollouts]

A policy of fourteen logits (seven moves, while nothing is known and after the tests were seen to
pass) learns to repair one bugfix task and hand it in. With K turns each useful move is made once in
about K turns and the rest is looking around: whatever K is, it begins by solving 16 % of its
attempts and plays 0.8 K turns in each. Everything that can happen was played by the real
environment before (`workbench.counterfactuals.World`), so that the solve rate is exact.

Every scheme may play as many rollouts in all, re-rolls included (--count turns: as many turns), and
has its own learning rate, the best of four on other seeds. The score is the mean height of its
learning curve, solve rate over what was played. Printed: its mean over seeds with Student's 95 %
interval, and the difference to `broadcast`, seed by seed; * marks one whose interval leaves out 0.

    exact     the true advantage, for nothing: no scheme can know more
    critic    a table: for each state the mean of what followed in all iterations before, with
              lambda 0.95; an ideal one, as it has nothing to generalise
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from workbench import load_tasks, open_sandbox
from workbench.counterfactuals import Episode, World, explore
from workbench.counterfactuals.planted import moves
from workbench.credit import (
    broadcast,
    gigpo,
    reroll_advantage,
    return_to_go,
    seen_passing,
    shaping_rewards,
    turn_gae,
)
from workbench.records import Group, TurnValue
from workbench.stats import mean_interval

RATES = {"repair": 1.2, "spoil": 0.3, "run": 0.6, "reword": 0.6, "submit": 0.6}
"""How often each move is made at first, in K turns; looking around fills the rest."""
GROUP_SIZE, GROUPS = 8, 8
LEARNING_RATES = (0.05, 0.1, 0.2, 0.4)
TUNING_SEEDS = range(1000, 1003)


@dataclass(frozen=True)
class Arm:
    """A scheme, and where it gets its values from."""

    credit: Callable[..., list[np.ndarray]]
    values: str = "none"
    """"none", "rerolls", "critic" or "exact"."""
    num_rerolls: int = 0
    group_size: int = GROUP_SIZE
    num_groups: int = GROUPS


BY_TESTS = partial(shaping_rewards, potential=seen_passing)
FEW = Arm(reroll_advantage, "rerolls", group_size=2, num_groups=1)
ARMS = {
    "broadcast": Arm(partial(broadcast, scale="std")),
    "broadcast, not divided": Arm(partial(broadcast, scale="none")),
    "return to go, 0.9": Arm(partial(return_to_go, gamma=0.9, scale="std")),
    "same, by turn index": Arm(
        partial(return_to_go, gamma=0.9, scale="std", baseline="turn_index")
    ),
    "gigpo": Arm(gigpo),
    "potential: tests passed": Arm(partial(return_to_go, turn_rewards=BY_TESTS, scale="std")),
    "critic": Arm(turn_gae, "critic"),
    "re-rolls x 2": replace(FEW, num_rerolls=2),
    "re-rolls x 4": replace(FEW, num_rerolls=4),
    "exact": Arm(reroll_advantage, "exact"),
}


class Learner:
    """A policy in a world, its optimiser, its critic, and what it has spent."""

    def __init__(self, world: World, arm: Arm, names: Sequence[str], turns: int, lr: float):
        chances = {name: rate / turns for name, rate in RATES.items()}
        rest = 1 - sum(chances.values())
        chances |= {"look": 0.6 * rest, "search": 0.4 * rest}
        self.logits = np.tile(np.log([chances[name] for name in names]), (2, 1))
        self.world, self.arm, self.turns, self.lr = world, arm, turns, lr
        self.green = np.array([heard.startswith("ok ") for heard in world.heard], dtype=int)
        self.mean, self.square, self.updates = 0.0, 0.0, 0
        self.critic = np.zeros(len(world.heard))
        self.spent = {"rollouts": 0, "turns": 0}

    def chances(self) -> np.ndarray:
        """(S, M) probabilities of the moves in each state."""
        raised = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        return (raised / raised.sum(axis=1, keepdims=True))[self.green]

    def solve_rate(self) -> float:
        """Exact."""
        return float(self.world.values(self.chances(), self.turns)[self.turns, 0])

    def improve(self, rng: np.random.Generator) -> None:
        """One iteration: play, give credit, one Adam update."""
        chances, gradient, num_turns = self.chances(), np.zeros_like(self.logits), 0
        exact = self.world.values(chances, self.turns)
        seen: list[Episode] = []
        for _ in range(self.arm.num_groups):
            episodes = self.played(chances, rng, self.arm.group_size)
            group = Group(self.world.task_id, "", tuple(map(self.world.trajectory, episodes)))
            group = replace(group, turn_values=self.turn_values(episodes, chances, exact, rng))
            credit = self.arm.credit(group, [episode.reward for episode in episodes])
            for episode, numbers in zip(episodes, credit):
                rows, states = self.green[list(episode.states)], list(episode.states)
                np.add.at(gradient, rows, -numbers[:, None] * chances[states])
                np.add.at(gradient, (rows, list(episode.moves)), numbers)
                num_turns += len(states)
            seen += episodes
        self.learn_values(seen)
        self.climb(gradient / num_turns)

    def played(self, chances, rng, n: int, start: int = 0, left: int | None = None):
        """`n` episodes, paid for."""
        left = self.turns if left is None else left
        episodes = self.world.play(chances, left, rng, n, start)
        self.spent["rollouts"] += n
        self.spent["turns"] += sum(len(episode.states) for episode in episodes)
        return episodes

    def turn_values(self, episodes, chances, exact, rng) -> tuple[TurnValue, ...]:
        """The value before each turn, from where the arm has them."""
        known: dict[tuple[int, ...], float] = {}  # attempts that begin alike share their re-rolls

        def value(episode: Episode, k: int) -> float:
            state, left = episode.states[k], self.turns - k
            if self.arm.values == "exact":
                return float(exact[left, state])
            if self.arm.values == "critic":
                return float(self.critic[state])
            if episode.moves[:k] not in known:
                rests = self.played(chances, rng, self.arm.num_rerolls, state, left)
                known[episode.moves[:k]] = float(np.mean([rest.reward for rest in rests]))
            return known[episode.moves[:k]]

        if self.arm.values == "none":
            return ()
        return tuple(
            TurnValue(i, k - 1, value(episode, k), 0.0, 0, self.arm.values)
            for i, episode in enumerate(episodes)
            for k in range(len(episode.states))
        )

    def learn_values(self, episodes: Sequence[Episode], memory: float = 32.0) -> None:
        """Move the critic's table towards what followed; what it knew counts as `memory` visits."""
        states = np.concatenate([episode.states for episode in episodes])
        returns = np.concatenate([[e.reward] * len(e.states) for e in episodes])
        visits = np.bincount(states, minlength=len(self.critic))
        sums = np.bincount(states, weights=returns, minlength=len(self.critic))
        self.critic = (sums + memory * self.critic) / (visits + memory)

    def climb(self, gradient: np.ndarray) -> None:
        """Adam, uphill."""
        self.updates += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.95 * self.square + 0.05 * gradient**2
        mean = self.mean / (1 - 0.9**self.updates)
        square = self.square / (1 - 0.95**self.updates)
        self.logits = self.logits + self.lr * mean / (np.sqrt(square) + 1e-8)


def curve(world, arm, names, turns, lr, seed, budget, count) -> list[tuple[float, float]]:
    """[(share of the budget spent, exact solve rate), ...]."""
    learner, rng = Learner(world, arm, names, turns, lr), np.random.default_rng((seed, turns))
    found = [(0.0, learner.solve_rate())]
    while found[-1][0] < 1.0:
        learner.improve(rng)
        found.append((learner.spent[count] / budget, learner.solve_rate()))
    return found


def height(found: Sequence[tuple[float, float]]) -> float:
    """Mean height over the budget: what the policy of the moment solves, until the next update."""
    spent, rates = np.array(found).T
    return float((rates[:-1] * np.diff(np.minimum(spent, 1.0))).sum())


def main() -> None:
    """Print a table for each number of turns, and one of where a scheme overtakes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, nargs="+", default=[4, 8, 16, 32])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rollouts", type=int, default=2048)
    parser.add_argument("--count", choices=("rollouts", "turns"), default="rollouts")
    options = parser.parse_args()
    task = load_tasks("bugfix", split="dev", count=1)[0]
    with open_sandbox("auto") as sandbox:
        world = explore(task, sandbox, list(moves(task).values()))
    names, first = list(moves(task)), next(iter(ARMS))
    for turns in options.turns:
        budget = options.rollouts * (0.78 * turns if options.count == "turns" else 1)
        print(f"\nK = {turns}")
        print(f"{'scheme':<26}{'lr':>6}  {'height of the curve':<22}{'minus broadcast':<24}last")
        heights: dict[str, np.ndarray] = {}
        for name, arm in ARMS.items():
            run = partial(curve, world, arm, names, turns, budget=budget, count=options.count)
            tuned = [np.mean([height(run(lr, s)) for s in TUNING_SEEDS]) for lr in LEARNING_RATES]
            lr = LEARNING_RATES[int(np.argmax(tuned))]
            curves = [run(lr, seed) for seed in range(options.seeds)]
            heights[name] = np.array([height(found) for found in curves])
            more = mean_interval(heights[name] - heights[first])
            mark = "*" if more.low > 0 or more.high < 0 else ""
            points = f"{100 * more.estimate:+.1f} [{100 * more.low:+.1f}, {100 * more.high:+.1f}]"
            told = "" if name == first else points + mark
            last = 100 * np.mean([found[-1][1] for found in curves])
            own = mean_interval(heights[name]).percent()
            print(f"{name:<26}{lr:>6}  {own:<22}{told:<24}{last:.0f} %", flush=True)


if __name__ == "__main__":
    main()
