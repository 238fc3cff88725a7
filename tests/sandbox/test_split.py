"""Assert-style tests run in a process of their own: right answers pass, nothing else does.

The tests never hold the program and the program never holds the tests. Hostile programs run only
behind walls (tier 2 or 3).
"""

import os
import signal
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from workbench.records import Limits
from workbench.sandbox import open_sandbox

LINUX = sys.platform == "linux"
DOUBLE = "def f(x):\n    return 2 * x\n"
LIMITS = Limits(cpu_s=0.5, wall_s=5.0, memory_mb=256)


def split(sandbox, program, tests, limits=LIMITS, name="f"):
    """run_split of two texts, indented as they stand here."""
    files = {"lib.py": textwrap.dedent(program)}
    return sandbox.run_split(files, "lib.py", name, textwrap.dedent(tests), limits)


def statuses(result):
    return [status for _, status, _ in result.outcomes]


def messages(result):
    return [message for _, _, message in result.outcomes]


CHECK = """
METADATA = {}

def check(candidate):
    assert candidate(2) == 4
    assert candidate(3) == 7
    assert candidate(4) == 8, "too small"
    for x in range(5):
        assert candidate(x) == 2 * x
"""


def test_every_assert_of_check_is_an_outcome_of_its_own(sandbox):
    result = split(sandbox, DOUBLE, CHECK)
    assert result.status == "ok" and result.cpu_s > 0
    assert result.outcomes == (
        ("test:1", "passed", ""),
        ("test:2", "wrong", "candidate(3) got 6 want 7"),
        ("test:3", "passed", ""),
        ("test:4", "passed", ""),
    )


def test_check_is_called_once_whether_or_not_the_text_calls_it(sandbox):
    counting = "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n"
    check = "def check(candidate):\n    assert candidate(0) == 1\n    assert candidate(0) == 2\n"
    for call in ("", "check(f)\n", "check(candidate)\n"):
        assert statuses(split(sandbox, counting, check + call)) == ["passed", "passed"]
    assert statuses(split(sandbox, counting, check + "check(f)\ncheck(f)\n")) == ["wrong", "wrong"]


def test_plain_asserts_blocks_and_test_functions_are_tests_in_the_order_of_the_text(sandbox):
    tests = """
        '''docstring'''
        import math
        four = f(2)
        assert four == 4

        def close(a, b):
            assert abs(a - b) < 1e-6

        def test_one():
            close(f(0.5), 1.0)
            with_message = f(1)
            assert with_message < 0, f"got {with_message}"

        def test_two():
            f(1)

        if four:
            assert f(1) == 3
        while four:
            four -= 1
            close(f(four), 2 * four)
    """
    result = split(sandbox, DOUBLE, tests)
    assert result.status == "ok"
    assert result.outcomes == (
        ("test:1", "passed", ""),
        ("test:2", "passed", ""),
        ("test:3", "wrong", "AssertionError tests.py:13: got 2"),
        ("test:4", "passed", ""),
        ("test:5", "wrong", "f(1) got 2 want 3"),
        ("test:6", "passed", ""),
    )


def test_a_test_that_fails_leaves_the_others_their_outcomes(sandbox):
    program = """
        def f(x):
            if x == 1:
                raise KeyError("one")
            return [None] if x == 2 else x
    """
    tests = """
        def check(candidate):
            assert candidate(0) == 0
            assert candidate(1) == 1
            assert candidate(2).missing == 2
            assert candidate(3) == 3
    """
    result = split(sandbox, program, tests)
    assert statuses(result) == ["passed", "error", "error", "passed"]
    assert messages(result)[1] == "KeyError lib.py:4: 'one'"
    assert messages(result)[2].startswith("AttributeError tests.py:5: 'list' object has no")


def test_a_statement_that_prepares_and_raises_ends_that_function_only(sandbox):
    program = "def f(x):\n    return 1 / x\n"
    tests = """
        def test_a():
            assert f(1) == 1
            y = f(0)
            assert y == 1
            assert f(1) == 1
        def test_b():
            assert f(2) == 0.5
        def test_c():
            assert f(4) == 0.25
            f(0)
    """
    result = split(sandbox, program, tests)
    assert statuses(result) == ["passed", "error", "missing", "passed", "error"]
    assert messages(result)[1] == "ZeroDivisionError lib.py:2: division by zero"


def test_a_name_the_tests_do_not_define_is_the_solutions(sandbox):
    program = """
        def encode(text, *, shift=1):
            return text[shift:] + text[:shift]
        def f(text):
            return text[-1:] + text[:-1]
    """
    tests = """
        def check(candidate):
            assert candidate(encode("abc")) == "abc"
            assert encode("abc", shift=2) == "cab"
            assert nowhere("abc") == 1
        check(f)
    """
    result = split(sandbox, program, tests)
    assert statuses(result) == ["passed", "passed", "error"]
    assert messages(result)[2] == "NameError: name 'nowhere' is not defined"


def test_tests_may_import_from_the_solutions_module(sandbox):
    tests = "from lib import f as g\nimport lib\nassert g(1) == 2\nassert lib.f(2) == 4\n"
    assert statuses(split(sandbox, DOUBLE, tests)) == ["passed", "passed"]
    starred = "from lib import *\nassert f(1) == 2\n"
    assert statuses(split(sandbox, DOUBLE, starred)) == ["passed"]


def test_a_solution_named_like_a_builtin_is_the_one_that_is_asked(sandbox):
    result = split(sandbox, "def sum(xs):\n    return 7\n", "assert sum([1]) == 7\n", name="sum")
    assert statuses(result) == ["passed"]


def test_values_keep_their_types_in_both_directions(sandbox):
    tests = """
        value = {"a": (1, 2.0, -0.0), 3: {4, 5}, (6,): b"7", "big": 10**40, "none": [None, True]}
        back = f(value)
        assert repr(back) == repr(value) and back is value
        assert f(frozenset({(1, "x")})) == frozenset({(1, "x")})
        assert f(float("nan")) != 0 and f(float("-inf")) == float("-inf")
        assert f("half \\ud800") == "half \\ud800" and f(1 - 2j) == 1 - 2j
        assert f(bytearray(b"ab")) == bytearray(b"ab")
        assert type(f(2**53 + 1)) is int and f([2**60, -2**60]) == [2**60, -2**60]
        assert f(*[1]) is not True and f(x=True) is True
    """
    assert statuses(split(sandbox, "def f(x):\n    return x\n", tests)) == ["passed"] * 7


def test_a_subclass_comes_back_as_its_base_type(sandbox):
    program = """
        import collections, enum
        class Colour(enum.IntEnum):
            RED = 1
        def f(x):
            return [collections.Counter(x), Colour.RED, collections.OrderedDict(a=[1])]
    """
    tests = "assert repr(f('aab')) == \"[{'a': 2, 'b': 1}, 1, {'a': [1]}]\"\n"
    assert statuses(split(sandbox, program, tests)) == ["passed"]


def test_changes_to_arguments_come_back_into_the_objects_the_tests_hold(sandbox):
    program = """
        def f(xs, d, s, b):
            xs.sort()
            d["new"] = xs
            s.add(9)
            b += b"!"
            xs[0].append("inner")
    """
    tests = """
        row = [1, 5]
        xs, d, s, b = [[2], row], {"old": 1}, {1}, bytearray(b"a")
        assert f(xs, d, s, b=b) is None
        assert xs == [[1, 5, "inner"], [2]] and xs[0] is row
        assert d["new"] is xs and list(d) == ["old", "new"]
        assert s == {1, 9} and b == b"a!"
    """
    assert statuses(split(sandbox, program, tests)) == ["passed"] * 4


def test_a_list_that_is_there_twice_is_one_list_for_the_solution_too(sandbox):
    program = "def f(grid):\n    grid[0][0] = 7\n    return grid[1] is grid[0]\n"
    tests = """
        grid = [[0] * 2] * 2
        assert f(grid) is True
        assert grid == [[7, 0], [7, 0]]
        grid = [[0], [0]]
        assert f(grid) is False
        assert grid == [[7], [0]]
    """
    assert statuses(split(sandbox, program, tests)) == ["passed"] * 4


def test_returning_the_argument_itself_is_not_returning_a_copy(sandbox):
    tests = "xs = [3, 1]\nassert f(xs) == [1, 3]\nassert f(xs) is not xs\n"
    copy = "def f(xs):\n    return sorted(xs)\n"
    same = "def f(xs):\n    xs.sort()\n    return xs\n"
    assert statuses(split(sandbox, copy, tests)) == ["passed", "passed"]
    assert statuses(split(sandbox, same, tests)) == ["passed", "wrong"]


def test_arguments_changed_before_an_exception_come_back_too(sandbox):
    program = "def f(xs):\n    xs.append(1)\n    raise ValueError('no')\n"
    tests = """
        xs = []
        try:
            f(xs)
        except ValueError as error:
            seen = str(error)
        assert (xs, seen) == ([1], "no")
    """
    assert statuses(split(sandbox, program, tests)) == ["passed"]


RAISES = """
    from contextlib import contextmanager

    @contextmanager
    def raises(kind):
        try:
            yield
        except kind:
            return
        raise AssertionError(f"{kind.__name__} was not raised")

    with raises(ValueError):
        f("value")
    with raises(ValueError):
        f("own")
    with raises(LookupError):
        f("key")
    with raises(TypeError):
        f("key")
    try:
        f("file")
        assert False, "nothing was raised"
    except FileNotFoundError as error:
        assert error.args == (2, "gone") and error.errno == 2
    with raises(UnicodeDecodeError):
        f("decode")
    with raises(Exception):
        f("leave")
"""


def test_exceptions_cross_as_builtin_classes_and_nothing_else(sandbox):
    program = """
        class Own(ValueError):
            def __init__(self, a, b):
                super().__init__(f"{a}{b}")
        def f(what):
            if what == "leave":
                raise SystemExit(0)
            if what == "decode":
                b"\\xff".decode()
            raise {"value": ValueError("v"), "own": Own(1, 2), "key": KeyError("k"),
                   "file": FileNotFoundError(2, "gone")}[what]
    """
    result = split(sandbox, program, RAISES)
    assert statuses(result) == ["passed"] * 3 + ["error"] + ["passed"] * 2 + ["error"]
    assert messages(result)[3] == "KeyError lib.py:10: 'k'"
    assert messages(result)[6] == "SystemExit lib.py:7: 0"
    nothing = split(sandbox, "def f(what):\n    return what\n", RAISES)
    assert statuses(nothing) == ["wrong"] * 7


def test_memory_that_is_used_up_in_a_call_is_that_tests_outcome(sandbox):
    program = "def f(n):\n    return len(bytearray(n))\n"
    tests = "assert f(10**9) == 10**9\nassert f(10) == 10\n"
    assert statuses(split(sandbox, program, tests)) == ["memory", "passed"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("def f(x)\n", "SyntaxError lib.py:1: expected ':'"),
        ("x = y\n", "NameError lib.py:1: name 'y' is not defined"),
        ("g = 1\n", "NameError lib.py: function 'f' is not defined"),
    ],
)
def test_a_program_that_does_not_load_is_a_compile_error_and_every_test_missing(
    sandbox, program, message
):
    result = split(sandbox, program, CHECK + "assert True\n")
    assert (result.status, result.message) == ("compile_error", message)
    assert result.outcomes == tuple((f"test:{n}", "missing", message) for n in range(1, 6))


def test_tests_that_never_ask_still_need_a_program_that_loads(sandbox):
    assert split(sandbox, DOUBLE, "assert True\n").outcomes == (("test:1", "passed", ""),)
    slow = "import time\ntime.sleep(0.2)\nx = y\n"
    assert split(sandbox, slow, "assert True\n").status == "compile_error"


def test_a_call_that_never_ends_keeps_the_outcomes_before_it(sandbox):
    program = "def f(x):\n    while x: pass\n    return 0\n"
    tests = "assert f(0) == 0\nassert f(1) == 0\nassert f(0) == 0\n"
    result = split(sandbox, program, tests, Limits(cpu_s=0.2))
    assert result.status == "timeout" and "0.2 s of CPU" in result.message
    assert statuses(result) == ["passed", "timeout", "missing"]


def test_a_call_that_sleeps_runs_into_the_deadline_and_is_not_stored():
    program = "import time\ndef f(x):\n    time.sleep(x)\n    return 0\n"
    with open_sandbox("local", workers=1) as fresh:
        for _ in range(2):
            started = time.monotonic()
            tests = "assert f(0) == 0\nassert f(60) == 0\n"
            result = split(fresh, program, tests, Limits(cpu_s=5.0, wall_s=0.5))
            assert result.status == "timeout" and "wall-clock" in result.message
            assert statuses(result) == ["passed", "timeout"]
            assert time.monotonic() - started < 4
        assert (fresh.stats.executions, fresh.stats.reused, fresh.stats.deadlines) == (2, 0, 2)


def test_tests_that_hang_over_an_answer_are_a_timeout_and_by_themselves_unscorable(sandbox):
    tests = "assert f(1) == 2\nassert max(range(f(10**9))) == 1\n"
    result = split(sandbox, DOUBLE, tests, Limits(cpu_s=0.3))
    assert result.status == "timeout" and statuses(result) == ["passed", "timeout"]
    result = split(sandbox, DOUBLE, "while True: pass\nassert f(1) == 2\n", Limits(cpu_s=0.3))
    assert result.status == "unscorable" and "before the first answer" in result.message
    assert statuses(result) == ["skipped"]


@pytest.mark.parametrize(
    ("tests", "reason"),
    [
        ("assert f(lambda x: x) == 1\n", "got function"),
        ("class A: ...\nassert f(A()) == 1\n", "got A"),
        ("assert f(range(3)) == 1\n", "got range"),
        ("try:\n    assert f(print) == 1\nexcept BaseException:\n    pass\n", "got builtin"),
        ("xs = []\nxs.append(xs)\nassert f(xs) == 1\n", "contains itself"),
        ("assert f.__name__ == 'f'\n", "used as a value"),
        ("assert LIMIT == 3\n", "used as a value"),
        ("assert isinstance(f(1), Node)\n", "used as a value"),
        ("try:\n    f(0)\nexcept OwnError:\n    pass\nelse:\n    assert False\n", "OwnError"),
        ("import numpy_is_not_there\nassert f(1) == 1\n", "numpy_is_not_there"),
        ("def test_a(tmp_path):\n    assert f(1) == 1\n", "tmp_path"),
    ],
)
def test_what_the_tests_cannot_have_is_skipped_and_the_result_unscorable(sandbox, tests, reason):
    program = """
        LIMIT = 3
        class OwnError(Exception): ...
        class Node: ...
        def f(x):
            if x == 0:
                raise OwnError
    """
    result = split(sandbox, program, tests)
    assert result.status == "unscorable" and "skipped" in statuses(result), result
    assert reason in result.message


@pytest.mark.parametrize("tests", ["", "x = 1\n", "def g():\n    return 1\n", "f(1)\n"])
def test_test_code_that_asserts_nothing_is_unscorable(sandbox, tests):
    result = split(sandbox, DOUBLE, tests)
    assert result.status == "unscorable" and "asserts nothing" in result.message
    assert statuses(result) == ["skipped"]


@pytest.mark.parametrize("tests", ["def check(", "assert f(1) == 2\n\0", "x = " + "(" * 20_000])
def test_test_code_that_is_no_python_is_unscorable(sandbox, tests):
    result = split(sandbox, DOUBLE, tests)
    assert result.status == "unscorable" and statuses(result) == ["skipped"]


def test_what_tests_draw_at_random_is_the_same_in_every_run(sandbox):
    tests = "import random\nassert f(random.random()) == 0\n"
    said = {messages(split(sandbox, f"# {n}\n{DOUBLE}", tests))[0] for n in range(4)}
    assert len(said) == 1


def test_what_is_said_holds_no_memory_address():
    program = "class T: ...\ndef f(x):\n    raise ValueError(f'{T()} met')\n"
    tests = "class U: ...\nassert f(1) == 1\nassert U() == 1\nassert not U(), U()\n"
    said = []
    for _ in range(2):
        with open_sandbox("local", workers=1) as one:
            said.append(messages(split(one, program, tests)))
    assert said[0] == said[1] == [
        "ValueError lib.py:3: <lib.T object> met",
        "U() got <__main__.U object> want 1",
        "AssertionError tests.py:4: <__main__.U object>",
    ]


def test_threads_of_the_tests_take_turns(sandbox):
    tests = """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(f, range(100))) == [2 * x for x in range(100)]
    """
    assert statuses(split(sandbox, DOUBLE, tests)) == ["passed"]


def test_an_equal_run_is_reused_and_other_tests_are_another_run():
    with open_sandbox("local", workers=1) as fresh:
        first, again = (split(fresh, DOUBLE, CHECK) for _ in range(2))
        assert (first.reused, again.reused) == (False, True)
        assert again.outcomes == first.outcomes
        assert not split(fresh, DOUBLE + "\n", CHECK).reused
        assert not split(fresh, DOUBLE, CHECK + "\n").reused
        assert (fresh.stats.executions, fresh.stats.reused) == (3, 1)
        assert fresh.call({"lib.py": DOUBLE}, "lib.py", "f", [(2,)]).results[0].value == 4


def test_a_path_outside_the_workspace_and_a_large_one_are_refused_as_by_call(sandbox):
    with pytest.raises(ValueError, match="inside the workspace"):
        sandbox.run_split({"../x.py": ""}, "lib.py", "f", "assert f(1)")
    result = sandbox.run_split({"lib.py": "#" * (2 << 20)}, "lib.py", "f", "assert f(1)")
    assert result.status == "compile_error" and statuses(result) == ["missing"]


TRUE = "assert f(3) == 6\nassert f(5) == 10\nassert not f(0)\n"
ATTACKS = {
    "exit while loading": "import sys\nsys.exit(0)\n",
    "os._exit while loading": "import os\nos._exit(0)\n",
    "os._exit in the call": "import os\ndef f(x):\n    os._exit(0)\n",
    "SystemExit in the call": "def f(x):\n    raise SystemExit(0)\n",
    "return None": "def f(x):\n    return None if x else 1\n",
    "an object equal to everything": """
        class Equal:
            def __eq__(self, other): return True
            def __bool__(self): return False
            def __hash__(self): return 0
        def f(x):
            return Equal()
    """,
    "an int that says it is equal": """
        class Int(int):
            def __eq__(self, other): return True
            def __bool__(self): return False
            __hash__ = int.__hash__
        def f(x):
            return Int(1)
    """,
    "a list whose iterator lies": """
        class List(list):
            def __iter__(self): return iter([6])
            def __len__(self): return 0
        def f(x):
            return List([1])
    """,
    "a generator": "def f(x):\n    yield 2 * x\n",
    "junk on every descriptor": """
        import os
        for number in range(256):
            try:
                os.write(number, b't["1","passed",""]\\nt["2","passed",""]\\n.\\n')
            except OSError:
                pass
        def f(x):
            return 2 * x
    """,
    "answers before it is asked": """
        import os, struct
        body = b'{"value":6,"after":[]}'
        for number in range(3, 64):
            try:
                os.write(number, (struct.pack("!QI", 0, 0) + struct.pack("!QI", 1, len(body)) + body) * 9)
            except OSError:
                pass
        def f(x):
            return 1
    """,
    "junk before each answer": """
        import os
        def f(x):
            os.write(6, b"junk" * 100)
            return 2 * x
    """,
    "an answer by hand of a function": """
        import os, struct
        def f(x):
            body = b'{"value":{"function":"x"},"after":[]}'
            os.write(6, struct.pack("!QI", 0, 0) + struct.pack("!QI", 7, len(body)) + body)
            os._exit(0)
    """,
    "an answer of a length that is not there": """
        import os, struct
        def f(x):
            os.write(6, struct.pack("!QI", 0, 0xffffffff))
            os._exit(0)
    """,
    "a patched encoder": """
        import sys
        def forged(*_):
            return b'{"value": {"set": [0, {"list": [1]}]}, "after": []}'
        def f(x):
            sys._getframe(1).f_globals["split_data"].dump = forged
    """,
    "a patched encoder that nests deep": """
        import sys
        deep = b'{"value":' + b'{"tuple":[' * 50_000 + b"1" + b"]}" * 50_000 + b',"after":[]}'
        def f(x):
            sys._getframe(1).f_globals["split_data"].dump = lambda *_: deep
    """,
    "a patched encoder that changes what was not passed": """
        import sys
        forged = b'{"value": 6, "after": [{"list": [0, 6, 10, 0]}]}'
        def f(x):
            sys._getframe(1).f_globals["split_data"].dump = lambda *_: forged
    """,
    "an exception of any class by name": """
        import sys
        forged = b'{"raised": [["SystemExit", "exit", "BaseException"], {"tuple": []}, ""], "after": []}'
        def f(x):
            sys._getframe(1).f_globals["split_data"].dump = lambda *_: forged
    """,
    "an answer that is too large": "def f(x):\n    return 'a' * (100 << 20)\n",
    "an answer that is too deep": """
        def f(x):
            a = []
            for _ in range(100_000): a = [a]
            return a
    """,
    "an answer that contains itself": "def f(x):\n    a = []\n    a.append(a)\n    return a\n",
    "an endless loop": "def f(x):\n    while True: pass\n",
    "an endless loop while loading": "while True: pass\n",
    "memory without end": "def f(x):\n    a = []\n    while True: a.append(bytearray(1 << 20))\n",
    "every descriptor closed": """
        import os, time
        def f(x):
            os.closerange(0, 64)
            time.sleep(0.2)
            while True: pass
    """,
    "a crash of the interpreter": "import ctypes\ndef f(x):\n    ctypes.string_at(0)\n",
    "signals to everybody": """
        import os, signal
        def f(x):
            for pid in (-1, 1, os.getppid()):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            return 1
    """,
}


@pytest.fixture(scope="module", params=["local:3", "local:2"])
def strong(request):
    """A sandbox of tier 3, then one of tier 2."""
    wanted = int(request.param[-1])
    with open_sandbox(request.param, workers=1) as sandbox:
        if sandbox.tier != wanted:
            pytest.skip(f"no tier {wanted} on this machine: {sandbox.declined}")
        yield sandbox
        assert sandbox.stats.faults == 0, "an attack looked like a fault of ours"
        assert sandbox.stats.restarts == 0, "an attack ended a server"


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_nothing_and_is_never_our_fault(strong, name):
    result = split(strong, ATTACKS[name], TRUE)
    assert "passed" not in statuses(result), result
    assert "skipped" not in statuses(result), "what a program does must not be unscorable"
    assert result.status not in ("sandbox_error", "unscorable"), result
    honest = split(strong, f"# after {name}\n{DOUBLE}", TRUE)
    assert statuses(honest) == ["passed"] * 3 and honest.status == "ok"


@pytest.mark.parametrize("tests", [TRUE, "assert f(3) == 6\n"])
def test_a_second_answer_behind_the_first_is_noticed(strong, tests):
    program = """
        import sys
        def f(x):
            names = sys._getframe(1).f_globals
            write = names["_write"]
            names["_write"] = lambda pipe, data: write(pipe, data + b"junk" * 5)
            return 2 * x
    """
    result = split(strong, program, tests)
    assert result.status == "crash" and "answer pipe" in result.message
    assert statuses(result) == ["passed", "error", "missing"][: len(result.outcomes)]


def test_a_returned_object_fails_even_tests_that_swallow_everything(strong):
    tests = """
        try:
            got = f(1)
        except BaseException:
            got = 2
        assert got == 2
        try:
            assert f(1) == 2
        except:
            pass
        def test_with_a_handler():
            try:
                f(1)
            except ValueError:
                return
            assert False
    """
    result = split(strong, "def f(x):\n    return object()\n", tests)
    assert statuses(result) == ["error"] * 3
    assert "expected plain data, got object" in messages(result)[0]


def test_a_stopped_conversation_cannot_be_swallowed_by_the_tests(strong):
    tests = "try:\n    assert f(1) == 2\nexcept BaseException:\n    pass\nassert True\n"
    result = split(strong, "import os\ndef f(x):\n    os._exit(0)\n", tests)
    assert result.status == "crash" and statuses(result) == ["error", "missing"]


def test_a_program_cannot_make_its_own_verdict_unscorable(strong):
    tests = "assert f(1) == 2\nassert f(f(1)) == 4\n"
    large = "def f(x):\n    return ['a' * 1000] * 500 if x == 1 else 1\n"
    assert split(strong, large, tests).status == "ok"
    grown = "assert f(1) == 2\nassert f(f(1) * 64) == 4\n"
    result = split(strong, large, grown)
    assert result.status == "ok" and statuses(result) == ["wrong", "error"]


NEEDLE = ("the-tests-know", "-this-and-only-they")
SEARCHER = """
    import ctypes, gc, os
    def f(needle):
        text = "".join(needle)
        found = [repr(type(o)) for o in gc.get_objects() if type(o) in (dict, list, tuple)
                 and any(isinstance(x, str) and text in x for x in (o.values() if type(o) is dict else o))]
        libc = ctypes.CDLL(None)
        libc.sbrk.restype = ctypes.c_void_p
        size = 900_000
        heap = ctypes.string_at(libc.sbrk(0) - size, size)
        del text
        mine = "".join(("its-own", "-text")).encode()
        return found, heap.count(b"".join(x.encode() for x in needle[:2])), heap.count(mine)
    KEEP = ["its-own-text" * 50]
"""


def test_the_tests_text_is_nowhere_in_the_programs_process(strong):
    for round_ in range(3):
        tests = f"""
            # {"".join(NEEDLE) * 30}
            EXPECTED = {"".join(NEEDLE)!r} * 100
            found, in_heap, own = f({NEEDLE!r})
            assert own > 0, "the search finds nothing, not even its own text"
            assert found == []
            assert in_heap <= 1, in_heap
        """
        result = split(strong, f"# {round_}" + textwrap.dedent(SEARCHER), tests)
        assert statuses(result) == ["passed"] * 3, result


def test_the_program_is_nowhere_in_reach_of_the_tests_and_has_two_pipes_only(strong):
    program = """
        import os
        SECRET = 1
        def f():
            found = []
            for number in range(256):
                try:
                    os.fstat(number)
                    found.append(number)
                except OSError:
                    pass
            return found
    """
    tests = """
        import os
        def look():
            found = []
            for number in range(256):
                try:
                    os.fstat(number)
                    found.append(number)
                except OSError:
                    pass
            return found
        assert f() == [0, 1, 2, 3, 5, 6] or f() == [0, 1, 2, 3, 5, 6]
        assert set(look()) <= {0, 1, 2, 3, 5, 6}
        assert not os.path.exists("lib.py")
    """
    assert statuses(split(strong, program, tests)) == ["passed"] * 3


def test_the_tests_are_confined_too(strong, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0o644)
    for folder in list(tmp_path.parents)[:-2]:
        folder.chmod(folder.stat().st_mode | 0o055)
    tests = f"""
        import os
        def refused(action):
            try:
                action()
            except OSError:
                return
            raise AssertionError("it worked")
        def connect():
            import _socket
            _socket.socket()
        refused(lambda: open({str(secret)!r}).read())
        refused(lambda: open("/tmp/x", "w"))
        refused(os.fork)
        refused(connect)
        refused(lambda: os.kill({os.getpid()}, 0))
        refused(lambda: os.chown(".", 1, 1))
    """
    assert statuses(split(strong, DOUBLE, tests)) == ["passed"] * 6


HOSTILE_TESTS = {
    "leave": "import os\nassert True\nos._exit(0)\nassert True\n",
    "crash": "import ctypes\nctypes.string_at(0)\nassert True\n",
    "junk on every descriptor": """
        import os
        for number in range(256):
            try:
                os.write(number, b"junk\\n")
            except OSError:
                pass
        assert True
    """,
    "memory": "a = bytearray(1 << 40)\nassert True\n",
    "exit": "import sys\nsys.exit(0)\nassert True\n",
    "a source too deep to parse": "assert " + "(" * 20_000 + ")" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE_TESTS)
def test_tests_that_misbehave_by_themselves_pass_nothing_and_harm_nothing(strong, name):
    result = split(strong, DOUBLE, HOSTILE_TESTS[name])
    assert result.status != "ok" or "passed" not in statuses(result), result
    assert result.status != "sandbox_error"
    assert statuses(split(strong, f"# after {name}\n{DOUBLE}", TRUE)) == ["passed"] * 3


def test_tests_left_without_a_program_do_not_go_on_for_long(strong):
    program = "import os\ndef f(x):\n    os._exit(3)\n"
    tests = """
        import time
        try:
            f(1)
        except BaseException:
            pass
        while True:
            time.sleep(0.1)
        assert True
    """
    started = time.monotonic()
    result = split(strong, program, tests, Limits(cpu_s=5.0, wall_s=20.0))
    assert time.monotonic() - started < 8
    assert result.status == "crash" and "exit status 3" in result.message


def test_a_program_does_not_outlive_its_tests(strong):
    program = """
        import threading, time
        def spin():
            while True: time.sleep(0.01)
        threading.Thread(target=spin).start()
        def f(x):
            return 2 * x
    """
    started = time.monotonic()
    result = split(strong, program, TRUE, Limits(cpu_s=5.0, wall_s=20.0))
    assert statuses(result) == ["passed"] * 3 and result.status == "ok"
    assert time.monotonic() - started < 5


def servers(sandbox):
    """Process ids of the servers for solutions and of those for tests."""
    workers = [keeper._worker for keeper in sandbox._keepers]
    return [w._process.pid for w in workers], [w._tests._process.pid for w in workers if w._tests]


def descendants(pid):
    """Process ids below `pid`, itself included."""
    found = [pid]
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    for child in children:
        found += descendants(int(child))
    return found


def running(pids):
    """Those that are there and no zombies."""
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        found += [pid] * (state != "Z")
    return found


def wait_until_gone(pids, seconds=20):
    for _ in range(seconds * 20):
        if not running(pids):
            return []
        time.sleep(0.05)
    return running(pids)


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
    worker = sandbox._keepers[0]._worker
    folders = [worker._folder, worker._tests._folder]
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
            return len(tree), sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in [os.getpid(), *tree])

        def settled():
            last = None
            for _ in range(100):
                now = state()
                if now == last:
                    return now
                last = now
                time.sleep(0.1)

        some(4)
        before = settled()
        some(20)
        assert settled() == before
        assert fresh.stats.faults == 0
