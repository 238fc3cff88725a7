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
    assert {s: len(compositions(s)) for s in SPLITS} == {"train": 418, "dev": 106, "test": 114}


def test_the_splits_are_disjoint_and_cover_everything():
    keys = [c.key for s in SPLITS for c in compositions(s)]
    assert len(keys) == len(set(keys)) == 638


def outputs_by_words(composition):
    """What a composition computes for K = 5, by this file's interpreter, on its own inputs."""
    rng = random.Random("outputs by words")
    words = make_spec(composition, random.Random(0)).words
    words = " ".join("5" if w.isdigit() else w for w in words.split())
    if composition.family == "int":
        return "int", tuple(by_words(words, n) for n in range(-30, 31))
    lists = [[rng.randint(-9, 9) for _ in range(rng.randint(0, 4))] for _ in range(400)]
    return "list", tuple(repr(by_words(words, xs)) for xs in lists)


def test_no_two_splits_share_a_function_under_other_words():
    split_of = {}
    for composition in compositions():
        outputs = outputs_by_words(composition)
        assert split_of.setdefault(outputs, composition.split) == composition.split
    assert len(split_of) >= 523  # different functions, not only different words


def test_twins_are_in_one_split():
    twin = {c.key: c.split for c in compositions()}
    assert twin["int:even/double/item"] == twin["int:odd/item/double"]
    assert twin["list:sum/double/all"] == twin["list:sum/double/nonzero"]


@pytest.mark.parametrize("composition", compositions()[::7], ids=lambda c: c.key)
def test_every_body_does_what_the_words_say(composition):
    rng = random.Random(composition.key)
    spec = make_spec(composition, rng)
    for body in spec.bodies:
        source = "\n".join((f"def f({spec.argument}):", *body)) + "\n"
        for args in draw_inputs(spec, rng, 12):
            assert execute.call(source, "f", args) == by_words(spec.words, *args)
