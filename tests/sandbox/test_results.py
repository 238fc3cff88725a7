"""Whatever bytes a run sends, they become a result of the right size."""

import pytest

from workbench.records import Limits
from workbench.sandbox import results, wire
from workbench.sandbox.responses import Response
from workbench.sandbox.results import call_result


def respond(payload, ended=wire.EXITED, exit_status=0):
    return Response(ended, exit_status, payload, 0.1, 0.2)


def call(payload, num_inputs=2, **more):
    return call_result(respond(payload, **more), num_inputs, Limits())


def statuses(result):
    return [case.status for case in result.results]


def test_answers_and_an_end_are_an_ordinary_result():
    result = call(b'v1\ne["error","ValueError: no"]\n.\n')
    assert result.status == "ok" and statuses(result) == ["value", "error"]
    assert result.results[0].value == 1 and result.results[1].error == "ValueError: no"


@pytest.mark.parametrize(
    "payload",
    [
        b"v1\nv1\nv1\n.\n",  # more answers than inputs
        b"v1\n.\n",  # fewer, and said to be all
        b"v1\nv1\n.\nv1\n",  # more after the end
        b"v1\nv1\n.\nv1",
        b"v1\nv1\n.\n.\n",
        b"z1\nv1\n.\n",  # an unknown kind
        b"\n\n.\n",
        b'v{"pickle":1}\nv1\n.\n',  # not plain data
        b"v" + b"[" * 100_000 + b"\nv1\n.\n",
        b'e["passed","yes"]\nv1\n.\n',  # a status that is not for cases
        b"e" + b"[" * 100_000 + b"\nv1\n.\n",
        b'v1\nc["compile_error","no"]\n',  # answers, and yet not loaded
        b'c["ok","no"]\n',
        b'c["compile_error"]\n',
        b"\xff\xfe\n",
    ],
)
def test_a_result_pipe_that_was_written_to_is_a_crash_without_values(payload):
    result = call(payload)
    assert result.status == "crash" and statuses(result) == ["error", "error"]


@pytest.mark.parametrize(
    ("ending", "status", "first_missing"),
    [
        ({"ended": wire.CPU_LIMIT, "exit_status": -9}, "timeout", "timeout"),
        ({"ended": wire.WALL_LIMIT, "exit_status": -9}, "timeout", "timeout"),
        ({"ended": wire.TOO_LARGE, "exit_status": -9}, "crash", "error"),
        ({"exit_status": -11}, "crash", "error"),
        ({"exit_status": 0}, "crash", "error"),
        ({"exit_status": wire.OUT_OF_MEMORY}, "memory", "memory"),
    ],
)
def test_an_early_end_keeps_whole_answers_and_names_the_cause(ending, status, first_missing):
    result = call(b"v1\nv2", 3, **ending)
    assert result.status == status
    assert statuses(result) == ["value", first_missing, "missing"]


def test_a_fault_of_the_server_is_ours():
    result = call(b"no memory", ended=wire.FAULT)
    assert result.status == "sandbox_error" and result.message == "no memory"
    assert statuses(result) == ["missing", "missing"]
    assert results.tests_result(respond(b"", ended=wire.FAULT), Limits()).status == "sandbox_error"


def test_leaving_while_loading_is_a_crash_and_failing_to_load_a_compile_error():
    assert call(b'x["compile_error","SystemExit: 0"]\n').status == "crash"
    assert call(b'c["compile_error","SyntaxError"]\n').status == "compile_error"
    assert call(b'c["memory","MemoryError"]\n').status == "memory"


def test_outcomes_of_tests_are_read_and_junk_is_a_crash():
    lines = b't["test:1","passed",""]\nt["test:2","wrong","f"]\n.\n'
    good = results.tests_result(respond(lines), Limits())
    assert good.status == "ok"
    assert good.outcomes == (("test:1", "passed", ""), ("test:2", "wrong", "f"))
    for payload in (b't["test:1","great",""]\n.\n', b"v1\n.\n", b"t[1]\n.\n"):
        assert results.tests_result(respond(payload), Limits()).status == "crash"
