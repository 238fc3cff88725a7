"""Probes: do the sampler and the trainer hold the same policy, now?

Stage: beside the loop. The same tokens are scored by both; numbers come out, one record a
synchronisation, and the checks of `agreement` judge them. Left out: engines that give no
log-probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.policies import CausalLMPolicy
    from workbench.records import Action


@dataclass(frozen=True)
class Probe:
    """Sampler and trainer compared once, in nats a token; None where it could not be measured."""

    update_index: int
    """Optimiser steps (ours: rows of the log) before it."""
    gap: float | None = None
    """Mean |logprob of the trainer - logprob the sampler reported| on freshly sampled tokens."""
    gap_without_adapter: float | None = None
    """The same with LoRA switched off in the trainer."""
    trainer_moved: float | None = None
    """Mean change of the trainer's logprobs on the fixed tokens since the first probe."""
    sampler_moved: float | None = None
    """The same of the sampler's; 1.0 if it now says other tokens for the same random numbers."""


class SamplerProbe:
    """Watches a run of our loop: `train(..., on_metrics=SamplerProbe(policy))`.

    After each row of the log the policy is asked the same thing with the same random numbers, in a
    fresh session, as the loop's next rollout opens one; then the model in training scores what was
    said. Costs four short actions.
    """

    def __init__(self, policy: CausalLMPolicy, text: str = "fix f", rows: int = 4):
        """text: what the policy is told. Raises ValueError for what is no policy with a model."""
        if not hasattr(policy, "model"):
            raise ValueError(
                f"policy: expected the one in training, opened with open_policy(), got {policy!r}"
            )
        self.probes: list[Probe] = []
        self._policy, self._text, self._rows = policy, text, rows
        self._first: tuple[list[Action], Any] | None = None

    def __call__(self, row: Mapping[str, Any] | None = None) -> Probe:
        """Measure now; `row` is what `on_metrics` passes, and is not read."""
        actions = self._act()
        scored = score_actions(self._policy.model, actions)
        with _adapter_off(self._policy.model) as has_adapter:
            bare = score_actions(self._policy.model, actions) if has_adapter else None
        said = [x for action in actions for x in action.logprobs]
        if self._first is None:
            self._first = actions, scored
        first_actions, first_scored = self._first
        probe = Probe(
            update_index=len(self.probes),
            gap=mean_gap(scored, said),
            gap_without_adapter=None if bare is None else mean_gap(bare, said),
            trainer_moved=mean_gap(score_actions(self._policy.model, first_actions), first_scored),
            sampler_moved=_moved(actions, first_actions),
        )
        self.probes.append(probe)
        return probe

    def _act(self) -> list[Action]:
        session = self._policy.open(self._rows, seed=0)
        try:
            for i in range(self._rows):
                session.observe(i, self._text)
            return session.act(range(self._rows))
        finally:
            session.close()


def score_actions(model: Any, actions: Sequence[Action]) -> list[float]:
    """The model's logprob of each sampled token, float32, at temperature 1."""
    import torch

    scored: list[float] = []
    device = next(model.parameters()).device
    with torch.no_grad():
        for action in actions:
            ids = torch.tensor([[*action.new_ids, *action.ids]], device=device)
            logits = model(input_ids=ids).logits[0, len(action.new_ids) - 1 : -1].float()
            sampled = torch.tensor(action.ids, device=device)[:, None]
            scored += torch.log_softmax(logits, dim=-1).gather(1, sampled)[:, 0].tolist()
    return scored


def mean_gap(one: Sequence[float], other: Sequence[float]) -> float:
    """Mean absolute difference, position by position."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / max(1, len(one))


def _moved(actions: Sequence[Action], first: Sequence[Action]) -> float:
    if [a.ids for a in actions] != [a.ids for a in first]:
        return 1.0
    now, then = ([x for a in of for x in a.logprobs] for of in (actions, first))
    return mean_gap(now, then)


@contextmanager
def _adapter_off(model: Any) -> Iterator[bool]:
    """Inside the block a peft model answers without its adapters; yields whether it has any."""
    if not hasattr(model, "disable_adapter"):
        yield False
        return
    with model.disable_adapter():
        yield True
