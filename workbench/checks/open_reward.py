"""The exercise "write a reward": a reader's component tried on attempts made by hand.

Stage: outside the loop. In: a component `(trajectory, task) -> float | None`, or a design; out:
which requirements it misses, in words. The attempts are not shown: a reward that was fitted to
them would say little. Left out: whether a reward is easy to learn from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from workbench.checks import stored_attempts as stored
from workbench.checks.calling import NotDone, call
from workbench.checks.comparing import shown
from workbench.checks.memory import judged, not_attempted
from workbench.checks.stored_attempts import StoredAttempt

REQUIREMENTS = {
    "success": "an honest success is paid in full",
    "partial": "a partial pass is paid less than a success",
    "split": "a partial pass is paid more than a failure",
    "failure": "failures are paid nothing, and nothing is taken from them",
    "handed_in": "what was never handed in is paid nothing",
    "edited_tests": "edited tests do not pay",
    "lookup": "passing the visible tests alone does not pay",
    "crash": "a test that never reported is not a passed test",
    "timeout": "running out of time or memory does not pay",
    "unscorable": "what cannot be judged gets None, and nothing else does",
    "no_evidence": "missing evidence is not taken for misbehaviour",
    "penalty": "editing the tests forfeits the pay, even beside a right solution",
    "pure": "the same attempt is always paid the same",
}
"""What a reward may be held to, by name."""
USUAL = frozenset(REQUIREMENTS) - {"split", "penalty"}
"""What `grade_reward` asks for unless told otherwise."""

_PAYS_NOTHING = {
    "handed_in": stored.NOT_HANDED_IN,
    "edited_tests": stored.EDITED_TESTS,
    "lookup": stored.LOOKED_UP,
    "crash": stored.CRASHED,
    "timeout": stored.TIMED_OUT,
}


class _Stub(Exception):
    """The reward has not been written yet."""


class _Endless(Exception):
    """The reward did not come back; trying it on further attempts would take as long."""


def grade_reward(
    question: str,
    reward: Any,
    *,
    requirements: Collection[str] = USUAL,
    full: float = 1.0,
    allow_partial: bool = False,
    time_limit_s: float = 5.0,
) -> None:
    """Try a reward on attempts made by hand; says which requirements it misses.

    Args:
        reward: a component, or a `RewardDesign`.
        requirements: names in REQUIREMENTS; for example `USUAL - {"handed_in"}`.
        full: what an honest success must be paid.
        allow_partial: whether tests that did pass may be paid although others failed: then
            exploits and crashes must be paid less than a success instead of nothing.
    Raises:
        ValueError: if a requirement is unknown (the notebook's mistake, not the reader's).
    """
    if unknown := sorted(set(requirements) - set(REQUIREMENTS)):
        raise ValueError(f"unknown requirements {unknown}; known are {sorted(REQUIREMENTS)}")
    component = _component(reward)
    asked = [name for name in REQUIREMENTS if name in requirements]
    most = full if allow_partial else 0.0

    def pays(attempt: StoredAttempt) -> Any:
        answer = call(component, (attempt.trajectory, stored.TASK), time_limit_s)
        if answer.is_stub:
            raise _Stub
        if isinstance(answer.error, NotDone):
            raise _Endless(f"{answer.error}\n  for {_an(attempt)}")
        if answer.error is not None:
            return answer.error
        return float(answer.value) if _is_number(answer.value) else answer.value

    try:
        missed = {name: list(_missed(name, pays, full, most)) for name in asked}
    except _Stub:
        return not_attempted(question)
    except _Endless as endless:
        return judged(question, False, str(endless))
    wrong = {name: found for name, found in missed.items() if found}
    if not wrong:
        return judged(question, True, f"right, all {len(requirements)} requirements hold.")
    lines = [f"{len(wrong)} of {len(requirements)} requirements are missed."]
    for name, found in wrong.items():
        lines += [f"  not held: {REQUIREMENTS[name]}", *(f"    it {text}" for text in found)]
    judged(question, False, "\n".join(lines))


def _component(reward: Any) -> Callable:
    if hasattr(reward, "score"):  # a design: its total is what counts
        return lambda trajectory, task: reward.score(trajectory, task).total
    return reward


def _missed(name: str, pays: Callable, full: float, most: float) -> Iterator[str]:
    """What goes against one requirement, each completing "it ..."."""
    if name == "failure":
        for attempt in stored.FAILED:
            if not _is_number(paid := pays(attempt)) or paid != 0:
                yield f"{_says(paid)} for {_an(attempt)}; expected 0"
    elif name in _PAYS_NOTHING:
        yield from _overpaid(_PAYS_NOTHING[name], pays, full, most)
    elif name == "success":
        for attempt in (stored.HONEST, stored.OUTVOTED):
            paid = pays(attempt)
            if not _is_number(paid) or not math.isclose(paid, full, abs_tol=1e-9):
                yield f"{_says(paid)} for {_an(attempt)}; expected {full:g}"
    elif name in ("partial", "split"):
        yield from _partly(name, pays, full)
    elif name == "unscorable":
        yield from _judgeable(pays)
    elif name == "no_evidence":
        paid = pays(stored.UNRECORDED)
        spared = paid is None or isinstance(paid, ValueError)
        if not spared and not (_is_number(paid) and paid >= full):
            yield f"{_says(paid)} for {_an(stored.UNRECORDED)}; expected {full:g} or None"
    elif name == "penalty":
        paid = pays(stored.TIDIED_TESTS)
        if not _is_number(paid) or paid > 0:
            yield f"{_says(paid)} for {_an(stored.TIDIED_TESTS)}"
    else:
        for attempt in stored.ALL:
            first, second = pays(attempt), pays(attempt)
            if shown(first) != shown(second):
                yield f"{_says(first)} and then {_says(second)} for {_an(attempt)}"


def _overpaid(
    attempts: Iterable[StoredAttempt], pays: Callable, full: float, most: float
) -> Iterator[str]:
    for attempt in attempts:
        paid = pays(attempt)
        hidden = attempt.trajectory.verdict.of_suite("hidden")
        some_passed = any(outcome.status == "passed" for outcome in hidden)
        earned = most > 0 and some_passed and attempt.trajectory.stop_reason == "submitted"
        if not _is_number(paid) or (paid >= full if earned else paid > 0):
            yield f"{_says(paid)} for {_an(attempt)}"


def _partly(name: str, pays: Callable, full: float) -> Iterator[str]:
    least = pays(stored.FAILED[0])
    low = least if name == "split" and _is_number(least) else -math.inf
    for attempt in stored.PARTIAL:
        paid = pays(attempt)
        if not _is_number(paid) or not low < paid < full:
            wanted = f"less than {full:g}" if low == -math.inf else f"between {low:g} and {full:g}"
            yield f"{_says(paid)} for {_an(attempt)}; expected {wanted}"


def _judgeable(pays: Callable) -> Iterator[str]:
    for attempt in stored.UNSCORABLE:
        paid = pays(attempt)
        if paid is not None:
            yield f"{_says(paid)} for {_an(attempt)}; expected None"
    for attempt in (stored.HONEST, *stored.PARTIAL, *stored.FAILED):
        if pays(attempt) is None:
            yield f"returns None for {_an(attempt)}; that can be judged"


def _is_number(paid: Any) -> bool:
    try:
        return not isinstance(paid, BaseException | str) and math.isfinite(float(paid))
    except Exception:  # a reader's object may do anything when it is asked for its number
        return False


def _says(paid: Any) -> str:
    if isinstance(paid, BaseException):
        return f"raises {shown(paid, 200)}"
    return f"pays {float(paid):g}" if _is_number(paid) else f"returns {shown(paid, 60)}"


def _an(attempt: StoredAttempt) -> str:
    return f"an attempt that {attempt.story}"
