"""Checks of what must agree: sampler and trainer, ids and masks, temperature on both sides.

Stage: beside the loop. Cases and the probes of `probes` and `callback` go in, sentences come out.
"""

from __future__ import annotations

import numpy as np

from workbench.diagnostics.cases import RunCase, TrainerCase
from workbench.diagnostics.checklist import CannotTell, check
from workbench.diagnostics.probes import Probe
from workbench.diagnostics.thresholds import GAP_MEAN, MOVED, RECENT, TEMPERATURE_ERROR
from workbench.diagnostics.vitals import known


@check(
    "stale-sampler",
    "error",
    "trainer run",
    why="The samples come from old weights while the metrics look plausible: the reward stays flat "
    "or falls, and the ratio drifts away from 1.",
    change="Synchronise after every update, adapters included (merged, or sent as an adapter); "
    "no cached copy of the model in a rollout function.",
)
def stale_sampler(case: TrainerCase | RunCase) -> str | None:
    """Updates do not reach the sampler: it still holds older weights, or no adapter."""
    probes = case.probes
    if not probes:
        raise CannotTell("the probe has not measured yet")
    for probe in probes:
        if seen := _stale(probe):
            return seen
    if not any(p.gap is not None or p.sampler_moved is not None for p in probes):
        raise CannotTell(_why_silent(case))
    return None


def _why_silent(case: TrainerCase | RunCase) -> str:
    """Why the sampler's log-probs are not known."""
    trainer = getattr(case, "trainer", None)
    if trainer is not None and trainer.rollout_func is None and not case.args.use_vllm:
        return "samples come from the trained model itself (no vLLM, no rollout function)"
    if case.vitals and all(v.tied_share == 1.0 for v in case.vitals):
        return "every group was tied: no token is learned, and none was compared"
    return (
        "the sampler reports no log-probs: give DoctorCallback(trainer, sampler_logprobs=...), or "
        "return `logprobs` from the rollout function"
    )


def _stale(probe: Probe) -> str | None:
    moved, followed = probe.trainer_moved or 0.0, probe.sampler_moved
    if moved > MOVED and followed is not None and followed < 0.01 * moved:
        return (
            f"after {probe.update_index} updates the trainer's log-probs on fixed tokens have "
            f"moved by {moved:.2g} nats, the sampler's by {followed:.2g}"
        )
    gap, bare = probe.gap, probe.gap_without_adapter
    if gap is not None and bare is not None and gap > MOVED and bare < 0.1 * gap:
        return (
            f"after {probe.update_index} updates the sampler's log-probs are those of the model "
            f"without its adapter (off by {bare:.2g} nats a token; with it, by {gap:.2g})"
        )
    return None


@check(
    "sampler-gap",
    "error",
    "trainer run",
    why="What was sampled is scored as if another policy had sampled it. Rounding (bfloat16 on one "
    "side) gives thousandths; more is a different policy, template, temperature or cache.",
    change="The same dtype and attention on both sides (float32 on a CPU); with vLLM keep "
    "vllm_importance_sampling_correction on; check stale-sampler and temperature.",
)
def sampler_gap(case: TrainerCase | RunCase) -> str | None:
    """Sampler and trainer give the same tokens different log-probabilities."""
    gaps = known(case.vitals, "gap")
    if not gaps:
        gaps = [probe.gap for probe in case.probes if probe.gap is not None]
    if not gaps:
        raise CannotTell(_why_silent(case))
    gap = float(np.mean(gaps[-RECENT:]))
    if gap <= GAP_MEAN:
        return None
    return f"mean difference {gap:.2g} nats a token; expected below {GAP_MEAN:g}"


@check(
    "trainer-temperature",
    "error",
    "trainer",
    why="Samples are drawn from softmax(logits / temperature). If the trainer scores them without "
    "that division, every ratio is wrong, most where the policy is sure.",
    change="Divide the logits by the temperature where log-probs are computed (TRL 1.16 does), or "
    "train at temperature 1.",
)
def trainer_temperature(case: TrainerCase) -> str | None:
    """The trainer's log-probabilities are those of another temperature than it samples with."""
    import torch

    temperature = case.args.temperature
    if temperature == 1.0:
        return None
    model = case.model
    device = next(model.parameters()).device
    size = min(model.config.vocab_size, 64)
    ids = torch.arange(size, device=device)[None] % model.config.vocab_size
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            ones = torch.ones_like(ids)
            keep = ids.shape[1] - 1
            given, *_ = case.trainer._get_per_token_logps_and_entropies(model, ids, ones, keep)
            logits = model(input_ids=ids).logits[0, :-1].float() / temperature
    finally:
        model.train(was_training)
    wanted = torch.log_softmax(logits, dim=-1).gather(1, ids[0, 1:, None])[:, 0]
    error = float((given[0] - wanted).abs().mean())
    if error <= TEMPERATURE_ERROR:
        return None
    return (
        f"sampling at temperature {temperature:g}; the trainer's log-probs of fixed tokens are "
        f"{error:.2g} nats away from that"
    )


@check(
    "mask",
    "error",
    "trainer run",
    why="A mask that is too long, shifted, or 1 on observations teaches the policy to write the "
    "environment's text, or leaves out what it did.",
    change="Build the mask while placing the tokens, concatenate ids and never decode and encode "
    "again; check_masks(...) on one rollout shows the first wrong token.",
)
def mask(case: TrainerCase | RunCase) -> str | None:
    """The loss mask has another length than the ids, or covers tokens that are not the model's."""
    if isinstance(case, RunCase):
        return _mask_of_run(case)
    seen = case.callback.mask_reports
    if not seen:
        raise CannotTell("no rollout has been seen yet")
    wrong = [report for report in seen if not report.ok]
    if not wrong:
        return None
    return f"{len(wrong)} of {len(seen)} rollouts: {wrong[0].one_line()}"


def _mask_of_run(case: RunCase) -> str | None:
    """Our loop makes the mask from the turns: each must hold together and follow the one before."""
    for group in case.last_groups:
        for trajectory in group.trajectories:
            length = 0
            for number, turn in enumerate(trajectory.turns, 1):
                action = turn.action
                where = f"task {trajectory.task_id}, turn {number}"
                if len(action.ids) != len(action.logprobs):
                    return f"{where}: {len(action.ids)} ids, {len(action.logprobs)} logprobs"
                if action.kept_prefix > length:
                    return f"{where}: keeps {action.kept_prefix} tokens of {length}"
                length = action.kept_prefix + len(action.new_ids) + len(action.ids)
    return None
