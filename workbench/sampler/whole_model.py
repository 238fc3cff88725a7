"""Sampling from a model of any kind: its own forward pass over all tokens of all rows, each turn.

Stage: sampling. A `transformers` causal LM in, a session out that keeps the same protocol as
`CausalLMSession`. The rows are padded on the left and read from their beginning every turn, so it
costs more the longer an episode gets; but it needs nothing of the model but its forward pass:
other architectures, quantised weights and adapters of any kind sample through it.
Left out: a cache across turns; models that cannot be padded on the left (recurrent ones).
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from workbench.records import Action, SamplerSettings
from workbench.sampler.session import WireCodec
from workbench.sampler.turns import choose_tokens


@dataclass(frozen=True)
class _Row:
    """Where one episode stands."""

    ids: tuple[int, ...] = ()
    """Everything read and said so far."""
    prompt: tuple[int, ...] = ()
    """Prompt ids of the coming turn; empty until `observe`."""


class WholeModelSession:
    """`n` episodes with one model; the model must not change while the session is used."""

    def __init__(
        self,
        model: nn.Module,
        codec: WireCodec,
        n: int,
        *,
        seed: int = 0,
        sampler: SamplerSettings = SamplerSettings(),
    ):
        self._model, self._codec = model, codec
        self._seed, self._sampler = seed, sampler
        self._random = torch.Generator().manual_seed(seed)
        self._num_takes = 0
        self._rows = [_Row() for _ in range(n)]
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        names = inspect.signature(base.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"  # older name
        # of a long prompt, the logits of every token can be larger than the model
        self._newest = {"logits_to_keep": 1} if "logits_to_keep" in names else {}

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation; the first one is the task statement."""
        self.read(i, self._codec.encode(text, not self._rows[i].ids))

    def read(self, i: int, ids: Sequence[int]) -> None:
        """`observe` with the prompt's ids in the place of a text.

        Raises ValueError if the row already has an observation that it has not acted on.
        """
        if self._rows[i].prompt:
            raise ValueError(f"row {i}: expected act() after an observation, got another one")
        self._rows[i] = _Row(self._rows[i].ids, tuple(ids))

    def rewind(self, i: int, length: int) -> None:
        """Forget all tokens of row `i` after the first `length`."""
        row = self._rows[i]
        if row.prompt or not 0 <= length <= len(row.ids):
            raise ValueError(
                f"row {i}: expected a length up to {len(row.ids)} and nothing to act on, "
                f"got {length}"
            )
        self._rows[i] = _Row(row.ids[:length])

    def act(self, live: Sequence[int]) -> list[Action]:
        """One action for each row in `live`; "context" where the prompt leaves no room.

        Raises ValueError if a row has no new observation or occurs twice.
        """
        if len(set(live)) < len(live) or not all(self._rows[i].prompt for i in live):
            raise ValueError(f"live: expected rows to act on, each once, got {list(live)}")
        uniforms = torch.rand(
            len(live), max(1, self._sampler.max_action_tokens), generator=self._random
        )
        budgets = {i: min(self._room(i), self._sampler.max_action_tokens) for i in live}
        able = [j for j, i in enumerate(live) if budgets[i] > 0]
        prompts = [self._rows[live[j]].ids + self._rows[live[j]].prompt for j in able]
        sampled = self._sample(prompts, [budgets[live[j]] for j in able], uniforms[able])
        found = {live[j]: result for j, result in zip(able, sampled)}
        return [self._record(i, *found.get(i, ((), ()))) for i in live]

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had just sampled its recorded action, ids unchanged.

        Raises ValueError if the action was not sampled after what the row has read.
        """
        for i, action in zip(live, actions, strict=True):
            row = self._rows[i]
            if (action.kept_prefix, action.new_ids) != (len(row.ids), row.prompt):
                raise ValueError(
                    f"row {i}: expected an action sampled after {len(row.ids)} tokens and this "
                    f"row's prompt, got one sampled after {action.kept_prefix} (or other ids)"
                )
            self._rows[i] = _Row(row.ids + row.prompt + action.ids)

    def take(self, rows: Sequence[int]) -> WholeModelSession:
        """A new session whose row j continues `rows[j]`, with random numbers of its own."""
        self._num_takes += 1
        seed = (self._seed * 1_000_003 + self._num_takes) % 2**63
        new = WholeModelSession(
            self._model, self._codec, len(rows), seed=seed, sampler=self._sampler
        )
        new._rows = [self._rows[i] for i in rows]
        return new

    def close(self) -> None:
        """Nothing to free."""

    def _room(self, i: int) -> int:
        row = self._rows[i]
        return self._sampler.max_context - len(row.ids) - len(row.prompt)

    @torch.inference_mode()
    def _sample(
        self, prompts: Sequence[tuple[int, ...]], budgets: Sequence[int], uniforms: Tensor
    ) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
        """(ids, logprobs) said after each prompt, the end-of-turn token included."""
        if not prompts:
            return []
        ids, mask, places = _left_padded(prompts, self._model.device)
        said, logprobs = [[] for _ in prompts], [[] for _ in prompts]
        open_rows, cache = set(range(len(prompts))), {self._cache_name: DynamicCache()}
        for t in range(max(budgets)):
            read = dict(input_ids=ids, attention_mask=mask, position_ids=places)
            logits = self._model(**read, **cache, **self._newest, use_cache=True).logits
            chosen, chosen_logprobs = choose_tokens(
                logits[:, -1].float(), uniforms[:, t].to(logits.device), self._sampler.temperature
            )
            for j in sorted(open_rows):
                said[j].append(int(chosen[j]))
                logprobs[j].append(float(chosen_logprobs[j]))
                if said[j][-1] == self._codec.end_id or len(said[j]) == budgets[j]:
                    open_rows.discard(j)
            if not open_rows:
                break
            ids, places = chosen[:, None], places[:, -1:] + 1
            mask = torch.cat([mask, mask.new_ones(len(prompts), 1)], dim=1)
        return [(tuple(i), tuple(p)) for i, p in zip(said, logprobs)]

    def _record(self, i: int, ids: tuple[int, ...], logprobs: tuple[float, ...]) -> Action:
        """The Action of row `i`'s turn; moves the row on."""
        row = self._rows[i]
        if not ids:
            self._rows[i] = _Row(row.ids)
            return Action((), (), "", "context", kept_prefix=len(row.ids))
        self._rows[i] = _Row(row.ids + row.prompt + ids)
        ended = ids[-1] == self._codec.end_id
        full = len(ids) == self._sampler.max_action_tokens
        return Action(
            ids=ids,
            logprobs=logprobs,
            text=self._codec.decode(ids[:-1] if ended else ids),
            finish="end_of_turn" if ended else "length" if full else "context",
            kept_prefix=len(row.ids),
            new_ids=row.prompt,
        )


def _left_padded(
    prompts: Sequence[tuple[int, ...]], device: torch.device
) -> tuple[Tensor, Tensor, Tensor]:
    """(B, T) ids, attention mask and positions, the newest token of each row in the last column."""
    width = max(map(len, prompts))
    ids = torch.zeros(len(prompts), width, dtype=torch.long)
    mask = torch.zeros(len(prompts), width, dtype=torch.long)
    for j, prompt in enumerate(prompts):
        ids[j, width - len(prompt) :] = torch.tensor(prompt)
        mask[j, width - len(prompt) :] = 1
    places = (mask.cumsum(1) - 1).clamp(min=0)
    return ids.to(device), mask.to(device), places.to(device)
