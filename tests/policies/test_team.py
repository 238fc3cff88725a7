"""Several agents as one policy: contexts, seeds, versions."""

from dataclasses import replace

import pytest

from workbench.environments import EDITOR, LOCATOR
from workbench.policies import CausalLMPolicy, ScriptedPolicy, Team, build_model
from workbench.records import SamplerSettings

SHORT = SamplerSettings(max_action_tokens=4)


@pytest.fixture
def small(tokenizer):
    return CausalLMPolicy(build_model(tokenizer, hidden=32, layers=1, heads=2), tokenizer)


def test_an_agent_hears_only_what_it_is_told():
    heard = {"locator": [], "editor": []}

    def remembers(name, text):
        def script(seen):
            heard[name] = seen
            return text

        return ScriptedPolicy(script)

    team = Team({LOCATOR: remembers("locator", "ls"), EDITOR: remembers("editor", "submit")})
    session = team.open(1)
    session.observe(0, "fix f")
    assert session.act([0])[0].text == "ls"
    session.address(0, "editor")
    session.observe(0, "fix f\nlib.py:3")
    action = session.act([0])[0]
    assert action.text == "submit" and action.kept_prefix == 0
    assert heard == {"locator": ["fix f"], "editor": ["fix f\nlib.py:3"]}


def test_rows_with_different_speakers_act_together_in_their_order():
    team = Team({LOCATOR: ScriptedPolicy(["ls"] * 9), EDITOR: ScriptedPolicy(["run"] * 9)})
    session = team.open(4)
    for i, name in enumerate(["editor", "locator", "editor", "locator"]):
        session.address(i, name)
        session.observe(i, "go")
    assert [a.text for a in session.act([3, 2, 0])] == ["ls", "run", "run"]


def test_a_model_in_two_roles_has_two_contexts_and_two_streams_of_numbers(small):
    session = Team({LOCATOR: small, EDITOR: small}).open(1, seed=5, sampler=SHORT)
    session.observe(0, "fix f")
    first = session.act([0])[0]
    session.address(0, "editor")
    session.observe(0, "fix f")
    second = session.act([0])[0]
    session.address(0, "locator")
    session.observe(0, "lib.py")
    third = session.act([0])[0]
    assert first.new_ids == second.new_ids and second.kept_prefix == 0
    assert first.ids != second.ids
    assert third.kept_prefix == len(first.new_ids) + len(first.ids)


def test_a_copy_of_a_row_goes_on_for_every_agent(small):
    greedy = replace(SHORT, temperature=0.0)
    session = Team({LOCATOR: small, EDITOR: small}).open(2, sampler=greedy)
    session.observe(1, "fix f")
    said = session.act([1])
    copies = session.take([1, 1])
    for one in (session, copies):
        one.address(1, "editor")
        one.observe(1, "lib.py:3")
    assert session.act([1]) == copies.act([1])
    copies.observe(0, "lib.py")  # row 0 of the copy still has the locator's floor
    assert copies.act([0])[0].kept_prefix == len(said[0].new_ids) + len(said[0].ids)


def test_a_recalled_turn_belongs_to_its_speaker(small):
    team = Team({LOCATOR: small, EDITOR: small})
    first, second = team.open(1, seed=1, sampler=SHORT), team.open(1, seed=2, sampler=SHORT)
    for session in (first, second):
        session.address(0, "editor")
        session.observe(0, "fix f")
    action = first.act([0])[0]
    second.recall([0], [action])
    second.observe(0, "ok")
    assert second.act([0])[0].kept_prefix == len(action.new_ids) + len(action.ids)


def test_the_version_names_every_agents_policy():
    team = Team({LOCATOR: ScriptedPolicy([], "a"), EDITOR: ScriptedPolicy([], "b")})
    assert team.version == "locator:a editor:b"
    assert team.replaced({"editor": ScriptedPolicy([], "c")}).version == "locator:a editor:c"
    assert team.version == "locator:a editor:b"


def test_a_team_of_nobody_is_refused():
    with pytest.raises(ValueError, match="at least one agent"):
        Team({})


def test_names_decide_who_plays_so_they_are_checked():
    says = ScriptedPolicy(["ls"])
    with pytest.raises(ValueError, match="expected agents .* of different names, got"):
        Team({LOCATOR: says, replace(LOCATOR, tools=("cat",)): says})
    with pytest.raises(ValueError, match=r"expected agents .* got \['locator'\]"):
        Team({"locator": says})
    team = Team({LOCATOR: says, EDITOR: says})
    with pytest.raises(ValueError, match=r"expected some of \['locator', 'editor'\], got \['lo'\]"):
        team.replaced({"lo": says})
