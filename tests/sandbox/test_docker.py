"""The sandbox in containers answers as the local one does, and leaves nothing behind.

Needs an engine; the tests start one of their own (tests/docker_engine.py) or are skipped.
"""

import io
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.docker_engine import start_engine
from workbench.__main__ import main
from workbench.grading import grade
from workbench.records import Case, Limits, Task
from workbench.sandbox import open_sandbox
from workbench.sandbox.docker import engine
from workbench.sandbox.docker.container import Stream
from workbench.sandbox.languages import LANGUAGES
from workbench.tasks import load_tasks

TOP = Path(__file__).resolve().parents[2]
QUICK = Limits(cpu_s=0.5, wall_s=20.0, memory_mb=256)
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def docked(docker_engine):
    with open_sandbox("docker", workers=2) as sandbox:
        yield sandbox
        assert sandbox.stats.faults == 0


@pytest.fixture
def fresh(docker_engine):
    with open_sandbox("docker", workers=1) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def named(docked, docker_engine):
    """In an image of the engine's own that has a Python and nothing else."""
    connection = engine.connect()
    found = connection.inspect_container(next(iter(names(docked))))
    python = found["Config"]["Entrypoint"][0]
    text = (
        f"FROM {found['Image']}\nCOPY LINKS /\nENV WORKBENCH_TEST=here\nUSER 1234\nVOLUME /data\n"
    )
    build(connection, "named:1", text, [("usr/bin/python3", python)])
    volumes = connection.volumes()["Volumes"]  # the builder of the line above leaves some
    with open_sandbox("docker:named:1", workers=1) as sandbox:
        yield sandbox
    assert connection.volumes()["Volumes"] == volumes
    connection.close()


@pytest.fixture
def client(docker_engine):
    connection = engine.connect()
    yield connection
    connection.close()


def call(sandbox, body, inputs=((1,),), limits=QUICK):
    """Call f(x) with the given body."""
    return sandbox.call({"lib.py": f"def f(x):\n    {body}\n"}, "lib.py", "f", inputs, limits)


def containers(client):
    """Names of the containers that the engine has now, running or not."""
    return {row["Names"][0].lstrip("/") for row in client.containers(all=True)}


def names(sandbox):
    """Of the containers it has now, for whatever kind of program."""
    pools = (sandbox._pool, *sandbox._toolboxes.opened, *sandbox._suites.opened)
    return {keeper._worker.server.name for pool in pools for keeper in pool._keepers}


def wait_until_gone(client, gone, seconds=20):
    for _ in range(seconds * 10):
        if not containers(client) & gone:
            return set()
        time.sleep(0.1)
    return containers(client) & gone


PROGRAMS = {  # body of f, how the execution ends, what the first input (1) gives
    "a value": ("return {'a': (x, 2.0), 3: {4}, (5,): b'6', 'n': None}", "ok", "value"),
    "a large whole number": ("return x + 10 ** 2000", "ok", "value"),
    "a set in the order of its hashes": ("return list({'a', 'b', 'c', str(x)})", "ok", "value"),
    "half a surrogate pair": ("return chr(0xD800)", "ok", "value"),
    "an exception": ("return 1 // (x - 1)", "ok", "error"),
    "an exception with a long message": ("raise ValueError('a' * 5000)", "ok", "error"),
    "a value that is not data": ("return object()", "ok", "error"),
    "an endless loop": ("while True: pass", "timeout", "timeout"),
    "a sleep over the deadline": ("import time; time.sleep(50)", "timeout", "timeout"),
    "too much memory": ("return len(bytearray(1 << 30))", "memory", "memory"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "crash", "error"),
    "an early exit": ("import os; os._exit(3)", "crash", "error"),
    "SystemExit": ("raise SystemExit(3)", "ok", "error"),
    "an answer over the cap": ("return 'a' * (2 << 20)", "crash", "error"),
    "an answer under the cap": ("return 'a' * 400_000", "ok", "value"),
    "a syntax error": ("return (", "compile_error", "missing"),
    "no such function": ("pass\ndel f", "compile_error", "missing"),
    "prints": ("print('a' * 200_000); return x", "ok", "value"),
    "a process": ("import subprocess; subprocess.run(['true'])", "ok", "error"),
    "a module of the standard library": (
        "import decimal, sqlite3, ssl, zoneinfo; return str(zoneinfo.ZoneInfo('Europe/Paris'))",
        "ok",
        "value",
    ),
    "a module of your site-packages": ("import docker", "ok", "error"),
}


@slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gets_the_same_result_as_in_the_local_sandbox(docked, sandbox, name):
    body, status, first = PROGRAMS[name]
    limits = replace(QUICK, wall_s=0.8) if "deadline" in name else QUICK
    result = call(docked, body, [(1,), (3,)], limits)
    if name == "too much memory":  # each case has its own; the execution goes on
        status = "ok"
    assert (result.status, result.results[0].status) == (status, first), result
    assert replace(result, cpu_s=0.0) == replace(call(sandbox, body, [(1,), (3,)], limits), cpu_s=0)


@slow
def test_tests_beside_the_program_say_the_same(docked, sandbox):
    files = {
        "lib.py": "def f(x):\n    return [2 * y for y in x]\n",
        "tests.py": "from lib import f\nassert f([1]) == [2]\nassert f([1]) == [3]\nf(1)\n",
    }
    result = docked.run_tests(files, "tests.py", QUICK)
    assert [outcome[1] for outcome in result.outcomes] == ["passed", "wrong", "error"]
    assert result.outcomes == sandbox.run_tests(files, "tests.py", QUICK).outcomes


PRINTS = "import sys\nprint(int(input()) + 1)\nprint('so', file=sys.stderr)\nsys.exit(3)\n"


@slow
def test_a_program_that_reads_standard_input_says_the_same(docked, sandbox):
    both = [box.run_program({"a.py": PRINTS}, "a.py", "41\n", QUICK) for box in (docked, sandbox)]
    for said in both:
        assert (said.status, said.exit_code) == ("ok", 3)
        assert (said.stdout, said.stderr) == ("42\n", "so\n")
    said = call(docked, "print('seen', x); return x")
    assert said.stdout == "seen 1\n" and not said.stdout_cut


@slow
@pytest.mark.parametrize("language, needs", [("javascript", "Node.js"), ("c", "GCC")])
def test_an_image_without_a_toolchain_is_unscorable_and_says_what_to_install(
    named, language, needs
):
    for _ in range(2):
        said = named.run_program({"main": "x"}, "main", "", QUICK, language)
        assert said.status == "unscorable" and f"They need {needs}" in said.message
        assert "No such file or directory" in said.message
    cases = (Case(("1 2",), {"stdout": "3"}),)
    task = Task("a", "add", "", "main", {}, (), cases, {"main": "x"}, language=language)
    verdict = grade(task, "x", named)
    assert verdict.status == "unscorable"
    assert not any(outcome.status in ("passed", "wrong") for outcome in verdict.outcomes)


ECHO = {  # language -> a program that doubles a number
    "javascript": "console.log(2 * require('fs').readFileSync(0, 'utf8'))",
    "c": '#include <stdio.h>\nint main(void) { int a; scanf("%d", &a); printf("%d\\n", 2 * a); }',
}


def doubled(sandbox, language, number):
    """What a program of that language prints for a number, or what went wrong."""
    name = f"main{LANGUAGES[language].suffix}"
    said = sandbox.run_program({name: ECHO[language]}, name, str(number), Limits(), language)
    return said.stdout or said


@slow
@pytest.mark.parametrize("language, tool", [("javascript", "node"), ("c", "gcc")])
def test_the_toolchain_of_a_named_image_is_found_by_name(docked, client, language, tool):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    assert doubled(docked, language, 4) == "8\n"
    pool = docked._toolboxes._opened[language]
    found = client.inspect_container(pool._keepers[0]._worker.server.name)
    links = [("usr/bin/python3", found["Config"]["Entrypoint"][0])]
    real = os.path.realpath(shutil.which(tool))
    links += [(f"usr/bin/{tool}", real)] if real != f"/usr/bin/{tool}" else []
    build(client, f"with-{tool}:1", f"FROM {found['Image']}\nCOPY LINKS /\n", links)
    with open_sandbox(f"docker:with-{tool}:1", workers=1) as sandbox:
        assert doubled(sandbox, language, 5) == "10\n"


@slow
def test_a_suite_runs_in_a_named_image_that_has_no_pytest(named):
    assert call(named, "import pytest").results[0].error.startswith("ModuleNotFoundError")
    files = {"lib.py": "def f(): return 2\n"}
    files["test_a.py"] = "from lib import f\ndef test_a(): assert f() == 2\n"
    result = named.run_pytest({**files, "test_b.py": "def test_b(): assert 1 == 2\n"})
    assert [outcome[1] for outcome in result.outcomes] == ["passed", "wrong"], result


def changes_of(task):
    """{what it is: changes} of everything that comes with a repository."""
    wrong = {row.weak_spot: row.files for row in task.wrong}
    hacks = {f"hack {n}": changes for n, changes in enumerate(task.known_hacks)}
    return {"nothing": {}, "the reference": task.reference, **wrong, **hacks}


@slow
@pytest.mark.parametrize("task", load_tasks("repos"), ids=lambda task: task.task_id)
def test_a_repository_gets_the_same_outcomes_as_in_the_local_sandbox(docked, sandbox, task):
    for name, changes in changes_of(task).items():
        there, here = (grade(task, changes, box) for box in (docked, sandbox))
        assert there.mode == "shared" and there.status == here.status == "ok", there
        assert there.outcomes == here.outcomes, name
        solved = all(outcome.status == "passed" for outcome in there.outcomes)
        assert there.outcomes and solved == (name == "the reference"), name


SPLIT = {  # program, tests
    "right": ("def f(x): return 2 * x", "assert f(2) == 4\nassert f([1]) == [1, 1]\n"),
    "wrong": ("def f(x): return 2 * x", "assert f(2) == 5\nassert f(3) == 6\n"),
    "an exception": ("def f(x): return 1 / x", "assert f(1) == 1\nassert f(0) == 0\n"),
    "an early exit": ("import os\ndef f(x): os._exit(0)", "assert f(2) == 4\nassert f(3)\n"),
    "an endless loop": ("def f(x):\n  while x: pass", "assert f(0) is None\nassert f(1)\n"),
    "a callback": ("def f(x): return x(1)", "assert f(lambda x: x) == 1\n"),
    "broken tests": ("def f(x): return x", "assert f(1) ==\n"),
    "what is printed": ("def f(x): print('out'); return x", "assert f(1) == 1\n"),
}


@slow
@pytest.mark.parametrize("name", SPLIT)
def test_tests_in_a_process_of_their_own_say_the_same(docked, sandbox, name):
    program, tests = SPLIT[name]
    said, wanted = (
        replace(box.run_split({"a.py": program}, "a.py", "f", tests, QUICK), cpu_s=0.0)
        for box in (docked, sandbox)
    )
    assert said == wanted and said.outcomes


LOOKS = """
import os
def f(x):
    found = [os.getuid()]
    for path in ("/meeting", "/meeting/tests", "/tests", "/tests/box"):
        try:
            found.append(os.listdir(path))
        except OSError as error:
            found.append(error.strerror)
    return found
"""


@slow
def test_a_solution_and_its_tests_are_two_users_who_see_nothing_of_each_other(fresh):
    tests = (
        "import os\nsaid = f(1)\nassert said[0] >= 40_000 and said[0] != os.getuid() >= 40_000\n"
        "assert said[1:] == ['Permission denied'] * 4\n"
    )
    result = fresh.run_split({"a.py": LOOKS}, "a.py", "f", tests, QUICK)
    assert [status for _, status, _ in result.outcomes] == ["passed"] * 2, result


@slow
def test_a_solution_that_takes_every_process_does_not_stop_its_tests(fresh):
    program = (
        "import threading, time\n"
        "def more():\n"
        "    try:\n"
        "        while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
        "    except RuntimeError: return True\n"
        "def f(x): return 2 * x if more() else 0\n"
    )
    for number in range(3):
        tests = f"assert f({number}) == {2 * number}\nassert f(1) == 2\n"
        result = fresh.run_split({"a.py": program}, "a.py", "f", tests, Limits())
        assert [status for _, status, _ in result.outcomes] == ["passed"] * 2, result
    assert (fresh.stats.faults, fresh.stats.restarts) == (0, 0)


@slow
def test_both_servers_of_a_container_end_with_it_and_are_replaced(fresh, client):
    files = {"a.py": "def f(x): return 2 * x"}
    assert fresh.run_split(files, "a.py", "f", "assert f(1) == 2").outcomes[0][1] == "passed"
    (before,) = names(fresh)
    client.kill(before)
    assert fresh.run_split(files, "a.py", "f", "assert f(2) == 4").outcomes[0][1] == "passed"
    assert (fresh.stats.restarts, fresh.stats.faults) == (1, 0)
    assert names(fresh) != {before} and wait_until_gone(client, {before}) == set()


@slow
def test_a_killed_server_for_tests_is_replaced(fresh, client):
    files = {"a.py": "def f(x): return 2 * x"}
    assert fresh.run_split(files, "a.py", "f", "assert f(1) == 2").outcomes[0][1] == "passed"
    (name,) = names(fresh)
    rows = client.top(name, "-eww -o pid,args")["Processes"]
    (pid, *_) = [int(row[0]) for row in rows if " tests /tests " in row[1]]
    os.kill(pid, signal.SIGKILL)
    assert fresh.run_split(files, "a.py", "f", "assert f(2) == 4").outcomes[0][1] == "passed"
    assert fresh.stats.faults == 0


@slow
def test_what_holds_in_a_container_is_found_by_trying(docked):
    table = docked.guarantees()
    assert (table.name, docked.name) == ("docker:2", "docker:2")
    assert [row.limit for row in table.rows if not row.holds] == []
    assert len(table.rows) >= 10 and "read-only root" in repr(table) and "seccomp" in repr(table)


@slow
def test_the_engine_was_asked_for_a_locked_container(docked, client):
    for name in names(docked):
        found = client.inspect_container(name)
        host = found["HostConfig"]
        assert host["NetworkMode"] == "none" and host["ReadonlyRootfs"] and host["AutoRemove"]
        assert host["CapDrop"] == ["ALL"] and "SYS_ADMIN" not in " ".join(host["CapAdd"])
        assert host["SecurityOpt"] == ["no-new-privileges"] and not host["Privileged"]
        assert 0 < host["Memory"] == host["MemorySwap"] and 0 < host["PidsLimit"] <= 256
        assert host["NanoCpus"] > 0 and host["LogConfig"]["Type"] == "none"
        assert found["Mounts"] == [] and list(host["Tmpfs"]) == ["/box", "/meeting", "/tests"]


@slow
def test_a_run_is_nobody_and_its_threads_fit(docked):
    (case,) = call(docked, "import os; return os.getresuid() + os.getresgid()").results
    assert len(set(case.value)) == 1 and case.value[0] >= 40_000
    body = (
        "import threading, time\n"
        "    threads = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(40)]\n"
        "    for t in threads: t.start()\n"
        "    for t in threads: t.join()\n"
        "    return len(threads)"
    )
    found = [None, None]

    def run(index):
        (found[index],) = call(docked, f"# {index}\n    {body}", limits=Limits()).results

    both = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert [case.value for case in found] == [40, 40], found


@slow
def test_a_full_work_folder_is_the_programs_error_and_the_next_has_an_empty_one(fresh):
    body = (
        "\n    for n in range(100):\n"
        "        with open(str(n), 'wb') as file: file.write(bytes(1 << 20))"
    )
    result = call(fresh, body)
    assert result.results[0].error.startswith("OSError lib.py:4: [Errno 28] No space left")
    many = "\n    for n in range(10 ** 6): open(str(n), 'w').close()"
    assert "[Errno 28] No space left" in call(fresh, many).results[0].error
    look = "import os; return os.listdir('.'), os.statvfs('.').f_bavail * 4096 >> 20"
    listed, free_mb = call(fresh, look).results[0].value
    assert listed == ["lib.py"] and free_mb >= 14
    assert (fresh.stats.faults, fresh.stats.restarts) == (0, 0)


@slow
def test_a_killed_container_is_replaced_and_the_call_still_answered(fresh, client):
    (before,) = names(fresh)
    timer = threading.Timer(1.0, client.kill, (before,))
    timer.start()
    result = call(fresh, "import time; time.sleep(3); return x", limits=Limits())
    timer.join()
    assert result.results[0].value == 1
    assert (fresh.stats.restarts, fresh.stats.faults) == (1, 0)
    assert names(fresh) != {before} and wait_until_gone(client, {before}) == set()


@slow
def test_a_container_killed_again_and_again_is_our_fault(fresh, client):
    found, others = [], containers(client) - names(fresh)
    thread = threading.Thread(
        target=lambda: found.append(call(fresh, "import time; time.sleep(9)"))
    )
    thread.start()
    while thread.is_alive():
        for name in containers(client) - others:
            try:
                client.kill(name)
            except Exception:
                pass  # it was not running yet, or not any more
        time.sleep(0.2)
    assert found[0].status == "sandbox_error", found
    assert call(fresh, "return x").results[0].value == 1
    fresh.close()


@slow
def test_two_sandboxes_at_once_do_not_know_each_other(docked, client):
    before = containers(client)
    with open_sandbox("docker", workers=1) as other:
        mine = names(other)
        assert containers(client) - before == mine
        assert call(other, "return x + 1").results[0].value == 2
        assert call(docked, "return x + 2").results[0].value == 3
    assert wait_until_gone(client, mine) == set()
    assert names(docked) <= containers(client)
    assert call(docked, "return x + 3").results[0].value == 4


@slow
def test_closing_in_the_middle_of_a_run_leaves_no_container(docker_engine, client):
    sandbox = open_sandbox("docker", workers=2)
    mine, errors = names(sandbox), []

    def run():
        try:
            call(sandbox, "while True: pass", limits=Limits(cpu_s=60.0, wall_s=60.0))
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    sandbox.close()
    thread.join()
    assert errors == ["the sandbox was closed"]
    assert len(mine) == 2 and not containers(client) & mine


TRAINER = """
import json, os, sys
from workbench.records import Limits
from workbench.sandbox import open_sandbox

sandbox = open_sandbox("docker", workers=2)
if sys.argv[1] == "suite":
    assert sandbox.run_pytest({"test_a.py": "def test_a(): pass\\n"}).status == "ok"
pools = (sandbox._pool, *sandbox._suites.opened)
print(json.dumps([k._worker.server.name for pool in pools for k in pool._keepers]), flush=True)
if sys.argv[1] == "spin":
    spin = {"lib.py": "def f():\\n    while True: pass\\n"}
    sandbox.call(spin, "lib.py", "f", [()], Limits(cpu_s=60.0, wall_s=60.0))
"""


def start_trainer(what):
    process = subprocess.Popen(
        [sys.executable, "-c", TRAINER, what], stdout=subprocess.PIPE, text=True, cwd=TOP
    )
    return process, set(json.loads(process.stdout.readline()))


@slow
def test_an_interpreter_that_ends_leaves_no_container(client):
    process, mine = start_trainer("end")
    assert process.wait() == 0 and len(mine) == 2
    assert not containers(client) & mine


@slow
@pytest.mark.parametrize("what, count", [("spin", 2), ("suite", 4)])
def test_a_killed_trainer_leaves_no_container(client, what, count):
    process, mine = start_trainer(what)
    time.sleep(0.5 if what == "spin" else 0)
    process.kill()
    process.wait()
    assert len(mine) == count and wait_until_gone(client, mine) == set()


@slow
def test_an_engine_that_is_stopped_in_the_middle_is_a_clear_fault_and_no_hang(monkeypatch):
    own = start_engine()
    if isinstance(own, str):
        pytest.skip(own)
    try:
        monkeypatch.setenv("DOCKER_HOST", own.address)
        sandbox = open_sandbox("docker", workers=1)
        timer = threading.Timer(1.0, own.stop)
        timer.start()
        result = call(sandbox, "import time; time.sleep(40)", limits=Limits(wall_s=60.0))
        assert result.status == "sandbox_error" and "no Docker engine answers" in result.message
        timer.join()
        again = call(sandbox, "return x")
        assert again.status == "sandbox_error" and own.address in again.message
        suite = sandbox.run_pytest({"test_a.py": "def test_a(): pass\n"}, ["test_a.py::test_a"])
        assert suite.status == "unscorable" and own.address in suite.message
        program = sandbox.run_program({"a.js": ""}, "a.js", "", language="javascript")
        assert program.status == "unscorable"
        sandbox.close()
    finally:
        own.stop()


def test_without_an_engine_the_message_says_what_was_tried_and_what_to_do(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    with pytest.raises(RuntimeError) as told:
        open_sandbox("docker")
    for part in ("unix:///nowhere/docker.sock: FileNotFoundError", "Start Docker", "DOCKER_HOST",
                 'open_sandbox("local")'):  # fmt: skip
        assert part in str(told.value)


@slow
def test_a_limit_above_the_containers_memory_is_refused(docked):
    with pytest.raises(ValueError, match="memory_mb of at most 2048"):
        call(docked, "return x", limits=Limits(memory_mb=4096))


def build(client, tag, dockerfile, links=()):
    """An image of the engine's own, from a text and symbolic links below LINKS/."""
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = len(dockerfile)
        archive.addfile(entry, io.BytesIO(dockerfile.encode()))
        for name, target in links:
            entry = tarfile.TarInfo(f"LINKS/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    context.seek(0)
    said = list(client.build(fileobj=context, custom_context=True, tag=tag, rm=True, decode=True))
    assert not [line for line in said if "error" in line], said


@slow
def test_a_named_image_with_python_is_used(named):
    (case,) = call(named, "import os; return os.path.exists('/usr/bin/python3')").results
    assert case.value is True
    (case,) = call(named, "import os; return sorted(os.environ)").results
    assert "HOME" in case.value and not {"WORKBENCH_TEST", "HOSTNAME"} & set(case.value)


@slow
def test_a_named_image_that_cannot_serve_says_why(client):
    before = containers(client)
    with pytest.raises(RuntimeError, match="no image 'nobody/has:this'; .* docker pull nobody"):
        open_sandbox("docker:nobody/has:this")
    build(client, "empty:1", "FROM scratch\nCOPY Dockerfile /\n")
    with pytest.raises(RuntimeError, match='could not start a container(.|\n)*"python3"'):
        open_sandbox("docker:empty:1")
    assert containers(client) <= before


@slow
def test_clean_removes_what_nobody_owns_any_more(docked, client, capsys):
    tag = client.inspect_container(next(iter(names(docked))))["Config"]["Image"]
    ended = subprocess.Popen(["true"])
    ended.wait()
    owners = {
        "left-gone": f"{socket.gethostname()}/{ended.pid}",
        "left-mine": f"{socket.gethostname()}/{os.getpid()}",
        "left-elsewhere": f"another-machine/{ended.pid}",
    }
    for name, owner in owners.items():
        client.create_container(tag, name=name, labels={engine.LABEL: owner})
    client.create_container(tag, name="left-yours")  # somebody's, by hand
    folders = [
        f"{tempfile.gettempdir()}/workbench-sandbox-{ended.pid}-00",
    ]
    os.makedirs(f"{folders[0]}/box/deep")
    try:
        assert main(["clean"]) == 0
        said = capsys.readouterr().out
        assert f"container left-gone of {owners['left-gone']}" in said
        assert f"folder {folders[0]}" in said and f"kept image {tag}" in said
        left = containers(client)
        assert left >= {"left-mine", "left-elsewhere", "left-yours"} | names(docked)
        assert "left-gone" not in left and not os.path.exists(folders[0])
        assert call(docked, "return x + 50").results[0].value == 51
    finally:
        for name in containers(client) & {*owners, "left-yours"}:
            client.remove_container(name)


@slow
def test_clean_all_leaves_an_engine_as_it_was(capsys, monkeypatch):
    own = start_engine()
    if isinstance(own, str):
        pytest.skip(own)
    try:
        monkeypatch.setenv("DOCKER_HOST", own.address)
        monkeypatch.setenv("TMPDIR", str(own.folder))
        monkeypatch.setattr(tempfile, "tempdir", None)  # read TMPDIR again
        with open_sandbox("docker", workers=1) as sandbox:
            assert call(sandbox, "return x").results[0].value == 1
            assert sandbox.run_pytest({"test_a.py": "def test_a(): pass\n"}).status == "ok"
            assert main(["clean", "--all"]) == 0
            said = capsys.readouterr().out
            assert said.count("container workbench-sandbox-") == 2 and "kept" not in said
            images = {"sandbox": 2, "python": 1, "parts": 1}
            assert {name: said.count(f"image rl-workbench-{name}:") for name in images} == images
            connection = engine.connect()
            assert not connection.containers(all=True) and not connection.images(all=True)
            connection.close()
            assert main(["clean"]) == 0
            assert capsys.readouterr().out == "nothing was left behind\n"
    finally:
        own.stop()


def framed(*frames):
    return b"".join(struct.pack("!BxxxI", which, len(text)) + text for which, text in frames)


class Attached:
    """What the SDK gives: something with a socket in it."""

    def __init__(self, end):
        self._sock, self.close = end, end.close


@pytest.mark.parametrize("piece", [1, 3, 9, 1000])
def test_a_stream_gives_the_bytes_of_standard_output_however_they_are_cut(piece):
    ours, theirs = socket.socketpair()
    stream = Stream(Attached(ours))
    data = framed((1, b"abc"), (2, b"noise"), (1, b""), (1, b"defgh" * 100), (1, b"i"))

    def send():
        for start in range(0, len(data), piece):
            theirs.sendall(data[start : start + piece])
        theirs.close()

    thread = threading.Thread(target=send)
    thread.start()
    got = b""
    with pytest.raises(ConnectionError, match="^noise$"):  # said when it has ended
        while True:
            room = bytearray(7)
            count = stream.recv_into(memoryview(room))
            got += room[:count]
    assert got == b"abc" + b"defgh" * 100 + b"i"
    thread.join()
    stream.close()


def test_a_stream_that_is_cut_in_a_frames_head_has_ended():
    ours, theirs = socket.socketpair()
    stream = Stream(Attached(ours))
    theirs.sendall(b"\x01\0\0")
    theirs.close()
    assert stream.recv_into(memoryview(bytearray(5))) == 0
    stream.close()


def test_an_owner_is_gone_only_if_it_ran_here_and_has_ended():
    ended = subprocess.Popen(["true"])
    ended.wait()
    here = socket.gethostname()
    assert engine.is_gone(f"{here}/{ended.pid}")
    assert not engine.is_gone(engine.owner())
    assert not engine.is_gone(f"elsewhere/{ended.pid}")
    assert not engine.is_gone(f"{here}/1") and not engine.is_gone("image")
