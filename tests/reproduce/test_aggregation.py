"""From seeds' rows to what is published, by hand."""

import pytest

from workbench.records import Action, Evidence, SamplerSettings, Trajectory, Turn, Verdict
from workbench.reproduce import cheat, credit_in_training, headline, sharpening


def stage(sampled, greedy):
    share = {"submit_share": 1 - sampled}
    return {"sampled": {"estimate": sampled} | share, "greedy": {"estimate": greedy} | share}


def headline_row(seed, rl, *, interrupted=False, total=600.0):
    spent = {"sampling_wall": 300.0, "update_wall": 150.0, "sandbox_cpu": 30.0, "total": total}
    return {"seed": seed, "interrupted": interrupted, "spent_s": spent, "training_cpu_s": 330.0,
            "base": stage(0.1, 0.2), "rft": stage(0.3, 0.4), "rl": stage(rl, 0.7)}  # fmt: skip


def test_the_headline_s_means_are_over_seeds():
    means = headline.means([headline_row(0, 0.58), headline_row(1, 0.62)])
    assert means["rl"]["sampled"].estimate == pytest.approx(0.6)
    half = 12.7062 * 0.02  # t(0.975, 1 degree) * s / sqrt(2), s = 0.02 * sqrt(2)
    assert means["rl"]["sampled"].high == pytest.approx(0.6 + half, abs=1e-4)
    assert means["base"]["greedy"].estimate == pytest.approx(0.2)


def test_time_is_that_of_seeds_which_were_never_interrupted():
    rows = [headline_row(0, 0.6), headline_row(1, 0.6, interrupted=True, total=5.0)]
    time = headline.where_time_went(rows)
    assert time["minutes"].estimate == 10.0 and time["training_cpu_minutes"].estimate == 5.5
    assert time["shares"] == {"sampling": 0.5, "update": 0.25, "evaluation and the rest": 0.25}
    assert time["sandbox_cpu_share"] == 0.05
    assert headline.where_time_went(rows[1:]) == {}


def test_the_headline_s_table_has_a_line_a_stage_and_a_column_a_seed():
    rows = [headline_row(0, 0.58), headline_row(1, 0.62, interrupted=True)]
    found = {"means": headline.means(rows), "time": headline.where_time_went(rows)}
    lines = headline.told(rows, found).splitlines()
    assert lines[0].split("  ")[0] == "test tasks solved" and lines[0].endswith(
        "seed 0       seed 1"
    )
    assert "62.0 / 70.0" in lines[4] and lines[5].split() == ["minutes", "10.0", "resumed"]
    assert lines[7].startswith("handed in at temperature 1: base 90.0 %")
    assert "RL 40.0 % [14.6, 65.4]" in lines[7]  # 12.7062 * 0.02 on either side
    assert "sampling 50%, update 25%, evaluation and the rest 25%" in lines[-1]


def test_the_cheat_s_columns_are_reported_edited_and_true():
    arm = {"reported": 0.9, "edited_tests": 0.8, "solved": {"estimate": 0.1}}
    other = {"reported": 1.0, "edited_tests": 1.0, "solved": {"estimate": 0.0}}
    rows = [{name: a for name in ("base", *cheat.ARMS)} for a in (arm, other)]
    naive = cheat.means(rows)["naive"]
    got = [naive[name].estimate for name in ("reported", "edited_tests", "solved")]
    assert got == pytest.approx([0.95, 0.9, 0.05])


def test_the_cheat_keeps_each_rl_iteration():
    row = {"kind": "iteration", "stage": "rl", "reward_mean": 0.5, "edited_tests_share": 0.1,
           "solved_share": 0.2, "lr": 1e-3}  # fmt: skip
    metrics = [{**row, "stage": "rft"}, row, {"kind": "evaluation"}]
    assert cheat.curve(metrics) == {
        "reward_mean": [0.5], "edited_tests_share": [0.1], "solved_share": [0.2],
    }  # fmt: skip


def counts(*solved, n=4, restored=0):
    tasks = [{"num_scored": n, "num_solved": c, "num_restored": min(restored, c)} for c in solved]
    return {"tasks": tasks}


def test_pass_at_k_is_the_unbiased_one_averaged_over_tasks():
    curve = sharpening.pass_at([counts(1, 0)], 4)
    assert list(curve) == [1, 2, 4]
    assert [curve[k].estimate for k in curve] == pytest.approx([0.125, 0.25, 0.5])  # 1/4, 1/2, 1
    assert curve[4].low == 0.0 and curve[4].high == 1.0


def test_several_seeds_of_a_task_are_averaged_before_tasks_are_resampled():
    curve = sharpening.pass_at([counts(4, 0), counts(0, 0)], 1)
    assert curve[1].estimate == 0.25 and "2 tasks" in curve[1].method


def test_a_task_with_too_few_judged_attempts_leaves_that_k():
    few = {"tasks": [*counts(1)["tasks"], *counts(3, n=3)["tasks"]]}
    curve = sharpening.pass_at([few], 4)
    assert curve[1].estimate == pytest.approx((0.25 + 1) / 2) and curve[4].estimate == 1.0
    assert "1 tasks" in curve[4].method


def test_the_difference_is_paired_by_task():
    found = sharpening.difference([counts(1, 0)], 4, [counts(4, 2)], 1)
    assert found.estimate == pytest.approx((0 + 0.5) / 2) and found.method.startswith("paired")


def test_who_ever_solves_a_task_is_counted_per_seed_and_averaged():
    base, first, second = counts(1, 0, 2, 0), counts(3, 1, 0, 0), counts(3, 0, 0, 0)
    assert sharpening.overlap([base], [first, second]) == {
        "both": 1.0, "base_only": 1.0, "rl_only": 0.5, "neither": 1.5,
    }  # fmt: skip


def test_the_share_of_restored_lines_is_of_solved_episodes():
    assert sharpening.restored([counts(4, 2, restored=3)]).estimate == pytest.approx(5 / 6)
    assert sharpening.restored([counts(0, 0)]) is None


def episode(text):
    action = Action((1,), (0.0,), "submit", "end_of_turn")
    turns = (Turn(action, None, None, "", "0" * 16),)
    verdict = Verdict("call", "ok", ())
    return Trajectory("by-hand", 0, SamplerSettings(), turns, {"lib.py": text}, verdict,
                      Evidence(), "submitted")  # fmt: skip


def test_a_line_is_restored_only_if_it_is_the_original_one_at_its_place(task):
    right, broken = task.reference["lib.py"], task.files["lib.py"]
    rewritten = broken.replace(
        "ys = [x for x in xs if x > 3]", "return sum(x for x in xs if x < 3)"
    )
    elsewhere = right.replace("return xs[-1]", "return xs[0]")
    for text, expected in ((right, True), (elsewhere, True), (rewritten, False), (broken, False),
                           ("", False)):  # fmt: skip
        assert sharpening.restores_line(episode(text), task) is expected


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
