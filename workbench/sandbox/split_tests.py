"""The tests' run in mode "split": it executes test code against stubs and says what came of it.

Stage: sandbox (in a confined fork of a server that is never given a solution). The text of the
tests comes in, and two pipes to the solution's run; a line for each test goes out (`wire`). The
tests are as little trusted as the solution, but theirs is the word: only they decide. What the
tests draw at random is the same in every run, so that a verdict can be repeated. Left out:
packages that the server does not have, captured output.
"""

from __future__ import annotations

import copy  # noqa: F401  loaded once, before the first fork: tests often import these
import json
import math  # noqa: F401
import random
import string  # noqa: F401
import sys

from workbench import encoding
from workbench.sandbox import wire
from workbench.sandbox.candidate import describe, say, shown, source_of
from workbench.sandbox.split_data import Objects, dump, parse
from workbench.sandbox.split_plan import BOX, PATH, RECORDER, Plan, make_plan
from workbench.sandbox.split_stub import Solution, Stop, Stub

MAX_PLAN = 1 << 18
"""A longer plan is not kept: the text is planned anew each time."""
_NO_TESTS, _WARM = make_plan(b"").pack(), make_plan(b"[f([2, (3,)]) == 4]").pack()
TRIAL = (
    {"test_code": "", "plan": _NO_TESTS, "entry_file": "a.py", "entry_point": "f"},
    [wire.PLAN + b'[0, ""]', wire.END],
)
"""A request that needs no solution, and the lines it gives."""


def unpack(body, box):
    """The request in `body`."""
    return encoding.parse_json(body.decode())


def run(request, pipe, box, ends):
    """Execute one request; `ends`: descriptors to write calls to and to read answers from."""
    source = request["test_code"].encode("utf-8", "surrogatepass")
    try:
        plan = Plan.unpack(request["plan"]) if request["plan"] else make_plan(source)
    except Exception as error:
        return say(pipe, wire.NOT_LOADED + _dump(["unscorable", describe(error, BOX)]))
    packed = "" if request["plan"] else plan.pack()
    say(pipe, wire.PLAN + _dump([plan.num_tests, packed if len(packed) <= MAX_PLAN else ""]))
    if plan.num_tests == 0:
        return say(pipe, wire.END)
    solution = Solution(*ends, heard=lambda: say(pipe, wire.HEARD))
    recorder = Recorder(pipe, solution, plan, source)
    try:
        _execute(plan, _names(request, plan, recorder, solution), recorder)
        solution.finish()
    except Stop:
        pass
    if solution.stopped is None:
        say(pipe, wire.END)
    else:
        say(pipe, wire.STOPPED + _dump([solution.stopped]))


def warm_up():
    """Do once, on harmless text, what every run does; see `candidate.warm_up`."""
    plan = Plan.unpack(_WARM)
    exec(plan.code, {"f": lambda x: Objects().read(parse(dump(Objects().write(x)))),
                     RECORDER: Recorder(None, None, plan, b"")})  # fmt: skip


def _names(request, plan, recorder, solution):
    """The tests' global names: a stub for each that they read, until they define it."""
    entry_point = request["entry_point"]
    names = {name: Stub(name, solution) for name in plan.read}
    names |= {"candidate": Stub(entry_point, solution), entry_point: Stub(entry_point, solution)}
    names |= {"__name__": "__main__", "__file__": PATH, RECORDER: recorder}
    module = request["entry_file"].removesuffix(".py").replace("/", ".")
    sys.modules[module] = _Module(module, solution)
    random.seed(0)
    return names


class _Module(type(sys)):
    """The solution's module, for tests that import from it."""

    def __init__(self, name, solution):
        super().__init__(name)
        self.__solution = solution

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(name, self.__solution)


def _execute(plan, names, recorder):
    """Run the tests' statements, then each test function that none of them called."""
    with recorder.function("", 1, plan.num_tests):
        exec(plan.code, names)
        for name, required, first, last in plan.functions:
            if name not in recorder.entered:
                with recorder.function(name, first, last):
                    _call(name, required, names)


def _call(name, required, names):
    if name == "check" and len(required) == 1:
        names["check"](names["candidate"])
    elif set(required) <= {"candidate"}:
        names[name](*[names["candidate"] for _ in required])
    else:
        raise NotHere(f"{name} needs {', '.join(required)}, which is not here")


class NotHere(ImportError):
    """The tests need something else than the solution."""


class Recorder:
    """What the rewritten tests call (see `split_plan`): it says each test's outcome."""

    def __init__(self, pipe, solution, plan, source):
        self.entered = set()
        self._pipe, self._solution = pipe, solution
        self._calls, self._source = plan.calls, source
        self._said = {}
        self._sides = None

    def test(self, number):
        """Around a test."""
        return _Test(self, number)

    def function(self, name, first, last):
        """Around the body of a test function whose tests are `first` to `last`."""
        self.entered.add(name)
        return _Function(self, first, last)

    def ahead(self, function, calls):
        """Send calls that the next tests will make: a list of arguments."""
        if type(function) is Stub:
            function.ahead(calls)

    def equal(self, left, right):
        """Whether `left == right`, remembered for `said`."""
        self._sides = left, right
        return left == right

    def said(self, index):
        """The message of a comparison that failed."""
        left, right = self._sides
        call = source_of(self._source, *self._calls[index])
        return Said(f"{call} got {shown(left)} want {shown(right)}")

    def kind(self, kinds):
        """`kinds`, the class or classes of an `except`; refused if the solution defines one."""
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if type(kind) is Stub:
                self._solution.refuse(f"{kind!r} is caught as an exception; it is not known here")
        return kinds

    def begin(self, number):
        """Say that a test starts; once, however often its statement is executed."""
        if number not in self._said:
            say(self._pipe, wire.START + _dump(number))

    def end(self, number, error):
        """Say how a test ended, unless it is known to have failed before."""
        if self._said.get(number, "passed") == "passed":
            status, message = self._outcome(error)
            if self._said.get(number) != status:
                say(self._pipe, wire.TEST + _dump([str(number), status, message]))
            self._said[number] = status
        self._solution.trouble = None

    def blame(self, first, last, error):
        """Charge what went wrong between the tests, if anything, to the next one or the last."""
        if error is None and self._solution.trouble is None:
            return
        numbers = (number for number in range(first, last) if number not in self._said)
        self.end(next(numbers, last), error)

    @property
    def stopped(self):
        """Whether nothing more can be asked."""
        return self._solution.stopped is not None

    def _outcome(self, error):
        if self._solution.trouble is not None:  # whatever the tests made of it
            return self._solution.trouble
        if error is None:
            return "passed", ""
        if isinstance(error, AssertionError) and error.args and type(error.args[0]) is Said:
            return ("wrong" if self._solution.heard else "skipped"), str(error)
        text = getattr(error, "said", None)
        if text is None:
            text = describe(error, BOX)
            if isinstance(error, ImportError):
                return "skipped", f"the tests need what is not here: {text}"
            if not self._solution.heard:
                return "skipped", f"the tests fail before the first answer: {text}"
            if isinstance(error, AssertionError):
                return "wrong", text
        return "memory" if isinstance(error, MemoryError) else "error", text


class Said(str):
    """The message of a comparison, to be shown as it is."""


class _Test:
    def __init__(self, recorder, number):
        self._recorder, self._number = recorder, number

    def __enter__(self):
        self._recorder.begin(self._number)

    def __exit__(self, kind, error, traceback):
        if self._recorder.stopped:
            raise Stop
        self._recorder.end(self._number, error)
        return True


class _Function:
    def __init__(self, recorder, first, last):
        self._recorder, self._first, self._last = recorder, first, last

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        if self._recorder.stopped:
            raise Stop
        self._recorder.blame(self._first, self._last, error)
        return True


def _dump(value):
    return json.dumps(value).encode()
