"""What a program's files or its behaviour bring about is the program's own failure.

A status that is a fault of ours drops the trajectory, so a program that could choose one could have
its bad attempts dropped.
"""

import pytest

from tests.sandbox.splitting import split
from tests.sandbox.walls import LOCAL, opened
from workbench.records import UNSCORABLE, Limits
from workbench.sandbox.checking import MAX_FILES, MAX_PATH_BYTES, unfit

F = {"lib.py": "def f(x):\n    return x\n"}
TOO_MANY = f"the workspace has more than {MAX_FILES} files and folders"
CANNOT_BE = {
    "many files": ({f"{n}.txt": "" for n in range(MAX_FILES)}, TOO_MANY),
    "many folders": ({f"{n}/a": "" for n in range(MAX_FILES // 2)}, TOO_MANY),
    "a file that is a folder": (
        {"a": "", "b": "", "a/c": ""}, "'a' is a file and the folder of other files; drop one"
    ),
    "a folder that is a file": (
        {"lib.py/x": ""}, "'lib.py' is a file and the folder of other files; drop one"
    ),
    "half a surrogate pair": ({"\ud800": ""}, "expected names that UTF-8 can write, got '\\ud800'"),
    "NUL": ({"a\0": ""}, "expected a path inside the workspace such as 'lib.py', got 'a\\x00'"),
    "outside": ({"../a": ""}, "expected a path inside the workspace such as 'lib.py', got '../a'"),
    "from the root": (
        {"/a": ""}, "expected a path inside the workspace such as 'lib.py', got '/a'"
    ),
    "no name": ({"": ""}, "expected a path inside the workspace such as 'lib.py', got ''"),
    "a long name": (
        {"é" * 128: ""}, f"expected names of at most 255 bytes, got '{'é' * 79}"
    ),
    "deep folders": (
        {"a/" * 2000 + "a": ""},
        f"expected paths of at most {MAX_PATH_BYTES} bytes, got '{'a/' * 39}a",
    ),
    "a large text": (
        {"lib.py": "é" * (1 << 19) + "a"},
        f"the workspace has {(1 << 20) + 1} bytes, more than {1 << 20}",
    ),
}  # fmt: skip
FITS = {
    "as many files as there may be": {f"{n}.txt": "" for n in range(MAX_FILES - 2)},
    "as deep as can be": {"a/" * (MAX_PATH_BYTES // 2 - 1) + "a": ""},
    "names of many bytes": {"é" * 127: "", "\udcff": "", "a\nb": ""},
    "texts of half surrogate pairs": {"a": "\ud800" * 1000, "b": "\0"},
    "as large as can be": {f"{n}": "\ud800" * 385 for n in range(MAX_FILES - 2)},
}
LIMITS = Limits(cpu_s=5.0, wall_s=60.0)


@pytest.fixture(scope="module", params=LOCAL)
def walled(request):
    with opened(request) as sandbox:
        yield sandbox
        assert sandbox.stats.faults == sandbox.stats.restarts == 0


def in_every_mode(sandbox, files):
    """What each way to run these files and F says: (way, result)."""
    files = {**F, **files}
    yield "call", sandbox.call(files, "lib.py", "f", [(1,)], LIMITS)
    yield "tests", sandbox.run_tests(files, "lib.py", LIMITS)
    yield "split", sandbox.run_split(files, "lib.py", "f", "assert f(1) == 1", LIMITS)
    yield "program", sandbox.run_program(files, "lib.py", "", LIMITS)


@pytest.mark.parametrize("name", CANNOT_BE)
def test_files_that_cannot_be_are_a_compile_error_that_says_why(sandbox, name):
    files, message = CANNOT_BE[name]
    before = sandbox.stats
    for way, result in in_every_mode(sandbox, files):
        assert (result.status, result.message) == ("compile_error", message), way
    suite = sandbox.run_pytest({**F, **files}, ["test_a.py::test_b"], LIMITS)
    assert (suite.status, suite.message) == ("compile_error", message)
    assert suite.outcomes == (("test_a.py::test_b", "missing", message),)
    assert sandbox.stats == before


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_files_up_to_that_are_run(walled, name):
    for way, result in in_every_mode(walled, FITS[name]):
        assert result.status == "ok", (way, result.message)


def test_what_is_no_text_is_the_callers_mistake(sandbox):
    for files in ({"a": b""}, {b"a": ""}, {3: ""}):
        with pytest.raises(ValueError, match="files: expected paths and texts, got"):
            sandbox.call({**F, **files}, "lib.py", "f", [(1,)])


def test_a_hundred_thousand_long_paths_are_refused_before_they_take_memory():
    assert unfit({"a/" * 400 + str(n): "" for n in range(100_000)}) == TOO_MANY
    assert unfit({str(n) + "/a" * 400: "" for n in range(800)}) == TOO_MANY


def test_files_that_take_the_whole_cpu_limit_to_be_written_are_a_timeout(walled):
    limits = Limits(cpu_s=0.002, wall_s=60.0)
    endless = {"lib.py": "while True: pass\n"} | FITS["as large as can be"]
    result = walled.call(endless, "lib.py", "f", [(1,)], limits)
    assert (result.status, result.message) == ("timeout", "used more than 0.002 s of CPU time")


WRITERS = {
    "files": "\n    n = 0\n    while True:\n        open(str(n), 'w').close(); n += 1\n",
    "bytes": "\n    n = 0\n    while True:\n"
    "        with open(str(n % 40), 'wb') as file: file.write(bytes(8 << 20)); n += 1\n",
    "folders in folders": "import os\n    while True: os.mkdir('a'); os.chdir('a')\n",
    "long names in folders": "import os\n    name = 'a' * 255\n"
    "    while True: os.mkdir(name); os.chdir(name)\n",
    "files in a folder put aside": "import os\n"
    "    try: os.rename('../box', '../aside'); os.mkdir('../box')\n"  # where it has our user id
    "    except OSError: pass\n"
    "    n = 0\n    while True: open(str(n), 'w').close(); n += 1\n",
    "files while it prints": "import sys\n    n = 0\n    while True:\n"
    "        open(str(n), 'w').close(); n += 1; sys.stdout.write('a' * 9999)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_a_program_that_writes_too_much_fails_at_every_tier(walled, name):
    """Below tier 3 there is no quota; what a program can write until its CPU limit takes longer to
    remove than a server may be silent, which would be taken for the server's fault."""
    text = f"def f(x):\n    {WRITERS[name]}"
    result = walled.call({"lib.py": text}, "lib.py", "f", [(1,)], Limits(cpu_s=20.0, wall_s=300.0))
    (case,) = result.results
    if walled.tier == 3:
        assert case.status == "error" and "[Errno" in case.error, case
    else:
        expected = "crash", "wrote more than 16 MiB or 1000 files"
        assert (result.status, result.message) == expected and case.status == "error"


def test_a_program_that_writes_what_fits_is_left_alone(walled):
    text = (
        "import os\n    os.makedirs('a/b')\n"
        "    for n in range(900): open(f'a/b/{n}', 'w').close()\n"
        "    with open('large', 'wb') as file: file.write(bytes(8 << 20))\n"
        "    import time; time.sleep(0.2); return x"
    )
    result = walled.call({"lib.py": f"def f(x):\n    {text}"}, "lib.py", "f", [(1,)], LIMITS)
    assert (result.status, result.results[0].value) == ("ok", 1), result


ENDINGS = {
    "closes all descriptors": "import os; os.closerange(0, 256); return 1",
    "stops itself": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "ends its parent": "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "ends everything": "import os, signal; os.kill(-1, signal.SIGKILL)",
    "ends itself": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "aborts": "import os; os.abort()",
    "sleeps": "import time; time.sleep(100)",
    "prints for ever": "\n    while True: print('a' * 100_000)",
    "answers for ever": "import os\n    while True: os.write(3, b'v1\\n')",
    "says that it failed to start": "import os; os.write(3, b'F'); os._exit(0)",
    "leaves half an answer": "import os; os.write(3, b'v\"'); os._exit(0)",
    "nests deep": "v = []\n    for _ in range(10 ** 6): v = [v]\n    return v",
    "a message that cannot be read": "class E(Exception): __str__ = None\n    raise E",
    "half a surrogate pair": "raise ValueError('\\ud800')",
    "an import error": "raise ImportError('numpy')",
    "takes all memory": "v = []\n    while True: v.append(bytearray(1 << 20))",
    "recursion without end": "import sys; sys.setrecursionlimit(10 ** 9); f = lambda: f(); f()",
    "threads without end": "import threading, time\n"
    "    while True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDINGS)
def test_however_a_program_ends_it_is_its_own_doing(walled, name):
    limits = Limits(cpu_s=0.2, wall_s=0.8, memory_mb=128)
    text = f"def f(x):\n    {ENDINGS[name]}\n"
    tests = "assert f(1) == 2\nassert f(3) == 4\n"
    asked = [
        split(walled, text, tests, limits),
        split(walled, f"{text}f(1)\n", tests, limits),
        walled.run_tests({"lib.py": text, "t.py": f"from lib import f\n{tests}"}, "t.py", limits),
    ]
    called = walled.call({"lib.py": text}, "lib.py", "f", [(1,)], limits)
    program = walled.run_program({"lib.py": f"{text}f(1)\n"}, "lib.py", "", limits)
    assert [r for r in (*asked, called, program) if r.status in UNSCORABLE] == []
    assert "passed" not in [outcome[1] for result in asked for outcome in result.outcomes]
