"""How long an episode may be, and how much of an answer is shown, unless the caller says otherwise.

Stage: environments. A task goes in, a number that suits its kind comes out. Left out: limits on
tokens, which are the sampler's.
"""

from __future__ import annotations

from workbench.records import Task

OBSERVATION_CHARS = 400
"""Longer observations are cut here, so that an episode fits its context."""
REPOSITORY_OBSERVATION_CHARS = 8000
"""The same for repositories, whose files are longer."""
TURNS = 8
"""Messages of one episode: to look, to edit, to run the tests and to hand in two small files."""
REPOSITORY_TURNS = 40
"""The same for repositories: twice what a repair of one took that was written by hand, a failing
test of its own included (docs/repositories.md)."""


def default_turns(*tasks: Task) -> int:
    """Messages that suit any of the tasks. (A task without files takes one, whatever is said.)"""
    return REPOSITORY_TURNS if any(task.is_repository for task in tasks) else TURNS


def default_observation_chars(task: Task) -> int:
    """Characters after which an observation is cut."""
    return REPOSITORY_OBSERVATION_CHARS if task.is_repository else OBSERVATION_CHARS
