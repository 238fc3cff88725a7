"""Checks of the course of training: rewards, groups, clipping, gradients, as the log shows them.

Stage: beside the loop. The same functions read TRL's log and ours (`vitals`). Left out: what the
log does not show (`weights`, `agreement`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.credit import broadcast, return_to_go, transitions
from workbench.diagnostics.cases import (
    Case,
    RunCase,
    TrainerCase,
    logged,
    recent,
    recent_rows,
)
from workbench.diagnostics.checklist import CannotTell, check
from workbench.diagnostics.thresholds import (
    CLIPPED_SHARE,
    CONTEXT_SHARE,
    DROPPED_SHARE,
    KL_PER_TOKEN,
    MIN_GROUPS,
    NEVER_ROLLOUTS,
    PINNED_ROWS,
    RECENT,
    TIED_SHARE,
    TRUNCATED_SHARE,
)
from workbench.diagnostics.vitals import Vitals, known
from workbench.stats import wilson


def first_and_last(numbers: Sequence[float]) -> str:
    """How a number went, for people."""
    return f"{numbers[0]:.3g} at first, {numbers[-1]:.3g} now"


@check(
    "truncated",
    "error",
    "trainer run",
    why="A completion that is cut off has not said what it would be paid for: the reward measures "
    "length, and brevity is learned before anything else.",
    change="Raise max_completion_length (ours: sampler.max_action_tokens, max_context), or "
    "mask_truncated_completions=True if only a few are cut.",
)
def truncated(case: Case) -> str | None:
    """Most completions are cut off at the length limit."""
    if isinstance(case, RunCase):
        attempts = [t for group in case.last_groups for t in group.trajectories]
        cut = np.mean([t.ran_out_of_tokens for t in attempts])
        said = f"{cut:.0%} of the last {len(attempts)} attempts ran out of tokens"
        return said if cut > CONTEXT_SHARE else None
    shares = recent(case, "truncated_share")
    if np.mean(shares) <= TRUNCATED_SHARE:
        return None
    limit = f" at {case.args.max_completion_length} tokens" * (case.trainer.rollout_func is None)
    return (
        f"{np.mean(shares):.0%} of the completions were cut{limit} "
        f"in the last {len(shares)} rows of the log"
    )


def _is_constant(rows: Sequence[Vitals]) -> bool:
    """Whether no reward in the whole log differs from any other."""
    means = {round(v.reward_mean, 6) for v in rows if v.reward_mean is not None}
    return len(means) == 1 and all(v.tied_share == 1.0 for v in rows)


NEVER_CLIPS = "workbench.learning.losses:reinforce_loss"
"""The loss that has no ratio to clip."""
BY_REWARD_ALONE = {
    f"{scheme.__module__}:{scheme.__qualname__}"
    for scheme in (broadcast, return_to_go, transitions)
}
"""Schemes of credit which, with no option set, give every turn of a tied group 0."""


@check(
    "tied-groups",
    "error",
    "trainer run",
    why="Compared with each other alone, attempts of equal reward have advantage 0 everywhere: "
    "nothing is learned from them, whatever they cost.",
    change="Tasks of middling difficulty (drop those never and those always solved), more attempts "
    "a group, or a reward with steps in between. If the reward is near its best: stop, and read "
    "what is paid for.",
)
def tied_groups(case: Case) -> str | None:
    """Nearly every group's rewards are all equal."""
    rows = recent_rows(case, "tied_share")
    groups = sum(v.num_groups for v in rows)
    if groups < MIN_GROUPS:
        raise CannotTell(f"{groups:.0f} groups so far; {MIN_GROUPS} are needed")
    share = np.average([v.tied_share for v in rows], weights=[v.num_groups for v in rows])
    if share < TIED_SHARE or _is_constant(case.vitals):
        return None  # the constant has checks of its own
    said = f"{share:.0%} of the last {groups:.0f} groups are tied"
    if case.credit["function"] not in BY_REWARD_ALONE or "kwargs" in case.credit:
        raise CannotTell(f"{said}, but {case.credit['function']} may teach from equal rewards")
    return f"{said}; reward {first_and_last(known(rows, 'reward_mean'))}"


@check(
    "reward-never-positive",
    "error",
    "trainer run",
    why="Nothing is ever rewarded, so there is nothing to reinforce: this does not get better by "
    "waiting.",
    change="Look at a completion and its verdict by hand. Easier tasks, rejection fine-tuning "
    "first, a partial reward (pass_fraction), or a parser that accepts what the model writes.",
)
def reward_never_positive(case: Case) -> str | None:
    """No attempt has ever been paid more than zero."""
    if isinstance(case, RunCase) and not case.vitals:
        return _nothing_to_imitate(case)
    rows = logged(case)
    num = sum(v.num_rollouts for v in rows)
    if num < NEVER_ROLLOUTS:
        raise CannotTell(f"{num:.0f} attempts so far; {NEVER_ROLLOUTS} are needed")
    means = known(rows, "reward_mean")
    if not means or max(means) > 0 or not _is_constant(rows):
        return None
    return (
        f"reward {means[-1]:g} in each of {num:.0f} attempts; a rate of {3 / num:.1%} is possible"
    )


def _nothing_to_imitate(case: RunCase) -> str | None:
    """Rejection fine-tuning that has no example."""
    rows = [row for row in case.rows if row["kind"] == "fine_tuning"]
    if not rows:
        raise CannotTell("no update is logged yet")
    if rows[-1]["num_examples"]:
        return None
    num = sum(row["num_rollouts"] for row in case.rows if row["kind"] == "iteration")
    return (
        f"not one of {num} attempts solved its task: rejection fine-tuning has nothing to imitate"
    )


@check(
    "reward-constant",
    "error",
    "trainer run",
    why="Every attempt at every task is paid the same. Where all solve their task, the tasks are "
    "too easy; where they do not, the reward does not look at the attempt.",
    change="Too easy: harder tasks. Else call the reward on two completions that should differ. "
    "Usual causes: a wrong column, a key that is never found, a cache.",
)
def reward_constant(case: Case) -> str | None:
    """Every attempt at every task gets the same reward."""
    rows = logged(case)
    num = sum(v.num_rollouts for v in rows)
    if num < NEVER_ROLLOUTS:
        raise CannotTell(f"{num:.0f} attempts so far; {NEVER_ROLLOUTS} are needed")
    if not _is_constant(rows) or rows[-1].reward_mean <= 0:
        return None
    said = f"reward {rows[-1].reward_mean:g} in each of {num:.0f} attempts"
    solved = known(rows, "solved_share")
    return f"{said}, of which {np.mean(solved):.0%} solved their task" if solved else said


@check(
    "reward-missing",
    "error",
    "trainer",
    why="TRL leaves out what a function answers with None; if it answers so for everything, that "
    "function is not part of the reward at all, and only a warning in the log says so.",
    change="Call it with what TRL passes: prompts, completions, completion_ids and the columns of "
    "the data set, by keyword. Does it find the column? Does it swallow an exception?",
)
def reward_missing(case: TrainerCase) -> str | None:
    """A reward function has never given a number."""
    rows = logged(case)
    silent = [
        name
        for name in case.trainer.reward_func_names
        if all(v.functions.get(name, (None,))[0] is None for v in rows)
    ]
    if not silent:
        return None
    return f"{', '.join(silent)}: no number for any completion in {len(rows)} rows of the log"


@check(
    "unscorable",
    "error",
    "trainer run",
    why="These attempts are lost, and not by chance: the sandbox fails on some programs and not on "
    "others, so what is left is another set of tasks.",
    change="Read the verdicts' messages; sandbox.guarantees(); fewer workers, longer wall-clock "
    "limits. grade(task, task.reference, sandbox) says whether a task can be judged at all.",
)
def unscorable(case: Case) -> str | None:
    """Too many attempts could not be judged and were dropped."""
    rows = recent_rows(case, "dropped_share")
    num = round(sum(v.num_rollouts for v in rows))
    lost = wilson(round(sum(v.num_rollouts * v.dropped_share for v in rows)), num)
    if lost.estimate <= DROPPED_SHARE:
        return None
    if lost.low <= DROPPED_SHARE:
        raise CannotTell(f"{lost.estimate:.0%} of {num} attempts so far, which may be chance")
    return f"{lost.estimate:.0%} of the attempts of the last {len(rows)} rows could not be judged"


@check(
    "clip-high",
    "error",
    "trainer run",
    why="A clipped token has no gradient. If most are clipped, the samples are from a policy that "
    "the trained one no longer resembles, or their log-probs are wrong.",
    change="Fewer updates a batch, a lower learning rate; compare sampler and trainer "
    "(checks sampler-gap and stale-sampler).",
)
def clip_high(case: Case) -> str | None:
    """Most tokens are clipped."""
    rows = [v for v in recent_rows(case, "clip_share") if v.grad_norm != 0]  # see no_gradient
    if not rows:
        return None
    share = float(np.mean(known(rows, "clip_share")))
    return f"{share:.0%} of the tokens are clipped" if share > CLIPPED_SHARE else None


@check(
    "clip-zero",
    "warning",
    "trainer run",
    why="Samples that are used more than once should leave the clip range here and there. If none "
    "ever does, the policy hardly moves: a tiny learning rate, dead adapters, tiny advantages.",
    change="Look at grad_norm and at the learning rate; raise it until about one token in a "
    "thousand is clipped.",
)
def clip_zero(case: Case) -> str | None:
    """Not one token is ever clipped although samples are used more than once."""
    rows = [v for v in logged(case) if v.clip_share is not None][-PINNED_ROWS:]
    if not rows or not rows[-1].reused:
        return None  # the ratio is 1 by construction
    if isinstance(case, RunCase) and case.settings["rl"]["loss"]["function"] == NEVER_CLIPS:
        return None
    if len(rows) < PINNED_ROWS:
        raise CannotTell(f"{len(rows)} rows so far; {PINNED_ROWS} are needed")
    if any(v.clip_share for v in rows):
        return None
    return f"0 tokens clipped in the last {len(rows)} rows, in updates on samples used before"


@check(
    "no-gradient",
    "error",
    "trainer run",
    why="The weights do not change although rewards differ: the loss does not reach them.",
    change="mask_truncated_completions with everything truncated? A loss mask of zeros "
    "(check_masks)? Frozen parameters? An optimiser made for another model? If it is no number: "
    "bfloat16 in the place of float16, a lower learning rate, and a checkpoint from before.",
)
def no_gradient(case: Case) -> str | None:
    """The gradient is zero, or no number, although groups are not tied."""
    rows = [v for v in logged(case) if v.grad_norm is not None and v.rewards_differ][-RECENT:]
    if not rows:
        raise CannotTell("in no group do rewards differ")
    if np.isnan(rows[-1].grad_norm):
        return "grad_norm is nan in the newest row: so are the weights"
    if any(v.grad_norm for v in rows):
        return None
    return f"grad_norm 0 in {len(rows)} rows in which rewards differ"


@check(
    "kl-explosion",
    "error",
    "trainer",
    why="The policy has left everything the reference would say: its text is usually noise by now, "
    "and the KL estimate grows exponentially with the distance.",
    change="Lower the learning rate, raise beta; with adapters, see that sampler and trainer hold "
    "the same ones (stale-sampler). Go back to a checkpoint before the rise.",
)
def kl_explosion(case: TrainerCase) -> str | None:
    """The KL to the reference is far beyond what a useful policy needs."""
    if case.trainer.beta == 0:
        return None
    numbers = known(logged(case), "kl")
    if not numbers or numbers[-1] < KL_PER_TOKEN:
        return None
    return f"KL {first_and_last(numbers)} nats a token; expected below {KL_PER_TOKEN:g}"
