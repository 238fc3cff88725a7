"""A design as JSON and as source text, and what is refused."""

import functools
import json

import pytest

from workbench.learning.provenance import describe_reward
from workbench.rewards import RewardDesign, all_pass, configured, pass_fraction, tampered
from workbench.rewards.storing import source_hash

DESIGN = (
    RewardDesign(
        tests=(all_pass("hidden"), 1.0),
        partial=(pass_fraction("visible_as_left", submitted=False), 0.5),
        tampering=(tampered, 0.0),
        optional=("tampering",),
    )
    .gate("partial", needs="tests", at_least=0.0)
    .blockers("tests", at_least=0.0)
    .normalised()
)


@configured
def weighing(table: dict) -> object:
    """A component of this file whose setting is no text and no number."""
    return lambda trajectory, task: float(sum(table.values()))


def same(a, b):
    """A component of this file that compares nothing."""
    return 1.0


def test_a_design_comes_back_from_its_json():
    stored = json.loads(json.dumps(DESIGN.to_json()))
    assert RewardDesign.from_json(stored) == DESIGN
    assert stored["components"][1]["function"] == "workbench.rewards:pass_fraction"
    assert stored["components"][1]["kwargs"] == {"submitted": False}


def test_settings_keep_their_types():
    """A tuple is no list, and a dict's keys need not be texts."""
    design = RewardDesign(odd=(weighing({("high", 1): 0.5}), 1.0))
    stored = json.loads(json.dumps(design.to_json()))
    assert RewardDesign.from_json(stored) == design


def test_source_text_makes_the_design_anew():
    made = {}
    exec(DESIGN.to_python(), made)
    assert made["design"] == DESIGN
    assert DESIGN.to_python().splitlines()[0] == (
        "from workbench.rewards import RewardDesign, all_pass, pass_fraction, tampered"
    )


def test_a_changed_source_is_noticed():
    stored = DESIGN.to_json()
    stored["components"][2]["source_hash"] = "0" * 16
    with pytest.warns(UserWarning, match="'tampering': the source of workbench.rewards:tampered"):
        assert RewardDesign.from_json(stored) == DESIGN


def in_a_notebook(trajectory, task):
    """Pretends to have been typed into a cell."""
    return 1.0


in_a_notebook.__module__ = "__main__"


@pytest.mark.parametrize(
    ("component", "message"),
    [
        (in_a_notebook, "in_a_notebook is defined in the notebook .*%%writefile my_rewards.py"),
        (lambda trajectory, task: 1.0, "<lambda> cannot be imported by its name; define it with"),
        (functools.partial(same), "partial is no plain function; .*@configured"),
        (weighing({"a": object()}), "its settings cannot be stored"),
    ],
)
@pytest.mark.parametrize("how", ["to_json", "to_python"])
def test_what_nobody_else_could_rebuild_is_refused(component, message, how):
    with pytest.raises(ValueError, match=f"component 'mine': .*{message}"):
        getattr(RewardDesign(mine=(component, 1.0)), how)()


def test_settings_that_do_not_print_as_code_are_stored_as_json_only():
    design = RewardDesign(odd=(weighing({"a": float("inf")}), 1.0))
    assert RewardDesign.from_json(json.loads(json.dumps(design.to_json()))) == design
    with pytest.raises(ValueError, match="'odd': weighing.*inf.* is no source text; use to_json"):
        design.to_python()


def test_two_functions_of_one_name_are_no_source_text(monkeypatch):
    import workbench.grading as other

    def tampered_too(trajectory, task):
        return 0.0

    tampered_too.__name__ = tampered_too.__qualname__ = "tampered"
    tampered_too.__module__ = other.__name__
    monkeypatch.setattr(other, "tampered", tampered_too, raising=False)
    design = RewardDesign(a=(tampered, 1.0), b=(tampered_too, 1.0))
    with pytest.raises(ValueError, match="'b': tampered is imported from workbench.rewards and"):
        design.to_python()


def changed(**entry):
    stored = RewardDesign(tests=(all_pass("hidden"), 1.0)).to_json()
    stored["components"][0] |= entry
    return stored


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ([], "expected a design of schema 1"),
        ({"schema": 2, "components": []}, "expected a design of schema 1"),
        ({"schema": 1, "components": []}, "at least one"),
        ({"schema": 1, "components": [{"name": "a"}]}, r"design.components\[0\]: field 'weight'"),
        (changed(wait=1), "unknown fields .'wait'."),
        (changed(function="workbench.rewards:gone"), "cannot import 'workbench.rewards:gone'"),
        (changed(function="no_such_module:x"), "cannot import 'no_such_module:x'"),
        (changed(function=""), "cannot import ''"),
        (changed(function=".storing:x"), "cannot import '.storing:x'"),
        (changed(name="optional"), "different names, got .'optional'."),
        (changed(args=[1, 2, 3]), "component 'tests': its settings do not fit: all_pass.. takes"),
        (changed(kwargs={"wait": 1}), "its settings do not fit: all_pass.. got an unexpected"),
        (changed(args=[{"x": 1}]), "its settings do not fit: expected a known tag"),
        (changed(gates=[{"needs": "gone"}]), "gate: expected a component of this design"),
    ],
)
def test_stored_text_that_is_no_design_is_refused(stored, message):
    with pytest.raises(ValueError, match=message):
        RewardDesign.from_json(stored)


def test_names_that_occur_twice_are_refused():
    stored = changed()
    stored["components"] *= 2
    with pytest.raises(ValueError, match="different names, got .'tests', 'tests'."):
        RewardDesign.from_json(stored)


def test_what_has_no_source_text_has_no_hash():
    assert source_hash(len) is None and len(source_hash(same)) == 16


def test_a_run_keeps_the_rules_of_its_reward():
    described = describe_reward(DESIGN)
    assert described[1]["gates"] == [{"needs": "tests", "at_least": 0.0}]
    assert described[0]["blocks_below"] == 0.0 and described[0]["normalised"]
    plain = describe_reward(RewardDesign(tests=(all_pass("hidden"), 1.0)))[0]
    assert set(plain) == {"name", "weight", "function", "source_hash", "args", "kwargs"}
