"""The grammar's size, its meaning, and the splits: difficulty must not move unnoticed."""

import random

import pytest

from workbench.tasks import execute
from workbench.tasks.grammar import SPLITS, compositions, draw_inputs, make_spec

MEANING = {  # written independently of grammar.MAPS and grammar.CONDITIONS
    "item": lambda v, k: v,
    "double": lambda v, k: v + v,
    "triple": lambda v, k: v + v + v,
    "square": lambda v, k: v**2,
    "negated": lambda v, k: 0 - v,
    "plus": lambda v, k: v + k,
    "minus": lambda v, k: v - k,
    "all": lambda v, k: True,
    "positive": lambda v, k: v >= 1,
    "negative": lambda v, k: v <= -1,
    "even": lambda v, k: abs(v) % 2 == 0,
    "odd": lambda v, k: abs(v) % 2 == 1,
    "above": lambda v, k: v >= k + 1,
    "below": lambda v, k: v <= k - 1,
    "nonzero": lambda v, k: bool(v),
}
AGGREGATE = {
    "sum": sum,
    "list": list,
    "max": lambda ys: max(ys) if ys else 0,
    "min": lambda ys: min(ys) if ys else 0,
    "sorted": sorted,
    "reversed": lambda ys: list(reversed(ys)),
    "count": len,
}


def meaning(phrase):
    word, _, number = phrase.partition(" ")
    return lambda v: MEANING[word](v, int(number) if number else None)


def by_words(words, value):
    """What the words of a spec ask for, read by an interpreter that never sees the bodies."""
    if words.startswith("if "):
        condition, rest = words[3:].split(" then ")
        yes, no = rest.split(" else ")
        return meaning(yes if meaning(condition)(value) else no)(value)
    aggregate, mapped, kept = words.split(" of ")
    return AGGREGATE[aggregate]([meaning(mapped)(v) for v in value if meaning(kept)(v)])


def test_the_grammar_has_its_pinned_number_of_compositions():
    assert len(compositions()) == 638  # 6 x 7 x 8 + 8 (count) + 7 x 42; at least 523
    assert {s: len(compositions(s)) for s in SPLITS} == {"train": 442, "dev": 94, "test": 102}


def test_the_splits_are_disjoint_and_cover_everything():
    keys = [c.key for s in SPLITS for c in compositions(s)]
    assert len(keys) == len(set(keys)) == 638


@pytest.mark.parametrize("composition", compositions()[::7], ids=lambda c: c.key)
def test_every_body_does_what_the_words_say(composition):
    rng = random.Random(composition.key)
    spec = make_spec(composition, rng)
    for body in spec.bodies:
        source = "\n".join((f"def f({spec.argument}):", *body)) + "\n"
        for args in draw_inputs(spec, rng, 12):
            assert execute.call(source, "f", args) == by_words(spec.words, *args)
