"""Hostile programs: each beats a naive grader, none beats the real one, and honest ones pass."""

import collections

import pytest

from tests.hostile import arena, trial
from tests.hostile.programs import FAST, PROGRAMS
from tests.hostile.proof import against_naive
from tests.hostile.record import CLASSES, MODES, Attack
from tests.hostile.twins import TWINS, twin

CHUNK = 40
"""Programs to one arena: small enough to share the work between processes."""


@pytest.fixture(autouse=True, scope="module")
def needs_an_arena():
    if why := arena.why_not():
        pytest.skip(f"no arena, so no hostile program is run: {why}")


def chunks(programs):
    return [programs[at : at + CHUNK] for at in range(0, len(programs), CHUNK)]


def duds(attacks):
    """Attacks that did not beat the naive grader they name, and what was seen instead."""
    proofs = zip(attacks, against_naive(attacks))
    return [f"{a.name} ({a.beats}): {p.effects} {p.output[-300:]}" for a, p in proofs if not p.won]


def held(backend, mode, attacks, **more):
    result = trial.hold(backend, mode, attacks, **more)
    if result.skipped:
        pytest.skip(result.skipped)
    return result


def judged(result):
    """What a trial must be empty of."""
    return {
        "false passes": result.false_passes,
        "effects": result.effects,
        "honest programs failed": result.twins_failed,
    }


NOTHING = {"false passes": [], "effects": [], "honest programs failed": []}


def test_there_are_enough_programs_of_every_class_and_no_name_occurs_twice():
    assert len(PROGRAMS) >= 120
    assert {attack.number for attack in PROGRAMS} == set(CLASSES)
    names = collections.Counter(attack.name for attack in PROGRAMS)
    assert [name for name, count in names.items() if count > 1] == []
    assert {mode for attack in PROGRAMS for mode in attack.modes} == set(MODES)


@pytest.mark.slow
def test_honest_programs_leave_no_trace_and_beat_no_naive_grader_by_chance():
    """The control: what is counted as a win is not what an arena or a grader does anyway."""
    honest = [
        Attack(f"control-{beats}", 4, "", twin("plain").program, beats, twin("plain"), "file:")
        for beats in ("equal", "exit_code", "json_line", "pickled", "as_left")
    ]
    proofs = against_naive(honest)
    assert [(proof.passed, proof.effects) for proof in proofs] == [(False, ())] * len(honest)


@pytest.mark.slow
@pytest.mark.parametrize("backend", trial.LOCAL)
def test_a_few_programs_of_every_kind_beat_the_naive_grader_and_not_ours(backend):
    if backend == trial.LOCAL[0]:
        assert duds(FAST) == []
    assert judged(held(backend, "call", FAST)) == NOTHING


@pytest.mark.slow
@pytest.mark.parametrize("beats, mode", [("exit_code", "split"), ("program", "program")])
def test_twins_are_right_by_the_judgement_of_naive_graders_too(beats, mode):
    honest = [
        Attack(one.name, 4, "", one.program, beats, one, cases=one.cases)
        for one in TWINS
        if mode in one.modes and one.needs == ""
    ]
    proofs = zip(honest, against_naive(honest))
    assert [(one.name, proof.output) for one, proof in proofs if not proof.passed] == []


@pytest.mark.slow
@pytest.mark.parametrize("attacks", chunks(PROGRAMS), ids=lambda part: part[0].name)
def test_every_program_beats_the_naive_grader_that_it_names(attacks):
    assert duds(attacks) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("backend", trial.LOCAL)
def test_no_program_gets_a_pass_or_touches_the_machine_and_honest_ones_pass(backend, mode):
    assert judged(held(backend, mode, PROGRAMS, all_twins=True)) == NOTHING


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_nor_does_one_of_every_class_in_a_container(mode):
    """All of them take minutes: `python -m tests.hostile docker:2`."""
    first = {attack.number: attack for attack in reversed(PROGRAMS) if mode in attack.modes}
    assert len(first) > 15
    assert judged(held(trial.DOCKER, mode, list(first.values()))) == NOTHING


@pytest.mark.slow
def test_tests_that_an_agent_may_edit_can_be_forged_but_nothing_else_is_touched():
    result = held("local:3", "shared", PROGRAMS)
    assert {"always-equal", "module-liar", "tests-file"} <= set(result.false_passes)
    assert not {"sys-exit-zero", "print-ok", "secret-file"} & set(result.false_passes)
    assert result.effects == []
