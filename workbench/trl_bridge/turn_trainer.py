"""Per-turn advantages in TRL's GRPO loss, and a count of the batches that it generates.

Stage: learning, through TRL. TRL 1.16 gives every token of a completion the same advantage, shape
(B,), but its loss also takes (B, T): a line in `GRPOTrainer._compute_loss` says so. This class
puts them there, from the column `token_advantages` of `rollout_func`'s answer. Sampling,
rewards, loss types, KL, clipping, accumulation, checkpoints and vLLM are TRL's, untouched.
Left out: advantages for TRL's own generation (`environment_factory`), whose turns it does not
report.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from trl import GRPOTrainer

from workbench.trl_bridge.sequences import TOKEN_ADVANTAGES

SAMPLER_GAP = "sampling/sampling_logp_difference"
"""What TRL calls this metric where vLLM samples."""


class TurnGRPOTrainer(GRPOTrainer):
    """`trl.GRPOTrainer` whose advantages may differ from turn to turn.

    Takes what `GRPOTrainer` takes. Where `rollout_func` returns a column `token_advantages` (a
    list a completion, a number a token; `MultiTurn` and `as_rollout` make it), these replace the
    advantages that TRL computed from the rewards, which are then only logged. nan = the token gets
    no gradient and is in no mean of the loss. Without the column it is TRL's trainer.
    """

    num_generated = 0
    """Generation batches of this optimiser step, or of this evaluation, so far."""

    def get_batch_samples(self, *args: Any) -> Any:
        """As TRL's, which asks once an optimiser step."""
        self.num_generated = 0
        return super().get_batch_samples(*args)

    def evaluation_loop(self, *args: Any, **options: Any) -> Any:
        """As TRL's."""
        self.num_generated = 0
        return super().evaluation_loop(*args, **options)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        if TOKEN_ADVANTAGES in inputs[0]:  # TRL has put rollout_func's columns into the rows
            output |= token_advantages(output, [row[TOKEN_ADVANTAGES] for row in inputs])
            learned = (output["completion_mask"] * output["tool_mask"]).sum()
            output["num_items_in_batch"] = self.accelerator.gather(learned).sum()
        self._log_sampler_gap(output)
        self.num_generated += 1
        return output

    def _log_sampler_gap(self, output: dict[str, Any]) -> None:
        """|logprob of the sampler - logprob TRL computed for the same token|, before any update.

        Only where TRL computes it: with more than one optimiser step a generation.
        """
        if not {"old_per_token_logps", "sampling_per_token_logps", "tool_mask"} <= output.keys():
            return
        learned = (output["completion_mask"] * output["tool_mask"]).bool()
        gap = (output["old_per_token_logps"] - output["sampling_per_token_logps"])[learned].abs()
        if len(gap):
            metrics = self._metrics["train" if self.model.training else "eval"]
            metrics[f"{SAMPLER_GAP}/mean"].append(float(gap.mean()))
            metrics[f"{SAMPLER_GAP}/max"].append(float(gap.max()))


def token_advantages(output: dict[str, Any], rows: Sequence[Sequence[float]]) -> dict[str, Tensor]:
    """{"advantages": (B, T) float32, "tool_mask": (B, T)} for a batch of TRL's.

    Args:
        output: TRL's batch; `completion_ids` are right-padded to (B, T).
        rows: B lists, a number a completion token; nan = masked out.
    Raises:
        ValueError: if a list is not as long as its completion.
    """
    ids, lengths = output["completion_ids"], output["completion_mask"].sum(dim=1).tolist()
    found = [len(row) for row in rows]
    # a length of 0: TRL has zeroed the mask of a truncated completion, as it was told to
    if len(found) != len(lengths) or any(n not in (m, 0) for n, m in zip(lengths, found)):
        raise ValueError(
            f"{TOKEN_ADVANTAGES}: expected one number a completion token, lists of {lengths}, got "
            f"lists of {found}"
        )
    advantages = torch.zeros(ids.shape, dtype=torch.float32)
    for b, row in enumerate(rows):
        advantages[b, : len(row)] = torch.tensor(row)
    advantages = advantages.to(ids.device)
    sampled = output.get("tool_mask", torch.ones_like(ids))
    return {
        "advantages": advantages.nan_to_num(nan=0.0),
        "tool_mask": sampled * ~advantages.isnan(),
    }
