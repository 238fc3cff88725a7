"""`check_masks`: which tokens are the model's, found out anew, whoever trained on them.

Stage: beside the loop. A conversation, the ids and the mask that a trainer used go in; the first
wrong token comes out, with its neighbours and, if it has one, the name of the mistake. The
conversation is rendered again by the chat template and laid over the text of the ids, so ids that
no tokenizer would choose (as sampled) are welcome. Left out: images; templates that write
something after the last turn that depends on later ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.diagnostics.conversation import MODELS_OWN, Label, Piece, Renderer, decoded, pieces
from workbench.diagnostics.mask_patterns import name_of_mask, name_of_text
from workbench.diagnostics.mask_report import AROUND, MaskReport, wrong_length


def check_masks(
    messages: Sequence[Mapping[str, Any]],
    ids: Sequence[int],
    mask: Sequence[int],
    logprobs: Sequence[float | None] | None = None,
    *,
    tokenizer: Any,
    template: str | None = None,
    tools: Sequence[Any] | None = None,
    sampled: Sequence[Sequence[int]] | None = None,
    leave_out_truncated: bool = False,
) -> MaskReport:
    """The first token whose mask is wrong, and the name of the mistake.

    Args:
        messages: the whole conversation, the prompt first, with role, content and tool_calls.
        ids: (T,) of the whole conversation, or of what follows the prompt and its generation
            prompt; padded on either side, or not.
        mask: (T,) 1 = the model's token, which is learned; 0 = all else.
        logprobs: (T,) the sampler's, 0 or None where the model did not sample; or only the model's.
        tokenizer: with the chat template that made the prompts; or give it as `template`.
        tools: as given to the template.
        sampled: one list a turn of the model: its ids exactly as sampled. Only with them can ids
            that were decoded and encoded again be told from the sampled ones, if the mask fits.
        leave_out_truncated: True = an attempt that was cut off must not be learned from.
    Raises:
        ValueError: no template, or no message of role "assistant"; ids or mask are not one row of
            numbers, or the mask has others than 0 and 1.

    A test plants each of `mask_report.PATTERNS`.
    """
    ids, mask = _row("ids", ids), _row("mask", mask)
    if others := [m for m in mask if m not in (0, 1)]:
        raise ValueError(f"mask: expected 0 or 1 for each token, got {float(others[0]):g}")
    ids, mask = [int(i) for i in ids], [int(m) for m in mask]
    parts = pieces(messages, Renderer(tokenizer, template, tools))
    texts = decoded(tokenizer, ids)
    if len(ids) != len(mask):
        return _other_length(ids, mask, texts, tokenizer)
    found = _match(parts, ids, texts, tokenizer)
    if isinstance(found, MaskReport):
        return found
    labels, truncated = found
    expected = [int(label in MODELS_OWN) for label in labels]
    if sampled is not None and (report := _compare_sampled(ids, labels, sampled, texts)):
        return report
    if truncated and leave_out_truncated:
        expected = [0] * len(ids)
        name = "truncated learned"
    else:
        name = name_of_mask(labels, expected, mask)
    wrong = [i for i, (got, want) in enumerate(zip(mask, expected)) if got != want]
    if not wrong:
        report = MaskReport(True, len(ids), expected=tuple(expected))
        return report if logprobs is None else _compare_logprobs(report, logprobs, texts, mask)
    first = wrong[0]
    detail = f"{texts[first]!r} ({labels[first]}) has {mask[first]}, should have {expected[first]}"
    near = _around(first, texts, mask, expected)
    return MaskReport(
        False, len(ids), name, first, len(wrong), detail, near, expected=tuple(expected)
    )


def _row(name: str, given: Sequence) -> Sequence:
    """What was given, if it is one row of numbers."""
    if isinstance(given, Mapping):
        raise ValueError(
            f"{name}: expected a row of numbers, got a {type(given).__name__} of {list(given)}; "
            "tokenizer.apply_chat_template(..., return_dict=False) returns the ids alone"
        )
    if any(np.ndim(value) for value in given):
        raise ValueError(
            f"{name}: expected one row, got a batch of {len(given)}; check its rows one by one, "
            f"the first is {name}[0]"
        )
    return given


def _match(
    parts: Sequence[Piece], ids: Sequence[int], texts: Sequence[str], tokenizer: Any
) -> tuple[list[Label | str], bool] | MaskReport:
    """(label of each id, whether the end is missing), or why ids and messages do not fit."""
    start, stop = _unpadded(ids, tokenizer.pad_token_id)
    stops = [stop]
    if stop < len(ids) and Piece("end", texts[stop]) in parts:
        stops = [stop + 1, stop]  # what pads also ends a turn: the first one may be the model's
    first_turn = next(i for i, part in enumerate(parts) if part.label in ("model", "end"))
    for stop in stops:
        text = "".join(texts[start:stop])
        for of in (parts, parts[first_turn:]):
            wanted = "".join(part.text for part in of)
            if text and wanted.startswith(text):
                labels = _labels(of, texts[start:stop])
                return _with_padding(labels, start, len(ids)), not _ended(of, text)
    text = "".join(texts[start : stops[0]])
    whole = text.startswith(parts[0].text[:8]) and parts[0].label == "prompt"
    of = parts if whole else parts[first_turn:]
    if of[-1].label == "separator" and not text.endswith(of[-1].text):
        of = of[:-1]  # what is written after the last turn need not be there yet
    name = name_of_text(of, text)
    if name == "other text" and (said := _between_anchors(of, text)):
        labels = _labels(said, texts[start : stops[0]])
        return _with_padding(labels, start, len(ids)), False
    wanted = "".join(part.text for part in of)
    place = next(
        (i for i, (a, b) in enumerate(zip(wanted, text)) if a != b), min(len(wanted), len(text))
    )
    first = start + _token_at(texts[start:], place)
    detail = (
        f"the messages go on {wanted[place : place + 24]!r}, the ids {text[place : place + 24]!r}"
    )
    near = _around(first, texts, [None] * len(ids), [None] * len(ids))
    return MaskReport(
        False, len(ids), name, min(first, len(ids) - 1), detail=detail, neighbours=near
    )


def _unpadded(ids: Sequence[int], pad: int | None) -> tuple[int, int]:
    """Where the text starts, and where it stops."""
    start, stop = 0, len(ids)
    while start < stop and ids[start] == pad:
        start += 1
    while stop > start and ids[stop - 1] == pad:
        stop -= 1
    return start, stop


def _ended(parts: Sequence[Piece], text: str) -> bool:
    """Whether the text goes as far as the end of the last turn."""
    last = max(i for i, part in enumerate(parts) if part.label in MODELS_OWN)
    return len(text) >= sum(len(part.text) for part in parts[: last + 1])


def _labels(parts: Sequence[Piece], texts: Sequence[str]) -> list[Label]:
    """Label of each token: that of the piece its first character lies in."""
    of_character = [part.label for part in parts for _ in part.text]
    labels, place = [], 0
    for text in texts:
        if text or not labels:
            labels.append(of_character[min(place, len(of_character) - 1)])
        else:
            labels.append(labels[-1])  # the rest of a character
        place += len(text)
    return labels


def _with_padding(labels: Sequence[Label], start: int, length: int) -> list[Label | str]:
    behind = length - start - len(labels)
    return ["padding"] * start + list(labels) + ["padding"] * behind


def _between_anchors(parts: Sequence[Piece], text: str) -> list[Piece] | None:
    """The model's text is whatever lies between what it was told, if all of that is found.

    For turns whose text was parsed and rendered again, such as the blanks in a JSON tool call.
    """
    out: list[Piece] = []
    place = 0
    for is_turn, run in itertools.groupby(parts, key=lambda part: part.label in MODELS_OWN):
        if is_turn:
            continue
        told = list(run)
        anchor = "".join(part.text for part in told)
        at = text.find(anchor, place)
        if at < 0 or (at > place and not out and told[0].label == "prompt"):
            return None
        if at > place:
            out.append(Piece("model", text[place:at]))
        out += told
        place = at + len(anchor)
    return out + ([Piece("model", text[place:])] if place < len(text) else [])


def _compare_sampled(
    ids: Sequence[int],
    labels: Sequence[Label | str],
    sampled: Sequence[Sequence[int]],
    texts: Sequence[str],
) -> MaskReport | None:
    """A report if the model's ids are not the sampled ones."""
    own = [i for i, label in enumerate(labels) if label in MODELS_OWN]
    wanted = [token for turn in sampled for token in turn]
    for number, place in enumerate(own):
        if number >= len(wanted) or ids[place] != wanted[number]:
            came = wanted[number] if number < len(wanted) else "nothing"
            detail = f"id {ids[place]} ({texts[place]!r}) stands where {came} was sampled"
            near = _around(place, texts, [None] * len(ids), [None] * len(ids))
            return MaskReport(
                False, len(ids), "re-tokenised", place, detail=detail, neighbours=near
            )
    return None


def _compare_logprobs(
    report: MaskReport, logprobs: Sequence[float | None], texts: Sequence[str], mask: Sequence[int]
) -> MaskReport:
    """The same report, unless the log-probabilities stand elsewhere than the mask."""
    if len(logprobs) == sum(mask):
        return report
    if len(logprobs) != len(mask):
        detail = f"{len(logprobs)} logprobs for {sum(mask)} tokens of the model, {len(mask)} in all"
        return replace(report, ok=False, pattern="logprobs elsewhere", first_wrong=0, detail=detail)
    given = [int(value is not None and value == value and value != 0.0) for value in logprobs]
    # a model may be certain: a logprob of 0 proves nothing, one where it did not speak does
    wrong = [i for i, (has, learned) in enumerate(zip(given, mask)) if has and not learned]
    if not wrong:
        return report
    detail = f"{texts[wrong[0]]!r} has logprob {logprobs[wrong[0]]:.3g} and is not the model's"
    near = _around(wrong[0], texts, mask, report.expected)
    return replace(
        report,
        ok=False,
        pattern="logprobs elsewhere",
        first_wrong=wrong[0],
        num_wrong=len(wrong),
        detail=detail,
        neighbours=near,
    )


def _other_length(
    ids: Sequence[int], mask: Sequence[int], texts: Sequence[str], tokenizer: Any
) -> MaskReport:
    """The report of a mask that was made for other ids than these."""
    report = wrong_length(ids, mask)
    again = tokenizer.encode("".join(texts), add_special_tokens=False)
    if len(mask) != len(again):
        return report
    detail = f"{report.detail}, as many as the text has when it is encoded again"
    return replace(report, pattern="re-tokenised", detail=detail)


def _token_at(texts: Sequence[str], place: int) -> int:
    """Index of the token that holds character `place`."""
    length = 0
    for index, text in enumerate(texts):
        length += len(text)
        if length > place:
            return index
    return max(len(texts) - 1, 0)


def _around(first: int, texts: Sequence[str], mask: Sequence, expected: Sequence) -> tuple:
    near = range(max(0, first - AROUND), min(len(texts), first + AROUND + 1))
    return tuple((i, texts[i], mask[i], expected[i]) for i in near)
