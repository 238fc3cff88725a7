"""The local sandbox answers like a function call, from anywhere, and cleans up after itself."""

import asyncio
import json
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.sandbox.processes import (
    descendants,
    servers,
    wait_until_gone,
    wait_until_no_folder,
)
from workbench.records import Limits
from workbench.sandbox import open_sandbox, wire
from workbench.sandbox.responses import Response
from workbench.sandbox.worker import Keeper

TOP = Path(__file__).resolve().parents[2]
DOUBLE = {"lib.py": "def f(xs):\n    return [2 * x for x in xs]\n"}
LINUX = sys.platform == "linux"


@pytest.fixture
def fresh():
    with open_sandbox("local", workers=2) as sandbox:
        yield sandbox


def call(sandbox, body, inputs=((1,),), limits=Limits()):
    """Call f(x) with the given body."""
    return sandbox.call({"lib.py": f"def f(x):\n    {body}\n"}, "lib.py", "f", inputs, limits)


def test_every_input_gets_its_answer_in_order(sandbox):
    result = sandbox.call(DOUBLE, "lib.py", "f", [([1, 2],), ([],), ([-3],)])
    assert result.status == "ok"
    assert [case.status for case in result.results] == ["value"] * 3
    assert [case.value for case in result.results] == [[2, 4], [], [-6]]
    assert result.cpu_s > 0


def test_values_keep_their_types_in_both_directions(sandbox):
    value = {"a": (1, 2.0, -0.0), 3: {4, 5}, (6,): b"7", "big": 10**40, "none": None}
    (case,) = call(sandbox, "return x", [(value,)]).results
    assert case.value == value and repr(case.value) == repr(value)


def test_a_subclass_comes_back_as_its_base_type(sandbox):
    (case,) = call(sandbox, "import collections; return collections.Counter(x)", [("aab",)]).results
    assert type(case.value) is dict and case.value == {"a": 2, "b": 1}


def test_arguments_changed_by_one_case_do_not_reach_the_next(sandbox):
    result = call(sandbox, "x.append(1); return x", [([],), ([],)])
    assert [case.value for case in result.results] == [[1], [1]]


def test_an_exception_is_that_cases_error_with_file_and_line(sandbox):
    result = call(sandbox, "return 1 // x", [(1,), (0,), (2,)])
    assert [case.status for case in result.results] == ["value", "error", "value"]
    assert result.results[1].error == (
        "ZeroDivisionError lib.py:2: integer division or modulo by zero"
    )


def test_modules_of_the_workspace_import_each_other_and_packages_work(sandbox):
    files = {
        "lib.py": "from util import g\nfrom pkg.deep import h\ndef f(x):\n    return g(x) + h(x)\n",
        "util.py": "def g(x):\n    return 10 * x\n",
        "pkg/__init__.py": "",
        "pkg/deep.py": "from . import other\n\ndef h(x):\n    return other.ONE\n",
        "pkg/other.py": "ONE = 1\n",
    }
    result = sandbox.call(files, "lib.py", "f", [(2,)])
    assert result.results[0].value == 21
    assert sandbox.call(files, "pkg/deep.py", "h", [(2,)]).results[0].value == 1


def test_a_module_of_the_workspace_hides_a_library_module_of_that_name(sandbox):
    files = {"json.py": "def f():\n    return 'mine'\n", "lib.py": "import json\nf = json.f\n"}
    assert sandbox.call(files, "lib.py", "f", [()]).results[0].value == "mine"


def test_the_workspace_is_the_current_folder(sandbox):
    files = {"lib.py": "def f():\n    return open('data/a.txt').read()\n", "data/a.txt": "hello"}
    assert sandbox.call(files, "lib.py", "f", [()]).results[0].value == "hello"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x)\n    return x\n", "SyntaxError lib.py:1: expected ':'"),
        ("x = 1\ny = z\n", "NameError lib.py:2: name 'z' is not defined"),
        ("import nowhere\n", "ModuleNotFoundError lib.py:1: No module named 'nowhere'"),
        ("g = 1\n", "NameError lib.py: function 'f' is not defined"),
        ("def f(x):\n    return x\n\0", None),
        ("def f(x):\n    return '\ud800'\n", None),
    ],
)
def test_a_program_that_does_not_load_is_a_compile_error(sandbox, text, message):
    result = sandbox.call({"lib.py": text}, "lib.py", "f", [(1,), (2,)])
    assert result.status == "compile_error"
    assert [case.status for case in result.results] == ["missing", "missing"]
    assert message is None or result.message == message


def test_a_missing_entry_file_is_a_compile_error(sandbox):
    result = sandbox.call({"util.py": ""}, "lib.py", "f", [()])
    assert result.status == "compile_error" and "lib" in result.message


def test_the_cpu_limit_keeps_the_answers_before_it(sandbox):
    result = call(sandbox, "while x: pass", [(0,), (1,), (0,)], Limits(cpu_s=0.2))
    assert result.status == "timeout" and "0.2 s of CPU" in result.message
    assert [case.status for case in result.results] == ["value", "timeout", "missing"]


def test_sleeping_runs_into_the_wall_clock_deadline_which_is_counted_apart(fresh):
    body = "import time; time.sleep(60)"
    result = call(fresh, body, limits=Limits(cpu_s=5.0, wall_s=0.3))
    assert result.status == "timeout" and "wall-clock" in result.message
    assert fresh.stats.deadlines == 1 and fresh.stats.faults == 0
    call(fresh, body, limits=Limits(cpu_s=5.0, wall_s=0.3))  # the machine's doing: not stored
    assert fresh.stats.executions == 2 and fresh.stats.reused == 0


def test_too_much_memory_is_that_cases_failure_and_the_next_one_goes_on(sandbox):
    result = call(sandbox, "return len(bytearray(x))", [(10**9,), (10,)], Limits(memory_mb=128))
    assert [case.status for case in result.results] == ["memory", "value"]


def test_leaving_the_process_is_a_crash(sandbox):
    result = call(sandbox, "import os; x or os._exit(5); return x", [(1,), (0,), (1,)])
    assert result.status == "crash" and "exit status 5" in result.message
    assert [case.status for case in result.results] == ["value", "error", "missing"]


def test_a_set_of_texts_has_the_same_order_in_every_server():
    body = "return list({'a', 'bc', 'def', 'g', 'hi', 'jkl', 'm'})"
    orders = []
    for _ in range(2):
        with open_sandbox(workers=1) as sandbox:
            orders.append(call(sandbox, body).results[0].value)
    assert orders[0] == orders[1]


def test_what_is_said_does_not_tell_where_the_work_folder_lies(walled):
    files = {
        "lib.py": "import os\ndef here(): return os.getcwd()\n"
        "def bad(): raise ValueError(__file__)\n",
        "missing.py": "from lib import there\n",
        "tests.py": "from lib import bad, here\nimport lib\nassert here() == 1\nassert bad() == 1\n"
        "assert lib is None, lib\n",
    }
    outcomes = walled.run_tests(files, "tests.py").outcomes
    assert [message for _, _, message in outcomes] == [
        "here() got '/box' want 1",
        "ValueError lib.py:3: /box/lib.py",
        "AssertionError tests.py:5: <module 'lib' from '/box/lib.py'>",
    ]
    message = walled.run_tests(files, "missing.py").message
    assert message.endswith("cannot import name 'there' from 'lib' (/box/lib.py)")


def test_what_is_said_holds_no_memory_address_which_would_differ_from_server_to_server():
    lib = """
        class Thing: ...
        def f(x):
            return f
        def g(x):
            raise ValueError(f"{Thing()} and {f} met")
        def h(x):
            return [Thing] + [Thing() for _ in range(9)]
    """
    tests = """
        from lib import f, g, h
        assert f(1) == 2
        assert g(1) == 2
        assert h(1) == 2
        assert f(1) is None, f
        assert "look at 0x7f" == 1
    """
    files = {"lib.py": textwrap.dedent(lib), "tests.py": textwrap.dedent(tests)}
    said = []
    for _ in range(2):
        with open_sandbox("local", workers=1) as one:
            outcomes = one.run_tests(files, "tests.py").outcomes
            called = one.call(files, "lib.py", "g", [(1,)]).results[0].error
            said.append(([message for _, _, message in outcomes], called))
    thing = "<lib.Thing object>"
    shown = f"[<class 'lib.Thing'>, {', '.join([thing] * 9)}]"
    assert len(shown) > 80
    assert said[0][0] == [
        "f(1) got <function f> want 2",
        f"ValueError lib.py:6: {thing} and <function f> met",
        f"h(1) got {shown[:77]}... want 2",
        "AssertionError tests.py:6: <function f>",
        "\"look at 0x7f\" got 'look' want 1",
    ]
    assert said[0][1] == f"ValueError lib.py:6: {thing} and <function f> met"
    assert said[0] == said[1]


def test_tests_say_what_was_called_and_what_came_back(sandbox):
    tests = """\
    '''docstring'''
    from lib import f
    assert f([1]) == [2]
    assert f([3, -3]) == 2
    assert len(f([1])) > 5, "too short"
    g([])
    """
    result = sandbox.run_tests(DOUBLE | {"tests.py": textwrap.dedent(tests)}, "tests.py")
    assert result.status == "ok"
    assert result.outcomes == (
        ("test:1", "passed", ""),
        ("test:2", "wrong", "f([3, -3]) got [6, -6] want 2"),
        ("test:3", "wrong", "AssertionError tests.py:5: too short"),
        ("test:4", "error", "NameError tests.py:6: name 'g' is not defined"),
    )


def test_tests_of_a_program_that_does_not_load_are_a_compile_error(sandbox):
    tests = {"tests.py": "from lib import f\nassert f([1]) == [2]\n"}
    result = sandbox.run_tests({"lib.py": "def f(xs):\n    return xs +\n"} | tests, "tests.py")
    assert result.status == "compile_error" and result.outcomes == ()
    assert result.message == "SyntaxError lib.py:2: invalid syntax"
    assert sandbox.run_tests(DOUBLE, "tests.py").status == "compile_error"


def test_tests_keep_their_outcomes_when_a_later_one_never_ends(sandbox):
    tests = {"tests.py": "from lib import f\nassert f([1]) == [2]\nwhile True: pass\nassert True\n"}
    result = sandbox.run_tests(DOUBLE | tests, "tests.py", Limits(cpu_s=0.2))
    assert result.status == "timeout"
    assert [outcome[:2] for outcome in result.outcomes] == [
        ("test:1", "passed"),
        ("test:2", "timeout"),
    ]


def test_an_equal_execution_is_reused_and_counted(fresh):
    first = call(fresh, "return x + 1")
    again = call(fresh, "return x + 1")
    assert (first.reused, again.reused) == (False, True)
    assert again.results == first.results and again.results is not first.results
    assert (fresh.stats.executions, fresh.stats.reused) == (1, 1)
    assert not call(fresh, "return x + 1", limits=Limits(cpu_s=2.0)).reused
    assert not call(fresh, "return x + 1", [(2,)]).reused


def test_reuse_can_be_switched_off():
    with open_sandbox(workers=1, reuse=False) as sandbox:
        call(sandbox, "return x"), call(sandbox, "return x")
        assert (sandbox.stats.executions, sandbox.stats.reused) == (2, 0)


def in_threads(count, work):
    """[work(0), work(1), ...] from as many threads at once."""
    found = [None] * count

    def run(index):
        found[index] = work(index)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_an_equal_execution_that_is_still_running_is_waited_for(fresh):
    body = "import time; time.sleep(0.5); return x"
    results = in_threads(4, lambda _: call(fresh, body))
    assert fresh.stats.executions == 1
    assert sorted(result.reused for result in results) == [False, True, True, True]


def test_many_threads_get_their_own_answers(sandbox):
    results = in_threads(8, lambda i: [call(sandbox, f"return x + {i}", [(n,)]) for n in range(5)])
    for index, mine in enumerate(results):
        assert [result.results[0].value for result in mine] == [index + n for n in range(5)]


def test_it_works_inside_a_running_event_loop(sandbox):
    async def main():
        direct = call(sandbox, "return x + 100")
        apart = await asyncio.gather(
            *(asyncio.to_thread(call, sandbox, f"return x + {200 + i}") for i in range(3))
        )
        return [result.results[0].value for result in (direct, *apart)]

    assert asyncio.run(main()) == [101, 201, 202, 203]


@pytest.mark.parametrize("path", ["/etc/x.py", "../x.py", "a/../x.py", "", "a//b.py", "a\0.py"])
def test_an_entry_file_outside_the_workspace_is_refused(sandbox, path):
    with pytest.raises(ValueError, match="inside the workspace"):
        sandbox.call({"lib.py": ""}, path, "f", [()])


def test_wrong_use_says_what_was_expected(sandbox):
    with pytest.raises(ValueError, match="plain data, got object"):
        call(sandbox, "return x", [(object(),)])
    with pytest.raises(ValueError, match="memory_mb a whole number from 64"):
        call(sandbox, "return x", limits=Limits(memory_mb=1))
    with pytest.raises(ValueError, match="expected one of"):
        open_sandbox("cloud")
    with pytest.raises(ValueError, match="at least 1"):
        open_sandbox(workers=0)


def test_a_workspace_that_is_too_large_is_not_run(fresh):
    result = fresh.call({"lib.py": "#" * (2 << 20)}, "lib.py", "f", [()])
    assert result.status == "compile_error" and fresh.stats.executions == 0


def test_a_killed_server_is_replaced_and_the_call_still_answered(fresh):
    for pid in servers(fresh)[0]:
        os.kill(pid, signal.SIGKILL)
    results = in_threads(4, lambda i: call(fresh, f"return x + {i}"))
    assert [result.results[0].value for result in results] == [1, 2, 3, 4]
    assert fresh.stats.restarts >= 1 and fresh.stats.faults == 0


def test_a_server_that_keeps_dying_is_our_fault_and_counted():
    with open_sandbox(workers=1) as sandbox:
        found = []
        thread = threading.Thread(
            target=lambda: found.append(call(sandbox, "import time; time.sleep(60)"))
        )
        thread.start()
        killed = set()
        while thread.is_alive():
            worker = sandbox._pool._keepers[0]._worker
            if worker is not None and worker.hello and worker.server.pid not in killed:
                killed.add(worker.server.pid)
                os.kill(worker.server.pid, signal.SIGKILL)
            time.sleep(0.05)
        assert found[0].status == "sandbox_error"
        assert [case.status for case in found[0].results] == ["missing"]
        assert sandbox.stats.faults == 1
        assert call(sandbox, "return x").results[0].value == 1


class OneAnswer:
    """A worker that gives prepared responses, one a question."""

    hello, setup = {"tier": 3}, {}

    def __init__(self, *responses):
        self.responses, self.asked = list(responses), 0

    def wait_ready(self):
        pass

    def ask(self, body, limits):
        self.asked += 1
        return self.responses.pop(0)

    def close(self):
        pass


@pytest.mark.parametrize(
    "first, asked",
    [
        (Response(wire.EXITED, -signal.SIGKILL, b"", 0.1, 0.2), 2),  # the memory killer, say
        (Response(wire.EXITED, -signal.SIGKILL, b"", 5.0, 5.1), 1),  # its hard CPU limit
        (Response(wire.CPU_LIMIT, -signal.SIGKILL, b"", 0.1, 0.2), 1),  # ended by the server
        (Response(wire.EXITED, -signal.SIGSEGV, b"", 0.1, 0.2), 1),  # its own doing
    ],
)
def test_a_run_killed_by_no_limit_of_ours_is_repeated_once(first, asked):
    last = Response(wire.EXITED, -signal.SIGKILL, b"", 0.1, 0.2)
    worker, jobs, answer = OneAnswer(first, last), queue.SimpleQueue(), Future()
    keeper = Keeper(jobs, worker)
    jobs.put((b"", Limits(cpu_s=5.0), answer))
    got = answer.result(timeout=30)
    keeper.announce_close()
    jobs.put(None)
    keeper.close()
    assert worker.asked == asked
    assert got == (first if asked == 1 else last)


@pytest.mark.skipif(not LINUX, reason="looks at /proc")
@pytest.mark.parametrize("kind", ["local", "local:2", "local:1"])
@pytest.mark.filterwarnings("ignore:this sandbox")
def test_closing_in_the_middle_of_a_run_leaves_no_process_and_no_folder(kind):
    sandbox = open_sandbox(kind)
    folders = [keeper._worker.server.folder for keeper in sandbox._pool._keepers]
    errors = []

    def run():
        try:
            call(sandbox, "while True: pass", limits=Limits(cpu_s=60.0, wall_s=60.0))
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    pids = [pid for server in servers(sandbox)[0] for pid in descendants(server)]
    assert len(pids) >= 4
    sandbox.close()
    thread.join()
    assert errors == ["the sandbox was closed"]
    assert wait_until_gone(pids) == []
    assert not any(os.path.exists(folder) for folder in folders)
    with pytest.raises(RuntimeError, match="closed"):
        call(sandbox, "return x")


TRAINER = """
import json, sys, threading, time
from workbench.records import Limits
from workbench.sandbox import open_sandbox

sandbox = open_sandbox({kind!r})
spin = {{"lib.py": "def f(x):\\n    while x: pass\\n    return x\\n"}}
limits = Limits(cpu_s=3.0, wall_s=60.0)

def say(value):
    print(json.dumps(value), flush=True)

say([keeper._worker.server.pid for keeper in sandbox._pool._keepers])
try:
    sandbox.call(spin, "lib.py", "f", [(1,)], limits)
except KeyboardInterrupt:
    say("interrupted")
say([case.value for case in sandbox.call(spin, "lib.py", "f", [(0,)], limits).results])
say([sandbox.stats.restarts, sandbox.stats.faults])
"""


def start_trainer(kind):
    """A process that opens a sandbox and waits for an endless program; and its servers' pids."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", TRAINER.format(kind=kind)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=TOP,
        start_new_session=True,
    )
    servers = json.loads(process.stdout.readline())
    time.sleep(0.5)
    return process, [pid for server in servers for pid in descendants(server)]


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="looks at /proc")
@pytest.mark.parametrize("kind", ["local", "local:2", "local:1"])
def test_a_killed_trainer_leaves_no_process_and_no_folder(kind):
    process, pids = start_trainer(kind)
    assert len(pids) >= 4
    process.kill()
    process.wait()
    assert wait_until_gone(pids) == []
    assert wait_until_no_folder(process.pid) == []


DAEMON = """
import os, sys, threading, time
from workbench.sandbox import open_sandbox

sandbox = open_sandbox("local:1", workers=1)
files = {"lib.py": '''
import os, time
def f(path):
    if os.fork() == 0:
        os.setsid()
    open(path + str(os.getpid()), "w").close()
    time.sleep(60)
'''}
arguments = (files, "lib.py", "f", [(sys.argv[1],)])
threading.Thread(target=sandbox.call, args=arguments, daemon=True).start()
time.sleep(1)
if os.fork() == 0:  # a copy of the trainer that keeps its descriptors open, as a data loader may
    print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="looks at /proc")
def test_a_daemon_does_not_outlive_a_killed_trainer_whose_copy_lives_on(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", DAEMON, f"{tmp_path}/"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=TOP,
    )
    copy = int(process.stdout.readline())
    process.kill()
    process.wait()
    try:
        pids = [int(path.name) for path in tmp_path.iterdir()]
        assert len(pids) == 2
        assert wait_until_gone(pids) == []
    finally:
        os.kill(copy, signal.SIGKILL)


@pytest.mark.skipif(not LINUX, reason="looks at /proc")
def test_an_interrupt_reaches_the_trainer_and_not_its_servers():
    process, pids = start_trainer("local")
    os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C and Jupyter's Stop do
    said = [json.loads(line) for line in process.stdout]
    assert said == ["interrupted", [0], [0, 0]]
    assert process.wait() == 0
    assert wait_until_gone(pids) == []


def test_every_thread_ends_however_slowly_they_are_told(monkeypatch):
    announce = Keeper.announce_close

    def slowly(keeper):
        announce(keeper)
        time.sleep(0.02)

    monkeypatch.setattr(Keeper, "announce_close", slowly)
    closing = threading.Thread(target=open_sandbox("local", workers=4).close, daemon=True)
    closing.start()
    closing.join(60.0)
    assert not closing.is_alive()


@pytest.mark.skipif(not LINUX, reason="forks this process")
def test_a_forked_copy_of_the_trainer_is_told_to_open_its_own(fresh):
    pid = os.fork()
    if pid == 0:
        try:
            call(fresh, "return x")
        except RuntimeError as error:
            fresh.close()  # must not end the parent's servers
            os._exit(7 if "belongs to process" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert call(fresh, "return x").results[0].value == 1 and fresh.stats.restarts == 0


@pytest.mark.skipif(not LINUX, reason="looks at /proc")
def test_a_program_that_leaves_a_daemon_behind_is_rid_of_it_at_tier_one():
    body = (
        "import os, time\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(50)\n"
        "        os._exit(0)\n"
        "    return x"
    )
    with pytest.warns(UserWarning, match="tier 1"):
        sandbox = open_sandbox("local:1", workers=1)
    with sandbox:
        assert call(sandbox, body).results[0].value == 1
        (server,), _ = servers(sandbox)
        assert len(descendants(server)) <= 3  # the two server processes and the next fork


def test_the_guarantees_table_holds_from_tier_two_on(sandbox):
    table = sandbox.guarantees()
    if sandbox.tier < 2:
        pytest.skip(f"tier {sandbox.tier} here: {sandbox.declined}")
    assert [row.limit for row in table.rows if not row.holds] == []
    assert len(table.rows) >= 10 and "read a file of yours" in repr(table)


def test_a_weaker_tier_says_no_where_nothing_protects():
    with pytest.warns(UserWarning, match="limits time and memory only"):
        sandbox = open_sandbox("local:1", workers=1)
    with sandbox:
        rows = {row.limit: row.holds for row in sandbox.guarantees().rows}
        assert sandbox.name == "local:1"
        assert not rows["read a file of yours"] and not rows["use the network"]
        assert rows["use more CPU time"] and rows["use open files of the trainer"]


@pytest.mark.parametrize(
    "limits",
    [
        Limits(cpu_s=float("inf")),
        Limits(wall_s=float("inf")),
        Limits(cpu_s=float("nan")),
        Limits(memory_mb=512.5),
        Limits(memory_mb=1 << 33),
    ],
)
def test_limits_that_cannot_be_set_are_refused(sandbox, limits):
    with pytest.raises(ValueError, match="limits: expected"):
        call(sandbox, "return x", limits=limits)


def test_an_entry_point_that_is_none_is_said_to_be_no_function(sandbox):
    result = sandbox.call({"lib.py": "f = None\n"}, "lib.py", "f", [()])
    assert result.status == "ok"
    assert result.results[0].error == "TypeError: 'NoneType' object is not callable"


def test_threads_by_the_dozen_fit_into_the_memory_limit(sandbox):
    program = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
def f(n):
    together = Barrier(n)
    with ThreadPoolExecutor(n) as pool:
        return sum(pool.map(lambda i: (together.wait(), i)[1], range(n)))
"""
    result = sandbox.call({"lib.py": program}, "lib.py", "f", [(40,)])
    assert result.results[0].value == 780, result


def test_half_a_surrogate_pair_in_a_message_arrives_as_text_that_can_be_written(sandbox):
    result = call(sandbox, "raise ValueError(chr(0xD800))")
    assert result.results[0].error.encode() == b"ValueError lib.py:2: \\ud800"
