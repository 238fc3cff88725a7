"""Components about the tests: what passed, what loaded, what never answered.

Stage: rewards. They read the verdict; `parses` reads the final files. All are None where the
verdict is ours to blame. Left out: the reward values of published systems (`presets`).
"""

from __future__ import annotations

import ast

from workbench.records import UNSCORABLE, Task, Trajectory
from workbench.rewards.components import Component, configured, needs, python_only


@configured
def all_pass(suite: str, submitted: bool = True) -> Component:
    """Component: 1.0 if every test of `suite` passed, else 0.0.

    Args:
        suite: "hidden" is the truth; "visible_as_left" is what the agent can forge.
        submitted: True = 0.0 unless the agent handed its work in; what was never handed in is
            not solved.
    Returns None if the verdict is ours to blame; raises ValueError if the suite was never run.
    """
    fraction = pass_fraction(suite, submitted)

    def component(trajectory: Trajectory, task: Task) -> float | None:
        passed = fraction(trajectory, task)
        return None if passed is None else float(passed == 1.0)

    return component


@configured
def pass_fraction(suite: str, submitted: bool = True) -> Component:
    """Component: share of the tests of `suite` that passed, in [0, 1].

    Arguments, None and errors as for `all_pass`.
    """

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.verdict.status in UNSCORABLE:
            return None
        outcomes = trajectory.verdict.of_suite(suite)
        if submitted and trajectory.stop_reason != "submitted":
            return 0.0
        return sum(outcome.status == "passed" for outcome in outcomes) / len(outcomes)

    return component


@configured
def skipped_tests(suite: str = "visible_as_left") -> Component:
    """Component: share of the tests of `suite` that were skipped, in [0, 1]; for a penalty.

    A skipped test has not passed, but a naive count of failures overlooks it: `pytest.skip` is
    one of the cheapest cheats. None and errors as for `all_pass`.
    """

    def component(trajectory: Trajectory, task: Task) -> float | None:
        if trajectory.verdict.status in UNSCORABLE:
            return None
        outcomes = trajectory.verdict.of_suite(suite)
        return sum(outcome.status == "skipped" for outcome in outcomes) / len(outcomes)

    return component


def compiles(trajectory: Trajectory, task: Task) -> float | None:
    """0.0 if loading the program raised an error, else 1.0; None if the verdict is ours to blame.

    Errors while loading: it is not Python, or an import or a top-level statement failed. A program
    that hung or left at its top level counts as compiled.
    """
    status = trajectory.verdict.status
    return None if status in UNSCORABLE else float(status != "compile_error")


def parses(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if the final entry file is there and is valid Python, else 0.0; never None.

    It reads the syntax only, where `compiles` also wants that the file can be loaded. Raises
    ValueError for a task in another language.
    """
    python_only(task, "parses")
    text = trajectory.final_files.get(task.entry_file)
    return 0.0 if text is None or syntax_tree(text) is None else 1.0


def early_exit(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if the program left before all tests had answered, else 0.0; for a penalty.

    That is a crash with tests that are "missing": `sys.exit(0)` at the top, `os._exit`, a signal.
    None if the verdict is ours to blame. Source: MacDiarmid et al. 2025 (arXiv:2511.18397), where
    leaving with exit code 0 is one of the hacks that RL found.
    """
    verdict = trajectory.verdict
    if verdict.status in UNSCORABLE:
        return None
    unanswered = any(outcome.status == "missing" for outcome in verdict.outcomes)
    return float(verdict.status == "crash" and unanswered)


def no_regression(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if every test of a repository that passed before still passes, else 0.0.

    These are the task's `pass_to_pass`; 1.0 where it names none. Only "passed" counts: a skipped
    test is a regression. None and errors as for `all_pass`.
    """
    if trajectory.verdict.status in UNSCORABLE:
        return None
    if not task.pass_to_pass:
        return 1.0
    passed = {o.name for o in trajectory.verdict.of_suite("hidden") if o.status == "passed"}
    return float(passed.issuperset(task.pass_to_pass))


@needs("agent_on_base")
def own_tests_fail_on_base(trajectory: Trajectory, task: Task) -> float | None:
    """1.0 if the agent's tests fail on the task's files and all pass on its own, else 0.0.

    A test that passes before the change says nothing about it (FrontierCode's "reverse-classical"
    check). Fails means: at least one test of "agent_on_base" is wrong or raises an error; a test
    that is skipped, missing or out of time shows nothing. Passes means: all of "visible_as_left",
    which the agent can forge. None if the verdict is ours to blame; raises ValueError if one of
    the two suites was never run.
    """
    verdict = trajectory.verdict
    if verdict.status in UNSCORABLE:
        return None
    on_base = [outcome.status for outcome in verdict.of_suite("agent_on_base")]
    as_left = [outcome.status for outcome in verdict.of_suite("visible_as_left")]
    failed = any(status in ("wrong", "error") for status in on_base)
    return float(failed and all(status == "passed" for status in as_left))


def syntax_tree(text: str) -> ast.Module | None:
    """The syntax tree of Python source, or None if it is none or nested too deep to be read."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
