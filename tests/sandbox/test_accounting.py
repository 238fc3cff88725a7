"""What children have used is counted, whether they run, have ended or were waited for."""

import os
import subprocess
import sys

import pytest

from workbench.sandbox import accounting

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
BURN = """
import os, sys, time
def burn(seconds):
    while time.process_time() < seconds: pass
def child(seconds):
    pid = os.fork()
    if pid == 0:
        burn(seconds)
        os._exit(0)
    return pid
pids = [child(0.2), child(0.3)]
os.waitpid(pids[0], 0)
os.waitid(os.P_PID, pids[1], os.WEXITED | os.WNOWAIT)  # has ended, and nobody has waited for it
print("burnt", flush=True)
sys.stdin.read()
"""


def test_children_count_while_they_run_when_they_have_ended_and_when_they_were_waited_for():
    proc = accounting.open_proc()
    before = accounting.of_descendants(proc)
    child = subprocess.Popen(
        [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "burnt\n"
    assert accounting.of_descendants(proc) - before >= 0.45  # in hundredths, each rounded down
    assert accounting.of_process(child.pid) < accounting.of_descendants(proc)
    child.communicate("")
    os.close(proc)


def test_where_proc_cannot_be_had_nothing_is_counted():
    assert accounting.of_descendants(None) == 0.0
