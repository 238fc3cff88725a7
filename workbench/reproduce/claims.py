"""The claims: what each shows, how long it takes, what it does not show, and how to ask for one.

Stage: around the loop. In: a name and an `Order`'s fields. Out: the JSON file's path. The modules
that measure are loaded when they are asked for, so the list needs no torch.
"""

from __future__ import annotations

import importlib
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

from workbench.bootstrap import SetupError
from workbench.runlog import RUNS


@dataclass(frozen=True)
class Claim:
    """One published figure or table."""

    name: str
    """What to type; its module has the same name with underscores."""
    shows: str
    """What the table says."""
    takes: str
    """How long it takes at full size."""
    not_shown: str
    """What must not be read into it."""
    seeds: int
    """Seeds at full size."""


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    name: str
    """The claim."""
    seeds: tuple[int, ...]
    """Seeds, from 0."""
    fast: bool
    """Tiny sizes: everything runs, the numbers mean nothing."""
    policy: str
    """Base policy: a name or folder for `open_policy`."""
    folder: Path
    """Where the JSON files and the seeds' folders go."""
    started: float = field(default_factory=time.monotonic, compare=False)
    """When it was asked for (monotonic seconds)."""

    @property
    def work(self) -> Path:
        """The folder of this claim's seeds."""
        return self.folder / self.name


CLAIMS = {
    claim.name: claim
    for claim in (
        Claim(
            "headline",
            "base -> rejection fine-tuning -> RL on 256 unseen test tasks, at temperature 1 and "
            "greedy: mean over seeds with a t interval; minutes each and where they went",
            "about 10 minutes a seed on one core; two at a time: 30 minutes for 5",
            "that no teacher was needed: the base was pretrained on this grammar with scripted "
            "behaviour, good and bad; nor anything about real repositories",
            5,
        ),
        Claim(
            "cheat",
            "what a forgeable reward reports against what the hidden tests say, for RL from the "
            "base, with a penalty for edited tests, and from a policy fine-tuned on honest "
            "successes",
            "about 12 minutes a seed on one core; two at a time: 25 minutes for 3",
            "that honest fine-tuning is a cure: there the cheat is rare at the start, and longer "
            "training may find it; 8 % of the episodes the base was pretrained on edit tests",
            3,
        ),
        Claim(
            "baselines",
            "the same 256 test tasks without RL: random edits of the right file, trying every "
            "mutator on every line until the visible tests pass, and fine-tuning on the "
            "competent scripts alone with about the compute of RFT and RL",
            "about 7 minutes a seed on one core; two at a time: 15 minutes for 3",
            "that search cannot win: it is told the right function and what bugs look like, and "
            "more scripts or another optimiser may do better",
            3,
        ),
        Claim(
            "sharpening",
            "base pass@k for k up to 64 against RL pass@k on 256 test tasks, tasks that only one "
            "of them ever solves, and how often a solution restores the original line",
            "about 15 CPU-minutes for one RL seed, 8 on two cores; needs `reproduce headline`",
            "what the base does with more than 64 attempts; a task it never solved in 64 may "
            "still be within its reach",
            1,
        ),
        Claim(
            "single-turn",
            "RL on `functions` paid by all-or-nothing, by pass fraction and with credit for "
            "compiling, from the shipped base, from one that lacks the skill (a sixteenth of the "
            "pretraining) and from one taught to stumble over it (answers Python refuses): solve "
            "rates on 256 test tasks, and how many attempts it took",
            "about 40 CPU-minutes for 3 seeds, 20 on two cores",
            "what partial credit does with other tests, other weights or longer training; the two "
            "handicapped bases are made to order, not found",
            3,
        ),
        Claim(
            "turn-price",
            "RFT and RL on `bugfix` without a price on late turns, with one, and with one for "
            "attempts that solve their task only: solved, handed in and turns on 256 test tasks, "
            "with the paired difference",
            "about 5 minutes a run on one core; 9 runs, two at a time: 30 minutes for 3",
            "the best price: one was tried; a policy that hands in early because it must is not "
            "one that knows more",
            3,
        ),
        Claim(
            "trl-multi-turn",
            "LoRA on `bugfix` from the base, several turns a task, through TRL's GRPOTrainer and "
            "by our own loop at the same settings, and through TRL at its default learning rate: "
            "solved before and after on 256 test tasks, the curve, CPU minutes",
            "about 13 CPU-minutes for 3 seeds, 7 on two cores",
            "what TRL does with large models, on a GPU or with vLLM; or that the two trainers are "
            "equally good: one learning rate, found for our loop, serves both",
            3,
        ),
        Claim(
            "credit-in-training",
            "RL on `bugfix` from one fine-tuned policy a seed, driven by each credit scheme with "
            "as many rollouts in all, re-rolls included: solved on 256 test tasks, height of the "
            "dev curve, differences to broadcast seed by seed, CPU seconds",
            "about 1.5 CPU-minutes a run and seed; 27 runs, two at a time: 30 minutes for 3",
            "which scheme is best after long training, with its own learning rate, or on longer "
            "tasks; for those `benchmarks/credit_horizon.py`",
            3,
        ),
        Claim(
            "bugfix-before-after",
            "the recorded run that comes with the project, made again: 8 attempts each at 32 dev "
            "tasks by the base, the honest, the cheating and the penalised policy of seed 0, and "
            "an iteration of training half of whose attempts cheat",
            "about 2 minutes; needs one seed of `reproduce headline` and of `reproduce cheat`",
            "how often such policies come out of training; for that are `headline` and `cheat`",
            1,
        ),
        Claim(
            "credit-groups",
            "the recorded run of the credit lab, made again: groups of the trained policy, of the "
            "base and of a planted policy, with the value of every place before a turn (128 "
            "re-rolls from each, or exact) and every attempt replayed without some of its turns",
            "about 8 minutes; needs one seed of `reproduce headline`",
            "a fair sample of attempts: the groups were chosen for being solved about half of the "
            "time; and a value is the policy's own, another policy's would differ",
            1,
        ),
        Claim(
            "six-designs",
            "six rewards over the recorded run: what each pays ten attempts that tell them apart, "
            "groups that would teach nothing, agreement with the hidden tests",
            "a minute",
            "what training on one of them leads to; for that are `cheat` and `turn-price`",
            1,
        ),
        Claim(
            "prm-reliability",
            "how far a model of turns can be trusted on test tasks, by what it was fitted to "
            "(outcomes, execution, Monte-Carlo soft and hard): AUROC, calibration, first errors, "
            "rank correlation, for its own policy's attempts and another's; label noise; best of N "
            "by every aggregation; what padding gains",
            "about 10 CPU-minutes a seed; 20 minutes for 3, two at a time",
            "labels from people or from a model that judges; a larger model, or attempts so long "
            "that their end says little about their turns",
            3,
        ),
        Claim(
            "prm-gaming",
            "a model of turns as the reward of RL: what it paid and what was really solved, for "
            "sums, the last score, behind tests, as a baseline, as changes, refitted, and with one "
            "of two visible tests withheld; on test tasks at the end",
            "about 12 CPU-minutes a seed; 25 minutes for 3, two at a time",
            "what a longer run finds: 16 iterations of 48 attempts at a high learning rate, from a "
            "policy that seldom edits the tests; the refitted model asks the hidden tests again",
            3,
        ),
        Claim(
            "functions-base",
            "the base's solve rate on the suite `functions` (write f from its spec), dev split",
            "about a minute for 3",
            "skill beyond this grammar's one- to four-line functions",
            3,
        ),
    )
}


def listing() -> str:
    """What each claim shows, how long it takes and what it does not show, as text."""
    blocks = []
    for claim in CLAIMS.values():
        rows = [("shows", claim.shows), ("takes", f"{claim.takes} (--seeds {claim.seeds})")]
        rows.append(("does not show", claim.not_shown))
        wrapped = [
            textwrap.fill(text, 96, initial_indent=f"  {label:<15}", subsequent_indent=" " * 17)
            for label, text in rows
        ]
        blocks.append("\n".join((claim.name, *wrapped)))
    return "\n\n".join(blocks)


def reproduce(
    name: str,
    *,
    seeds: int | None = None,
    fast: bool = False,
    policy: str = "tiny",
    out: str | Path | None = None,
) -> Path:
    """Measure a claim, print its table and return the path of its JSON file.

    Args:
        seeds: how many, from 0; None = the claim's own number (1 if `fast`).
        fast: tiny sizes, in a folder of their own; the numbers mean nothing.
        policy: the base policy, for `open_policy`.
        out: folder of the JSON files; default runs/reproduce. Finished seeds in it are kept.
    Raises:
        SetupError: unknown name, no seeds, a finished seed of another policy or other settings,
            or something that has to be measured first.
    """
    if name not in CLAIMS:
        raise SetupError(f"reproduce: expected one of {', '.join(CLAIMS)}, got {name!r}")
    seeds = seeds if seeds is not None else 1 if fast else CLAIMS[name].seeds
    if seeds < 1:
        raise SetupError(f"--seeds: expected at least 1, got {seeds}")
    folder = Path(out) if out else RUNS / "reproduce" / ("fast" if fast else "")
    order = Order(name, tuple(range(seeds)), fast, str(policy), folder)
    return importlib.import_module(f"workbench.reproduce.{name.replace('-', '_')}").measure(order)
