"""A session that makes room: old observations leave the context when it is full.

Stage: policy. Wraps a session of tokens. When the next prompt and a whole message would not fit,
the oldest observations are replaced by a note that says how much is gone, oldest first, until half
of the context is free or only the newest is left; the statement and all that the policy said stay.
Tokens after the first one replaced have to be read again, so it is done seldom and thoroughly.

The policy that goes on after that has read something else: the turn's `kept_prefix` says how much
of the sequence so far is still the same, its `new_ids` hold all the rest, and
`learning.batch.pack` begins a new row there. What was sampled before is learned in the row in which
it was sampled, and only stands in the context of the next.
Left out: summaries by the model, which would be sampled tokens with a credit of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.records import Action, SamplerSettings
from workbench.sampler import CausalLMSession, WholeModelSession, WireCodec

NOTE = "({} characters were here; ask again if you need them)"
"""Stands for an observation that was taken out."""


@dataclass(frozen=True)
class _Piece:
    """One stretch of a row's context."""

    ids: tuple[int, ...]
    """Its tokens."""
    note: tuple[int, ...] | None = None
    """Tokens that can stand for it; None = it stays."""


class ShorteningSession:
    """Session around one of the sampler's that keeps rows within `sampler.max_context`."""

    def __init__(
        self,
        session: CausalLMSession | WholeModelSession,
        codec: WireCodec,
        n: int,
        sampler: SamplerSettings,
    ):
        self._session, self._codec, self._sampler = session, codec, sampler
        self._rows: list[list[_Piece]] = [[] for _ in range(n)]

    def observe(self, i: int, text: str) -> None:
        """Give row `i` its next observation, after making room for it if it needs some."""
        pieces = self._rows[i]
        ids = tuple(self._codec.encode(text, not pieces))
        note = tuple(self._codec.encode(NOTE.format(len(text)), False)) if pieces else None
        shorter = self._shortened(pieces, len(ids) + self._sampler.max_action_tokens)
        kept = _common(pieces, shorter)
        self._rows[i] = [*shorter, _Piece(ids, note if note and len(note) < len(ids) else None)]
        if len(kept) < len(pieces):
            self._session.rewind(i, sum(len(piece.ids) for piece in kept))
        again = [token for piece in shorter[len(kept) :] for token in piece.ids]
        self._session.read(i, [*again, *ids])

    def act(self, live: Sequence[int]) -> list[Action]:
        """One action for each row in `live`."""
        actions = self._session.act(live)
        self._said(live, actions)
        return actions

    def recall(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        """Go on as if each row in `live` had just sampled its recorded action."""
        self._session.recall(live, actions)
        self._said(live, actions)

    def take(self, rows: Sequence[int]) -> ShorteningSession:
        """A new session whose row j continues `rows[j]`."""
        new = ShorteningSession(self._session.take(rows), self._codec, len(rows), self._sampler)
        new._rows = [list(self._rows[i]) for i in rows]
        return new

    def close(self) -> None:
        """Free what the session holds."""
        self._session.close()

    def _said(self, live: Sequence[int], actions: Sequence[Action]) -> None:
        for i, action in zip(live, actions, strict=True):
            if action.ids:
                self._rows[i].append(_Piece(action.ids))
            else:  # no room: the session has forgotten the prompt
                self._rows[i].pop()

    def _shortened(self, pieces: Sequence[_Piece], needed: int) -> list[_Piece]:
        """The pieces with the oldest observations replaced, if `needed` more tokens do not fit."""
        pieces = list(pieces)
        length = sum(len(piece.ids) for piece in pieces)
        if length + needed <= self._sampler.max_context:
            return pieces
        for k, piece in enumerate(pieces):
            if length + needed <= self._sampler.max_context // 2:
                break
            if piece.note is not None:
                pieces[k] = _Piece(piece.note)
                length -= len(piece.ids) - len(piece.note)
        return pieces


def _common(some: Sequence[_Piece], others: Sequence[_Piece]) -> list[_Piece]:
    """The pieces at the beginning that are the same in both."""
    count = 0
    for one, other in zip(some, others):
        if one.ids != other.ids:
            break
        count += 1
    return list(some[:count])
