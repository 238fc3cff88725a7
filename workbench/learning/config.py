"""What a training run is told: frozen settings, defaults as measured on two CPU cores.

Stage: learning. Vary them with `dataclasses.replace`; `None` for a learning rate means "the
measured one for this kind of policy" and is resolved before the run's settings are stored.
Left out: KL to a reference policy, warm-up (neither was needed at this size).
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import torch

from workbench.counterfactuals import Cost
from workbench.credit import broadcast
from workbench.environments import default_turns
from workbench.learning import losses
from workbench.records import Group, SamplerSettings, Task
from workbench.records.arguments import expect

Dtype = Literal["auto", "float32", "bfloat16"]
"""Arithmetic of an update."""
LR_FULL = {"rft": 5e-4, "rl": 3e-4}
"""Measured learning rates when every weight is trained; RL at 6e-4 plateaus early."""
LR_LORA = {"rft": 3e-3, "rl": 1e-3}
"""Measured learning rates for LoRA adapters (rank 16, alpha 32, all linear layers)."""


@dataclass(frozen=True)
class RFTConfig:
    """Rejection fine-tuning: sample, keep what was solved, imitate it."""

    num_tasks: int = 256
    """Tasks sampled from."""
    group_size: int = 8
    """Attempts at each task."""
    tasks_per_iteration: int = 32
    """Tasks sampled together; one line in the metrics, one point from which a run resumes."""
    keep_per_task: int = 2
    """At most this many solved attempts of one task are imitated."""
    epochs: int = 2
    """Passes over the kept attempts."""
    batch_size: int = 32
    """Attempts in one update."""
    lr: float | None = None
    """AdamW learning rate; None: LR_FULL or LR_LORA."""
    lr_final_fraction: float = 1.0
    """The learning rate falls linearly to this fraction of itself; 1 = constant."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's decay rates."""
    weight_decay: float = 0.0
    """AdamW's weight decay."""
    grad_clip: float = 1.0
    """Largest gradient norm."""


@dataclass(frozen=True)
class RLConfig:
    """Group-relative policy gradient with a clipped ratio."""

    iterations: int = 80
    """Batches of rollouts, each followed by its updates."""
    tasks_per_iteration: int = 16
    """Groups in one batch of rollouts."""
    group_size: int = 8
    """G: attempts at each task."""
    updates_per_iteration: int = 4
    """Minibatches the rollouts are split into; one optimiser step each."""
    lr: float | None = None
    """AdamW learning rate; None: LR_FULL or LR_LORA."""
    lr_final_fraction: float = 0.1
    """The learning rate falls linearly to this fraction of itself; 1 = constant."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's decay rates."""
    weight_decay: float = 0.0
    """AdamW's weight decay."""
    grad_clip: float = 1.0
    """Largest gradient norm."""
    clip_low: float = 0.2
    """The ratio may fall to 1 - clip_low."""
    clip_high: float = 0.28
    """The ratio may rise to 1 + clip_high: larger, so that rare tokens can grow (DAPO)."""
    evidence: Callable[..., tuple[list[Group], Cost]] | None = None
    """What is found out about an iteration's groups before they are scored, such as the values of
    their turns: `counterfactuals.Rerolls(4)`, `process_rewards.Critic()`, or one of yours. Called
    as evidence(policy, groups, tasks, sandbox, seed=, reward=, max_turns=, stop=); returns the
    groups with it, and what it cost. One that remembers has a method `fresh`, which a run calls
    for one of its own; such a run cannot be resumed. None: nothing beyond the rollouts."""
    credit: Callable[..., list[np.ndarray]] = broadcast
    """Which turn earned the reward: a scheme of `workbench.credit` that needs the rollouts only
    (`broadcast`, `return_to_go`, `transitions`, `gigpo`) or what `evidence` adds to them
    (`reroll_advantage`, `turn_gae`), one with options filled in by `functools.partial`, or one of
    yours. Called as scheme(group, rewards, scale=, ddof=). `shapley`, `deletion` and `rudder`
    share out what an attempt earned and compare it with nothing: to look at, not to train on."""
    advantage_scale: Literal["std", "none"] = "std"
    """Divide advantages by the group's spread, or only centre them. The spread of what, where turns
    differ, is the scheme's to say."""
    advantage_ddof: int = 1
    """1 = sample standard deviation, 0 = population."""
    tied_groups: Literal["drop", "keep"] = "drop"
    """What happens to a group whose advantages are all zero, as with equal rewards where attempts
    are compared with each other. (Compared with a value, a group of equal rewards can teach, and
    stays.) Kept, it teaches nothing, yet its tokens stay in the mean's denominator and make every
    other token's pull smaller."""
    loss: Callable[..., torch.Tensor] = losses.clipped_ratio_loss
    """Loss of each token: a function from `workbench.learning.losses` or one of yours."""
    token_weights: Callable[[torch.Tensor], torch.Tensor] = losses.token_mean_weights
    """How the tokens' losses are averaged."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything `train` can be told."""

    rft: RFTConfig = RFTConfig()
    """Settings of the rejection fine-tuning stage."""
    rl: RLConfig = RLConfig()
    """Settings of the RL stage."""
    sampler: SamplerSettings = SamplerSettings()
    """How actions are sampled; training needs temperature 1."""
    max_turns: int | None = None
    """An attempt ends after this many turns; None: as many as suit the tasks that are practised on
    (`environments.default_turns`)."""
    dtype: Dtype = "auto"
    """Arithmetic of the update. "auto": bfloat16 autocast where the CPU has instructions for it
    (1.5 times as fast), else float32. Weights, optimiser and sampling stay float32."""
    tokens_per_microbatch: int = 1024
    """Padded tokens in one forward and backward pass; small ones stay in the CPU's cache."""
    update_threads: int | None = None
    """Microbatches worked on at a time; None = one for each CPU that torch's own threads leave
    free. Changes the speed and nothing else."""
    evaluate_every: int = 0
    """Evaluate on the `dev` tasks after every so many RL iterations, and at the end of each
    stage; 0 = never."""
    checkpoint_every: int = 1
    """Iterations between checkpoints; the last two are kept."""


_FROM_0_UP = "a finite number from 0 up", lambda value: 0.0 <= value < math.inf
_RANGE = "a number from 0 up", lambda value: value >= 0.0  # infinite: never clipped
_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "lr": ("None or " + _FROM_0_UP[0], lambda value: value is None or _FROM_0_UP[1](value)),
    "lr_final_fraction": _FROM_0_UP,
    "betas": ("two numbers in [0, 1)", lambda pair: [0.0 <= b < 1.0 for b in pair] == [True] * 2),
    "weight_decay": _FROM_0_UP,
    "grad_clip": ("a number above 0", lambda value: value > 0.0),
    "clip_low": _RANGE,
    "clip_high": _RANGE,
    "evidence": ("None or what can be called", lambda value: value is None or callable(value)),
    "advantage_scale": ('"std" or "none"', ("std", "none").__contains__),
    "advantage_ddof": ("0 or 1", (0, 1).__contains__),
    "tied_groups": ('"drop" or "keep"', ("drop", "keep").__contains__),
    "dtype": ('"auto", "float32" or "bfloat16"', ("auto", "float32", "bfloat16").__contains__),
}
"""What a setting of one of the three records must be, in words and as a test of the value."""


def resolve(config: TrainConfig, *, lora: bool, tasks: Sequence[Task] = ()) -> TrainConfig:
    """`config` with every "auto" and None replaced by the value that this machine, this policy and
    the tasks that are practised on get.

    Raises ValueError for settings under which the update would be wrong.
    """
    how = "write TrainConfig(rl=RLConfig(...)), or rft=RFTConfig(...)"
    expect("config", config, TrainConfig, "a TrainConfig", how)
    for place, settings in {"": config, "rft.": config.rft, "rl.": config.rl}.items():
        _check_settings(place, settings)
    if config.sampler.temperature != 1.0:
        raise ValueError(
            f"sampler.temperature: training needs 1.0, got {config.sampler.temperature}; the "
            "ratio compares the policy with itself only at temperature 1"
        )
    for name in ("iterations", "tasks_per_iteration", "updates_per_iteration"):
        if getattr(config.rl, name) < 1:
            raise ValueError(
                f"rl.{name}: expected at least 1, got {getattr(config.rl, name)}; a run without "
                'RL is recipe="rft"'
            )
    if config.rl.group_size < 2:
        raise ValueError(
            f"rl.group_size: expected at least 2, got {config.rl.group_size}; "
            "an attempt is compared with the others of its group"
        )
    _check_evidence_and_credit(config.rl)
    rates = LR_LORA if lora else LR_FULL
    rft, rl, dtype, turns = config.rft, config.rl, resolve_dtype(config.dtype), config.max_turns
    if rft.lr is None:
        rft = replace(rft, lr=rates["rft"])
    if rl.lr is None:
        rl = replace(rl, lr=rates["rl"])
    if turns is None:
        turns = default_turns(*tasks)
    threads = config.update_threads or max(1, num_cpus() // torch.get_num_threads())
    return replace(config, rft=rft, rl=rl, dtype=dtype, max_turns=turns, update_threads=threads)


def _check_settings(place: str, settings: TrainConfig | RFTConfig | RLConfig) -> None:
    """Raise ValueError for a setting that is not what _EXPECTED says."""
    for name, value in vars(settings).items():
        if name not in _EXPECTED:
            continue
        wanted, fits = _EXPECTED[name]
        try:
            good = fits(value)
        except TypeError:  # it is no number at all
            good = False
        if not good:
            raise ValueError(f"{place}{name}: expected {wanted}, got {value!r:.80}")


def _check_evidence_and_credit(rl: RLConfig) -> None:
    """Raise ValueError before anything is sampled if the loop could not call them."""
    if isinstance(rl.evidence, type):
        raise ValueError(
            f"rl.evidence: expected what can be called, got the class {rl.evidence.__name__}; make "
            f"one: {rl.evidence.__name__}(...)"
        )
    try:
        whole = rl.credit if isinstance(rl.credit, partial) else partial(rl.credit)
        options = whole.keywords | dict(scale="std", ddof=1)
        inspect.signature(whole.func).bind(*whole.args, None, None, **options)
    except TypeError as error:
        raise ValueError(
            f"rl.credit: expected a scheme that can be called as scheme(group, rewards, scale=, "
            f"ddof=), got {rl.credit!r} ({error}); fill in its options with functools.partial. "
            "shapley, deletion and rudder are to look at, not to train on"
        ) from error


def resolve_dtype(dtype: Dtype) -> Literal["float32", "bfloat16"]:
    """`dtype`, where "auto" is the faster arithmetic on this machine's CPU."""
    if dtype != "auto":
        return dtype
    return "bfloat16" if _has_bfloat16() else "float32"


def num_cpus() -> int:
    """CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _has_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 in hardware (elsewhere it is slower than float32)."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = file.read()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags
