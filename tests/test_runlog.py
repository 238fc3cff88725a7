"""A run's folder: what was written comes back, whole or not at all."""

import json
import math
import subprocess
import sys

import pytest
from IPython.lib.pretty import pretty

from workbench.records import (
    Action,
    Case,
    Evidence,
    Group,
    RewardBreakdown,
    RewardPart,
    SamplerSettings,
    Task,
    TestOutcome,
    Trajectory,
    Turn,
    Verdict,
)
from workbench.runlog import (
    RUNS,
    RunLog,
    RunRecord,
    StoredIteration,
    gzip_members,
    load_run,
    new_folder,
)


def stored(iteration, stage="rl"):
    """One iteration: one task with tuples and sets in its cases, one attempt."""
    task = Task(
        *("t1", "fix f", "f", "lib.py", {"lib.py": "x = 1\n"}),
        visible=(Case(((1, 2),), {3}),),
        hidden=(),
        reference={},
    )
    action = Action((7, 0, 2), (-0.1234567, -1e-7, -3.0), "ls", "end_of_turn", 0, (1, 3))
    trajectory = Trajectory(
        task_id="t1",
        seed=iteration,
        sampler=SamplerSettings(),
        turns=(Turn(action, None, "unknown command", "error: \u2028 \udc80", "0" * 16),),
        final_files={"lib.py": "x = 2\n"},
        verdict=Verdict("call", "ok", (TestOutcome("hidden:1", "hidden", "passed"),)),
        evidence=Evidence(tampered=()),
        stop_reason="submitted",
    )
    reward = RewardBreakdown((RewardPart("tests", None, 1.0),), None)
    group = Group("t1", "abc", (trajectory,))
    return StoredIteration(stage, iteration, (task,), (group,), ((reward,),), ((math.nan,),))


@pytest.fixture
def log(tmp_path):
    """A log with two iterations and two rows."""
    log = RunLog.create(tmp_path / "run", {"seed": 3})
    for iteration in range(2):
        log.append_iteration(stored(iteration))
        log.append_metrics({"kind": "iteration", "iteration": iteration, "loss": math.nan})
    return log


def test_what_is_written_comes_back_equal(log):
    run = load_run(log.folder)
    assert run.config == {"schema": 1, "seed": 3}
    assert run.iterations[1].groups == stored(1).groups
    assert run.iterations[1].tasks == stored(1).tasks and run.tasks == list(stored(1).tasks)
    assert run.iterations[1].rewards == stored(1).rewards
    assert math.isnan(run.iterations[1].advantages[0][0])


def test_numbers_that_json_lacks_are_stored_as_null(log):
    assert load_run(log.folder).metrics[0] == {"kind": "iteration", "iteration": 0, "loss": None}
    assert "NaN" not in (log.folder / "metrics.jsonl").read_text()


def test_groups_can_be_taken_by_place_stage_and_iteration(log):
    log.append_iteration(stored(0, stage="rft"))
    groups = load_run(log.folder).groups
    assert len(groups) == 3 and groups[0] == stored(0).groups[0] and groups[-1] == groups[2]
    assert groups(iteration=1) == list(stored(1).groups)
    assert len(groups(iteration=0)) == 2 and len(groups(iteration=0, stage="rft")) == 1
    assert groups(stage="rl").places == (("rl", 0), ("rl", 1))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"stage": "nope"}, r"stage: expected one that was stored, \['rl', 'rft'\], got 'nope'"),
        ({"iteration": 7}, r"iteration: expected one that was stored, \[0, 1\], got 7"),
        ({"stage": "rft", "iteration": 1}, r"iteration: expected .*, \[0\], got 1"),
    ],
)
def test_what_was_not_stored_is_answered_with_what_was(log, asked, said):
    log.append_iteration(stored(0, stage="rft"))
    with pytest.raises(ValueError, match=said):
        load_run(log.folder).groups(**asked)


def test_a_run_without_rollouts_says_so(tmp_path):
    run = RunRecord(RunLog.create(tmp_path / "run", {}).folder)
    assert repr(run.groups) == "0 groups, 0 trajectories, 0 tokens"
    with pytest.raises(ValueError, match="stage: expected a run with rollouts"):
        run.groups(stage="rl")


def test_what_a_cell_prints_of_a_run_fits_a_screen(log):
    """By hand: each stored iteration is one group of one attempt, solved, of three tokens."""
    one = "1 group, 1 trajectory, 1 solved, 3 tokens"
    run = load_run(log.folder)
    assert repr(run.groups) == "2 groups, 2 trajectories, 2 solved, 6 tokens (stage 'rl')"
    assert repr(run.iterations[0]) == f"StoredIteration('rl', 0, {one})"
    log.append_iteration(stored(0, stage="rft"))
    run = load_run(log.folder)
    assert repr(run.groups).splitlines() == [
        "3 groups, 3 trajectories, 3 solved, 9 tokens",
        "  rl   2 groups, 2 trajectories, 2 solved, 6 tokens",
        f"  rft  {one}",
    ]
    assert repr(run.iterations).splitlines() == [
        "3 stored iterations",
        "  rl   iterations 0 to 1: 2 groups, 2 trajectories, 2 solved, 6 tokens",
        f"  rft  iteration 0: {one}",
    ]
    assert pretty(run.groups) == repr(run.groups)  # what a notebook's cell prints
    assert pretty(run.iterations) == repr(run.iterations)
    log.append_metrics({"kind": "iteration", "stage": "rl"})
    assert repr(load_run(log.folder)).endswith("unknown, 3 rows of metrics, stages: rl)")


@pytest.mark.parametrize("cut", [1, 7, 100, 400])
def test_a_torn_last_member_is_left_out_and_the_rest_is_read(log, cut):
    path = log.folder / "trajectories.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-cut])
    assert [s.iteration for s in load_run(log.folder).iterations] == [0]


def test_a_run_is_read_while_its_next_member_is_being_written(log):
    path = log.folder / "trajectories.jsonl.gz"
    end = path.stat().st_size
    log.append_iteration(stored(2))
    raw = path.read_bytes()
    for written in range(end, len(raw), 20):
        path.write_bytes(raw[:written])
        assert len(load_run(log.folder).iterations) == 2


def read_damaged(log, raw, start):
    """Reading `raw` in the place of the rollouts is an error that names the offset `start`."""
    path = log.folder / "trajectories.jsonl.gz"
    path.write_bytes(raw)
    said = rf"{path}: .* at byte {start} of {len(raw)}, got damaged .* cut it off at byte {start} "
    with pytest.raises(ValueError, match=said):
        len(load_run(log.folder).iterations)


@pytest.mark.parametrize("within", [0, 3, 12, 100, -5])
@pytest.mark.parametrize("member", [0, 1])
def test_a_damaged_byte_is_an_error_that_says_where_and_never_a_shorter_run(log, member, within):
    path = log.folder / "trajectories.jsonl.gz"
    ends, raw = [0, *(end for end, _ in gzip_members(path))], bytearray(path.read_bytes())
    raw[ends[member + (within < 0)] + within] ^= 255
    read_damaged(log, raw, ends[member])


@pytest.mark.parametrize("lost", [1, 20, 200])
def test_a_member_that_breaks_off_before_another_is_damage_and_no_torn_end(log, lost):
    path = log.folder / "trajectories.jsonl.gz"
    (end, _), _ = gzip_members(path)
    raw = path.read_bytes()
    read_damaged(log, raw[: end - lost] + raw[end:], 0)


def test_a_member_that_claims_what_follows_it_is_damage_and_no_torn_end(log):
    """Flag 4 announces a field of, here, 65,535 bytes: more than there are."""
    raw = (log.folder / "trajectories.jsonl.gz").read_bytes()
    read_damaged(log, raw[:3] + b"\x04" + raw[4:10] + b"\xff\xff" + raw[12:], 0)


def test_what_is_no_member_is_no_torn_one(log):
    raw = (log.folder / "trajectories.jsonl.gz").read_bytes()
    read_damaged(log, raw + bytes(100), len(raw))  # as after a power cut


def test_a_torn_last_row_is_left_out(log):
    path = log.folder / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    assert [row["iteration"] for row in load_run(log.folder).metrics] == [0]


def test_members_end_where_the_next_begins(log):
    path = log.folder / "trajectories.jsonl.gz"
    ends = [end for end, _ in gzip_members(path)]
    assert len(ends) == 2 and ends[-1] == path.stat().st_size


def test_a_member_larger_than_the_reading_buffer_is_whole(log):
    import os

    turns = stored(0).groups[0].trajectories[0]
    big = stored(9)
    noise = Trajectory(**{**vars(turns), "final_files": {"a": os.urandom(200_000).hex()}})
    log.append_iteration(
        StoredIteration(
            "rl", 9, big.tasks, (Group("t1", "", (noise,)),), big.rewards, big.advantages
        )
    )
    log.append_iteration(stored(10))
    run = load_run(log.folder)
    assert [s.iteration for s in run.iterations] == [0, 1, 9, 10]
    assert run.iterations[2].groups[0].trajectories == (noise,)


def test_cutting_forgets_what_came_after(log):
    position = log.position()
    log.append_iteration(stored(2))
    log.append_metrics({"kind": "iteration", "iteration": 2})
    log.cut(position)
    run = load_run(log.folder)
    assert len(run.metrics) == len(run.iterations) == 2


def test_a_folder_that_holds_a_run_is_not_overwritten(log):
    with pytest.raises(ValueError, match="already holds a run; give another folder .*, or resume"):
        RunLog.create(log.folder, {})


def test_a_run_that_is_not_there_says_where_it_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="found none at .*runs/no-such"):
        load_run("no-such")
    with pytest.raises(ValueError, match=rf"found none at \['{tmp_path}'\]; train\(\), "):
        load_run(tmp_path)


def test_a_run_below_runs_is_found_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RunLog.create(tmp_path / "runs" / "mine", {})
    assert load_run("mine").metrics == []


def test_a_second_run_of_a_name_gets_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for expected in ("mine", "mine-2", "mine-3"):
        folder = new_folder("mine")
        assert folder == RUNS / expected
        RunLog.create(folder, {})


def test_a_demo_s_folder_is_as_good_a_name_as_its_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RunLog.create("runs/demo-1/run", {"recipe": "rl"})
    assert load_run("demo-1").folder == load_run("runs/demo-1").folder == RUNS / "demo-1/run"
    with pytest.raises(ValueError, match=r"runs there are: .*'demo-1/run'"):
        load_run("demo-2")


@pytest.mark.parametrize(
    "stored, state",
    [("finished",) * 2, ("failed",) * 2, ("stopped",) * 2, ("running", "stopped")],
)
def test_a_stored_run_says_how_it_ended_and_a_killed_one_was_stopped(log, stored, state):
    log.set_status(stored)
    assert load_run(log.folder).state == state


def test_another_schema_is_refused(log):
    (log.folder / "config.json").write_text(json.dumps({"schema": 99}))
    with pytest.raises(ValueError, match="expected a run with schema 1, got 99"):
        load_run(log.folder)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", b'{"schema": 1, "se', "expected a JSON object, got .*Unterminated string"),
        (
            "config.json",
            b'{"schema": 1, "a": "\xff"}',
            "expected a JSON object, .* decode byte 0xff",
        ),
        ("config.json", b"null", "expected a JSON object, got b'null'"),
        ("config.json", b"", "expected a JSON object, got b''"),
        ("status.json", b"{", "expected a JSON object, got b'{'"),
        ("status.json", b"{}", 'expected an entry "state", got {}'),
        ("metrics.jsonl", b'{"a": 1}\n{"a"\n{"a": 1}\n', "line 2: expected a JSON object"),
        ("metrics.jsonl", b'{"a": 1}\n\n', "line 2: expected a JSON object, got b''"),
        (
            "metrics.jsonl",
            b'{"a": 1}\n{"a": 1}\n3\n{"a"',
            "line 3: expected a JSON object, got b'3'",
        ),
        ("metrics.jsonl", b"\xff\n", "line 1: expected a JSON object"),
    ],
)
def test_a_damaged_file_is_named_with_its_line_and_what_to_do(log, name, content, said):
    (log.folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{log.folder / name}(: |, ){said}.*: restore it from"):
        repr(load_run(log.folder))


def test_a_model_s_folder_is_no_run(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    with pytest.raises(ValueError, match="config.json is another program's .a model's.*train"):
        load_run(tmp_path)


def test_a_run_is_read_without_torch(log):
    code = (
        "import sys; from workbench import load_run; run = load_run(sys.argv[1]); "
        "assert len(run.groups) == 2 and run.metrics; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, log.folder], check=True)
