"""Assert-style tests in a process of their own say what they would say next to the program.

Hostile programs are in test_split_attacks.py, servers that die in test_split_servers.py.
"""

import time

import pytest

from tests.sandbox.splitting import DOUBLE, split, statuses
from workbench.records import Limits
from workbench.sandbox import open_sandbox


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
    with raises(ArithmeticError):
        f("arguments")
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
                   "file": FileNotFoundError(2, "gone"),
                   "arguments": ZeroDivisionError(object())}[what]
    """
    result = split(sandbox, program, RAISES)
    assert statuses(result) == ["passed"] * 4 + ["error"] + ["passed"] * 2 + ["error"]
    assert messages(result)[4] == "KeyError lib.py:10: 'k'"
    assert messages(result)[7] == "SystemExit lib.py:7: 0"
    nothing = split(sandbox, "def f(what):\n    return what\n", RAISES)
    assert statuses(nothing) == ["wrong"] * 8


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
        ("assert 1 == 2\nassert f(1) == 1\n", "1 got 1 want 2"),
        ("x = 1 / 0\nassert f(1) == 1\n", "before the first answer: ZeroDivisionError"),
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


def test_an_entry_file_outside_the_workspace_and_a_large_text_are_refused_as_by_call(sandbox):
    with pytest.raises(ValueError, match="inside the workspace"):
        sandbox.run_split({"lib.py": ""}, "../x.py", "f", "assert f(1)")
    result = sandbox.run_split({"lib.py": "#" * (2 << 20)}, "lib.py", "f", "assert f(1)")
    assert result.status == "compile_error" and statuses(result) == ["missing"]


def test_calls_that_are_sent_ahead_come_in_the_order_of_the_tests(sandbox):
    counting = "seen = []\ndef f(*xs):\n    seen.append(xs)\n    return len(seen)\n"
    tests = """
        def check(candidate):
            assert candidate() == 1
            assert candidate(1, [2]) == 2, "second"
            assert not candidate("a") != 3
            assert 4 == candidate(-1)
            x = candidate()
            assert x == 5
            assert candidate((1,)) == 6
            assert f([1]) == 7
            assert f([1]) == 8
            for n in range(9, 12):
                assert candidate(1) == n
    """
    result = split(sandbox, counting, tests)
    assert statuses(result) == ["passed"] * 9, result


def test_calls_too_large_for_a_pipe_are_not_sent_ahead_of_time(sandbox):
    program = "def f(text):\n    return text[::-1] * 2\n"
    texts = [f"{letter}" * 20_000 for letter in "abcdefgh"]
    tests = "".join(f"assert f({text!r}) == {text * 2!r}\n" for text in texts)
    assert statuses(split(sandbox, program, tests)) == ["passed"] * 8


def test_a_program_that_ends_over_a_call_sent_ahead_fails_that_test_only(sandbox):
    program = "import os\ndef f(x):\n    return 2 * x if x < 3 else os._exit(1)\n"
    tests = "".join(f"assert f({n}) == {2 * n}\n" for n in range(6))
    result = split(sandbox, program, tests)
    assert result.status == "crash"
    assert statuses(result) == ["passed"] * 3 + ["error"] + ["missing"] * 2


def test_tests_that_ask_something_else_than_was_foreseen_are_unscorable(sandbox):
    tests = """
        class Asks:
            def __eq__(self, other):
                return f(7) == 14
        asks = Asks()
        assert f(1) == asks
        assert f(2) == 4
    """
    result = split(sandbox, DOUBLE, tests)
    assert result.status == "unscorable" and "other calls" in result.message


def test_an_assert_that_is_reached_very_often_is_one_outcome(sandbox):
    tests = """
        def testcase(x, want):
            assert f(1) == 2
            assert x == want
        for n in range(3000):
            testcase(n, n)
        testcase(1, 2)
        testcase(1, 1)
    """
    result = split(sandbox, DOUBLE, tests, Limits(cpu_s=20.0))
    assert result.status == "ok" and statuses(result) == ["passed", "wrong"]
    assert messages(result) == ["", "x got 1 want 2"]


@pytest.mark.slow
def test_a_long_text_is_judged_and_one_with_too_many_asserts_refused(sandbox):
    texts = "".join(f"assert f({n}, {'x' * 400 + str(n)!r}) == {2 * n}\n" for n in range(300))
    program = "def f(x, text):\n    return 2 * x\n"
    for round_ in range(2):  # its plan is too long to be kept
        result = split(sandbox, f"# {round_}\n{program}", texts, Limits(cpu_s=5.0))
        assert result.status == "ok" and statuses(result) == ["passed"] * 300
    result = split(sandbox, DOUBLE, "assert f(1) == 2\n" * 10_001, Limits(cpu_s=20.0))
    assert result.status == "unscorable" and "more than 10000" in result.message
