"""The list of claims, and what is refused."""

import importlib

import pytest

from workbench import commands
from workbench.__main__ import parser
from workbench.bootstrap import SetupError
from workbench.reproduce import CLAIMS, listing, reproduce


def run(*words):
    return commands.run(parser().parse_args(["reproduce", *words]))


@pytest.mark.parametrize("words", [("--list",), ()])
def test_the_list_says_of_each_claim_what_it_shows_how_long_it_takes_and_what_not(words, capsys):
    assert run(*words) == 0
    blocks = capsys.readouterr().out.strip().split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == list(CLAIMS)
    for block in blocks:
        assert all(f"\n  {label}  " in block for label in ("shows", "takes", "does not show"))
        assert max(map(len, block.splitlines())) <= 100


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_has_a_module_that_measures_it(name):
    module = importlib.import_module(f"workbench.reproduce.{name.replace('-', '_')}")
    assert callable(module.measure)


def test_the_readme_rests_on_five_seeds_and_the_cheat_on_three():
    assert (CLAIMS["headline"].seeds, CLAIMS["cheat"].seeds) == (5, 3)


def test_an_unknown_claim_is_answered_with_the_known_ones():
    with pytest.raises(SetupError, match="one of headline, cheat, .*got 'headlines'"):
        reproduce("headlines")


def test_a_claim_over_no_seeds_is_refused():
    with pytest.raises(SetupError, match="--seeds: expected at least 1, got 0"):
        reproduce("headline", seeds=0)


def test_a_base_policy_that_is_not_there_is_refused_before_anything_is_measured(tmp_path):
    with pytest.raises(SetupError, match="policy: expected a folder that exists.*'nope'"):
        reproduce("headline", seeds=1, fast=True, policy="nope", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_list_needs_no_torch_and_every_claim_says_its_number_of_seeds():
    for claim in CLAIMS.values():
        assert f"(--seeds {claim.seeds})" in " ".join(listing().split())
