"""Bugs: small wrong changes to one line of Python.

Stage: tasks. In: a line of a right body. Out: every wrong version of it that one mutator can
make, by name. The list is pinned by a test, because the difficulty of a suite is a property of
its bugs. Left out: bugs that span lines or files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_RULES = (
    # name, pattern (one match = one possible bug), replacement
    ("equal_to_unequal", r"==", "!="),
    ("unequal_to_equal", r"!=", "=="),
    ("greater_to_less", r"(?<!-)>(?!=)", "<"),
    ("less_to_greater", r"<(?!=)", ">"),
    ("greater_to_at_least", r">(?!=)", ">="),
    ("less_to_at_most", r"<(?!=)", "<="),
    ("even_to_odd", r"== 0\b", "== 1"),
    ("odd_to_even", r"== 1\b", "== 0"),
    ("wrong_modulus", r"% 2\b", "% 3"),
    ("plus_to_minus", r"(?<=\w) \+ (?=\w)", " - "),
    ("minus_to_plus", r"(?<=\w) - (?=\w)", " + "),
    ("times_to_plus", r" \* (?=\d)", " + "),
    ("plus_to_times", r"(?<=\w) \+ (?=\d)", " * "),
    ("minus_to_times", r"(?<=\w) - (?=\d)", " * "),
    ("double_to_triple", r"\* 2\b", "* 3"),
    ("triple_to_double", r"\* 3\b", "* 2"),
    ("square_to_double", r"\b([xn]) \* \1\b", r"\1 * 2"),
    ("square_to_sum", r"\b([xn]) \* \1\b", r"\1 + \1"),
    ("lost_negation", r"(?<![\w\]] )-(?=[xn]\b)", ""),
    ("max_to_min", r"\bmax\(", "min("),
    ("min_to_max", r"\bmin\(", "max("),
    ("sum_to_max", r"\bsum\(", "max("),
    ("sum_to_len", r"\bsum\(", "len("),
    ("len_to_sum", r"\blen\(", "sum("),
    ("lost_sorted", r"\bsorted\((.*)\)$", r"\1"),
    ("lost_reverse", r"\[::-1\]", ""),
    ("wrong_slice", r"\[::-1\]", "[:-1]"),
    ("wrong_default", r"default=0", "default=1"),
    ("wrong_start", r"= 0$", "= 1"),
    ("assign_instead_of_add", r"\+= ", "= "),
    ("subtract_instead_of_add", r"\+= ", "-= "),
    ("lost_condition", r" if [^\]]*(?=\])", ""),
    ("skips_first", r"\bin (xs|ys)\b", r"in \1[1:]"),
    ("skips_last", r"\bin (xs|ys)\b", r"in \1[:-1]"),
    ("unknown_name", r"\bin xs\b", "in ys"),
    ("wrong_list", r"\bin ys\b", "in xs"),
    ("returns_input", r"return (ys|total)$", "return xs"),
    ("returns_last_item", r"return (ys|total)$", "return x"),
    ("missing_return", r"return (?=\S)", ""),
    ("missing_colon", r":$", ""),
    ("lost_number", r"(?<=[xn]) [+\-*] \d+", ""),
    ("swapped_branches", r"return (.*) if (.*) else (.*)", r"return \3 if \2 else \1"),
)
_NUMBER_SHIFTS = {"number_too_large": 1, "number_too_small": -1}

MUTATORS = (*(name for name, _, _ in _RULES), *_NUMBER_SHIFTS)
"""Names of all mutators."""


@dataclass(frozen=True)
class Mutation:
    """One wrong version of a line."""

    mutator: str
    """Name of the mutator."""
    line: str
    """The wrong line, indentation included."""


def mutations(line: str) -> Iterator[Mutation]:
    """Every wrong version of `line` that one mutator makes by one change."""
    for name, pattern, replacement in _RULES:
        for match in re.finditer(pattern, line):
            changed = line[: match.start()] + match.expand(replacement) + line[match.end() :]
            if changed != line and changed.strip():
                yield Mutation(name, changed)
    for name, shift in _NUMBER_SHIFTS.items():
        for match in re.finditer(r"(?<![\w=])[2-9]\b", line):
            changed = line[: match.start()] + str(int(match[0]) + shift) + line[match.end() :]
            yield Mutation(name, changed)
