"""Means over seeds by hand, and text for people."""

import json
import math

import pytest

from workbench.reproduce import Order
from workbench.reproduce.report import over_seeds, percent, publish, table
from workbench.stats import Interval


def test_the_interval_over_three_seeds_is_student_s():
    rows = [{"rl": {"sampled": {"estimate": rate}}} for rate in (0.5, 0.6, 0.7)]
    found = over_seeds(rows, "rl", "sampled", "estimate")
    half = 4.302653 * 0.1 / math.sqrt(3)  # t(0.975, 2 degrees) * s / sqrt(n)
    assert found.estimate == pytest.approx(0.6)
    assert (found.low, found.high) == pytest.approx((0.6 - half, 0.6 + half), abs=1e-6)
    assert percent(found) == "60.0 % [35.2, 84.8]"


def test_one_seed_has_a_mean_and_no_interval():
    assert percent(over_seeds([{"solved": 0.25}], "solved")) == "25.0 %"


def test_columns_are_aligned_under_their_headers():
    assert table([["", "solved"], ["base", "7 %"]]).splitlines() == [
        "      solved",
        "------------",
        "base  7 %",
    ]


def test_the_file_holds_intervals_as_plain_json_and_null_for_nan(tmp_path, capsys):
    order = Order("headline", (0,), True, "tiny", tmp_path)
    found = {"means": {"rl": Interval(0.5, math.nan, math.nan, "one run")}, "at": {4: 0.5}}
    path = publish(order, {"policy_hash": "abc"}, found, "the table")
    stored = json.loads(path.read_text("utf-8"))
    rl = {"estimate": 0.5, "low": None, "high": None, "method": "one run"}
    assert stored["means"]["rl"] == rl and stored["at"] == {"4": 0.5} and stored["minutes"] >= 0
    said = capsys.readouterr().out
    assert "the table\n(--fast: tiny sizes, the numbers mean nothing)" in said and "abc" in said
