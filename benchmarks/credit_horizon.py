"""When does credit a turn pay? More turns that do nothing, and more tickets in one session.

    python benchmarks/credit_horizon.py [--turns 4 8 16 32] [--tickets 2 4 8] [--seeds 20]
                                        [--rollouts 512] [--schemes NAME ...]

A policy of fourteen logits (seven moves, while nothing is known and after the tests were seen to
pass) learns to repair a bugfix task and hand it in. Everything that can happen was played by the
real environment before (`workbench.counterfactuals.World`), so that the solve rate is exact.

First table: one ticket and K turns. Each useful move is made once in about K turns and the rest is
looking around, so that whatever K is it begins by solving a quarter and plays about 0.8 K turns.
Second table: sessions of several tickets of 8 turns each, one after the other, worth the share that
is solved. A scheme that knows of rewards on the way is told with each ticket that is handed in.

Every scheme may play as many rollouts in all, re-rolls included, a group of eight attempts (with
re-rolls two) between updates, and has its own learning rate, the best of three on other seeds. The
score is the mean height of its learning curve, solve rate over rollouts: mean over seeds with
Student's 95 % interval, and the difference to `broadcast` seed by seed; * marks one whose interval
leaves out 0.

    deletion  an attempt is played again without each of its turns but the one that hands in;
              "of every turn": without that one, too, and replays, which sample nothing, are free
    exact     the true advantage, for nothing: no scheme can know more
    critic    a table: for each state of a ticket the mean of what followed in the iterations
              before; an ideal one, as it has nothing to generalise and knows how many tickets are
              to come
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from workbench import load_tasks, open_sandbox
from workbench.counterfactuals import Episode, World, explore
from workbench.counterfactuals.planted import WHEN_GREEN, moves
from workbench.counterfactuals.world import ENDS
from workbench.credit import (
    broadcast,
    deletion,
    gigpo,
    reroll_advantage,
    return_to_go,
    seen_passing,
    shaping_rewards,
    turn_gae,
)
from workbench.records import Group, SubsetValue, Trajectory, TurnValue
from workbench.stats import mean_interval

RATES = {"repair": 1.2, "spoil": 0.3, "run": 0.6, "reword": 0.6, "submit": 0.6}
"""How often each move is made at first, in K turns; looking around fills the rest."""
GROUP_SIZE = 8
TURNS_A_TICKET = 8
LEARNING_RATES = (0.1, 0.2, 0.4)
TUNING_SEEDS = range(1000, 1008)
Session = tuple[Episode, ...]


@dataclass(frozen=True)
class Arm:
    """A scheme, and what it is told."""

    credit: Callable[..., list[np.ndarray]]
    values: str = "none"
    """"none", "rerolls", "critic", "exact", or "replays": what is left without each turn."""
    on_the_way: bool = True
    """Whether it knows which turn earned what; else only what the session earned."""
    num_rerolls: int = 0
    group_size: int = GROUP_SIZE
    every_turn: bool = False
    """Replays leave out handing in as well, and cost nothing."""


def by_tests(group, rewards, *, turn_rewards):
    """Return to go with the potential's changes added to what turns earn."""

    def shaped(trajectory):
        return turn_rewards(trajectory) + shaping_rewards(trajectory, potential=seen_passing)

    return return_to_go(group, rewards, turn_rewards=shaped, scale="std")


REROLLED = Arm(reroll_advantage, "rerolls", group_size=2)
ARMS = {
    "broadcast": Arm(broadcast, on_the_way=False),
    "broadcast, not divided": Arm(partial(broadcast, scale="none"), on_the_way=False),
    "return to go": Arm(partial(return_to_go, scale="std")),
    "return to go, 0.9": Arm(partial(return_to_go, gamma=0.9, scale="std")),
    "same, by turn index": Arm(
        partial(return_to_go, gamma=0.9, scale="std", baseline="turn_index")
    ),
    "gigpo": Arm(gigpo),
    "potential: tests passed": Arm(by_tests),
    "critic, lambda 0.95": Arm(partial(turn_gae, lam=0.95), "critic"),
    "critic, lambda 0.8": Arm(partial(turn_gae, lam=0.8), "critic"),
    "re-rolls x 2": replace(REROLLED, num_rerolls=2),
    "re-rolls x 4": replace(REROLLED, num_rerolls=4),
    "deletion": Arm(deletion, "replays", on_the_way=False),
    "deletion of every turn": Arm(deletion, "replays", on_the_way=False, every_turn=True),
    "exact": Arm(reroll_advantage, "exact"),
}


class Learner:
    """A policy in a world, its optimiser, its critic, and what it has spent."""

    def __init__(
        self, world: World, arm: Arm, names: Sequence[str], turns: int, tickets: int, lr: float
    ):
        chances = {name: rate / turns for name, rate in RATES.items()}
        rest = 1 - sum(chances.values())
        chances |= {"look": 0.6 * rest, "search": 0.4 * rest}
        menus = [chances, {name: max(WHEN_GREEN.get(name, 0.0), 0.01) for name in names}]
        self.logits = np.log([[menu[name] for name in names] for menu in menus])
        self.world, self.arm, self.lr = world, arm, lr
        self.turns, self.tickets, self.rollouts = turns, tickets, 0
        self.green = np.array([heard.startswith("ok ") for heard in world.heard], dtype=int)
        self.mean, self.square, self.updates = 0.0, 0.0, 0
        self.critic, self.overall = np.zeros(len(world.heard)), np.zeros(2)
        self.visits, self.earned_after = np.zeros(len(world.heard)), np.zeros(len(world.heard))
        self.solving = {
            id(world.turns[s][m]) for s, m in zip(*np.nonzero(world.reward))
        }  # records are made once, so a turn that hands in a solution is known by its identity

    def chances(self) -> np.ndarray:
        """(S, M) probabilities of the moves in each state."""
        raised = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        return (raised / raised.sum(axis=1, keepdims=True))[self.green]

    def solve_rate(self) -> float:
        """Of a ticket, exact."""
        return float(self.world.values(self.chances(), self.turns)[self.turns, 0])

    def improve(self, rng: np.random.Generator) -> None:
        """One iteration: play a group, give credit, one Adam update."""
        chances = self.chances()
        sessions = self.played(chances, rng, self.arm.group_size)
        attempts = tuple(map(self.trajectory, sessions))
        group = Group(self.world.task_id, "", attempts)
        if self.arm.values == "replays":
            group = replace(group, subset_values=self.subset_values(sessions))
        elif self.arm.values != "none":
            group = replace(group, turn_values=self.turn_values(sessions, chances, rng))
        if self.arm.on_the_way:
            credit = self.arm.credit(group, np.zeros(len(sessions)), turn_rewards=self.earned)
        else:
            credit = self.arm.credit(group, [self.earned(t).sum() for t in attempts])
        gradient = np.zeros_like(self.logits)
        for session, numbers in zip(sessions, credit):
            states = [state for ticket in session for state in ticket.states]
            moved = [move for ticket in session for move in ticket.moves]
            rows = self.green[states]
            np.add.at(gradient, rows, -numbers[:, None] * chances[states])
            np.add.at(gradient, (rows, moved), numbers)
        self.learn_values([ticket for session in sessions for ticket in session])
        self.climb(gradient / sum(map(len, credit)))

    def played(self, chances, rng, n: int) -> list[Session]:
        """`n` sessions, paid for."""
        self.rollouts += n
        tickets = self.world.play(chances, self.turns, rng, n * self.tickets)
        return [tuple(tickets[i : i + self.tickets]) for i in range(0, len(tickets), self.tickets)]

    def rest(self, chances, rng, state: int, left: int, tickets: int) -> float:
        """What a session earns that stands in this state with so many tickets to come; paid for."""
        self.rollouts += 1
        first = self.world.play(chances, left, rng, 1, state)
        rest = self.world.play(chances, self.turns, rng, tickets)
        return sum(episode.reward for episode in first + rest) / self.tickets

    def trajectory(self, session: Session) -> Trajectory:
        """The session as one attempt."""
        parts = [self.world.trajectory(ticket) for ticket in session]
        return replace(parts[-1], turns=tuple(turn for part in parts for turn in part.turns))

    def earned(self, trajectory: Trajectory) -> np.ndarray:
        """What each turn earned: a ticket's share where it hands in a solution."""
        return np.array([id(turn) in self.solving for turn in trajectory.turns]) / self.tickets

    def turn_values(self, sessions, chances, rng) -> tuple[TurnValue, ...]:
        """What is still to be earned before each turn, from where the arm knows it."""
        exact = self.world.values(chances, self.turns)
        known: dict[tuple[int, ...], float] = {}  # attempts that begin alike share their re-rolls

        def value(said: tuple[int, ...], state: int, left: int, to_come: int) -> float:
            if self.arm.values == "exact":
                return (exact[left, state] + to_come * exact[self.turns, 0]) / self.tickets
            if self.arm.values == "critic":
                return (self.critic[state] + to_come * self.critic[0]) / self.tickets
            if said not in known:
                again = range(self.arm.num_rerolls)
                rests = [self.rest(chances, rng, state, left, to_come) for _ in again]
                known[said] = float(np.mean(rests))
            return known[said]

        values = []
        for i, session in enumerate(sessions):
            said: tuple[int, ...] = ()
            for j, ticket in enumerate(session):
                for k, (state, move) in enumerate(zip(ticket.states, ticket.moves)):
                    number = value(said, state, self.turns - k, self.tickets - 1 - j)
                    values.append(TurnValue(i, len(said) - 1, number, 0.0, 0, self.arm.values))
                    said += (move,)
        return tuple(values)

    def subset_values(self, sessions: Sequence[Session]) -> tuple[SubsetValue, ...]:
        """What each session earns as it was, and without each turn that may be left out. Of
        a session the one ticket is played again, which costs its share of a rollout."""
        values = []
        for i, session in enumerate(sessions):
            total = sum(ticket.reward for ticket in session)
            everyone = tuple(range(sum(len(ticket.moves) for ticket in session)))
            values.append(SubsetValue(i, everyone, total / self.tickets))
            number = 0
            for ticket in session:
                for k, at in enumerate(zip(ticket.states, ticket.moves)):
                    if self.arm.every_turn or self.world.next_state[at] != ENDS:
                        again = self.replayed(ticket.moves[:k] + ticket.moves[k + 1 :])
                        kept = everyone[:number] + everyone[number + 1 :]
                        earned = (total - ticket.reward + again) / self.tickets
                        values.append(SubsetValue(i, kept, earned))
                    number += 1
        return tuple(values)

    def replayed(self, moved: Sequence[int]) -> float:
        """What a ticket earns with these moves; paid for."""
        self.rollouts += (not self.arm.every_turn) / self.tickets
        state, reward = 0, 0.0
        for move in moved:
            reward, state = self.world.reward[state, move], self.world.next_state[state, move]
        return float(reward)

    def learn_values(self, tickets: Sequence[Episode], keeps: float = 0.8) -> None:
        """The critic's table: the mean of what followed each state, older iterations counting for
        less, and two visits' worth of what a ticket earns on the whole (all there is at first)."""
        states = np.concatenate([ticket.states for ticket in tickets])
        returns = np.concatenate([[t.reward] * len(t.states) for t in tickets])
        self.visits = keeps * self.visits + np.bincount(states, minlength=len(self.visits))
        earned = np.bincount(states, weights=returns, minlength=len(self.visits))
        self.earned_after = keeps * self.earned_after + earned
        self.overall = keeps * self.overall + [sum(t.reward for t in tickets), len(tickets)]
        overall = self.overall[0] / self.overall[1]
        self.critic = (self.earned_after + 2 * overall) / (self.visits + 2)

    def climb(self, gradient: np.ndarray) -> None:
        """Adam, uphill."""
        self.updates += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.95 * self.square + 0.05 * gradient**2
        mean = self.mean / (1 - 0.9**self.updates)
        square = self.square / (1 - 0.95**self.updates)
        self.logits = self.logits + self.lr * mean / (np.sqrt(square) + 1e-8)


def curve(world, arm, names, turns, tickets, budget, lr, seed) -> list[tuple[float, float]]:
    """[(share of the budget spent, exact solve rate of a ticket), ...]."""
    learner = Learner(world, arm, names, turns, tickets, lr)
    rng = np.random.default_rng((seed, turns, tickets))
    found = [(0.0, learner.solve_rate())]
    while found[-1][0] < 1.0:
        learner.improve(rng)
        found.append((learner.rollouts / budget, learner.solve_rate()))
    return found


def height(found: Sequence[tuple[float, float]]) -> float:
    """Mean height over the budget: what the policy of the moment solves, until the next update."""
    spent, rates = np.array(found).T
    return float((rates[:-1] * np.diff(np.minimum(spent, 1.0))).sum())


def print_table(world: World, names: Sequence[str], turns: int, tickets: int, options) -> None:
    """One table: a line a scheme."""
    print(f"\n{turns} turns a ticket, {tickets} ticket{'s' if tickets > 1 else ''} a session")
    chosen = [name for name in ARMS if name in options.schemes]
    head = f"minus {chosen[0]}"
    print(f"{'scheme':<26}{'lr':>5}  {'height of the curve':<22}{head:<24}last")
    first = None
    for name in chosen:
        arm = ARMS[name]
        run = partial(curve, world, arm, names, turns, tickets, options.rollouts)
        tuned = [np.mean([height(run(lr, s)) for s in TUNING_SEEDS]) for lr in LEARNING_RATES]
        lr = LEARNING_RATES[int(np.argmax(tuned))]
        curves = [run(lr, seed) for seed in range(options.seeds)]
        heights = np.array([height(found) for found in curves])
        first = heights if first is None else first
        more = mean_interval(heights - first)
        mark = "*" if more.low > 1e-6 or more.high < -1e-6 else ""
        points = f"{100 * more.estimate:+.1f} [{100 * more.low:+.1f}, {100 * more.high:+.1f}]"
        told = "" if first is heights else points + mark
        last = 100 * np.mean([found[-1][1] for found in curves])
        own = mean_interval(heights).percent()
        print(f"{name:<26}{lr:>5}  {own:<22}{told:<24}{last:.0f} %", flush=True)


def main() -> None:
    """Print a table for each number of turns, and for each number of tickets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, nargs="*", default=[4, 8, 16, 32])
    parser.add_argument("--tickets", type=int, nargs="*", default=[2, 4, 8])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rollouts", type=int, default=512)
    parser.add_argument("--schemes", nargs="+", choices=list(ARMS), default=list(ARMS))
    options = parser.parse_args()
    task = load_tasks("bugfix", split="dev", count=1)[0]
    with open_sandbox("auto") as sandbox:
        world = explore(task, sandbox, list(moves(task).values()))
    for turns in options.turns:
        print_table(world, list(moves(task)), turns, 1, options)
    for tickets in options.tickets:
        print_table(world, list(moves(task)), TURNS_A_TICKET, tickets, options)


if __name__ == "__main__":
    main()
