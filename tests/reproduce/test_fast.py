"""Every claim runs from its command line, at tiny sizes and with a policy that knows nothing."""

import json
import shutil

import numpy as np
import pytest

from workbench.bootstrap import SetupError
from workbench.reproduce import reproduce
from workbench.reproduce.single_turn import attempts_until, tied_share
from workbench.reproduce.six_designs import instructive
from workbench.runlog import load_run

pytestmark = pytest.mark.slow
HEAD = {
    "schema",
    "name",
    "command",
    "date",
    "machine",
    "versions",
    "policy_hash",
    "seeds",
    "minutes",
}


def stored(name, untrained, folder, **options):
    path = reproduce(name, fast=True, policy=str(untrained), out=folder, **options)
    found = json.loads(path.read_text("utf-8"))
    assert found.keys() >= HEAD and found["name"] == name and found["fast"]
    return found


@pytest.fixture(scope="module")
def demos(untrained, tmp_path_factory):
    """Folder of the two claims that others go on from."""
    folder = tmp_path_factory.mktemp("demos")
    for name in ("headline", "cheat"):
        stored(name, untrained, folder)
    return folder


@pytest.fixture
def after_demos(demos, tmp_path):
    """A folder of a test's own in which those two have been measured."""
    return shutil.copytree(demos, tmp_path / "measured")


def test_functions_base(untrained, tmp_path, capsys):
    found = stored("functions-base", untrained, tmp_path, seeds=2)
    assert [row["seed"] for row in found["per_seed"]] == [0, 1] and found["num_tasks"] == 8
    assert found["means"]["solved"]["method"] == "Student t, 2 runs"
    assert "is Python" in capsys.readouterr().out


def test_baselines(untrained, tmp_path, capsys):
    found = stored("baselines", untrained, tmp_path)
    assert 0 <= found["every_mutation"]["solved"]["estimate"] <= 1
    assert len(found["competent_sft"]["per_seed"]) == 1
    assert "every mutation of every line" in capsys.readouterr().out


def test_headline_then_sharpening_on_its_policy(untrained, after_demos, capsys):
    headline = json.loads((after_demos / "headline.json").read_text("utf-8"))
    assert headline["per_seed"][0]["base"]["policy_version"] == headline["policy_hash"]
    sharpening = stored("sharpening", untrained, after_demos)
    assert all(row["same_as_headline"] for row in sharpening["per_policy"])
    assert list(sharpening["pass_at_k"]["base"]) == ["1", "2", "4"]
    assert (after_demos / "sharpening.png").stat().st_size < 150_000
    again = stored("headline", untrained, after_demos)  # nothing is run a second time
    assert again["per_seed"] == headline["per_seed"]
    assert "1 of 1 were finished before" in capsys.readouterr().out


def test_sharpening_says_what_has_to_be_measured_first(untrained, tmp_path):
    with pytest.raises(ValueError, match="reproduce headline --seeds 1` first"):
        stored("sharpening", untrained, tmp_path)


def test_cheat(untrained, after_demos, capsys):
    found = stored("cheat", untrained, after_demos)
    assert list(found["means"]) == ["base", "naive", "penalised", "naive_from_rft"]
    assert len(found["per_seed"][0]["curves"]["naive"]["reward_mean"]) == 1
    assert "tests pass, minus tampering" in capsys.readouterr().out


def test_a_price_on_turns(untrained, tmp_path, capsys):
    found = stored("turn-price", untrained, tmp_path)
    assert found["free"]["minus_free_over_seeds"]["estimate"] == 0.0
    assert 1 <= found["priced"]["turns"]["estimate"] <= 8
    assert 0 <= found["priced-if-solved"]["solved"]["estimate"] <= 1
    assert "handed in" in capsys.readouterr().out


def test_credit_in_training(untrained, tmp_path, capsys):
    found = stored("credit-in-training", untrained, tmp_path)
    assert list(found["arms"]) == ["broadcast", "re-rolls x 2", "critic, lambda 0.95"]
    assert len(found["runs"]) == 3
    for name, arm in found["arms"].items():
        assert (arm["extra_rollouts"] > 0) == name.startswith("re-rolls")
        assert arm["rollouts"] >= 4 and arm["cpu_s"] > 0
    assert found["arms"]["broadcast"]["solved_minus_first"]["estimate"] == 0.0
    assert "minus broadcast" in capsys.readouterr().out


def test_the_recording_holds_every_policys_attempts(untrained, after_demos, tmp_path, capsys):
    with pytest.raises(SetupError, match="reproduce headline` with the same --out first"):
        stored("bugfix-before-after", untrained, tmp_path)
    found = stored("bugfix-before-after", untrained, after_demos)
    run = load_run(after_demos / "bugfix-before-after")
    stages = [stored_iteration.stage for stored_iteration in run.iterations]
    assert stages == list(run.config["stages"]) and run.state == "finished"
    assert [len(run.groups(stage=stage)) for stage in stages[:4]] == [2, 2, 2, 2]
    for row in run.metrics:
        assert row["policy_version"] == run.groups(stage=row["stage"])[0].policy_version
        assert row["edited_tests"] == found[row["stage"]]["edited_tests"]
    stored("bugfix-before-after", untrained, after_demos)  # made anew, not added to
    assert len(load_run(after_demos / "bugfix-before-after").iterations) == 5


def test_the_credit_lab_groups_know_what_each_turn_changed(
    untrained, after_demos, tmp_path, capsys
):
    with pytest.raises(SetupError, match="reproduce headline` with the same --out first"):
        stored("credit-groups", untrained, tmp_path)
    found = stored("credit-groups", untrained, after_demos)
    run = load_run(after_demos / "credit-groups")
    assert [one.stage for one in run.iterations] == ["base", "trained", "planted"]
    for stage in run.config["stages"]:
        groups = run.groups(stage=stage)
        assert len(groups) == 2 and all(group.subset_values for group in groups)
        assert sum(len(group.turn_values) for group in groups) == found[stage]["num_turn_values"]
    assert found["planted"]["standard_error_max"] == 0.0
    assert "standard error" in capsys.readouterr().out


def test_six_designs_over_the_recorded_run(untrained, tmp_path, capsys):
    found = stored("six-designs", untrained, tmp_path)
    assert len(found["attempts"]) == 10 and len(found["designs"]) == 6
    assert found["designs"]["hidden tests"]["auroc"] == 1.0
    insecure = found["attempts"][-2]["paid"]
    assert insecure[2] == 1.0 and insecure[5] == 0.0  # it works, and a scan sees it
    out = capsys.readouterr().out
    assert "paid but wrong" in out and found["formulas"].keys() == found["designs"].keys()
    assert "visible tests    1\xa0×\xa0all_pass('visible_as_left')\n" in out


def test_the_attempts_shown_are_the_commonest_kind_and_those_least_like_it():
    paid = np.array([[0, 0]] * 5 + [[1, 0]] * 3 + [[1, 2]] * 4 + [[9, 9]] * 2, dtype=float)
    assert instructive(paid, 2) == [(0, 5), (8, 4)]  # (9, 9) is too rare
    assert instructive(paid, 9) == [(0, 5), (8, 4), (5, 3)]


def test_single_turn_trains_each_base_with_each_reward(untrained, tmp_path, capsys):
    found = stored("single-turn", untrained, tmp_path)
    names = ["untrained", "all_or_nothing", "pass_fraction", "compile_credit"]
    bases = ["shipped", "weak", "stumbling"]
    assert list(found["arms"]) == [f"{base}-{n}" for base in bases for n in names]
    hashes = found["policy_hashes"]
    assert hashes["shipped"] == found["policy_hash"] and len(set(hashes.values())) == 3
    curves = found["arms"]["weak-pass_fraction"]["curves"]
    assert [len(seed) for seed in curves["solved_share"]] == [1]
    assert "pass fraction" in capsys.readouterr().out


def test_the_share_of_tied_groups_is_of_the_groups_there_were():
    arm = {"curves": {"num_tied": [[2, 2, 1, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0]]}}
    assert tied_share(arm, num_groups=2) == 0.75  # the first two of eight iterations


def test_how_fast_an_arm_learns_is_counted_in_attempts():
    arm = {"curves": {"solved_share": [[0.1, 0.5, 0.4], [None, 0.2, 0.6], [0.1, 0.2, 0.49]]}}
    assert attempts_until(arm, per_iteration=128) == [256, 384, None]


def test_process_rewards_are_measured_and_gamed_from_one_preparation(untrained, tmp_path, capsys):
    reliable = stored("prm-reliability", untrained, tmp_path)
    assert list(reliable["means"]["models"]) == ["outcome", "execution", "soft", "hard"]
    assert list(reliable["means"]["choosing"]["truth"][0]) == ["estimate", "low", "high", "method"]
    made = (tmp_path / "prm" / "seed-0" / "prm" / "head.pt").stat().st_mtime_ns
    gaming = stored("prm-gaming", untrained, tmp_path)
    assert (tmp_path / "prm" / "seed-0" / "prm" / "head.pt").stat().st_mtime_ns == made
    assert len(gaming["per_seed"][0]["sum"]["paid"]) == 2
    for name in ("prm-reliability", "prm-best-of-n", "prm-gaming"):
        assert (tmp_path / f"{name}.png").stat().st_size < 200_000
    out = capsys.readouterr().out
    assert "ProcessBench" not in out and "first errors by halving" in out and "one test" in out


def test_trl_beside_our_loop(untrained, tmp_path, capsys):
    found = stored("trl-multi-turn", untrained, tmp_path)
    assert list(found["arms"]) == ["trl", "ours", "trl-1e-6"]
    assert [len(row["curve"]) for row in found["per_run"]] == [1, 1, 1]
    assert len({row["before"] for row in found["per_run"]}) == 1  # the same base, the same seed
    assert "TRL, its default rate 1e-6" in capsys.readouterr().out
