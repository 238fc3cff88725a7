"""Seeds in processes: resumed, checked, and their failures shown."""

import json

import pytest

from workbench.bootstrap import SetupError
from workbench.reproduce.jobs import Job, run_jobs


def job(folder, name="seed-0", *, settings=None, function=dict, **arguments):
    settings = {"policy_hash": "abc"} if settings is None else settings
    return Job(folder / f"{name}.json", function, arguments, settings)


def finish(job, **found):
    job.result.write_text(json.dumps({"settings": job.settings, "minutes": 1.0, **found}))


@pytest.mark.slow
def test_each_job_runs_in_its_own_process_and_leaves_its_result(tmp_path):
    jobs = [job(tmp_path / "new", f"seed-{seed}", seed=seed) for seed in range(2)]
    rows = run_jobs(jobs, say=lambda text: None)
    assert [row["seed"] for row in rows] == [0, 1]
    assert all(row["minutes"] > 0 and row["settings"] == {"policy_hash": "abc"} for row in rows)


def test_a_finished_job_is_not_run_again(tmp_path):
    done = job(tmp_path, function=json.loads, s="{")  # would fail
    finish(done, seed=7)
    said = []
    assert run_jobs([done], say=said.append)[0]["seed"] == 7
    assert said == ["1 of 1 were finished before"]


def test_a_result_of_another_policy_or_other_settings_is_refused_by_name(tmp_path):
    finish(job(tmp_path, settings={"policy_hash": "abc", "config": {"rl": {"lr": 1, "loss": 2}}}))
    now = job(tmp_path, settings={"policy_hash": "abd", "config": {"rl": {"lr": 3, "loss": 2}}})
    with pytest.raises(SetupError) as refused:
        run_jobs([now])
    lines = str(refused.value).splitlines()
    assert lines[1:3] == ["  config.rl.lr: 1, now 3", "  policy_hash: 'abc', now 'abd'"]
    assert lines[3].startswith("Move ") and "--out" in lines[3]


def test_a_changed_docstring_does_not_make_results_void(tmp_path):
    then, now = ({"loss": {"function": "f", "source_hash": h}} for h in ("1", "2"))
    finish(job(tmp_path, settings=then), seed=0)
    assert run_jobs([job(tmp_path, settings=now)], say=lambda text: None)[0]["seed"] == 0


@pytest.mark.slow
def test_a_failed_job_shows_the_end_of_its_log(tmp_path):
    broken = job(tmp_path, function=json.loads, s="{")
    with pytest.raises(SetupError, match=r"(?s)seed-0 failed.*seed-0\.log.*JSONDecodeError"):
        run_jobs([broken], say=lambda text: None)
    assert not broken.result.exists()
