"""Scores of turns made one number: worked examples, and what can be gained by saying more."""

import math
import pickle
from dataclasses import replace

import pytest

from workbench.records import Trajectory, from_json, to_json
from workbench.rewards import RewardDesign, Scores, aggregate, prm_score

SCORES = [0.9, 0.6, 0.8]


@pytest.mark.parametrize(
    "how, worked_out",
    [
        ("min", 0.6),
        ("product", 0.432),
        ("mean", 0.766667),
        ("last", 0.8),
        ("log_odds", 3.988984),
        ("sum", 2.3),
    ],
)
def test_the_ways_to_aggregate(how, worked_out):
    assert aggregate(SCORES, how) == pytest.approx(worked_out, abs=1e-6)


def test_only_some_of_them_gain_by_one_more_good_turn():
    longer = [*SCORES, 0.85]
    gains = {how: aggregate(longer, how) - aggregate(SCORES, how) for how in ("min", "product",
             "mean", "last", "log_odds", "sum")}  # fmt: skip
    assert gains["min"] == 0 and gains["product"] < 0
    assert gains["mean"] > 0 and gains["last"] > 0 and gains["log_odds"] > 0
    assert gains["sum"] == pytest.approx(0.85)


def test_scores_that_are_certain_have_finite_log_odds():
    assert aggregate([1.0], "log_odds") == pytest.approx(math.log(1e6), rel=1e-4)
    assert aggregate([0.0, 1.0], "log_odds") == pytest.approx(0.0, abs=1e-9)


def test_a_component_reads_the_stored_scores_and_nothing_else(make_trajectory, task):
    attempt = make_trajectory()
    scored = replace(attempt, evidence=replace(attempt.evidence, turn_scores=tuple(SCORES)))
    assert prm_score("min")(scored, task) == 0.6
    assert repr(prm_score("last")) == "prm_score('last')"
    assert pickle.loads(pickle.dumps(prm_score("last"))) == prm_score("last")
    with pytest.raises(ValueError, match=r"process_rewards.score_turns.*Scoring\(model\)"):
        prm_score("min")(attempt, task)
    broken = replace(scored.verdict, status="sandbox_error")
    assert prm_score("min")(replace(scored, verdict=broken), task) is None


def test_scores_survive_storage_and_can_be_remixed(make_trajectory, make_group, task):
    attempt = make_trajectory()
    evidence = replace(attempt.evidence, turn_scores=tuple(SCORES), turn_scores_by="ab12")
    scored = replace(attempt, evidence=evidence)
    assert from_json(Trajectory, to_json(scored)) == scored
    design = RewardDesign(weakest=(prm_score("min"), 1.0), end=(prm_score("last"), 0.5))
    assert design.score(scored, task).total == pytest.approx(1.0)
    group = make_group(scored)
    table = Scores.of([group], [task], design)
    assert table.rewards({"end": 1.0}).tolist() == [pytest.approx(1.4)]


def test_what_cannot_be_aggregated_is_refused():
    with pytest.raises(ValueError, match="expected one of min, product"):
        prm_score("median")
    with pytest.raises(ValueError, match="K >= 1"):
        aggregate([], "min")
