"""A policy with known probabilities keeps the protocol, and its probabilities."""

import math
from collections import Counter

import pytest

from workbench.policies import MenuPolicy

MENU = {"fix f": {"ls": 0.25, "run": 0.75}, "ok": {"submit": 1.0}}


def test_texts_are_drawn_with_the_probabilities_of_the_menu():
    session = MenuPolicy(MENU.__getitem__).open(4000, seed=0)
    for i in range(4000):
        session.observe(i, "fix f")
    actions = session.act(range(4000))
    counts = Counter(action.text for action in actions)
    assert set(counts) == {"ls", "run"}
    assert abs(counts["ls"] / 4000 - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 4000)
    assert all(math.isclose(sum(a.logprobs), math.log(MENU["fix f"][a.text])) for a in actions)


def test_the_last_observation_names_the_menu_and_prompts_join_to_one_sequence():
    session = MenuPolicy(MENU.__getitem__).open(1)
    session.observe(0, "fix f")
    first = session.act([0])[0]
    session.observe(0, "ok")
    second = session.act([0])[0]
    assert second.text == "submit" and second.logprobs[0] == 0.0
    assert second.kept_prefix == len(first.new_ids) + len(first.ids)


def test_forks_have_random_numbers_of_their_own_and_the_seed_decides_all():
    def texts(session, n=64):
        return [action.text for action in session.act(range(n))]

    def fork(seed):
        session = MenuPolicy(MENU.__getitem__).open(1, seed=seed)
        session.observe(0, "fix f")
        return session.take([0] * 64), session.take([0] * 64), session

    one, two, parent = fork(0)
    again, _, _ = fork(0)
    first = texts(one)
    assert first == texts(again) and first != texts(two)
    undisturbed = MenuPolicy(MENU.__getitem__).open(1, seed=0)
    undisturbed.observe(0, "fix f")
    assert texts(parent, 1) == texts(undisturbed, 1)


def test_a_recalled_action_counts_as_said():
    sessions = [MenuPolicy(MENU.__getitem__).open(1, seed=seed) for seed in (0, 1)]
    for session in sessions:
        session.observe(0, "fix f")
    sessions[1].recall([0], sessions[0].act([0]))
    for session in sessions:
        session.observe(0, "ok")
    assert sessions[0].act([0]) == sessions[1].act([0])


@pytest.mark.parametrize("menu", [{"ls": 0.5}, {"ls": 1.5, "run": -0.5}, {}])
def test_numbers_that_are_no_probabilities_are_refused(menu):
    session = MenuPolicy(lambda observation: menu).open(1)
    session.observe(0, "fix f")
    with pytest.raises(ValueError, match="menu after 'fix f': expected probabilities"):
        session.act([0])
