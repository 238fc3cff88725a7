"""In mode "split" a hostile program passes no test, reads none, and cannot make itself unscorable.

Hostile programs and hostile tests run only behind walls (tier 2 or 3).
"""

import os
import textwrap
import time

import pytest

from tests.sandbox.splitting import DOUBLE, split, statuses
from workbench.records import Limits

pytestmark = pytest.mark.slow

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
                head = struct.pack("!QI", 0, 0) + struct.pack("!QI", 1, len(body))
                os.write(number, (head + body) * 9)
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
        names = b'["SystemExit", "exit", "BaseException"]'
        forged = b'{"raised": [' + names + b', {"tuple": []}, ""], "after": []}'
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


def messages(result):
    return [message for _, _, message in result.outcomes]


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
                 and any(isinstance(x, str) and text in x
                         for x in (o.values() if type(o) is dict else o))]
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
