"""A model of turns: a copy of the policy's backbone with one number read off it at every turn.

Stage: process rewards. Groups go in; a number in [0, 1] for every turn comes out, the chance that
the attempt ends well as far as can be told at that token. Read before a turn it is a critic (a
value); read where the turn ends it is a process reward model; read where the last turn ends it is
an outcome model. The policy itself is left as it is.
Left out: a score for each token or line, a judge that explains itself, ensembles.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel

from workbench.learning.forward import causal_lm
from workbench.policies.causal_lm import CausalLMPolicy, hash_weights, no_progress_bar
from workbench.process_rewards.places import Placed, Reads, batches, place, rows_of
from workbench.records import Group, TurnValue
from workbench.records.arguments import expect, expect_groups

TOKENS_PER_BATCH = 4096
"""Padded tokens in one forward pass when predicting."""
HOW = {"before": "critic", "end": "prm"}
"""What the turn values of a model are called, by where it reads; each in `groups.GUESSED`."""


class TurnModel:
    """A backbone and a head that reads it at every turn. `fit` (in `fitting`) changes the weights.

    >>> model = TurnModel.from_policy(policy, reads="before")          # doctest: +SKIP
    >>> fit(model, groups, outcome_labels(groups, tasks))              # doctest: +SKIP
    >>> model.annotate(groups)                                         # doctest: +SKIP
    """

    def __init__(self, backbone: nn.Module, head: nn.Linear, reads: Reads):
        """From parts; `from_policy` makes them.

        Raises ValueError if `reads` is neither "before" nor "end".
        """
        if reads not in HOW:
            raise ValueError(f'reads: expected "before" or "end", got {reads!r}')
        self.backbone, self.head, self.reads = backbone.eval(), head, reads

    @classmethod
    def from_policy(cls, policy: CausalLMPolicy, *, reads: Reads = "end") -> TurnModel:
        """A model that predicts 0.5 everywhere: the policy's backbone, and a head of zeros."""
        expect("policy", policy, CausalLMPolicy, "a policy", "open_policy opens one")
        model = copy.deepcopy(policy.model)
        if hasattr(model, "merge_and_unload"):
            model = model.merge_and_unload()  # LoRA adapters become part of the weights
        backbone = causal_lm(model).model.requires_grad_(True)
        head = nn.Linear(backbone.config.hidden_size, 1, device=policy.model.device)
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)
        return cls(backbone, head, reads)

    @property
    def version(self) -> str:
        """Sixteen hex digits of a SHA-256 over the weights as they are now."""
        return hash_weights(nn.ModuleList([self.backbone, self.head]))

    def features(self, placed: Placed) -> Tensor:
        """(N, hidden): the backbone's last hidden state at each place, with gradient."""
        device = self.head.weight.device
        hidden = self.backbone(
            input_ids=placed.ids.to(device),
            attention_mask=placed.attention_mask.long().to(device),
            use_cache=False,
        ).last_hidden_state
        return hidden[placed.rows.to(device), placed.places.to(device)]

    def logits(self, placed: Placed) -> Tensor:
        """(N,) log-odds at each place, with gradient."""
        return self.head(self.features(placed))[:, 0].float()

    def predict(self, groups: Sequence[Group]) -> list[list[np.ndarray]]:
        """For each group, G arrays of shape (K,): the prediction at each turn, in [0, 1]."""
        expect_groups("groups", groups)
        attempts = [t for group in groups for t in group.trajectories]
        owners, rows = [], []
        for i, trajectory in enumerate(attempts):
            for row in rows_of(trajectory, self.reads):
                owners.append(i)
                rows.append(row)
        found = [np.full(len(t.turns), np.nan) for t in attempts]
        for some in batches(rows, TOKENS_PER_BATCH):
            with torch.no_grad():
                chances = torch.sigmoid(self.logits(place([rows[b] for b in some]))).cpu().numpy()
            start = 0
            for b in some:
                turns = rows[b].turns
                found[owners[b]][list(turns)] = chances[start : start + len(turns)]
                start += len(turns)
        numbers = iter(found)
        return [[next(numbers) for _ in group.trajectories] for group in groups]

    def annotate(self, groups: Sequence[Group]) -> list[Group]:
        """The groups with the predictions as `turn_values`, in place of any they had.

        What is read before turn k is the value after turn k - 1 (how="critic"), what is read at
        its end the value after turn k (how="prm"); the model does not say how wrong it is: the
        standard errors are NaN.
        """
        offset = -1 if self.reads == "before" else 0
        return [
            replace(
                group,
                turn_values=tuple(
                    TurnValue(i, k + offset, float(number), float("nan"), 0, HOW[self.reads])
                    for i, numbers in enumerate(predictions)
                    for k, number in enumerate(numbers)
                ),
            )
            for group, predictions in zip(groups, self.predict(groups))
        ]

    def copy(self) -> TurnModel:
        """An independent model with the same weights."""
        return TurnModel(copy.deepcopy(self.backbone), copy.deepcopy(self.head), self.reads)

    def save(self, folder: str | Path) -> None:
        """Write the model so that `load` finds it again, bit for bit."""
        with no_progress_bar():
            self.backbone.save_pretrained(folder)
        torch.save(self.head.state_dict(), Path(folder) / "head.pt")
        (Path(folder) / "turn_model.json").write_text(json.dumps({"reads": self.reads}), "utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> TurnModel:
        """The model that `save` wrote. Raises ValueError if the folder holds none."""
        facts = Path(folder) / "turn_model.json"
        if not facts.exists():
            raise ValueError(f"folder: expected a saved TurnModel, {folder} has no {facts.name}")
        with no_progress_bar():
            backbone = AutoModel.from_pretrained(folder, dtype=torch.float32)
        head = nn.Linear(backbone.config.hidden_size, 1)
        head.load_state_dict(torch.load(Path(folder) / "head.pt", weights_only=True))
        return cls(backbone, head, json.loads(facts.read_text("utf-8"))["reads"])
