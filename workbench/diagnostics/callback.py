"""A callback of TRL's trainer that measures what its log does not show.

Stage: beside the loop. Rollouts, as the trainer makes them, and weights go in; probes and mask
reports come out, which `doctor(trainer)` judges. Read and run against TRL 1.16, of which it uses
private names: `_generate`, `_buffered_inputs`, `_tokenizer`, `_get_per_token_logps_and_entropies`.
Left out: several processes (each measures its own share), images.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import TrainerCallback

from workbench.diagnostics.examination import doctor
from workbench.diagnostics.mask_report import MaskReport, wrong_length
from workbench.diagnostics.masks import check_masks
from workbench.diagnostics.probes import Probe, mean_gap

KEPT = 200
"""Newest mask reports that are kept."""
FIXED_TOKENS = 32
"""Length of the text on which trainer and sampler are compared."""


class DoctorCallback(TrainerCallback):
    """Watches a trainer: `trainer.add_callback(DoctorCallback(trainer))`.

    At each batch of rollouts it checks the masks of the first few, compares the log-probabilities
    that the sampler reported (`logprobs` of a rollout function, vLLM) with the trainer's, and asks
    both about fixed tokens. One forward pass over one microbatch, two where there are adapters.
    """

    def __init__(
        self,
        trainer: Any,
        sampler_logprobs: Callable[[Sequence[int]], Sequence[float]] | None = None,
        rollouts: int = 4,
        warn: bool = False,
    ):
        """A callback for this trainer.

        Args:
            sampler_logprobs: ids -> the sampler's logprob of each id but the first; for samplers
                outside of the trainer, such as an engine with weights of its own.
            rollouts: how many of a batch have their mask checked.
            warn: print what `doctor(trainer)` finds whenever the trainer logs.
        """
        self.probes: list[Probe] = []
        self.mask_reports: deque[MaskReport] = deque(maxlen=KEPT)
        self._trainer, self._ask = trainer, sampler_logprobs
        self._rollouts, self._warn = rollouts, warn
        self._seen: Any = None
        self._first: tuple[list[float], Sequence[float] | None] | None = None
        self._said: set[str] = set()
        self._generate = trainer._generate
        trainer._generate = self._watched

    def _watched(self, prompts: list) -> tuple:
        """The trainer's own `_generate`; its result is looked at and passed on as it is."""
        result = self._generate(prompts)
        prompt_ids, completion_ids, tool_mask, completions = result[:4]
        # what a rollout function has done is decoded as one message, whatever was said in it
        unknown = self._trainer.rollout_func is not None or isinstance(completions[0], str)
        for i in range(min(self._rollouts, len(completion_ids))):
            mask = tool_mask[i] if tool_mask is not None else [1] * len(completion_ids[i])
            if unknown:
                report = _by_length(completion_ids[i], mask)
            else:
                report = check_masks(
                    [*prompts[i], *completions[i]],
                    [*prompt_ids[i], *completion_ids[i]],
                    [*[0] * len(prompt_ids[i]), *mask],
                    tokenizer=self._trainer._tokenizer,
                    template=self._trainer.chat_template,
                    tools=self._trainer.tools or None,
                )
            self.mask_reports.append(report)
        return result

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Between sampling and the update that follows: both sides should hold the same weights."""
        if self._trainer._buffered_inputs is self._seen:
            return  # these samples were compared before the first update on them
        self._seen = self._trainer._buffered_inputs
        gap, bare = self._compare(self._seen[0])
        fixed = list(range(min(FIXED_TOKENS, self._model.config.vocab_size)))
        ours, theirs = self._score_fixed(fixed), self._ask and list(self._ask(fixed))
        if self._first is None:
            self._first = ours, theirs
        self.probes.append(
            Probe(
                update_index=state.global_step,
                gap=gap,
                gap_without_adapter=bare,
                trainer_moved=mean_gap(ours, self._first[0]),
                sampler_moved=mean_gap(theirs, self._first[1]) if theirs else None,
            )
        )

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Say what is new, if asked to."""
        if not self._warn:
            return
        for symptom in doctor(self._trainer).symptoms:
            if symptom.check not in self._said:
                self._said.add(symptom.check)
                print(f"doctor, update {state.global_step}: {symptom.check}: {symptom.seen}")

    @property
    def _model(self) -> Any:
        return self._trainer.accelerator.unwrap_model(self._trainer.model)

    def _compare(self, inputs: dict[str, Any]) -> tuple[float | None, float | None]:
        """(gap, gap without adapter) between reported logprobs and the trainer's."""
        said = inputs.get("sampling_per_token_logps")
        if said is None:
            return None, None
        mask = inputs["completion_mask"]
        if "tool_mask" in inputs:
            mask = mask * inputs["tool_mask"]
        if not mask.any():  # every group is tied and was dropped: nothing was compared
            return None, None

        def gap() -> float:
            scored = self._score(inputs)
            return float((scored - said).abs()[mask.bool()].mean())

        with_adapter = gap()
        if not hasattr(self._model, "disable_adapter"):
            return with_adapter, None
        with self._model.disable_adapter():
            return with_adapter, gap()

    @torch.no_grad()
    def _score(self, inputs: dict[str, Any]) -> torch.Tensor:
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
        attention = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
        keep = inputs["completion_ids"].shape[1]
        score = self._trainer._get_per_token_logps_and_entropies
        return score(self._trainer.model, ids, attention, keep)[0]

    @torch.no_grad()
    def _score_fixed(self, fixed: Sequence[int]) -> list[float]:
        ids = torch.tensor([fixed], device=next(self._model.parameters()).device)
        score = self._trainer._get_per_token_logps_and_entropies
        return score(self._trainer.model, ids, torch.ones_like(ids), len(fixed) - 1)[0][0].tolist()


def _by_length(ids: Sequence[int], mask: Sequence[int]) -> MaskReport:
    """Of a rollout without messages only the length of the mask can be checked."""
    return wrong_length(ids, mask) if len(ids) != len(mask) else MaskReport(True, len(ids))
