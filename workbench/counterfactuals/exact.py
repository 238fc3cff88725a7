"""Exact values by counting: every continuation of a policy whose probabilities are known.

Stage: counterfactuals. A `MenuPolicy`, a group it sampled and the task in; the group with exact
`turn_values` out. The environment is the real one: each choice of the menu is played from a
restored snapshot, and states that are alike (workspace, turns taken, last observation) are counted
once. It is the truth that estimates and credit schemes are measured against. After a turn V is
also Q of that turn: the environment answers the same command in the same state the same way.
Left out: policies with a memory, loop detection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.counterfactuals.cost import Cost, CpuMeter
from workbench.environments import Environment, EnvironmentState
from workbench.evaluation import SOLVED
from workbench.records import Group, SamplerSettings, Task, Trajectory, TurnValue
from workbench.records.arguments import expect_task_of
from workbench.rewards import RewardDesign

if TYPE_CHECKING:
    from workbench.policies import MenuPolicy
    from workbench.sandbox import Sandbox


def exact_turn_values(
    policy: MenuPolicy,
    group: Group,
    task: Task,
    sandbox: Sandbox,
    *,
    reward: RewardDesign = SOLVED,
    max_turns: int | None = None,
) -> tuple[Group, Cost]:
    """The group with the exact value of every place before a turn, and the counting's cost.

    `reward` may look at the final files, the verdict and the stop reason only: turns are not kept
    while continuations are counted. The cost counts an episode for each different end.

    Raises ValueError if the verdict on a continuation is our fault: there is no value then; and for
    another task's group.
    """
    expect_task_of(group, task)
    meter = CpuMeter(sandbox)
    tree = _Tree(policy, Environment(task, sandbox, max_turns=max_turns), reward)
    values = []
    for i, trajectory in enumerate(group.trajectories):
        heard = tree.environment.reset()
        for k, turn in enumerate(trajectory.turns):
            values.append(TurnValue(i, k - 1, tree.value(heard), 0.0, 0, "exact"))
            heard = tree.environment.step(turn.action.text).observation
    cost = Cost(tree.num_ends, 0, meter.seconds())
    return replace(group, turn_values=tuple(values)), cost


class _Tree:
    """Values of the states met so far."""

    def __init__(self, policy: MenuPolicy, environment: Environment, reward: RewardDesign) -> None:
        self.policy, self.environment, self.reward = policy, environment, reward
        self._values: dict[tuple, float] = {}

    @property
    def num_ends(self) -> int:
        """Different ways in which an episode ended."""
        return sum(stop_reason is not None for _, _, stop_reason, _ in self._values)

    def value(self, heard: str) -> float:
        """Expected reward from where the environment stands; it stands there afterwards."""
        state = self.environment.snapshot()
        over = state.stop_reason is not None
        key = (state.workspace_hash, state.num_turns, state.stop_reason, "" if over else heard)
        if key not in self._values:
            self._values[key] = self._ended(state) if over else self._expected(state, heard)
        return self._values[key]

    def _expected(self, state: EnvironmentState, heard: str) -> float:
        total = 0.0
        for text, probability in self.policy.choices(heard).items():
            if probability > 0:
                answer = self.environment.step(text).observation
                total += probability * self.value(answer)
                self.environment.restore(state)
        return total

    def _ended(self, state: EnvironmentState) -> float:
        verdict, evidence = self.environment.finish()
        task = self.environment.task
        end = Trajectory(
            task_id=task.task_id,
            seed=0,
            sampler=SamplerSettings(),
            turns=(),
            final_files=dict(state.files),
            verdict=verdict,
            evidence=evidence,
            stop_reason=state.stop_reason,
        )
        total = self.reward.score(end, task).total
        if total is None:
            raise ValueError(
                f"{task.task_id}: expected a verdict on every continuation, got {verdict.status!r} "
                f"from sandbox {verdict.sandbox!r}; try sandbox.guarantees()"
            )
        return total
