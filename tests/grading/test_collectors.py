"""Collectors that run the program: coverage, speed, the agent's tests; what `collect` refuses."""

from dataclasses import replace

import pytest

from workbench import load_tasks
from workbench.grading import COLLECTORS, collect, store_collected
from workbench.grading.collectors import coverage, speed
from workbench.records import Case, Group, Limits, Task
from workbench.rewards import all_pass
from workbench.runlog import RunLog, StoredIteration, load_run
from workbench.sandbox import open_sandbox

SIGN = Task(
    task_id="sign",
    statement="fix f",
    entry_point="f",
    entry_file="lib.py",
    files={},
    visible=(Case((-5,), -1),),
    hidden=(Case((1,), 1), Case((2,), 1)),
    reference={"lib.py": "def f(x):\n    return 1 if x > 0 else -1\n"},
    limits=Limits(cpu_s=0.1),
)
SIGN_SOLUTION = """\
def f(x):
    if x > 0:
        return 1
    y = -1
    return y

def unused():
    return 0
"""
SUM = Task(
    task_id="sum",
    statement="fix f",
    entry_point="f",
    entry_file="lib.py",
    files={
        "lib.py": "def f(xs):\n    return sum(xs) + 1\n",
        "tests.py": "from lib import f\nassert f([1, 2]) == 3\n",
    },
    visible=(Case(([1, 2],), 3),),
    hidden=(Case(([5],), 5),),
    reference={"lib.py": "def f(xs):\n    return sum(xs)\n"},
    tests_file="tests.py",
)


def lines_of(files, sandbox, task=SIGN):
    files = {task.entry_file: files} if isinstance(files, str) else files
    return coverage.executed_lines(task, files, sandbox)


def test_coverage_is_what_the_hidden_cases_execute_and_what_loading_does(sandbox):
    assert lines_of(SIGN_SOLUTION, sandbox) == {"lib.py": (1, 2, 3, 7)}  # f(-5) is visible only
    both = replace(SIGN, hidden=(Case((1,), 1), Case((-1,), -1)))
    assert lines_of(SIGN_SOLUTION, sandbox, both) == {"lib.py": (1, 2, 3, 4, 5, 7)}


def test_coverage_tells_files_apart_and_leaves_out_what_is_never_loaded(sandbox):
    files = {
        "lib.py": "from pack.part import g\ndef f(x):\n    return g(x)\n",
        "pack/__init__.py": "",
        "pack/part.py": "A = 1\ndef g(x):\n    return A\n",
        "other.py": "B = 2\n",
    }
    assert lines_of(files, sandbox) == {"lib.py": (1, 2, 3), "pack/part.py": (1, 2, 3)}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f(x:\n", {}),
        ("a = 1\nraise ValueError\nb = 2\n", {"lib.py": (1, 2)}),
        ("def f(x):\n    y = x\n    raise SystemExit\n", {"lib.py": (1, 2, 3)}),
        ("def f(x):\n    y = x\n    while True:\n        y += 1\n", {"lib.py": (1, 2, 3, 4)}),
        ("def g(x):\n    return x\n", {"lib.py": (1,)}),
    ],
    ids=["syntax", "raises while loading", "leaves", "endless", "no entry point"],
)
def test_coverage_of_programs_that_fail_is_what_they_came_to(text, lines, sandbox):
    assert lines_of(text, sandbox) == lines


def test_coverage_of_a_call_that_never_returns_to_python_loses_that_call_alone(sandbox):
    text = "def f(x):\n    if x == 1:\n        return 1\n    return 9 ** 9 ** 9\n"
    assert lines_of(text, sandbox) == {"lib.py": (1, 2, 3)}


def test_coverage_can_be_forged_and_holds_only_lines_that_exist(sandbox):
    off = "import sys\ndef f(x):\n    sys.settrace(None)\n    return 1\n"
    assert lines_of(off, sandbox) == {"lib.py": (1, 2, 3)}
    made_up = "import line_probe\ndef f(x):\n    pass\nline_probe.TRACER.lines |= {\n"
    made_up += "    (line_probe.HERE + 'lib.py', 3), (line_probe.HERE + 'lib.py', 99),\n"
    made_up += "    (line_probe.HERE + 'nowhere.py', 1)}\n"
    found = lines_of(made_up, sandbox)
    assert set(found) == {"lib.py"} and 3 in found["lib.py"] and 99 not in found["lib.py"]


def test_a_workspace_may_have_a_file_of_the_probes_name(sandbox):
    files = {"lib.py": SIGN_SOLUTION, "line_probe.py": "1 / 0\n"}
    assert lines_of(files, sandbox) == {"lib.py": (1, 2, 3, 7)}


def test_speed_measures_both_five_times_and_reuses_nothing():
    slow = {"lib.py": "def f(x):\n    sum(range(1_000_000))\n    return 1 if x > 0 else -1\n"}
    with open_sandbox(workers=1) as fresh:
        ours, theirs = speed.cpu_seconds(SIGN, slow, fresh)
        assert fresh.stats.executions == 10
        speed.cpu_seconds(SIGN, {"lib.py": "def f(x):\n    return 1\n"}, fresh)
        assert fresh.stats.executions == 20
    assert ours > 3 * theirs > 0


def test_speed_beside_a_reference_that_fails_is_refused(sandbox):
    task = replace(SIGN, reference={"lib.py": "def f(x):\n    return x\n"})
    with pytest.raises(ValueError, match="sign: its reference fails hidden:2 .*got 2 want 1"):
        speed.cpu_seconds(task, {"lib.py": SIGN_SOLUTION}, sandbox)


def on_base(tests, group_of, sandbox):
    """{name: status} of the suite agent_on_base for an attempt that left these tests."""
    group = group_of(SUM, {**SUM.files, "tests.py": tests})
    (collected,) = collect([group], [SUM], ("agent_on_base",), sandbox)
    outcomes = collected.trajectories[0].verdict.of_suite("agent_on_base")
    return {o.name: o.status for o in outcomes}


def test_the_agents_tests_must_fail_on_the_base_and_pass_on_the_reference(group_of, sandbox):
    tests = SUM.files["tests.py"] + (
        "assert f([0]) == 0\n"  # 1 on the base: sees the fault
        "xs = [4]\n"
        "assert f(xs) > 3\n"  # 5 and 4: does not see it
        "assert f([1]) == 7\n"  # wrong about both
        "assert f(3) == 3\n"  # raises on both
    )
    assert on_base(tests, group_of, sandbox) == {
        "agent:test:2": "wrong", "agent:test:4": "passed", "agent:test:5": "skipped",
        "agent:test:6": "skipped",
    }  # fmt: skip


def test_a_test_that_needs_what_the_base_has_not_is_an_error_there(group_of, sandbox):
    task = replace(SUM, reference={"lib.py": SUM.reference["lib.py"] + "ONE = 1\n"})
    files = {**SUM.files, "tests.py": "from lib import f, ONE\nassert f([ONE]) == 1\n"}
    (group,) = collect([group_of(task, files)], [task], ("agent_on_base",), sandbox)
    (outcome,) = group.trajectories[0].verdict.of_suite("agent_on_base")
    assert (outcome.name, outcome.status) == ("agent:test:1", "error")


@pytest.mark.parametrize(
    "tests", [SUM.files["tests.py"], "from lib import f\n", "from lib import f\nassert (\n"]
)
def test_an_attempt_without_tests_of_its_own_has_one_outcome_that_says_so(tests, group_of, sandbox):
    assert on_base(tests, group_of, sandbox) == {"agent:none": "missing"}


def test_tests_nested_too_deep_to_be_written_down_are_tests_like_others(group_of, sandbox):
    """Python runs 400 branches and cannot dump their tree: an attempt must not end `collect`."""
    deep = "if f([0]) == 1: raise ValueError\n" + "elif f([0]) == 2: pass\n" * 400
    tests = SUM.files["tests.py"] + f"assert f([1]) == 1\n{deep}"
    found = on_base(tests, group_of, sandbox)  # f([0]) is 1 on the base, 0 when right
    assert found == {"agent:test:2": "wrong", "agent:test:3": "error"}


def test_collecting_again_replaces_the_suite(group_of, sandbox):
    files = {**SUM.files, "tests.py": SUM.files["tests.py"] + "assert f([0]) == 0\n"}
    once = collect([group_of(SUM, files)], [SUM], ("agent_on_base",), sandbox)
    twice = collect(once, [SUM], ("agent_on_base",), sandbox)
    assert once == twice
    assert all_pass("hidden")(twice[0].trajectories[0], SUM) == 1.0


@pytest.mark.slow
def test_the_agents_tests_of_a_repository_are_the_functions_it_wrote_or_changed(group_of, sandbox):
    spans = next(task for task in load_tasks("repos") if task.task_id == "repos/spans")
    path = next(path for path in spans.files if path.startswith("tests/test_"))
    new = (
        "from spans.interval import Interval\n\n"
        "def test_neighbours():\n    assert not Interval(0, 1).overlaps(Interval(1, 2))\n\n"
        "def test_length():\n    assert Interval(0, 1).end == 1\n"
    )
    added = {**spans.files, "tests/test_mine.py": new}
    longer = {**spans.files, path: spans.files[path] + "\n\ndef test_more():\n    assert True\n"}
    groups = collect(
        [group_of(spans, added, longer, dict(spans.files))], [spans], ("agent_on_base",), sandbox
    )
    found = [
        {o.name: o.status for o in t.verdict.of_suite("agent_on_base")}
        for t in groups[0].trajectories
    ]
    assert found == [
        {"agent:tests/test_mine.py::test_neighbours": "wrong",
         "agent:tests/test_mine.py::test_length": "passed"},
        {f"agent:{path}::test_more": "passed"},
        {"agent:none": "missing"},
    ]  # fmt: skip


def test_collect_fills_the_evidence_of_new_groups_and_runs_equal_files_once(group_of):
    group = group_of(SIGN, SIGN_SOLUTION, SIGN_SOLUTION, "def f(x):\n    return eval('1')\n")
    with open_sandbox(workers=1, reuse=False) as fresh:
        names = ("lint", "security", "coverage", "speed")
        (collected,) = collect([group], [SIGN], names, fresh)
        assert fresh.stats.executions == 2 * (1 + 10)  # two different programs
    first, second, third = (t.evidence for t in collected.trajectories)
    assert first == second and first.diff == "" and group.trajectories[0].evidence.lint is None
    assert (first.lint, first.security) == ((), ()) and len(third.security) == 1
    assert first.executed == {"lib.py": (1, 2, 3, 7)}
    assert first.cpu_s > 0 and first.reference_cpu_s > 0


def test_collectors_that_run_programs_need_a_sandbox_and_say_so(group_of):
    group = group_of(SIGN, SIGN_SOLUTION)
    message = r"coverage, speed, agent_on_base run programs and need one.*\('lint', 'security'\)"
    with pytest.raises(ValueError, match=message):
        collect([group], [SIGN], COLLECTORS)
    with pytest.raises(ValueError, match=r"expected names of .* got \['covrage'\]"):
        collect([group], [SIGN], ("covrage",))
    with pytest.raises(ValueError, match="expected a tuple of names"):
        collect([group], [SIGN], "lint")
    with pytest.raises(ValueError, match="no task 'sign' among the 1 given"):
        collect([group], [SUM], ("lint",))
    with pytest.raises(ValueError, match="only a stored run"):
        collect([group])


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("coverage", {"hidden": (), "test_code": "assert f(1) == 1"}, "hidden tests are test_code"),
        ("coverage", {"entry_point": ""}, "this is a program"),
        ("coverage", {"entry_point": "", "pass_to_pass": ("t.py::t",)}, "this is a repository"),
        ("speed", {"reference": {}}, "speed is measured beside the reference"),
        ("agent_on_base", {}, "no tests to change or add to"),
        ("agent_on_base", {"tests_file": "t.py", "reference": {}}, "without a reference"),
    ],
)
def test_a_task_a_collector_can_do_nothing_with_is_refused_first(
    name, changes, message, group_of, sandbox
):
    task = replace(SIGN, **changes)
    before = sandbox.stats.executions
    with pytest.raises(ValueError, match=f"task sign: .*{message}.*leave"):
        collect([group_of(task, SIGN_SOLUTION)], [task], (name,), sandbox)
    assert sandbox.stats.executions == before


def test_a_sandbox_that_fails_twice_is_an_error_and_no_evidence(group_of):
    with open_sandbox(workers=1) as closed:
        pass
    with pytest.raises(RuntimeError):
        collect([group_of(SIGN, SIGN_SOLUTION)], [SIGN], ("coverage",), closed)


def test_evidence_is_stored_beside_a_run_and_never_over_it(group_of, tmp_path):
    group = group_of(SIGN, SIGN_SOLUTION, "def f(x):\n    return eval('1')\n")
    log = RunLog.create(tmp_path / "monday", {"recipe": "by hand"})
    log.append_metrics({"iteration": 0, "reward": 0.5})
    log.append_iteration(StoredIteration("rl", 0, (SIGN,), (group,), ((),), ((0.5, -0.5),)))
    log.append_iteration(StoredIteration("rl", 1, (SIGN,), (group,), ((),), ((0.0, 0.0),)))
    log.set_status("finished")
    before = {p.name: p.read_bytes() for p in (tmp_path / "monday").iterdir()}

    run = load_run(tmp_path / "monday")
    groups = collect(run, collectors=("lint", "security"))
    copy = store_collected(run, groups, tmp_path / "monday-read")

    assert {p.name: p.read_bytes() for p in (tmp_path / "monday").iterdir()} == before
    assert list(copy.groups) == groups
    assert [len(t.evidence.security) for t in copy.groups[1].trajectories] == [0, 1]
    assert copy.config["evidence_added_to"] == "monday" and copy.config["recipe"] == "by hand"
    assert (copy.metrics, copy.state) == (run.metrics, "finished")
    assert [s.advantages for s in copy.iterations] == [((0.5, -0.5),), ((0.0, 0.0),)]
    with pytest.raises(ValueError, match="already holds a run"):
        store_collected(run, groups, tmp_path / "monday-read")
    with pytest.raises(ValueError, match="expected the 2 groups of .*, got 1 others"):
        store_collected(run, groups[:1], tmp_path / "other")
    other = Group(SIGN.task_id, "", group.trajectories[::-1])
    with pytest.raises(ValueError, match="same final files"):
        store_collected(run, [groups[0], other], tmp_path / "other")
