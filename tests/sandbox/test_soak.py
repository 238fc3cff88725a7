"""Thousands of executions, a tenth of them hostile, leave nothing behind: `benchmarks/soak.py`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.sandbox import open_sandbox

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "soak.py"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a process namespace (unshare)")
def test_fifteen_hundred_executions_leave_no_process_descriptor_folder_mount_or_memory():
    with open_sandbox(workers=1) as sandbox:
        if sandbox.tier < 2:
            pytest.skip("hostile programs run behind walls only")
    command = [sys.executable, str(SCRIPT), "--executions", "1500", "--every", "500"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "unshare failed" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.findall(r"^ +(\d+) ", done.stdout, re.MULTILINE) == ["500", "1000", "1500"]


def test_what_is_more_than_before_is_a_leak_and_a_little_memory_is_not(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    from soak import State, what_leaked

    before = State(13, 120, 0, 145, 22.0, 92.0)
    middle = State(13, 120, 0, 145, 40.0, 92.0)
    assert what_leaked(before, middle, State(13, 120, 0, 145, 43.0, 95.0)) == []
    assert what_leaked(before, middle, State(14, 119, 1, 145, 40.0, 192.0)) == [
        "processes: 13 before, 14 after", "descriptors: 120 before, 119 after",
        "folders: 0 before, 1 after", "servers_mib: 92.0 in the middle, 192.0 after",
    ]  # fmt: skip
