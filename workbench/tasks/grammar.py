"""The language of the generated suites: what a small function should do, and ways to write it.

Stage: tasks. In: a random generator and the compositions of one split. Out: `Spec`s, each with
its words, its meaning and one to three bodies of Python. A *composition* is a spec without its
numbers ("sum of double of above K"). The splits are disjoint by what compositions mean, not only
by their words: "if even then A else B" is in the same split as "if odd then B else A". So a dev
or test function is one that no training text asks for in any words. Left out, compared with real
code: strings, dictionaries, state, several files that call each other, anything slow.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

from workbench.tasks import execute

AGGREGATES = ("sum", "list", "max", "min", "sorted", "reversed")
"""What a list function does with the values it kept; `count` joins them without a map."""
MAPS = {
    "item": "{v}", "double": "{v} * 2", "triple": "{v} * 3", "square": "{v} * {v}",
    "negated": "-{v}", "plus K": "{v} + {k}", "minus K": "{v} - {k}",
}  # fmt: skip
"""Words -> expression over one value."""
CONDITIONS = {
    "positive": "{v} > 0", "negative": "{v} < 0", "even": "{v} % 2 == 0", "odd": "{v} % 2 == 1",
    "above K": "{v} > {k}", "below K": "{v} < {k}", "nonzero": "{v} != 0",
}  # fmt: skip
"""Words -> condition on one value; list functions also know "all"."""
NUMBERS = range(2, 10)
"""The K of a spec."""
SPLITS = {"train": 70, "dev": 15, "test": 15}
"""Share of the compositions in percent."""


@dataclass(frozen=True)
class Composition:
    """A spec without its numbers: what the splits are disjoint by."""

    family: str
    """"list": f(xs), an aggregate of mapped, filtered items. "int": f(n), one of two results."""
    parts: tuple[str, ...]
    """(aggregate, map, filter) or (condition, then, else)."""

    @property
    def key(self) -> str:
        """Readable name, e.g. "list:sum/double/even"."""
        return f"{self.family}:{'/'.join(self.parts)}"

    @property
    def split(self) -> str:
        """The split this composition belongs to, decided by the hash of what it means."""
        bucket = int(hashlib.sha256(meaning(self).encode()).hexdigest(), 16) % 100
        for split, share in SPLITS.items():
            if bucket < share:
                return split
            bucket -= share
        raise AssertionError("the shares of SPLITS add up to 100")


@dataclass(frozen=True)
class Spec:
    """What one function should do: a composition with its numbers filled in."""

    composition: Composition
    """Which combination."""
    words: str
    """The spec in words: the comment in the code and the statement of a `functions` task."""
    argument: str
    """"xs" or "n"."""
    bodies: tuple[tuple[str, ...], ...]
    """Right bodies, one tuple of indented lines each: in one line, in two steps, as a loop."""
    numbers: tuple[int, ...]
    """The numbers it mentions; inputs near them tell off-by-one bugs apart."""


@functools.cache
def compositions(split: str | None = None) -> tuple[Composition, ...]:
    """All compositions, or those of one split. `count` ignores its map, so it has none."""
    lists = itertools.product(AGGREGATES, MAPS, ("all", *CONDITIONS))
    counts = (("count", "item", condition) for condition in ("all", *CONDITIONS))
    ints = (
        (condition, yes, no)
        for condition in CONDITIONS
        for yes, no in itertools.permutations(MAPS, 2)
    )
    everything = (
        *(Composition("list", parts) for parts in itertools.chain(lists, counts)),
        *(Composition("int", parts) for parts in ints),
    )
    return tuple(c for c in everything if split in (None, c.split))


@functools.cache
def meaning(composition: Composition) -> str:
    """What the composition computes on fixed inputs, as text: equal for two that mean the same.

    Every K is the same number (3, then 7), so that the order of two numbers does not hide a twin.
    """
    rng = random.Random("meaning")
    lists = [([rng.randint(-9, 9) for _ in range(i % 5)],) for i in range(60)]
    inputs = lists if composition.family == "list" else [(n,) for n in range(-20, 21)]
    answers = []
    for k in (3, 7):
        spec = _write_spec(composition, lambda k=k: k)
        source = "\n".join((f"def f({spec.argument}):", *spec.bodies[0])) + "\n"
        answers += [execute.call(source, "f", args) for args in inputs]
    return f"{composition.family} {answers}"


def make_spec(composition: Composition, rng: random.Random) -> Spec:
    """The composition with its numbers drawn from `rng`, in words and in Python."""
    return _write_spec(composition, lambda: rng.choice(NUMBERS))


def _write_spec(composition: Composition, draw_number: Callable[[], int]) -> Spec:
    numbers = []

    def fill(word: str, template: str, value: str) -> tuple[str, str]:
        k = draw_number()
        if "K" in word:
            numbers.append(k)
        return word.replace("K", str(k)), template.format(v=value, k=k)

    first, second, third = composition.parts
    if composition.family == "list":
        map_words, expression = fill(second, MAPS[second], "x")
        filter_words, condition = fill(third, CONDITIONS.get(third, ""), "x")
        words = f"{first} of {map_words} of {filter_words}"
        bodies = _list_bodies(first, expression, condition)
        return Spec(composition, words, "xs", bodies, tuple(numbers))
    if_words, condition = fill(first, CONDITIONS[first], "n")
    then_words, yes = fill(second, MAPS[second], "n")
    else_words, no = fill(third, MAPS[third], "n")
    words = f"if {if_words} then {then_words} else {else_words}"
    return Spec(composition, words, "n", _int_bodies(condition, yes, no), tuple(numbers))


_FINISH: dict[str, Callable[[str], str]] = {
    "sum": "sum({})".format,
    "list": "{}".format,
    "max": "max({}, default=0)".format,
    "min": "min({}, default=0)".format,
    "sorted": "sorted({})".format,
    "reversed": "{}[::-1]".format,
    "count": "len({})".format,
}


def _list_bodies(aggregate: str, expression: str, condition: str) -> tuple[tuple[str, ...], ...]:
    finish, where = _FINISH[aggregate], f" if {condition}" if condition else ""
    one_line = (f"    return {finish(f'[{expression} for x in xs{where}]')}",)
    if condition:
        two_steps = (
            f"    ys = [x for x in xs if {condition}]",
            f"    return {finish(f'[{expression} for x in ys]')}",
        )
    else:
        two_steps = (f"    ys = [{expression} for x in xs]", f"    return {finish('ys')}")
    if aggregate in ("sum", "count"):
        start, step, end = "total = 0", f"total += {expression}", "total"
        step = "total += 1" if aggregate == "count" else step
    else:
        start, step, end = "ys = []", f"ys.append({expression})", finish("ys")
    inside = (f"        {step}",)
    if condition:
        inside = (f"        if {condition}:", f"            {step}")
    loop = (f"    {start}", "    for x in xs:", *inside, f"    return {end}")
    return one_line, two_steps, loop


def _int_bodies(condition: str, yes: str, no: str) -> tuple[tuple[str, ...], ...]:
    return (
        (f"    return {yes} if {condition} else {no}",),
        (f"    if {condition}:", f"        return {yes}", f"    return {no}"),
        (f"    y = {no}", f"    if {condition}:", f"        y = {yes}", "    return y"),
    )


def draw_inputs(spec: Spec, rng: random.Random, count: int) -> list[tuple]:
    """`count` argument tuples for the spec, all different; numbers near the spec's K are likely.

    A function of one number has 19 likely inputs, so `count` is at most 16.
    """
    assert count <= 16, count
    near = [k + d for k in spec.numbers for d in (-1, 0, 1)] or [0]

    def number() -> int:
        return rng.choice(near) if rng.random() < 0.3 else rng.randint(-9, 9)

    found: dict[str, tuple] = {}
    while len(found) < count:
        if spec.argument == "xs":
            args = ([number() for _ in range(rng.randint(2, 4))],)
        else:
            args = (number(),)
        found[repr(args)] = args
    return list(found.values())
