"""What the loss does with the tokens of one turn: mask, advantage, ratio, and whether it clips.

Stage: reading. In: a turn, its advantage and, where the weights have moved on, new logprobs; out:
a record a token. Plain arithmetic in the place of the loss, to be looked at; a test compares it
with `learning.losses`. Left out: sequence ratios (GSPO).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.records import Group, Turn

ClipState = Literal["", "low", "high"]
"""Which end of the clip range has taken the token's gradient away; "" = neither."""
Decode = Callable[[Sequence[int]], str]
"""Token ids -> their text."""


@dataclass(frozen=True)
class TokenView:
    """One token as training sees it."""

    id: int
    """Its id."""
    text: str
    """Its text, or its id where no tokenizer was given."""
    in_loss: bool
    """True = the policy sampled it and learns from it."""
    logprob: float = math.nan
    """Under the policy that sampled it."""
    advantage: float = math.nan
    """The turn's, on this token; NaN outside the loss."""
    ratio: float = math.nan
    """exp(new logprob - logprob); NaN where there is no new one."""
    clip: ClipState = ""
    """Whether the clipped objective has no gradient here."""


def clip_state(ratio: float, advantage: float, clip_low: float, clip_high: float) -> ClipState:
    """Which bound holds the token: only the one that the advantage pushes it towards can.

    >>> clip_state(1.5, 1.0, 0.2, 0.28), clip_state(1.5, -1.0, 0.2, 0.28)
    ('high', '')
    """
    if advantage > 0 and ratio > 1.0 + clip_high:
        return "high"
    return "low" if advantage < 0 and ratio < 1.0 - clip_low else ""


def tokens_of_turn(
    turn: Turn,
    advantage: float,
    *,
    decode: Decode | None = None,
    new_logprobs: Sequence[float] | None = None,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
) -> tuple[TokenView, ...]:
    """The prompt tokens since the last turn, and the sampled ones.

    Args:
        advantage: of the turn; NaN = the turn does not learn.
        new_logprobs: of the sampled tokens under other weights, one each.
    Raises:
        ValueError: if there are not as many new logprobs as sampled tokens.
    """
    action = turn.action
    new = [math.nan] * len(action.ids) if new_logprobs is None else list(map(float, new_logprobs))
    if len(new) != len(action.ids):
        raise ValueError(
            f"new_logprobs: expected one for each of {len(action.ids)} sampled tokens, got "
            f"{len(new)}; prompt tokens have none"
        )
    shown = [TokenView(i, token_text(i, decode), False) for i in action.new_ids]
    learns = not math.isnan(advantage)
    for i, old, now in zip(action.ids, action.logprobs, new, strict=True):
        ratio = math.exp(min(now - old, 700.0)) if learns else math.nan
        clip = clip_state(ratio, advantage, clip_low, clip_high)
        shown.append(TokenView(i, token_text(i, decode), learns, old, advantage, ratio, clip))
    return tuple(shown)


def expect_new_logprobs(group: Group, new_logprobs: Sequence[Sequence[Sequence[float]]]) -> None:
    """Raises ValueError unless they are [trajectory][turn][token], one for each sampled token."""
    expected = [[len(turn.action.ids) for turn in t.turns] for t in group.trajectories]
    found = [[np.size(turn) for turn in attempt] for attempt in new_logprobs]
    if found != expected:
        raise ValueError(
            f"new_logprobs: expected one for each sampled token, turn by turn {expected!s:.80}, "
            f"got {found!s:.80}; prompt tokens have none"
        )


def token_text(token_id: int, decode: Decode | None) -> str:
    """The token's text, or its id in brackets."""
    return f"⟨{token_id}⟩" if decode is None else decode([int(token_id)])


def as_decode(source: Any) -> Decode | None:
    """What turns ids into text: a tokenizer (anything with `decode`), a function, or None.

    Raises ValueError for anything else.
    """
    decode = getattr(source, "decode", source)
    if decode is not None and not callable(decode):
        raise ValueError(
            f"decode: expected a tokenizer or a function from ids to text, got {source!r:.80}"
        )
    return decode
