"""Credit schemes in training: what is compared, and what a run spent."""

import pytest

from workbench.reproduce import credit_in_training


def credit_row(arm, seed, solved, curve):
    spent = {"extra_rollouts": 10, "sampled_tokens": 9, "updates": 8, "cpu_s": 7.0}
    row = {"arm": arm, "seed": seed, "solved": solved, "curve": curve, "rollouts": curve[-1][0]}
    return row | spent | {"submit_share": 0.5, "mean_turns": 6.0}


def test_schemes_are_compared_with_broadcast_seed_by_seed():
    rows = [
        credit_row("broadcast", 0, 0.5, [(0, 0.4), (100, 0.6)]),
        credit_row("gigpo", 0, 0.6, [(0, 0.4), (50, 0.6), (100, 0.6)]),
        credit_row("broadcast", 1, 0.3, [(0, 0.2), (100, 0.4)]),
        credit_row("gigpo", 1, 0.5, [(0, 0.2), (50, 0.4), (100, 0.6)]),
    ]
    found = credit_in_training.summary(rows, "gigpo")
    more = found["solved_minus_first"]
    assert more.estimate == pytest.approx(0.15)  # 0.1 and 0.2: s = 0.05 * sqrt(2)
    assert more.high == pytest.approx(0.15 + 12.7062 * 0.05, abs=1e-4)
    assert found["area"].estimate == pytest.approx((0.55 + 0.4) / 2)
    assert found["area_minus_first"].estimate == pytest.approx((0.05 + 0.1) / 2)
    arms = {name: credit_in_training.summary(rows, name) for name in ("broadcast", "gigpo")}
    lines = credit_in_training.told(arms).splitlines()
    assert "+15.0 [-48.5, +78.5]" in lines[3] and lines[3].split()[-4:] == ["100", "10", "8", "7"]


def test_what_a_run_spent_is_counted_up_to_each_evaluation():
    seconds = {"sampling_cpu": 1.0, "sandbox_cpu": 0.5, "update_cpu": 2.0}
    iteration = {"kind": "iteration", "num_rollouts": 4, "num_extra_rollouts": 6, "num_updates": 2}
    iteration |= {"num_sampled_tokens": 40, "num_extra_sampled_tokens": 30, "seconds": seconds}
    evaluation = {"kind": "evaluation", "stage": "rl"}
    found = credit_in_training.spent(
        [
            {"kind": "evaluation", "stage": "base", "iteration": 0, "solve_rate": 0.1},
            iteration,
            evaluation | {"iteration": 1, "solve_rate": 0.2},
            iteration,
            evaluation | {"iteration": 2, "solve_rate": 0.3},
        ]
    )
    assert found["curve"] == [(0, 0.1), (10, 0.2), (20, 0.3)]
    assert (found["rollouts"], found["extra_rollouts"], found["updates"]) == (20, 12, 4)
    assert (found["sampled_tokens"], found["cpu_s"]) == (140, 7.0)
