"""The benchmarks about credit say what they say they do, on cases small enough for a pencil."""

import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from workbench.counterfactuals import explore
from workbench.counterfactuals.planted import moves
from workbench.credit import return_to_go
from workbench.tasks import load_tasks

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def load(name):
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stopping():
    return load("credit_stopping")


@pytest.fixture(scope="module")
def horizon():
    return load("credit_horizon")


@pytest.mark.parametrize("right", [2, 4])
def test_in_pairs_a_turn_counts_for_half_as_often_as_it_has_company(stopping, right):
    """With one companion, half of the gap to it is the gradient, when it is there at all: after
    two turns of going on with chance 0.3 in 9 of 100 cases."""
    true = stopping.true_gradient(0.3, right)
    found = stopping.mean_gradient(
        partial(return_to_go, baseline="turn_index"), 0.3, right, group_size=2
    )
    assert np.allclose(found[: len(true)] / true, [0.5, 0.15, 0.045][: len(true)])
    assert np.allclose(stopping.alone(0.3, 2), [0.0, 0.7, 0.91])


def test_the_true_gradient_is_the_slope_of_the_expected_pay(stopping):
    def pay(logits, right):
        chances = 1 / (1 + np.exp(-logits))
        stops = 1 - chances[right - 1] if right < 4 else 1.0
        return np.prod(chances[: right - 1]) * stops

    logits = np.full(3, np.log(0.7 / 0.3))
    for right in (1, 2, 3, 4):
        true = stopping.true_gradient(0.7, right)
        for k in range(3):
            up = logits + 1e-6 * np.eye(3)[k]
            slope = (pay(up, right) - pay(logits, right)) / 1e-6
            assert slope == pytest.approx(true[k] if k < len(true) else 0.0, abs=1e-6)


def test_against_the_others_the_mean_gradient_is_the_true_one(stopping):
    scheme = partial(return_to_go, baseline="others")
    found = stopping.mean_gradient(scheme, 0.5, right=3, group_size=3)
    assert np.allclose(found, stopping.true_gradient(0.5, 3))


def test_the_height_of_a_curve_stops_at_the_budget(horizon):
    """A quarter of the budget at 0.2, half at 0.6, the last quarter at 1.0, then overspent."""
    curve = [(0.0, 0.2), (0.25, 0.6), (0.75, 1.0), (1.5, 0.0)]
    assert horizon.height(curve) == pytest.approx(0.05 + 0.3 + 0.25)


def test_without_a_turn_a_ticket_earns_what_its_other_moves_earn(horizon, sandbox):
    """look, repair, submit solves a ticket; without the repair it does not; without the look it
    does. The second ticket is handed in at once."""
    task = load_tasks("bugfix", split="train", count=1)[0]
    world = explore(task, sandbox, list(moves(task).values()))
    look, repair, submit = map(list(moves(task)).index, ("look", "repair", "submit"))

    def played(*moved):
        states = [0]
        for move in moved[:-1]:
            states.append(int(world.next_state[states[-1], move]))
        return horizon.Episode(tuple(states), moved, float(world.reward[states[-1], moved[-1]]))

    learner = horizon.Learner(world, horizon.ARMS["deletion"], list(moves(task)), 8, 2, lr=0.2)
    values = learner.subset_values([(played(look, repair, submit), played(submit))])
    assert [(v.kept, v.value) for v in values] == [
        ((0, 1, 2, 3), 0.5), ((1, 2, 3), 0.5), ((0, 2, 3), 0.0)
    ]  # fmt: skip
    assert learner.rollouts == 2 * 0.5


@pytest.mark.parametrize("name", ["gigpo", "critic, lambda 0.95", "re-rolls x 2", "exact"])
def test_a_learner_pays_for_what_it_plays_and_learns(horizon, sandbox, name):
    task = load_tasks("bugfix", split="train", count=1)[0]
    world = explore(task, sandbox, list(moves(task).values()))
    learner = horizon.Learner(world, horizon.ARMS[name], list(moves(task)), 8, 2, lr=0.2)
    start, rng = learner.solve_rate(), np.random.default_rng(0)
    learner.improve(rng)
    if name == "re-rolls x 2":
        assert learner.rollouts > 2 + 2 * 8  # two sessions, and two rests from most places
    else:
        assert learner.rollouts == 8
    for _ in range(30):
        learner.improve(rng)
    assert learner.solve_rate() > start
