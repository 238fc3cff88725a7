"""Environments: the world one episode acts in, one class for one turn or many.

Stage: between the policy and the sandbox. In: a task and the policy's messages; out:
observations, and at the end a verdict with its evidence.
"""

from workbench.environments.agents import EDITOR, LOCATOR
from workbench.environments.environment import Environment
from workbench.environments.limits import OBSERVATION_CHARS, default_turns
from workbench.environments.parsing import (
    ARGUMENTS,
    CHANGES,
    LOOKS,
    parse_command,
    parse_edit,
)
from workbench.environments.state import EnvironmentState, Step

__all__ = [
    "ARGUMENTS",
    "CHANGES",
    "EDITOR",
    "LOCATOR",
    "LOOKS",
    "OBSERVATION_CHARS",
    "Environment",
    "EnvironmentState",
    "Step",
    "default_turns",
    "parse_command",
    "parse_edit",
]
