"""Every call of a policy as a sample of its own: what it read, what it said, what that was worth.

Stage: credit, towards any trainer that knows only single turns. A group and its credit in, a flat
list of calls out; whatever an agent framework did between two calls (another agent, a shortened
context) needs no masks then, because a call's input is all that the policy had before it.
Left out: sharing what calls have in common, which `learning.batch.pack` does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.credit.turns import expect_credit
from workbench.records import Group


@dataclass(frozen=True)
class Call:
    """One call of a policy: (input, output, reward) of Agent Lightning's interface."""

    agent: str
    """Who spoke."""
    input_ids: tuple[int, ...]
    """All tokens that the agent had read and said before it spoke."""
    output_ids: tuple[int, ...]
    """What it said, as sampled."""
    credit: float
    """What a scheme gave the turn: a reward or an advantage."""


def calls_of(
    group: Group, credit: Sequence[np.ndarray], agents: Collection[str] | None = None
) -> list[Call]:
    """The calls of a group in the order in which they were made, attempt by attempt.

    Args:
        credit: G arrays of shape (K,), as a scheme returns them. A turn with NaN is left out, and
            one in which nothing was said (no room was left, or what samples is broken).
        agents: whose calls; None = everybody's.
    Raises:
        ValueError: if `credit` is not one number a turn.
    Source: Luo et al. 2025 (Agent Lightning, arXiv:2508.03680), its unified data interface.
    """
    expect_credit(group, credit)
    calls = []
    for trajectory, numbers in zip(group.trajectories, credit):
        contexts: dict[str, tuple[int, ...]] = {}
        for turn, number in zip(trajectory.turns, numbers):
            action = turn.action
            read = contexts.get(turn.agent, ())[: action.kept_prefix] + action.new_ids
            contexts[turn.agent] = read + action.ids
            is_asked_for = agents is None or turn.agent in agents
            if is_asked_for and action.ids and not np.isnan(number):
                calls.append(Call(turn.agent, read, action.ids, float(number)))
    return calls
