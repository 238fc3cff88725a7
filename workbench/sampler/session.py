"""A session: many episodes sampled side by side, each with its keys and values kept across turns.

Stage: sampling. Observations go in as text, actions come out with ids and log-probabilities
exactly as sampled (token in, token out). Left out: several processes, refilling of slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from workbench.records import Action, SamplerSettings
from workbench.sampler.cache import KVCache
from workbench.sampler.forward import prefill
from workbench.sampler.turns import TurnRequest, sample_turns
from workbench.sampler.weights import ModelWeights


@dataclass(frozen=True)
class WireCodec:
    """How a session turns text into ids and back; the policy supplies it."""

    encode: Callable[[str, bool], list[int]]
    """(observation, is it the first of its episode) -> prompt ids, up to where sampling starts."""
    decode: Callable[[Sequence[int]], str]
    """Sampled ids -> text."""
    end_id: int
    """Id of the token that ends a turn."""


@dataclass(frozen=True)
class _Row:
    """Where one episode stands."""

    length: int = 0
    """Tokens so far, prompts and actions together."""
    unread: tuple[int, ...] = ()
    """Tokens that are not yet in the cache: the last sampled one, then the coming prompt."""
    prompt: tuple[int, ...] = ()
    """Prompt ids of the coming turn; empty until `observe`. Not counted in `length`."""


class CausalLMSession:
    """`n` episodes with one model's weights. Keeps the Session protocol of `policies`."""

    def __init__(
        self,
        weights: ModelWeights,
        codec: WireCodec,
        n: int,
        *,
        seed: int = 0,
        sampler: SamplerSettings = SamplerSettings(),
    ):
        """`weights` must have rotations for `sampler.max_context` positions."""
        self._weights, self._codec = weights, codec
        self._seed, self._sampler = seed, sampler
        self._random = torch.Generator().manual_seed(seed)
        self._num_takes = 0
        self._rows = [_Row() for _ in range(n)]
        self._cache = KVCache(
            num_layers=len(weights.layers),
            num_rows=n,
            num_kv_heads=weights.num_kv_heads,
            capacity=sampler.max_context,
            head_dim=weights.head_dim,
            like=weights.embed,
        )

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation; the first one is the task statement.

        Raises ValueError if the row already has an observation that it has not acted on.
        """
        self.read(i, self._codec.encode(text, self._rows[i].length == 0))

    def read(self, i: int, ids: Sequence[int]) -> None:
        """`observe` with the prompt's ids in the place of a text."""
        row = self._rows[i]
        if row.prompt:
            raise ValueError(f"row {i}: expected act() after an observation, got another one")
        prompt = tuple(ids)
        self._rows[i] = replace(row, prompt=prompt, unread=row.unread + prompt)

    def rewind(self, i: int, length: int) -> None:
        """Forget all tokens of row `i` after the first `length`; what is read next follows those.

        Raises ValueError if the row has an observation to act on, or fewer tokens.
        """
        row = self._rows[i]
        if row.prompt or not 0 <= length <= row.length:
            raise ValueError(
                f"row {i}: expected a length up to {row.length} and nothing to act on, got {length}"
            )
        cached = self._cache.lengths[i]
        self._cache.lengths[i] = min(cached, length)
        self._rows[i] = _Row(length, unread=row.unread[: max(0, length - cached)])

    @torch.inference_mode()
    def act(self, live: Sequence[int]) -> list[Action]:
        """One action for each row in `live`, in that order.

        A row whose prompt leaves no room in max_context gets an action without ids and finish
        "context". Raises ValueError if a row has no new observation or occurs twice.
        """
        if len(set(live)) < len(live):
            raise ValueError(f"live: expected every row at most once, got {list(live)}")
        for i in live:
            if not self._rows[i].prompt:
                raise ValueError(f"row {i}: expected observe() before act(), got none")
        uniforms = torch.rand(
            len(live), max(1, self._sampler.max_action_tokens), generator=self._random
        )
        requests = []
        for i, numbers in zip(live, uniforms, strict=True):
            row = self._rows[i]
            budget = min(self._room(row), self._sampler.max_action_tokens)
            if budget > 0:
                requests.append(TurnRequest(i, row.unread, budget, numbers))
        sampled = {}
        if requests:
            results = sample_turns(
                *(self._weights, self._cache, requests),
                end_id=self._codec.end_id,
                temperature=self._sampler.temperature,
            )
            sampled = {r.row: result for r, result in zip(requests, results, strict=True)}
        return [self._record(i, *sampled.get(i, ([], []))) for i in live]

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had just sampled its recorded action, ids unchanged.

        Raises ValueError if a row's prompt or its place is not the one the action was sampled
        after: another policy's, or another episode's.
        """
        for i, action in zip(live, actions, strict=True):
            row = self._rows[i]
            if (action.kept_prefix, action.new_ids) != (row.length, row.prompt) or not action.ids:
                raise ValueError(
                    f"row {i}: expected an action sampled after {row.length} tokens and a prompt "
                    f"of {len(row.prompt)}, got one of {len(action.ids)} tokens sampled after "
                    f"{action.kept_prefix} and a prompt of {len(action.new_ids)} (or of other ids)"
                )
            length = row.length + len(row.prompt) + len(action.ids)
            self._rows[i] = _Row(length, unread=row.unread + action.ids)

    def take(self, rows: Sequence[int]) -> CausalLMSession:
        """A new session whose row j continues `rows[j]`, with random numbers of its own.

        Keys and values are copied, not computed again: of a row that is taken more than once all
        that can be read ahead is read first, so that its copies share the work.
        """
        self._num_takes += 1
        self._read_ahead([i for i, count in Counter(rows).items() if count > 1])
        new = CausalLMSession(
            *(self._weights, self._codec, len(rows)),
            seed=(self._seed * 1_000_003 + self._num_takes) % 2**63,
            sampler=self._sampler,
        )
        new._cache = self._cache.take(rows)
        new._rows = [self._rows[i] for i in rows]
        return new

    def close(self) -> None:
        """Free the cache; the session can't be used afterwards."""
        self._rows, self._cache = [], None

    def _room(self, row: _Row) -> int:
        """How many tokens the row may still sample."""
        return self._sampler.max_context - row.length - len(row.prompt)

    @torch.inference_mode()
    def _read_ahead(self, rows: Sequence[int]) -> None:
        """Bring all tokens but the last of these rows' unread ones into the cache."""
        rows = [i for i in rows if len(self._rows[i].unread) > 1 and self._room(self._rows[i]) > 0]
        if not rows:
            return
        self._cache.bring_to_front(rows)
        in_front = self._cache.row_of_slot[: len(rows)]
        prefill(self._weights, self._cache, [self._rows[i].unread[:-1] for i in in_front])
        for i in rows:
            self._rows[i] = replace(self._rows[i], unread=self._rows[i].unread[-1:])

    def _record(self, i: int, ids: list[int], logprobs: list[float]) -> Action:
        """The Action of row `i`'s turn; moves the row on."""
        row = self._rows[i]
        if not ids:
            self._rows[i] = replace(row, prompt=(), unread=row.unread[: -len(row.prompt)])
            return Action((), (), "", "context", kept_prefix=row.length)
        ended = ids[-1] == self._codec.end_id
        full = len(ids) == self._sampler.max_action_tokens
        self._rows[i] = _Row(row.length + len(row.prompt) + len(ids), unread=(ids[-1],))
        return Action(
            ids=tuple(ids),
            logprobs=tuple(logprobs),
            text=self._codec.decode(ids[:-1] if ended else ids),
            finish="end_of_turn" if ended else "length" if full else "context",
            kept_prefix=row.length,
            new_ids=row.prompt,
        )
