"""An arena that holds an engine: what containers leave behind is seen, and nothing stays of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docker_engine import why_no_engine
from tests.hostile import arena

TOP = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow
LEAVES = """
import json, os
from tests.hostile import batch, canaries
from workbench import open_sandbox
from workbench.sandbox.docker import engine

with batch.engine_for("docker:2"):
    first = canaries.look()
    client = engine.connect()
    client.create_volume("forgotten")
    sandbox = open_sandbox("docker", workers=1)
    left = batch.left_over(first, "docker:2")
    os.write(200, json.dumps(left).encode() + b"\\n")
    sandbox.close()
    client.remove_volume("forgotten")
    client.close()
    os.write(200, json.dumps(batch.left_over(first, "docker:2")).encode() + b"\\n")
"""
TRIES = """
from tests.hostile import trial
from tests.hostile.programs import BY_NAME

trial.hold("docker:2", "call", [BY_NAME["sleep"]] * 20)
"""


@pytest.fixture(autouse=True, scope="module")
def needs_an_engine():
    if why := arena.why_not() or why_no_engine():
        pytest.skip(why)


def test_a_container_a_volume_and_their_processes_are_told_of():
    job = arena.Job([arena.PYTHON, "-c", LEAVES], deadline_s=60.0)
    (seen,) = arena.run_all([job], engine=True)
    assert len(seen.reports) == 2, seen.output
    left, later = seen.reports
    assert {line.split(":")[0] for line in left} >= {"container", "volume", "process"}
    assert later == [] and seen.effects == ()


def inside(name):
    """Command lines of the arena `name`, and its control groups."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            said = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
        except OSError:
            continue
        if name.encode() in said:
            found.append(f"{path.name} {said[:60]}")
    return found + [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/{name}*")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_a_trial_that_is_broken_off_takes_engine_and_containers_with_it(number, tmp_path):
    trier = subprocess.Popen(
        [sys.executable, "-c", TRIES],
        cwd=TOP,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(TOP)},
        stderr=subprocess.DEVNULL,
    )
    until(lambda: any("containerd-shim" in line for line in inside(only_name_in(tmp_path))))
    name = only_name_in(tmp_path)
    trier.send_signal(number)
    trier.wait()
    until(lambda: not inside(name) and not list(tmp_path.iterdir()))


def only_name_in(folder):
    return next((path.name for path in folder.iterdir()), "not there yet")


def until(happens, seconds=60):
    """Wait for it."""
    for _ in range(seconds * 10):
        if happens():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen")
