"""What per-turn-index baselines do where the policy decides when to stop: their mean gradient.

    python benchmarks/credit_stopping.py [--group-size 2 8] [--right 4]

After each turn the policy hands in or goes on, up to four turns, and is paid 1 if it hands in after
the turn where that is right, else 0. It has one chance of going on for each turn, the sigmoid of a
parameter of its own, so that its true gradient is a line of arithmetic. Beside it stands the
mean gradient of `return_to_go`, over every group there can be, weighted by its probability: with
each turn compared with the attempts that reach it ("turn_index"), and with the other attempts'
whole return ("others"), which nothing that a turn leads to can bend.

    share      mean over true gradient, for each turn: the same share everywhere would only be
               another learning rate
    angle      degrees between the two
    alone      how often a turn finds nobody to be compared with
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections import Counter
from functools import partial

import numpy as np

from workbench.credit import return_to_go
from workbench.policies.scripted import said
from workbench.records import Evidence, Group, SamplerSettings, Trajectory, Turn, Verdict

TURNS = 4
GOES_ON = (0.9, 0.7, 0.5, 0.3)
"""Chance of going on after each turn: the smaller, the more is decided by stopping."""
BASELINES = ("turn_index", "others")


def true_gradient(goes_on: float, right: int) -> np.ndarray:
    """(right or TURNS - 1,) derivative of the expected pay by each turn's parameter."""
    chance = goes_on ** (right - 1) * (1 - goes_on if right < TURNS else 1.0)
    gradient = np.full(right, chance * (1 - goes_on))
    gradient[-1] = -chance * goes_on
    return gradient[: TURNS - 1]


def groups(goes_on: float, group_size: int):
    """Every group there can be, up to order: (lengths of its attempts, probability)."""
    lengths = range(1, TURNS + 1)
    chances = [goes_on ** (n - 1) * (1 - goes_on if n < TURNS else 1.0) for n in lengths]
    for group in itertools.combinations_with_replacement(lengths, group_size):
        orders = math.factorial(group_size)
        for count in Counter(group).values():
            orders //= math.factorial(count)
        yield group, orders * math.prod(chances[n - 1] for n in group)


def attempt(length: int) -> Trajectory:
    """An attempt of so many turns, whatever was said in them."""
    turn = Turn(said("go on", "", 0), None, None, "", "")
    return Trajectory(
        task_id="stopping",
        seed=0,
        sampler=SamplerSettings(),
        turns=(turn,) * length,
        final_files={},
        verdict=Verdict("call", "ok", ()),
        evidence=Evidence(),
        stop_reason="submitted",
    )


def mean_gradient(scheme, goes_on: float, right: int, group_size: int) -> np.ndarray:
    """(TURNS - 1,) the scheme's gradient, averaged over all groups."""
    total = np.zeros(TURNS - 1)
    for lengths, probability in groups(goes_on, group_size):
        group = Group("stopping", "", tuple(map(attempt, lengths)))
        credit = scheme(group, [float(length == right) for length in lengths])
        for length, numbers in zip(lengths, credit):
            for k, number in enumerate(numbers[: TURNS - 1]):  # the last turn leaves no choice
                score = 1 - goes_on if k < length - 1 else -goes_on
                total[k] += probability / group_size * number * score
    return total


def alone(goes_on: float, group_size: int) -> np.ndarray:
    """(TURNS - 1,) how often an attempt that reaches a turn is the only one of its group."""
    return (1 - goes_on ** np.arange(TURNS - 1)) ** (group_size - 1)


def degrees(a: np.ndarray, b: np.ndarray) -> float:
    """The angle between two directions."""
    cosine = a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def main() -> None:
    """Print one table for each group size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group-size", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--right", type=int, default=TURNS, help="the turn after which to stop")
    options = parser.parse_args()
    for group_size in options.group_size:
        print(f"\ngroups of {group_size}, right to hand in after turn {options.right} of {TURNS}")
        heads = ("goes on", "turn_index: share", "angle", "alone", "others: share", "angle")
        widths = (9, 22, 8, 22, 22, 8)
        print("".join(head.ljust(width) for head, width in zip(heads, widths)).rstrip())
        for goes_on in GOES_ON:
            true, cells = true_gradient(goes_on, options.right), [str(goes_on)]
            for name in BASELINES:
                scheme = partial(return_to_go, baseline=name)
                found = mean_gradient(scheme, goes_on, options.right, group_size)[: len(true)]
                cells += [in_a_row(found / true), f"{degrees(found, true):.1f}"]
                if name == "turn_index":
                    cells.append(in_a_row(alone(goes_on, group_size)[: len(true)]))
            print("".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip())


def in_a_row(numbers: np.ndarray) -> str:
    """A number a turn."""
    return "  ".join(f"{number:.2f}" for number in numbers)


if __name__ == "__main__":
    main()
