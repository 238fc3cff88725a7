"""Planted causes: episodes in which it is known which turn decided.

Stage: counterfactuals. A bugfix task in; a `MenuPolicy` that repairs it with a known probability
among looks, runs and edits that do nothing, and a function that names the turn which decided; or a
`Team` whose locator and editor are each right with a known probability.
Left out: two turns that are only right together.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.environments import EDITOR, LOCATOR
from workbench.policies import MenuPolicy, Policy, ScriptedPolicy, Team
from workbench.records import Task, Trajectory

PROBABILITIES = {
    "look": 0.15,
    "search": 0.10,
    "run": 0.10,
    "repair": 0.20,
    "spoil": 0.05,
    "reword": 0.10,
    "submit": 0.30,
}
"""How often each move is made while nothing is known."""
WHEN_GREEN = {"look": 0.05, "reword": 0.05, "spoil": 0.05, "submit": 0.85}
"""How often each move is made right after the tests were seen to pass."""


def moves(task: Task) -> dict[str, str]:
    """The command behind each move, for a task with one wrong line (suite `bugfix`).

    "repair" puts the right text on it, "spoil" a text that cannot be right, "reword" changes the
    comment above the function and thereby the workspace, and nothing that counts.
    """
    path = task.entry_file
    wrong, right = (files[path].splitlines() for files in (task.files, task.reference))
    number = next(n for n, pair in enumerate(zip(wrong, right), 1) if pair[0] != pair[1])
    comment = next(n for n, line in enumerate(wrong, 1) if line.lstrip().startswith("#"))
    return {
        "look": f"cat {path}",
        "search": f"grep {task.entry_point}",
        "run": "run",
        "repair": f"edit {path} {number}|{right[number - 1]}",
        "spoil": f"edit {path} {number}|    return None",
        "reword": f"edit {path} {comment}|    # reworded",
        "submit": "submit",
    }


def planted_policy(
    task: Task,
    probabilities: Mapping[str, float] = PROBABILITIES,
    when_green: Mapping[str, float] = WHEN_GREEN,
) -> MenuPolicy:
    """A policy that makes the `moves` with these probabilities.

    Args:
        probabilities: {move: probability}.
        when_green: the same for the turn after a `run` that passed.
    """
    commands = moves(task)

    def menu(observation: str) -> dict[str, float]:
        chosen = when_green if observation.startswith("ok ") else probabilities
        return {commands[move]: probability for move, probability in chosen.items()}

    return MenuPolicy(menu, version=f"planted:{task.task_id}")


def decisive_turn(trajectory: Trajectory, task: Task) -> int | None:
    """The turn that made a solved attempt solved: the last repair of a line that was wrong.

    None if the attempt was not handed in repaired.
    """
    commands = moves(task)
    decided, is_right = None, False
    for k, turn in enumerate(trajectory.turns):
        if turn.action.text == commands["repair"] and not is_right:
            decided, is_right = k, True
        elif turn.action.text == commands["spoil"]:
            decided, is_right = None, False
    return decided if trajectory.stop_reason == "submitted" else None


def planted_team(
    task: Task, locates: float = 0.5, edits: float = 0.8, finds_alone: float = 0.25
) -> tuple[Team, dict[str, Policy]]:
    """A locator and an editor that are right with these probabilities, and stand-ins for both.

    Args:
        locates: that the locator hands over the wrong line's place; else it is the comment's.
        edits: that the editor writes the right text, once it knows the place.
        finds_alone: that the editor, handed the comment's place, looks and finds the wrong line.
    Returns:
        (team, {agent: stand-in}). The locator's stand-in hands over the comment's place, the
        editor's hands in at once: by themselves they solve nothing.
    """
    commands = moves(task)
    place = commands["repair"].split("|")[0].removeprefix("edit ").replace(" ", ":")
    elsewhere = commands["reword"].split("|")[0].removeprefix("edit ").replace(" ", ":")
    writes = {commands["repair"]: edits, commands["spoil"]: 1 - edits}

    def locator(heard: str) -> Mapping[str, float]:
        if heard == task.statement:
            return {commands["look"]: 1.0}
        return {f"hand {place}": locates, f"hand {elsewhere}": 1 - locates}

    def editor(heard: str) -> Mapping[str, float]:
        if heard == f"{task.statement}\n{elsewhere}":
            return {commands["look"]: finds_alone, commands["reword"]: 1 - finds_alone}
        knows = heard == f"{task.statement}\n{place}" or "\n" in heard  # told, or has looked
        return writes if knows else {"submit": 1.0}

    team = Team({LOCATOR: MenuPolicy(locator, "locator"), EDITOR: MenuPolicy(editor, "editor")})
    stand_ins = {
        LOCATOR.name: ScriptedPolicy([f"hand {elsewhere}"]),
        EDITOR.name: ScriptedPolicy(["submit"]),
    }
    return team, stand_ins
