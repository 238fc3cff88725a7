"""Several agents as one policy: each has its own policy and its own context.

Stage: policy. A policy for each agent goes in; a `Team` comes out that keeps the Policy protocol,
so that rollouts, evaluation and re-rolls play it as they play any other. Who has the floor is the
environment's affair; a team's session is told with each observation whom it is for.
Left out: agents of one policy sampled in one batch (each has a session of its own).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from workbench.policies.protocol import Policy, Session
from workbench.records import Action, Agent, SamplerSettings


class Team:
    """Agents and who plays them; one policy may play several.

    >>> from workbench.environments import EDITOR, LOCATOR
    >>> from workbench.policies import ScriptedPolicy
    >>> looks, edits = ScriptedPolicy(["hand lib.py:3"]), ScriptedPolicy(["edit lib.py 3|x = 1"])
    >>> [agent.name for agent in Team({LOCATOR: looks, EDITOR: edits}).agents]
    ['locator', 'editor']
    """

    def __init__(self, policies: Mapping[Agent, Policy]):
        """`policies` names the agents in the order in which they get the floor.

        Raises ValueError if there is none, one is no `Agent`, or two have one name.
        """
        if not policies:
            raise ValueError("policies: expected at least one agent with its policy, got none")
        names = [getattr(agent, "name", None) for agent in policies]
        if None in names or len(set(names)) < len(names):
            raise ValueError(
                "policies: expected agents (records.Agent) of different names, got "
                f"{list(policies)}"
            )
        self.agents = tuple(policies)
        self.policies = {agent.name: policy for agent, policy in policies.items()}

    @property
    def version(self) -> str:
        """The versions of all agents' policies."""
        return " ".join(f"{name}:{policy.version}" for name, policy in self.policies.items())

    def open(
        self, n: int, *, seed: int = 0, sampler: SamplerSettings = SamplerSettings()
    ) -> TeamSession:
        """A session of `n` rows, in which every agent has a context a row and its own seed."""
        seeds = np.random.SeedSequence(seed).generate_state(len(self.policies)).tolist()
        return TeamSession(
            {
                name: policy.open(n, seed=own_seed, sampler=sampler)
                for (name, policy), own_seed in zip(self.policies.items(), seeds)
            },
            [self.agents[0].name] * n,
        )

    def replaced(self, stand_ins: Mapping[str, Policy]) -> Team:
        """The team with other policies for the agents of these names.

        Raises ValueError for a name that nobody has.
        """
        if strangers := sorted(set(stand_ins) - set(self.policies)):
            raise ValueError(f"stand_ins: expected some of {list(self.policies)}, got {strangers}")
        policies = self.policies | dict(stand_ins)
        return Team({agent: policies[agent.name] for agent in self.agents})


class TeamSession:
    """Session of a Team: one session an agent; each row is where its speaker's session has it."""

    def __init__(self, sessions: Mapping[str, Session], speakers: Sequence[str]):
        self._sessions, self._speakers = dict(sessions), list(speakers)

    def address(self, i: int, agent: str) -> None:
        """Row `i`'s next observation is for this agent, which then acts on it."""
        self._speakers[i] = agent

    def observe(self, i: int, text: str) -> None:
        """Give row `i`'s speaker its next observation; nobody else hears it."""
        self._sessions[self._speakers[i]].observe(i, text)

    def act(self, live: Sequence[int]) -> list[Action]:
        """One action for each row in `live`, sampled by its speaker in its own context."""
        actions: dict[int, Action] = {}
        for name, rows in self._by_speaker(live).items():
            actions.update(zip(rows, self._sessions[name].act(rows), strict=True))
        return [actions[i] for i in live]

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row's speaker had just chosen its recorded action."""
        recorded = dict(zip(live, actions, strict=True))
        for name, rows in self._by_speaker(live).items():
            self._sessions[name].recall(rows, [recorded[i] for i in rows])

    def take(self, rows: Sequence[int]) -> TeamSession:
        """A session whose row j continues `rows[j]`, for every agent."""
        taken = {name: session.take(rows) for name, session in self._sessions.items()}
        return TeamSession(taken, [self._speakers[i] for i in rows])

    def close(self) -> None:
        """Free what the agents' sessions hold."""
        for session in self._sessions.values():
            session.close()

    def _by_speaker(self, rows: Iterable[int]) -> dict[str, list[int]]:
        """The rows of each agent that has the floor in some, in the order given."""
        found = defaultdict(list)
        for i in rows:
            found[self._speakers[i]].append(i)
        return found
