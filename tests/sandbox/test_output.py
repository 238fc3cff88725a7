"""What a run prints is kept up to a limit, belongs to that run alone and decides nothing."""

import sys
import time

import pytest

from workbench.records import Limits
from workbench.sandbox import open_sandbox


def call(sandbox, body, limits=Limits(), before=""):
    files = {"lib.py": f"import os, sys\n{before}def f(x):\n    {body}\n    return x\n"}
    return sandbox.call(files, "lib.py", "f", [(7,)], limits)


def test_a_function_prints_and_its_value_is_still_the_value(walled):
    result = call(walled, "print('out', x); print('err', x, file=sys.stderr)", before="print(1)\n")
    assert (result.status, result.results[0].value) == ("ok", 7)
    assert (result.stdout, result.stderr) == ("1\nout 7\n", "err 7\n")
    assert not result.stdout_cut and not result.stderr_cut


def test_tests_and_split_have_their_output_too(walled):
    files = {"lib.py": "def f(x):\n    print('in f', x)\n    return x\n"}
    shared = walled.run_tests({**files, "t.py": "from lib import f\nassert f(2) == 2\n"}, "t.py")
    assert (shared.outcomes[0][1], shared.stdout) == ("passed", "in f 2\n")
    split = walled.run_split(files, "lib.py", "f", "assert f(2) == 2\nassert f(3) == 3\n")
    assert [outcome[1] for outcome in split.outcomes] == ["passed", "passed"]
    assert split.stdout == "in f 2\nin f 3\n"


def test_output_is_kept_where_a_program_does_not_load(walled):
    result = walled.call({"lib.py": "print('loading')\nraise ValueError(1)\n"}, "lib.py", "f", [()])
    assert (result.status, result.stdout) == ("compile_error", "loading\n")


def test_the_first_kib_are_kept_and_the_rest_is_read_and_dropped(walled):
    body = "print('a' * 1023); sys.stderr.write('b' * (20 << 20)); print('c' * (20 << 20))"
    started = time.monotonic()
    result = call(walled, body, Limits(output_kb=1, cpu_s=5.0))
    assert (result.status, result.results[0].value) == ("ok", 7)
    assert result.stdout == "a" * 1023 + "\n" and result.stdout_cut
    assert result.stderr == "b" * 1024 and result.stderr_cut
    assert time.monotonic() - started < 15


def test_output_of_exactly_the_limit_is_not_cut_and_none_is_kept_if_none_is_asked_for(walled):
    whole = call(walled, "sys.stdout.write('a' * 2048)", Limits(output_kb=2))
    assert (len(whole.stdout), whole.stdout_cut) == (2048, False)
    none = call(walled, "sys.stdout.write('a')", Limits(output_kb=0))
    assert (none.stdout, none.stdout_cut, none.results[0].value) == ("", True, 7)
    much = call(walled, "sys.stdout.write('ab' * (1 << 20))", Limits(output_kb=4096))
    assert (much.stdout, much.stdout_cut) == ("ab" * (1 << 20), False)


def test_bytes_that_are_no_text_are_shown_as_such(walled):
    assert call(walled, r"os.write(1, b'\xff\x00a')").stdout == "\ufffd\0a"


@pytest.mark.slow
def test_an_endless_printer_ends_at_its_cpu_limit(walled):
    limits = Limits(cpu_s=0.3, wall_s=60.0)
    for print_it in ("print('a' * 1000)", "os.write(1, b'a')", "os.write(2, b'a' * 100_000)"):
        result = call(walled, f"while True: {print_it}", limits)
        assert (result.status, result.message) == ("timeout", "used more than 0.3 s of CPU time")


def test_closed_or_replaced_streams_harm_nobody_else(walled):
    for body in (
        "os.close(1); os.close(2)",
        "sys.stdout.close()",
        "sys.stdout = sys.stderr = None",
        "sys.stdout = sys.__stdout__ = type('Odd', (), {'flush': lambda s: 1 / 0})()",
        "import fcntl; fcntl.fcntl(1, 1031, 4096); sys.stdout.write('a' * 10_000)",
    ):
        assert call(walled, body).results[0].value == 7, body
    assert call(walled, "print(x)").stdout == "7\n"


def test_a_stream_that_never_comes_back_from_its_flush_is_a_timeout(walled):
    body = "sys.stdout = type('Odd', (), {'flush': lambda s: [0 for _ in iter(int, 1)]})()"
    assert call(walled, body, Limits(cpu_s=0.2)).status == "timeout"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.filterwarnings("ignore:this sandbox")
def test_nothing_printed_is_in_the_memory_of_the_next_run():
    printer = "def f():\n    print('needle-' + 'of-the-printer')\n"
    searcher = """
import ctypes
def f(parts, own):
    libc = ctypes.CDLL(None)
    found = []
    with open("/proc/self/maps") as maps:
        for line in maps:
            start, end = (int(n, 16) for n in line.split()[0].split("-"))
            if "rw-p" in line and "[" not in line.replace("[heap]", ""):
                memory = ctypes.string_at(start, end - start)
                found.append(memory.count("".join(parts).encode()))
                own.append(memory.count(own[0].encode()))
    return sum(found), sum(own[1:])
"""
    with open_sandbox("local:1", workers=1, reuse=False) as sandbox:  # there it can see its maps
        for _ in range(2):
            sandbox.call({"lib.py": printer}, "lib.py", "f", [()])
            args = (["needle-", "of-the-printer"], ["text-of-this-run"])
            case = sandbox.call({"lib.py": searcher}, "lib.py", "f", [args]).results[0]
            assert case.status == "value", case
            assert case.value[0] == 0 and case.value[1] > 0


def test_equal_requests_share_their_output_and_it_counts_towards_what_is_kept(walled):
    first = call(walled, "print('once')")
    again = call(walled, "print('once')")
    assert again.reused and again.stdout == first.stdout == "once\n"


def test_old_results_are_forgotten_once_they_take_too_much_room(monkeypatch):
    from workbench.sandbox import pool

    monkeypatch.setattr(pool, "MAX_REMEMBERED_BYTES", 100_000)
    with open_sandbox(workers=1) as sandbox:
        for _ in range(2):
            for number in range(4):
                call(sandbox, f"print('a' * 40_000, {number})")
            assert not call(sandbox, "print('a' * 40_000, 0)").reused
        assert call(sandbox, "print('a' * 40_000, 0)").reused


@pytest.mark.parametrize("output_kb", [-1, 1.5, 1 << 20])
def test_a_limit_that_makes_no_sense_is_refused(walled, output_kb):
    with pytest.raises(ValueError, match="output_kb one from 0 to 65536"):
        call(walled, "print(1)", Limits(output_kb=output_kb))
