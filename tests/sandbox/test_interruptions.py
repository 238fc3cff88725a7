"""What is left behind, and what is said, when something is ended in the middle of a run.

The table of docs/sandbox.md; further rows are tested in test_local.py, test_split_servers.py,
test_blame.py and test_docker.py.
"""

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.sandbox.processes import (
    descendants,
    folders,
    servers,
    wait_until_gone,
    wait_until_no_folder,
)
from workbench.records import Limits
from workbench.sandbox import open_sandbox

TOP = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc"),
]
F = "def f(x):\n    while x: pass\n    return x\n"
BEGIN = f"""
import json, os, signal, sys, time
from workbench.grading import grade, grade_many
from workbench.records import Case, Limits, Task
from workbench.sandbox import open_sandbox

def say(value):
    print(json.dumps(value), flush=True)

def task(x, cpu_s=60.0):
    limits = Limits(cpu_s=cpu_s, wall_s=60.0)
    return Task(f"t{{x}}", "", "f", "lib.py", {{}}, (), (Case((x,), 0),), {{}}, limits=limits)

F = {F!r}
"""


def start(text, *arguments):
    """A process that does `text` after BEGIN, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", BEGIN + text, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=TOP,
        start_new_session=True,
    )


def next_line(process):
    return json.loads(process.stdout.readline())


MANY = """
import threading

pairs = [(task(0), F)] * 3 + [(task(1, 2.0), F + f"# {n}") for n in range(50)]

def grade_them(sandbox):
    def tell():
        while sandbox.stats.executions + sandbox.stats.reused < 3: time.sleep(0.01)
        time.sleep(0.5)
        say([keeper._worker.server.pid for keeper in sandbox._pool._keepers])
    threading.Thread(target=tell).start()
    grade_many(pairs, sandbox, progress=True)

sandbox = open_sandbox(workers=2)
try:
    grade_them(sandbox)
except KeyboardInterrupt as error:
    say([str(error), sandbox.stats.executions])
sandbox.close()
with open_sandbox(workers=1) as another:
    say(grade(task(0), F, another).status)
grade_them(open_sandbox(workers=2))
"""


def test_an_interrupt_of_many_gradings_comes_back_at_once_and_leaves_nothing():
    process, text = start(MANY), "grading was interrupted after 3 of 53 verdicts"
    pids = [pid for server in next_line(process) for pid in descendants(server)]
    os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C and Jupyter's Stop do
    said, executions = next_line(process)
    assert said == text
    assert executions == 1  # none of the endless programs was waited for
    assert next_line(process) == "ok"
    assert wait_until_gone(pids) == []
    next_line(process)
    process.send_signal(signal.SIGINT)  # and if nobody catches it
    _, errors = process.communicate(timeout=200)
    assert process.returncode == -signal.SIGINT
    assert errors.splitlines()[-1] == f"KeyboardInterrupt: {text}"
    assert "concurrent" not in errors and "threading" not in errors
    assert wait_until_no_folder(process.pid) == []


OPENS = """
say("opening")
sandbox = open_sandbox(sys.argv[1], workers=4)
time.sleep(60)
"""


@pytest.mark.parametrize("after_s", [0.0, 0.03, 0.1, 0.3])
def test_an_interrupt_while_servers_start_leaves_none(after_s):
    process = start(OPENS, "local")
    next_line(process)
    time.sleep(after_s)
    pids = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert wait_until_gone(pids) == [] and wait_until_no_folder(process.pid) == []


PARENT = """
import subprocess
child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", sys.argv[1]])
time.sleep(60)
"""
CHILD = """
with open_sandbox(workers=1) as sandbox:
    say([os.getpid(), sandbox._pool._keepers[0]._worker.server.pid])
    before = os.getppid()
    while os.getppid() == before: time.sleep(0.01)
    say(grade(task(0), F, sandbox).status)
say("closed")
time.sleep(60)
"""


def test_a_trainer_whose_parent_is_killed_goes_on_and_cleans_up():
    process = start(PARENT, BEGIN + CHILD)
    child, server = next_line(process)
    pids = descendants(server)
    process.kill()
    process.wait()
    try:
        assert [next_line(process), next_line(process)] == ["ok", "closed"]
        assert wait_until_gone(pids) == [] and folders(child) == []
    finally:
        os.kill(child, signal.SIGKILL)


def call(sandbox, body, limits):
    return sandbox.call({"lib.py": f"def f(x):\n    {body}\n"}, "lib.py", "f", [(1,)], limits)


def in_the_middle(sandbox, what, body="import time; time.sleep(1.5); return x"):
    """The result of a call during which `what(server)` is done once, with the server's pid."""
    found = []
    limits = Limits(cpu_s=5.0, wall_s=30.0)
    thread = threading.Thread(target=lambda: found.append(call(sandbox, body, limits)))
    thread.start()
    time.sleep(0.5)
    what(servers(sandbox)[0][0])
    thread.join()
    return found[0]


def run_of(server):
    """The run: of the processes below the server, those that sleep in the program's own code."""
    *_, run = descendants(server)
    return run


@pytest.mark.parametrize("kind", ["local:3", "local:2"])
def test_a_run_ended_by_the_memory_killer_is_run_again(kind):
    with open_sandbox(kind, workers=1) as sandbox:
        result = in_the_middle(sandbox, lambda server: os.kill(run_of(server), signal.SIGKILL))
        assert (result.status, result.results[0].value) == ("ok", 1)
        assert (sandbox.stats.faults, sandbox.stats.restarts) == (0, 0)


def test_a_run_ended_twice_is_the_programs_crash():
    with open_sandbox("local", workers=1) as sandbox:

        def twice(server):
            first = run_of(server)
            os.kill(first, signal.SIGKILL)
            wait_until_gone([first])
            time.sleep(0.5)
            os.kill(run_of(server), signal.SIGKILL)

        result = in_the_middle(sandbox, twice)
        assert (result.status, result.message) == ("crash", "the program was ended by signal 9")


@pytest.mark.parametrize("below", [0, 1], ids=["the first process", "the server proper"])
def test_a_server_ended_in_the_middle_is_replaced_and_nothing_of_it_stays(below):
    before = folders(os.getpid())
    with open_sandbox("local", workers=1) as sandbox:
        pids = []

        def end(server):
            pids.extend(descendants(server))
            os.kill(pids[below], signal.SIGKILL)

        result = in_the_middle(sandbox, end)
        assert (result.status, result.results[0].value) == ("ok", 1)
        assert (sandbox.stats.faults, sandbox.stats.restarts) == (0, 1)
        assert wait_until_gone(pids) == []
    assert folders(os.getpid()) == before


def test_a_server_that_ends_again_and_again_says_what_to_look_for():
    with open_sandbox("local", workers=1) as sandbox:
        ended = threading.Event()

        def end_all():
            seen = set()
            while not ended.is_set():
                worker = sandbox._pool._keepers[0]._worker
                if worker is not None and worker.hello and worker.server.pid not in seen:
                    seen.add(worker.server.pid)
                    os.kill(worker.server.pid, signal.SIGKILL)
                time.sleep(0.05)

        thread = threading.Thread(target=end_all)
        thread.start()
        result = call(sandbox, "import time; time.sleep(60)", Limits())
        ended.set()
        thread.join()
        assert (result.status, result.message) == (
            "sandbox_error",
            "the sandbox server failed: it closed the connection; a new server failed, too: was "
            "it ended, or is the memory used up?",
        )


@pytest.fixture
def full_disk(tmp_path, monkeypatch):
    """The temporary folder is a file system of its own that takes nothing more."""
    libc = ctypes.CDLL(None, use_errno=True)
    target = str(tmp_path).encode()
    if libc.mount(b"full", target, b"tmpfs", 0, b"size=64k,nr_inodes=40"):
        pytest.skip(f"no file system can be mounted here: {os.strerror(ctypes.get_errno())}")
    try:
        yield tmp_path
    finally:
        libc.umount2(target, 2)


def fill(folder):
    try:
        for number in range(100):
            (folder / f"{number}").mkdir()
    except OSError:
        pass


def test_a_full_disk_is_our_fault_and_said_and_over_when_there_is_room(full_disk, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(full_disk))
    with open_sandbox("local:2", workers=1) as sandbox:
        assert call(sandbox, "return x", Limits()).results[0].value == 1
        fill(full_disk)
        result = call(sandbox, "return x + 1", Limits())  # the next fork was ready, its files not
        assert (result.status, result.message) == (
            "sandbox_error",
            "could not start a run: OSError(28, 'No space left on device')",
        )
        again = call(sandbox, "return x + 2", Limits())
        assert again.status == "sandbox_error" and "No space left on device" in again.message
        for number in range(100):
            if (full_disk / f"{number}").exists():
                (full_disk / f"{number}").rmdir()
        assert call(sandbox, "return x + 3", Limits()).results[0].value == 4
    assert list(full_disk.iterdir()) == []


def test_a_sandbox_that_cannot_be_opened_says_why_for_every_tier(full_disk, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(full_disk))
    fill(full_disk)
    with pytest.raises(RuntimeError) as raised:
        open_sandbox("local:2", workers=1)
    reason = r".*No space left on device: .*"
    assert re.fullmatch(
        "no sandbox could be started here: no run can be started on this machine: "
        rf"tier 2: {reason}; tier 1: {reason}",
        str(raised.value),
    )
    with open_sandbox("local", workers=1) as sandbox:  # tier 3 needs no room there
        assert call(sandbox, "return x", Limits()).results[0].value == 1
