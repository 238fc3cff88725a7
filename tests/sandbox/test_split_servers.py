"""Both servers of mode "split" end with their trainer, and are replaced when they die."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.sandbox.processes import (
    descendants,
    servers,
    settled,
    wait_until_gone,
    wait_until_no_folder,
)
from tests.sandbox.splitting import DOUBLE, split, statuses
from workbench.records import Limits
from workbench.sandbox import open_sandbox, wire
from workbench.sandbox.serving import Server

pytestmark = pytest.mark.slow

TOP = Path(__file__).resolve().parents[2]
LINUX = sys.platform == "linux"
TRUE = "assert f(3) == 6\nassert f(5) == 10\nassert not f(0)\n"
CHECK = "def check(candidate):\n    assert candidate(2) == 4\n"


def test_the_server_for_tests_is_started_when_it_is_first_needed():
    with open_sandbox("local", workers=1) as fresh:
        fresh.call({"lib.py": DOUBLE}, "lib.py", "f", [(1,)])
        assert servers(fresh)[1] == []
        split(fresh, DOUBLE, CHECK)
        assert len(servers(fresh)[1]) == 1


@pytest.mark.parametrize("which", [0, 1])
def test_a_killed_server_of_either_kind_is_replaced(which):
    with open_sandbox("local", workers=1) as fresh:
        split(fresh, DOUBLE, CHECK)
        os.kill(servers(fresh)[which][0], signal.SIGKILL)
        result = split(fresh, f"# {which}\n{DOUBLE}", TRUE)
        assert statuses(result) == ["passed"] * 3
        assert fresh.stats.restarts == 1 and fresh.stats.faults == 0
        assert fresh.call({"lib.py": DOUBLE}, "lib.py", "f", [(2,)]).results[0].value == 4


@pytest.mark.skipif(not LINUX, reason="looks at /proc")
@pytest.mark.parametrize("kind", ["local", "local:2", "local:1"])
@pytest.mark.filterwarnings("ignore:this sandbox")
@pytest.mark.parametrize("spins", ["solution", "tests"])
def test_closing_in_the_middle_leaves_no_process_and_no_folder(kind, spins):
    sandbox = open_sandbox(kind, workers=1)
    split(sandbox, DOUBLE, CHECK)
    server = sandbox._pool._keepers[0]._worker.server
    folders = [server.folder, server.tests.folder]
    program = "def f(x):\n    while x: pass\n    return 0\n"
    tests = "f(1)\nassert True\n" if spins == "solution" else "f(0)\nwhile True: pass\nassert 1\n"
    errors = []

    def run():
        try:
            split(sandbox, program, tests, Limits(cpu_s=60.0, wall_s=60.0))
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.5)
    pids = [pid for server in sum(servers(sandbox), []) for pid in descendants(server)]
    assert len(pids) >= 6
    sandbox.close()
    thread.join()
    assert errors == ["the sandbox was closed"]
    assert wait_until_gone(pids) == []
    assert not any(os.path.exists(folder) for folder in folders)


@pytest.mark.skipif(not LINUX, reason="looks at /proc")
def test_runs_leave_no_descriptor_and_no_process():
    with open_sandbox("local", workers=1, reuse=False) as fresh:
        files = {"lib.py": DOUBLE}

        def some(count):
            for number in range(count):
                split(fresh, ("import os\nos._exit(0)\n", DOUBLE)[number % 2], TRUE)
                fresh.call(files, "lib.py", "f", [(1,)])
                split(fresh, DOUBLE, "def check(")

        def state():
            tree = [pid for server in sum(servers(fresh), []) for pid in descendants(server)]
            open_files = [os.listdir(f"/proc/{pid}/fd") for pid in [os.getpid(), *tree]]
            return len(tree), sum(map(len, open_files))

        some(4)
        before = settled(state)
        some(20)
        assert settled(state) == before
        assert fresh.stats.faults == 0


TRAINER = """
import sys
from workbench.records import Limits
from workbench.sandbox import open_sandbox

sandbox = open_sandbox(sys.argv[1], workers=1)
program = {"lib.py": "def f(x):\\n    while x: pass\\n    return 0\\n"}
sandbox.run_split(program, "lib.py", "f", "assert f(0) == 0")
server = sandbox._pool._keepers[0]._worker.server
print(server.pid, server.tests.pid, flush=True)
sandbox.run_split(program, "lib.py", "f", "assert f(1) == 0", Limits(cpu_s=60.0, wall_s=60.0))
"""


@pytest.mark.skipif(not LINUX, reason="looks at /proc")
@pytest.mark.parametrize("kind", ["local", "local:2", "local:1"])
def test_a_killed_trainer_leaves_neither_server_and_no_folder(kind):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", TRAINER, kind],
        stdout=subprocess.PIPE,
        text=True,
        cwd=TOP,
    )
    pids = [int(pid) for pid in process.stdout.readline().split()]
    assert len(pids) == 2
    time.sleep(0.5)
    pids = [pid for server in pids for pid in descendants(server)]
    assert len(pids) >= 6
    process.kill()
    process.wait()
    process.stdout.close()
    assert wait_until_gone(pids) == []
    assert wait_until_no_folder(process.pid) == []


class Program:
    """A process that its server waits for; what it would say is left out."""

    answers = SimpleNamespace(is_full=False)

    def __init__(self, code):
        python = sys.executable
        self.pid = os.posix_spawn(python, [python, "-I", "-S", "-c", code], os.environ)

    def drain(self, poll):
        """Nothing to read."""


@pytest.mark.parametrize(
    ("code", "status", "how"),
    [
        ("import os; os._exit(3)", 3, wire.EXITED),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15, wire.EXITED),
        ("import time; time.sleep(60)", -9, wire.LEFT_ALONE),
    ],
)
def test_a_solution_that_ended_by_itself_was_not_left_alone(monkeypatch, code, status, how):
    # A process closes its pipes before its parent can wait for it. On a busy machine the tests'
    # run sees the end, says so and ends too while the solution's is still about to be waited for.
    program = Program(code)
    if how == wire.EXITED:
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    answers = iter([(0, 0, None)])
    wait4 = os.wait4
    monkeypatch.setattr(os, "wait4", lambda *args: next(answers, None) or wait4(*args))
    walls = SimpleNamespace(cpu_seconds=lambda pid: 0.0, is_overfull=lambda: False)
    nobody, requests = os.pipe()
    watched, held = os.pipe()
    os.close(held)  # the tests' run has ended
    server = Server((nobody, None), walls, SimpleNamespace(grace_s=0.0))
    ended, found, _ = server._watch(program, 9.0, time.monotonic() + 30, watched)
    for descriptor in (nobody, requests, watched):
        os.close(descriptor)
    assert (ended, os.waitstatus_to_exitcode(found)) == (how, status)
