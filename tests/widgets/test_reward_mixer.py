"""RewardMixer without a browser: settings in, numbers and texts out."""

import json

import numpy as np
import pytest
import traitlets

from workbench.rewards import Gate, RewardDesign, all_pass, pass_fraction, tampered
from workbench.widgets import RewardMixer
from workbench.widgets.reward_mixer import LISTINGS

NAIVE = RewardDesign(tests=(pass_fraction("visible_as_left"), 1.0), tampering=(tampered, 0.0))
HONEST = RewardDesign(tests=(all_pass("hidden"), 1.0), tampering=(tampered, -1.0))


@pytest.fixture
def mixer(groups, task):
    return RewardMixer(groups, NAIVE, against=HONEST, tasks=[task])


def slider(mixer, name):
    return mixer.mine._rows[name].slider


def test_the_numbers_are_those_of_the_small_run_by_hand(mixer):
    a, b = mixer.comparison.a, mixer.comparison.b
    assert a.rewards.tolist() == [1, 0.5, 1, 0, 1, 1, 1, 1]
    assert b.rewards.tolist() == [1, 0, -1, 0, 1, 1, 1, 1]
    assert a.paid_but_wrong == ((0, 2), (0, 1)) and b.paid_but_wrong == ()
    assert a.dead_share == b.dead_share == 0.5
    assert a.overpaid == pytest.approx(6.5 / 8 - 5 / 8)
    assert mixer.text == (
        "2 of 8 attempts are paid but wrong (the other: 0); 50% of the groups teach nothing (50%)."
    )


def test_a_moved_slider_changes_rewards_picture_sentence_list_and_viewer(mixer):
    mixer.selected = (0, 2)
    before = mixer._rankings.value, mixer._numbers.value
    slider(mixer, "tampering").value = -1.0
    assert mixer.comparison.a.rewards.tolist() == [1, 0.5, 0, 0, 1, 1, 1, 1]
    assert mixer.text.startswith("1 of 8 attempts are paid but wrong")
    assert mixer._rankings.value != before[0] and mixer._numbers.value != before[1]
    assert mixer.listed == ((0, 1),) and len(mixer.list._select.options) == 1
    assert "1 × -1 = -1" in mixer.viewer._reward.value
    assert mixer.mine._rows["tampering"].box.value == -1.0
    assert mixer.weights == {"tests": 1.0, "tampering": -1.0}


def test_a_message_from_the_browser_moves_a_slider_too(mixer):
    slider(mixer, "tampering").set_state({"value": -0.5})
    assert mixer.comparison.a.rewards.tolist()[2] == 0.5


def test_components_are_called_once_whatever_is_moved(groups, task):
    calls = []

    def counting(trajectory, task):
        calls.append(1)
        return 1.0

    mixer = RewardMixer(groups, RewardDesign(a=(counting, 1.0)), tasks=[task], against=HONEST)
    assert len(calls) == 8
    mixer.weights = {"a": 0.5}
    mixer.scale = "gdpo"
    mixer.selected = (1, 3)
    assert len(calls) == 8 and mixer.comparison.a.rewards.tolist() == [0.5] * 8


def test_ranking_rows_are_in_order_of_reward_with_truth_and_advantage_in_words(mixer):
    mixer.scale = "none"
    mine, other = mixer._rankings.value.split("<h4>")[1:]
    assert [mine.index(f">#{t}<") for t in (0, 2, 1, 3)] == sorted(
        mine.index(f">#{t}<") for t in range(4)
    )
    assert [other.index(f">#{t}<") for t in (0, 1, 3, 2)] == sorted(
        other.index(f">#{t}<") for t in range(4)
    )
    assert mine.count("✓ right") == 1 and mine.count("✗ wrong") == 3
    assert "+0.38" in mine and "-0.62" in mine  # 1 and 0 minus the mean of 1, 0.5, 1, 0


def test_a_scale_may_be_chosen_and_only_one_that_exists(mixer):
    mixer.scale = "leave_one_out"
    assert mixer.comparison.a.advantages[0] == pytest.approx(1 - 1.5 / 3)
    assert mixer.menus.scale == "leave_one_out"
    with pytest.raises(traitlets.TraitError):
        mixer.scale = "sum"


def test_a_listed_rollout_opens_below_and_its_group_with_it(mixer):
    mixer.group = 1
    assert mixer.selected == (1, 0)
    mixer.list._select.value = (0, 2)
    assert mixer.selected == (0, 2) and mixer.group == 0 and mixer.viewer.index == 2
    assert "tests edited" in mixer.viewer._episode.value
    mixer.viewer._after.click()
    assert mixer.selected == (0, 3) and mixer.list.chosen is None


def test_the_list_can_show_what_the_other_pays_and_what_is_pushed_apart(mixer):
    mixer.listing = LISTINGS[1]
    assert mixer.listed == () and mixer.list._more.value == "0 attempts"
    mixer.listing = LISTINGS[2]  # paid above the mean by one design, below it by the other
    assert mixer.listed == ((0, 2),)


@pytest.mark.parametrize("wrong", [(0, 4), (2, 0), (-1, 0)])
def test_a_selection_that_does_not_exist_is_refused(mixer, wrong):
    with pytest.raises(traitlets.TraitError, match="one of the 8 attempts"):
        mixer.selected = wrong
    with pytest.raises(traitlets.TraitError, match="expected 0 to 1"):
        mixer.group = 2


def test_gates_blockers_and_switches_follow_the_controls(mixer):
    row = mixer.mine._rows["tampering"]
    row.gates.value = (Gate("tests"),)
    assert mixer.design == NAIVE.gate("tampering", needs="tests")
    mixer.mine.gates = {"tampering": ()}
    mixer.mine._rows["tests"].blocks.value = True
    assert mixer.design == NAIVE.blockers("tests")
    assert mixer.comparison.a.rewards.tolist()[:4] == [1, 0, 1, 0]
    assert "blocked by tests" in mixer._rankings.value
    row.on.value = False
    assert mixer.design == RewardDesign(tests=(pass_fraction("visible_as_left"), 1.0)).blockers(
        "tests"
    )
    mixer.mine.reset()
    assert mixer.design == NAIVE and row.on.value


def test_rules_may_be_set_from_code(mixer):
    mixer.mine.gates = {"tampering": "tests"}
    assert mixer.design == NAIVE.gate("tampering", needs="tests")
    mixer.mine.off = ("tampering",)
    assert [c.name for c in mixer.design.components] == ["tests"]
    mixer.mine.normalised = True
    assert mixer.design.is_normalised


@pytest.mark.parametrize(
    ("trait", "value", "said"),
    [
        ("weights", {"test": 1.0}, "expected one of .*, got 'test'"),
        ("weights", {"tests": float("nan")}, "finite number"),
        ("off", ("tests", "tampering"), "at least one"),
        ("gates", {"tests": "tests"}, "expected 'tests' to need another component"),
        ("gates", {"tests": 1.0}, "expected gates or"),
    ],
)
def test_settings_that_cannot_be_are_refused_and_change_nothing(mixer, trait, value, said):
    with pytest.raises(traitlets.TraitError, match=said):
        setattr(mixer.mine, trait, value)
    assert mixer.design == NAIVE


def test_a_control_that_contradicts_another_goes_back_and_says_why(mixer):
    rows = mixer.mine._rows
    rows["tampering"].gates.value = (Gate("tests"),)
    rows["tests"].gates.value = (Gate("tampering"),)
    assert rows["tests"].gates.value == ()
    assert "expected a component that always counts" in mixer.mine.message
    rows["tests"].slider.value = 0.5
    assert mixer.mine.message == "" and mixer.weights["tests"] == 0.5


def test_what_a_browser_makes_of_a_twentieth_is_a_twentieth(mixer):
    slider(mixer, "tests").value = 0.04999999999999982
    assert mixer.weights["tests"] == mixer.mine._rows["tests"].box.value == 0.05
    assert slider(mixer, "tests").value == 0.04999999999999982  # nothing is sent back


def test_a_weight_beyond_the_slider_widens_it(mixer):
    mixer.mine._rows["tests"].box.value = 4.0
    assert slider(mixer, "tests").max == 5.0 and slider(mixer, "tests").value == 4.0
    assert mixer.weights["tests"] == 4.0


def test_the_design_is_written_out_as_it_is_now(mixer):
    mixer.export = "python"
    mixer.weights = {"tampering": -0.25}
    space = {}
    exec(mixer.writer.text, space)
    assert space["design"] == mixer.design == NAIVE.with_weights(tampering=-0.25)
    mixer.export = "json"
    assert RewardDesign.from_json(json.loads(mixer.writer.text)) == mixer.design
    mixer.export = ""
    assert mixer.writer.text == "" and mixer.writer._area.layout.display == "none"


def test_a_design_that_cannot_be_stored_says_why(groups, task):
    design = RewardDesign(a=(lambda trajectory, task: 1.0, 1.0))
    mixer = RewardMixer(groups, design, tasks=[task])
    mixer.export = "json"
    assert "cannot be written out" in mixer.writer.text and "module" in mixer.writer.text


def test_the_other_design_may_have_controls_of_its_own(groups, task):
    mixer = RewardMixer(groups, NAIVE, against=HONEST, tasks=[task], fixed=False)
    mixer.other.weights = {"tampering": 0.0}
    assert mixer.comparison.b.rewards.tolist() == [1, 0, 0, 0, 1, 1, 1, 1]
    assert mixer.against == HONEST.with_weights(tampering=0.0) and mixer.design == NAIVE


def test_without_another_design_it_is_compared_with_its_own_beginning(groups, task):
    mixer = RewardMixer(groups, NAIVE, tasks=[task])
    mixer.weights = {"tests": 0.0}
    assert mixer.against == NAIVE
    assert np.array_equal(mixer.comparison.b.rewards, [1, 0.5, 1, 0, 1, 1, 1, 1])


def test_what_cannot_be_judged_is_shown_as_such(groups, task):
    def unsure(trajectory, task):
        return None if trajectory.evidence.tampered else 1.0

    mixer = RewardMixer(groups, RewardDesign(a=(unsure, 1.0)), tasks=[task], against=HONEST)
    mixer.selected = (0, 2)
    assert mixer.comparison.a.num_unjudged == 1
    assert ">none<" in mixer._rankings.value
    assert "it cannot be judged" in mixer.viewer._reward.value


def test_names_of_components_cannot_inject_html(groups, task):
    name = "<img src=x onerror=alert(1)>"
    mixer = RewardMixer(groups, RewardDesign(**{name: (tampered, 1.0)}), tasks=[task])
    assert "<img" not in mixer.html() and "&lt;img" in mixer.html()


def test_groups_need_tasks_and_there_must_be_some(groups, task):
    with pytest.raises(ValueError, match="tasks"):
        RewardMixer(groups, NAIVE)
    with pytest.raises(ValueError, match="at least one"):
        RewardMixer([], NAIVE, tasks=[task])
    with pytest.raises(ValueError, match="stage"):
        RewardMixer(groups, NAIVE, tasks=[task], stage="base")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"against": "nope"}, "against: expected a RewardDesign, got 'nope'; for example"),
        ({"design": all_pass("hidden")}, "design: expected a RewardDesign, got all_pass"),
        ({"labels": ("mine",)}, r"labels: expected two, one for each design, got \('mi"),
    ],
)
def test_what_is_no_design_or_no_pair_of_labels_is_named(groups, task, wrong, said):
    with pytest.raises(ValueError, match=said):
        RewardMixer(**{"groups": groups, "design": NAIVE, "tasks": [task]} | wrong)


def test_a_stage_that_the_run_lacks_is_answered_with_those_it_has(before_after):
    with pytest.raises(ValueError, match="expected one that was stored, .*'halfway'.*got 'nope'"):
        RewardMixer(before_after, NAIVE, stage="nope")


def test_stills_are_there_for_pages_without_a_kernel(mixer):
    figure = mixer.figure()
    assert [text.get_text() for text in figure.subfigs[0].axes[0].get_yticklabels()] == [
        "#0 ✓ right",
        "#2 ✗ wrong",
        "#1 ✗ wrong",
        "#3 ✗ wrong",
    ]
    bundle = mixer._repr_mimebundle_()
    assert "paid but wrong" in bundle["text/html"] and len(bundle) == 3


def test_a_stored_run_brings_its_tasks_and_may_be_cut_to_a_stage(groups, task):
    class Stored(list):
        def __call__(self, *, stage):
            return self[:1] if stage == "first" else []

    class Run:
        pass

    run = Run()
    run.groups, run.tasks = Stored(groups), [task]
    assert len(RewardMixer(run, NAIVE).groups) == 2
    assert len(RewardMixer(run, NAIVE, stage="first").groups) == 1
