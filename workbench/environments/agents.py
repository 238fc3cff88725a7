"""Several agents in one episode: who has the floor, and what an agent hears when it gets it.

Stage: environments. One workspace, several contexts: each agent hears its role and the task's
statement, then only the answers to its own messages and what is handed to it. A handed message is
text; nothing else of the others' contexts reaches it.
Left out: agents that act at the same time, and choosing to whom to hand (it goes round).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.environments.parsing import parse_command
from workbench.records import Agent, ToolCall

HAND = "hand"
"""The command `hand TEXT` gives the floor to the next agent, which hears TEXT."""

LOCATOR = Agent("locator", ("ls", "cat", "grep", "run", HAND))
"""Looks, and hands over where it thinks the change belongs."""
EDITOR = Agent("editor", ("cat", "run", "edit", "insert", "submit"))
"""Hears that, changes the files and hands in."""


@dataclass(frozen=True)
class Floor:
    """Whose turn it is."""

    speaker: int = 0
    """Index of the agent that speaks next."""
    num_turns: int = 0
    """Messages it has sent since it got the floor."""
    introduced: int = 1
    """Agents that have heard the statement: they get the floor in their order."""


def checked_agents(agents: Sequence[Agent], single_turn: bool) -> tuple[Agent, ...]:
    """The agents. Raises ValueError if they cannot share an episode."""
    names = [agent.name for agent in agents]
    if len(set(names)) < len(names) or not all(agent.tools for agent in agents):
        raise ValueError(
            f"agents: expected different names and at least one tool each, got {list(agents)}"
        )
    if agents and single_turn:
        raise ValueError("agents: expected a task with files; an answer of one turn has one author")
    return tuple(agents)


def parse_as(agent: Agent, text: str) -> tuple[ToolCall | None, str | None]:
    """`parse_command` for one of several agents: it knows `hand`, and nothing it has no tool for.

    >>> parse_as(LOCATOR, "hand lib.py:3")
    (ToolCall(name='hand', argument='lib.py:3'), None)
    >>> parse_as(LOCATOR, "submit")
    (None, 'locator has no submit')
    """
    name, _, words = text.partition(" ")
    if name != HAND or "\n" in text:
        call, error = parse_command(text)
    elif words.strip():
        call, error = ToolCall(HAND, words), None
    else:
        call, error = None, f"{HAND} needs TEXT"
    if call is not None and call.name not in agent.tools:
        return None, f"{agent.name} has no {call.name}"
    return call, error


def introduction(agent: Agent, statement: str) -> str:
    """What an agent hears first: its role, if it has one, and the task's statement."""
    return f"{agent.role}\n{statement}" if agent.role else statement


def after_message(
    agents: Sequence[Agent], floor: Floor, call: ToolCall | None, answer: str, statement: str
) -> tuple[Floor, str]:
    """(who speaks next, what it hears) after a message of the speaker, answered with `answer`.

    The floor passes on where the message handed over, or was the last that the speaker may send in
    a row. The next agent then hears the answer (of `hand TEXT` that is TEXT); the first time, on a
    line of its own below the introduction.
    """
    num_turns = floor.num_turns + 1
    if not agents or not _passes_on(agents[floor.speaker], num_turns, call):
        return replace(floor, num_turns=num_turns), answer
    speaker = (floor.speaker + 1) % len(agents)
    is_new = speaker >= floor.introduced
    heard = f"{introduction(agents[speaker], statement)}\n{answer}" if is_new else answer
    return Floor(speaker, 0, max(floor.introduced, speaker + 1)), heard


def give_floor(agents: Sequence[Agent], floor: Floor, name: str) -> Floor:
    """The floor if this agent had it. Raises ValueError if there is none of that name."""
    names = [agent.name for agent in agents]
    if name not in names:
        raise ValueError(f"agent: expected one of {names}, got {name!r}")
    return Floor(names.index(name), 0, floor.introduced)


def _passes_on(speaker: Agent, num_turns: int, call: ToolCall | None) -> bool:
    if call is not None and call.name == HAND:
        return True
    return speaker.max_turns is not None and num_turns >= speaker.max_turns
