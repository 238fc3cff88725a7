"""Python programs run as `python main.py` would run them, one fork for each text they read."""

import pytest

from workbench.records import Limits
from workbench.sandbox import open_sandbox


def run(sandbox, text, stdin="", limits=Limits(), **files):
    return sandbox.run_program({"main.py": text, **files}, "main.py", stdin, limits)


@pytest.mark.parametrize(
    ("text", "stdin", "stdout"),
    [
        ("print(int(input()) + int(input()))", "1\n2\n", "3\n"),
        ("import sys\nprint(sys.stdin.read().split())", "a b\nc", "['a', 'b', 'c']\n"),
        ("import sys\nprint(sys.stdin.buffer.read())", "é\n", r"b'\xc3\xa9\n'" + "\n"),
        ("import sys\nfor line in sys.stdin: print(line.strip())", "a\nb\n", "a\nb\n"),
        ("print(open(0).read())", "x", "x\n"),
        ("import os\nprint(os.read(0, 100))", "x", "b'x'\n"),
        ("import sys\nprint(__name__, sys.argv, __file__[-8:])", "",
         "__main__ ['main.py'] /main.py\n"),
        ("import sys\nprint(sys.modules['__main__'].x if 'x' in dir() else 'no x')", "", "no x\n"),
        ("print('no newline', end='')", "", "no newline"),
        ("x = input('how many? ')\nprint(x)", "3\n", "how many? 3\n"),
        ("import atexit\natexit.register(print, 'last')\nprint('first')", "", "first\nlast\n"),
        ("import threading\nthreading.Thread(target=print, args=('in a thread',)).start()", "",
         "in a thread\n"),
        ("import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**26)\n"
         "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
         "t = threading.Thread(target=lambda: print(f(50_000)))\nt.start(); t.join()", "",
         "50000\n"),
        ("out = open(1, 'w')\nout.write('never closed')", "", "never closed"),
        ("from helper import twice\nprint(twice(2))", "", "4\n"),
        ("print('x')\nexit()\nprint('y')", "", "x\n"),
        ("print('\\ud800'.encode('utf-8', 'surrogatepass'))", "", "b'\\xed\\xa0\\x80'\n"),
    ],
)  # fmt: skip
def test_what_a_program_reads_and_prints(walled, text, stdin, stdout):
    result = run(walled, text, stdin, **{"helper.py": "def twice(x):\n    return 2 * x\n"})
    assert (result.status, result.exit_code, result.stderr) == ("ok", 0, "")
    assert result.stdout == stdout and not result.stdout_cut


@pytest.mark.parametrize(
    ("text", "exit_code", "stderr"),
    [
        ("import sys\nsys.exit(3)", 3, ""),
        ("import sys\nsys.exit()", 0, ""),
        ("import sys\nsys.exit(True)", 1, ""),
        ("import sys\nsys.exit(-1)", 255, ""),
        ("import sys\nsys.exit('too bad')", 1, "too bad\n"),
        ("quit(4)", 4, ""),
        ("import os\nos._exit(5)", 5, ""),
        ("raise SystemExit(6)", 6, ""),
    ],
)
def test_exit_codes(walled, text, exit_code, stderr):
    result = run(walled, f"print('said')\nimport sys; sys.stdout.flush()\n{text}")
    assert (result.status, result.exit_code, result.stderr) == ("ok", exit_code, stderr)
    assert result.stdout == "said\n"


def test_an_exception_that_nothing_caught_is_exit_code_one_with_a_traceback_from_inside(walled):
    text = "import json\ndef f(x):\n    return json.loads(x)\nprint(1)\nf('{')\n"
    result = run(walled, text)
    assert (result.status, result.exit_code, result.stdout) == ("ok", 1, "1\n")
    lines = result.stderr.splitlines()
    assert lines[:3] == [
        "Traceback (most recent call last):",
        '  File "main.py", line 5, in <module>',
        "    f('{')",
    ]
    assert lines[-1].startswith("json.decoder.JSONDecodeError: Expecting property name")
    assert any('File "json/decoder.py"' in line for line in lines)
    for path in ("/box", "/tmp", "/usr", "workbench", "as_main", '"/'):
        assert path not in result.stderr


def test_a_traceback_holds_no_address(walled):
    result = run(walled, "raise ValueError(object())")
    assert result.stderr.endswith("ValueError: <object object>\n")


def test_a_traceback_shows_what_it_was_caused_by(walled):
    text = "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e\n"
    result = run(walled, text)
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert "The above exception was the direct cause" in result.stderr
    assert result.stderr.endswith("KeyError: 'k'\n")


def test_a_program_that_is_no_python_is_a_compile_error(walled):
    result = run(walled, "print(1\n")
    assert (result.status, result.exit_code) == ("compile_error", 1)
    assert result.message == "SyntaxError main.py:1: '(' was never closed"
    assert "SyntaxError: '(' was never closed" in result.stderr


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("while True: pass", "timeout", "used more than 0.3 s of CPU time"),
        ("while True: print('a' * 100)", "timeout", "used more than 0.3 s of CPU time"),
        ("import os\nos.write(3, b'.\\n')\nwhile True: pass", "timeout",
         "used more than 0.3 s of CPU time"),
        ("import time\ntime.sleep(60)", "timeout", "not done after 0.5 s (wall-clock deadline)"),
        ("a = bytearray(1 << 40)", "memory", "MemoryError"),
        ("import ctypes\nctypes.string_at(0)", "crash", "the program was ended by signal 11"),
        ("import os\nos.write(3, b'a' * (2 << 20))", "crash",
         "sent more than 1048576 bytes of answers"),
    ],
)  # fmt: skip
def test_programs_that_end_badly(walled, text, status, message):
    cpu = status != "timeout" or "CPU" in message
    result = run(walled, text, limits=Limits(cpu_s=0.3, wall_s=20.0 if cpu else 0.5))
    assert (result.status, result.message) == (status, message)


def test_what_a_program_writes_to_the_result_pipe_changes_nothing_for_the_better(walled):
    forged = "import os\nfor n in range(3, 64):\n    try: os.write(n, b'.\\nv1\\n')\n"
    forged += "    except OSError: pass\nprint('x')\nraise ValueError(1)\n"
    result = run(walled, forged)
    assert (result.status, result.exit_code, result.stdout) == ("ok", 1, "x\n")
    odd = run(walled, "import os\nos.write(3, b'c[\"ok\",\"fine\"]\\n')\nos._exit(0)\n")
    assert odd.status == "crash"


def test_one_program_never_sees_the_text_or_the_module_of_another(walled):
    assert run(walled, "x = input()\n", "secret\n").exit_code == 0
    result = run(walled, "import sys\nprint(repr(sys.stdin.read()), 'x' in globals())\n")
    assert result.stdout == "'' False\n"


def test_one_fork_for_each_text_and_equal_ones_are_reused():
    with open_sandbox(workers=1) as sandbox:
        text = "print(input()[::-1])"
        for stdin in ("abc\n", "def\n", "abc\n"):
            assert run(sandbox, text, stdin).stdout == stdin.strip()[::-1] + "\n"
        assert (sandbox.stats.executions, sandbox.stats.reused) == (2, 1)


def test_wrong_use_says_what_was_expected(walled):
    with pytest.raises(ValueError, match="stdin: expected text, got bytes"):
        run(walled, "", b"1")
    with pytest.raises(ValueError, match="stdin: expected at most 8388608 bytes, got 8388609"):
        run(walled, "", "é" * (4 << 20) + "a")
    with pytest.raises(ValueError, match="language: expected one of .*'python'.*, got 'cobol'"):
        walled.run_program({"main.py": ""}, "main.py", "", language="cobol")
    with pytest.raises(ValueError, match="inside the workspace"):
        walled.run_program({"main.py": ""}, "../main.py", "")
    taken = walled.run_program({"main.py": "", ".stdin/x": ""}, "main.py", "")
    assert (taken.status, taken.message) == ("compile_error", "the name '.stdin' is taken")
    large = walled.run_program({"main.py": "#" * (2 << 20)}, "main.py", "")
    assert large.status == "compile_error"
    with open_sandbox(workers=1) as closed:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        run(closed, "")


def test_a_large_text_arrives_whole(walled):
    text = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n"
    numbers = list(range(300_000))
    result = run(walled, text, "\n".join(map(str, numbers)))
    assert result.stdout == f"{sum(numbers)}\n"


def test_dev_stdin_is_the_same_text_at_tier_three(walled):
    if walled.tier < 3:
        pytest.skip("only tier 3 has a file tree of its own")
    assert run(walled, "print(open('/dev/stdin').read())", "x").stdout == "x\n"


NUMPY = "import numpy as np\n"


def test_numpy_can_be_imported_and_nothing_else_of_its_folder(walled):
    pytest.importorskip("numpy")
    result = run(walled, NUMPY + "print(np.dot(np.ones((50, 50)), np.ones((50, 50))).sum())")
    assert (result.status, result.stdout, result.stderr) == ("ok", "125000.0\n", "")
    for name in ("pytest", "torch", "pip", "workbench"):
        assert "ModuleNotFoundError" in run(walled, f"import {name}").stderr
    listing = (
        NUMPY + "import os\nprint(sorted(os.listdir(os.path.dirname(np.__path__[0]))))\n"
    )
    listed = run(walled, listing)
    assert listed.stdout == "['numpy', 'numpy.libs']\n" or "Permission" in listed.stderr
    written = run(walled, NUMPY + "open(np.__path__[0] + '/x', 'w')")
    assert written.exit_code == 1 and "Error" in written.stderr


def test_numpy_is_not_loaded_before_a_program_asks_for_it(walled):
    result = run(walled, "import sys\nprint('numpy' in sys.modules)")
    assert result.stdout == "False\n"


NUMPY_VALUES = {
    "np.int64(3)": 3,
    "np.float64(0.5)": 0.5,
    "np.float32(0.5)": 0.5,
    "np.bool_(True)": True,
    "np.str_('a')": "a",
    "np.array([[1, 2], [3, 4]])": [[1, 2], [3, 4]],
    "np.array(7)": 7,
    "np.array([0.5, np.inf])": [0.5, float("inf")],
    "(np.int8(1), [np.arange(2)], {'a': np.uint64(2**63)})": (1, [[0, 1]], {"a": 2**63}),
    "np.array([1, 'a', None], dtype=object)": [1, "a", None],
}


def test_numpy_values_are_sent_as_the_plain_data_they_stand_for(walled):
    pytest.importorskip("numpy")
    files = {"lib.py": f"{NUMPY}def f(i):\n    return [{', '.join(NUMPY_VALUES)}][i]\n"}
    values = list(NUMPY_VALUES.values())
    results = walled.call(files, "lib.py", "f", [(i,) for i in range(len(values))]).results
    for case, value in zip(results, values, strict=True):
        assert (case.status, case.value, type(case.value)) == ("value", value, type(value))
    tests = "".join(f"assert f({i}) == {value!r}\n" for i, value in enumerate(values))
    split = walled.run_split(files, "lib.py", "f", tests.replace("inf", "1e999"))
    assert [outcome[1] for outcome in split.outcomes] == ["passed"] * len(values), split


def test_numpy_values_that_are_no_plain_data_are_refused(walled):
    pytest.importorskip("numpy")
    files = {"lib.py": f"{NUMPY}def f():\n    return np.datetime64('2020-01-01')\n"}
    (case,) = walled.call(files, "lib.py", "f", [()]).results
    assert case.status == "error"
    assert case.error == "ValueError: expected plain data, got date; send built-ins"
