"""The names of mistakes: what a wrong mask, or a text that does not fit, looks like.

Stage: beside the loop. Labels, expected mask and mask go in, a name of `mask_report.PATTERNS` comes
out. Left out: where ids and mask come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from workbench.diagnostics.conversation import MODELS_OWN, Piece

THINKING = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
FARTHEST = 16
"""Shifts that are looked for, in tokens."""


def name_of_mask(labels: Sequence[str], expected: Sequence[int], mask: Sequence[int]) -> str:
    """The name of the difference between a mask and what it should be; "" if there is none."""
    extra = {label for label, e, m in zip(labels, expected, mask) if m and not e}
    missing = {label for label, e, m in zip(labels, expected, mask) if e and not m}
    if not extra and not missing:
        return ""
    if not any(mask):
        return "nothing learned"
    if extra and missing:
        return _of_both(labels, expected, mask)
    return _of_extra(extra, mask, labels) if extra else _of_missing(missing, labels, mask)


def _of_both(labels: Sequence[str], expected: Sequence[int], mask: Sequence[int]) -> str:
    text = [i for i, label in enumerate(labels) if label != "padding"]
    if all(mask[i] != expected[i] for i in text):
        return "inverted"
    padding = len(labels) - len(text)
    for by in sorted({*range(-FARTHEST, FARTHEST + 1), padding, -padding} - {0}, key=abs):
        if _moved(expected, by) == list(mask):
            if abs(by) == padding:
                return "padding side"
            return "off by one" if abs(by) == 1 else "shifted"
    return "other"


def _moved(expected: Sequence[int], by: int) -> list[int]:
    """The mask `by` tokens later, zeros coming in."""
    if by >= 0:
        return [0] * by + list(expected[: len(expected) - by])
    return list(expected[-by:]) + [0] * -by


def _of_extra(extra: set[str], mask: Sequence[int], labels: Sequence[str]) -> str:
    if extra == {"padding"}:
        return "padding learned"
    if all(m or label == "padding" for m, label in zip(mask, labels)):
        return "everything learned"
    for only in ("header", "separator"):
        if extra == {only}:
            return {"header": "template prefix learned", "separator": "separator learned"}[only]
    if "observation" in extra and "prompt" not in extra:
        return "observation learned"
    if "prompt" in extra and "observation" not in extra:
        return "prompt learned"
    return "other"


def _of_missing(missing: set[str], labels: Sequence[str], mask: Sequence[int]) -> str:
    if missing == {"end"}:
        return "end of turn not learned"
    own = [i for i, label in enumerate(labels) if label in MODELS_OWN]
    turns = [[own[0]]]
    for i in own[1:]:
        if i == turns[-1][-1] + 1:
            turns[-1].append(i)
        else:
            turns.append([i])
    learned = [all(mask[i] for i in turn) for turn in turns]
    untouched = [not any(mask[i] for i in turn) for turn in turns]
    if len(turns) > 1 and learned[-1] and all(untouched[:-1]):
        return "earlier turns left out"
    return "model tokens left out"


def name_of_text(parts: Sequence[Piece], text: str) -> str:
    """The name of what is wrong with a text that is not the conversation's."""
    changes: dict[str, Callable[[Piece], str]] = {
        "separator dropped": lambda part: "" if part.label == "separator" else part.text,
        "thinking stripped": lambda part: (
            THINKING.sub("", part.text) if part.label == "model" else part.text
        ),
    }
    for name, change in changes.items():
        changed = "".join(map(change, parts))
        if changed.startswith(text) and text:
            return name
    if _lacks_thinking_somewhere(parts, text):
        return "thinking stripped"
    if _lacks_what_was_told(parts, text):
        return "observation missing"
    whole = "".join(part.text for part in parts)
    for length in range(1, min(len(text), 64)):
        if text[:length] == text[length : 2 * length] and whole.startswith(text[length:]):
            return "beginning doubled"
    return "other text"


def _lacks_thinking_somewhere(parts: Sequence[Piece], text: str) -> bool:
    """Whether the text is the conversation with the thinking of some turns left out."""
    place = 0
    for part in parts:
        short = THINKING.sub("", part.text) if part.label == "model" else part.text
        if text.startswith(part.text, place):
            place += len(part.text)
        elif text.startswith(short, place):
            place += len(short)
        else:
            return part.text.startswith(text[place:]) and place > 0
    return place >= len(text)


def _lacks_what_was_told(parts: Sequence[Piece], text: str) -> bool:
    """Whether the text is the conversation without one stretch of what the model was told."""
    whole = "".join(part.text for part in parts)
    num_missing = len(whole) - len(text)
    same = next((i for i, (a, b) in enumerate(zip(whole, text)) if a != b), len(text))
    if num_missing <= 0 or whole[same + num_missing :] != text[same:]:
        return False
    told = [part.label in ("prompt", "observation") for part in parts for _ in part.text]
    most = sum(told[same : same + num_missing])
    # where it was cut is known but for equal characters: the cut may lie further left
    while same > 0 and whole[same - 1] == whole[same - 1 + num_missing]:
        same -= 1
        most = max(most, sum(told[same : same + num_missing]))
    return most >= 0.9 * num_missing
