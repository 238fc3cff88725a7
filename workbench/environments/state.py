"""What an environment says of one message, and where an episode stands: two records.

Stage: environments. Immutable, so that a snapshot costs nothing and two of them can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.environments.agents import Floor
from workbench.records import StopReason, ToolCall


@dataclass(frozen=True)
class Step:
    """What one message led to."""

    observation: str
    """What the environment answered; "" after submit and abstain. Nobody is told it once `done`."""
    done: bool
    """Whether the episode is over."""
    tool_call: ToolCall | None
    """The parsed command; None if the message did not parse."""
    parse_error: str | None
    """Why the message is not a command, or None."""
    stop_reason: StopReason | None
    """Why the episode is over, or None while it goes on."""


@dataclass(frozen=True)
class EnvironmentState:
    """Everything `restore` needs: immutable, so that taking one costs nothing."""

    files: Mapping[str, str]
    """The workspace; never changed in place."""
    workspace_hash: str
    """Hash of `files`."""
    num_turns: int
    """Turns taken."""
    stop_reason: StopReason | None
    """Why the episode is over, or None."""
    seen: tuple[tuple[str, str, str], ...]
    """(message, observation, workspace hash) of each turn, kept only for loop detection."""
    floor: Floor = Floor()
    """Whose turn it is, of several agents."""
