"""What is wrong with a loss mask: its named patterns, and the first wrong token in its place.

Stage: beside the loop. `masks` fills it in; a person reads it. Left out: how it is found out.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

PATTERNS = {
    "wrong length": "mask and ids differ in number (TRL #5144)",
    "re-tokenised": "the ids are a decoding encoded again, not what was sampled (TRL #5224, PR "
    "#5242; ms-swift PR #10012)",
    "off by one": "the whole mask is one token early or late",
    "shifted": "the whole mask is some tokens early or late",
    "padding side": "the mask is padded on the other side than the ids",
    "padding learned": "padding counts as the model's, as where it is found by its id and pad is "
    "eos (TRL #4974)",
    "truncated learned": "a cut-off attempt counts although such are to be left out (TRL PR #4976)",
    "end of turn not learned": "the token that ends a turn is masked: the model never learns to "
    "stop",
    "template prefix learned": "the generation prompt, written by the template, counts as the "
    "model's",
    "separator learned": "what the template writes after a turn counts as the model's",
    "observation learned": "tokens of the environment count as the model's",
    "prompt learned": "tokens of the prompt count as the model's",
    "everything learned": "every token counts as the model's",
    "nothing learned": "the mask is zero everywhere",
    "inverted": "the mask is 1 where it should be 0, and 0 where it should be 1",
    "earlier turns left out": "only the last turn counts",
    "model tokens left out": "some of the model's tokens are masked",
    "thinking stripped": "the ids lack the thinking that was sampled: the template drops it from "
    "earlier turns when the conversation is rendered again (verl #6719)",
    "separator dropped": "the ids lack what the template writes after a turn: drift grows with "
    "each (verl PR #6921)",
    "observation missing": "the ids lack an observation: the model answered what it was never "
    "told (TRL #6067)",
    "beginning doubled": "the ids begin twice: a rendered prompt was tokenised with special tokens",
    "other text": "the ids do not say what the messages say",
    "logprobs elsewhere": "log-probabilities stand at other places than the mask",
    "other": "several mistakes, or one without a name",
}
"""Name -> what it is; numbers are published reports of it."""

AROUND = 4
"""Tokens shown before and after the first wrong one."""


@dataclass(frozen=True)
class MaskReport:
    """What `check_masks` found."""

    ok: bool
    """True if every token is masked as it should be."""
    num_tokens: int
    """Ids that were given."""
    pattern: str = ""
    """A name of PATTERNS; "" if all is well."""
    first_wrong: int | None = None
    """Index of the first wrong token, or where ids and messages part; None if all is well."""
    num_wrong: int = 0
    """How many tokens are masked wrongly; 0 where that cannot be counted."""
    detail: str = ""
    """What was expected there and what came."""
    neighbours: tuple[tuple[int, str, int | None, int | None], ...] = ()
    """(index, text, mask, what it should be) of the tokens around the first wrong one."""
    expected: tuple[int, ...] = ()
    """The mask as it should be; empty if the ids could not be matched to the messages."""

    def one_line(self) -> str:
        """The finding in a sentence."""
        if self.ok:
            return f"all {self.num_tokens} tokens are masked as they should be"
        place = f" at token {self.first_wrong}" if self.first_wrong is not None else ""
        return f"{self.pattern}{place} of {self.num_tokens}: {self.detail}"

    def __repr__(self) -> str:
        lines = [f"mask: {self.one_line()}"]
        if self.ok:
            return lines[0]
        lines.append(f"  {PATTERNS[self.pattern]}")
        if self.num_wrong:
            lines.append(f"  {self.num_wrong} tokens are masked wrongly")
        if self.neighbours:
            lines.append("  token  mask  should be  text")
        for index, text, got, want in self.neighbours:
            arrow = ">" if index == self.first_wrong else " "
            lines.append(f"{arrow} {index:>5}  {_bit(got):>4}  {_bit(want):>9}  {text!r}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _bit(value: int | None) -> str:
    return "-" if value is None else str(value)


def wrong_length(ids: Sequence[int], mask: Sequence[int]) -> MaskReport:
    """The report of a mask that has another length than the ids."""
    detail = f"{len(ids)} ids, but {len(mask)} entries in the mask"
    first = min(len(ids), len(mask))
    return MaskReport(False, len(ids), "wrong length", first, detail=detail)
