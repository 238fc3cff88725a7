"""The solution as the tests see it in mode "split": names that send arguments and get data back.

Stage: sandbox (the tests' run). A `Solution` holds the two pipes; a `Stub` stands for one of its
names. What comes back is rebuilt from built-in types only, exceptions from built-in Exception
classes only; whatever else arrives ends the conversation. Left out: callbacks (a function cannot
be sent), values of the solution that are not called.
"""

from __future__ import annotations

import _thread
import builtins
import os
import select
from collections import deque

from workbench import encoding
from workbench.sandbox import split_data, wire
from workbench.sandbox.split_data import HEAD, LOADED, Objects

MAX_CALL_BYTES = 8 * split_data.MAX_ANSWER_BYTES
"""Larger arguments are not sent."""
AHEAD_BYTES = 32 << 10
"""Calls sent before an answer is read are no more than a pipe holds: neither side gets stuck."""
_TEXT_CHARS = 400
_EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}


class Stop(BaseException):
    """The conversation is over: nothing more can be asked. Raised again by every later call."""


class NotAsked(BaseException):
    """A call that could not be made or had no answer of data; no test catches it unnoticed."""


class SolutionLeft(BaseException):
    """The solution raised SystemExit, KeyboardInterrupt or the like; here it ends nothing."""


class Solution:
    """The conversation with the solution's run, one call at a time."""

    def __init__(self, calls, answers, heard):
        """calls, answers: descriptors to write to and to read from; heard: called once, before
        the first answer is looked at."""
        self._calls, self._answers = calls, answers
        self._heard = heard
        self._loaded = False
        self._sent = deque()
        self._lock = _thread.allocate_lock()  # tests may have threads
        self.trouble = None
        self.stopped = None

    @property
    def heard(self):
        """Whether an answer has come. What fails before that is not the solution's doing."""
        return self._heard is None

    def wait_until_loaded(self):
        """Raises Stop if the solution's run ends instead."""
        if not self._loaded and self._receive(len(LOADED)) != LOADED:
            self._stop("the answer pipe was written to before anything was asked")
        self._loaded = True

    def call(self, name, args, kwargs):
        """What the function `name` returns; or raises what it raised, if that can be rebuilt."""
        with self._lock:
            if self.stopped is not None:
                raise Stop
            objects = Objects()
            answer = self._ask(self._message(objects, name, args, kwargs))
            try:
                value, raised = self._understand(answer, objects.known)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                self._stop(f"the answer pipe was written to: {error}")
        if raised is not None:
            raise raised
        return value

    def ahead(self, name, calls):
        """Send calls now that the tests are going to make next, in this order."""
        with self._lock:
            if self.stopped is not None or self._sent:
                return
            data = []
            for args in calls:
                message = self._message(Objects(), name, args, {})
                head = _new_head(len(message))
                if sum(map(len, data)) + len(message) > AHEAD_BYTES:
                    break
                data += [head, message]
                self._sent.append((head, message))
            self._send(b"".join(data))

    def finish(self):
        """Hang up. Raises Stop if something has come that was not asked for."""
        self.wait_until_loaded()
        if not self._sent and not self._is_silent():
            self._stop("the answer pipe was written to after the last answer")
        os.close(self._calls)  # at once: the other run ends while this one does

    def _is_silent(self):
        waiting = select.select([self._answers], (), (), 0)[0]
        return not waiting or os.read(self._answers, 1) == b""

    def _message(self, objects, name, args, kwargs):
        try:
            words = {word: objects.write(value) for word, value in kwargs.items()}
            call = {"name": name, "args": objects.write(args), "kwargs": words}
            message = split_data.dump(call)
            if len(message) > MAX_CALL_BYTES:
                raise encoding.TooLarge(f"{len(message)} bytes, more than {MAX_CALL_BYTES}")
            return message
        except (encoding.TooLarge, RecursionError) as error:
            # Only an answer of the solution can have made it so large, if there was one: it must
            # not choose that its tests cannot be judged.
            status = "error" if self.heard else "skipped"
            self._fail(status, f"{name}: too large to be sent to the solution: {error}")
        except ValueError as error:
            self.refuse(f"{name}: an argument cannot be sent to the solution: {error}")

    def refuse(self, text):
        """Raise NotAsked: the tests ask for something that cannot be done here."""
        self._fail("skipped", text)

    def _fail(self, status, text):
        self.trouble = status, text[:_TEXT_CHARS]
        raise NotAsked(text)

    def _stop(self, reason):
        self.stopped = reason[:_TEXT_CHARS]
        raise Stop(reason)

    def _ask(self, message):
        if self._sent:
            head, sent = self._sent[0]
            if sent != message:
                self.refuse("the tests make other calls than they were going to")
            self._sent.popleft()
        else:
            head = _new_head(len(message))
            self._send(head + message)
        number, _ = HEAD.unpack(head)
        self.wait_until_loaded()
        answered, size = HEAD.unpack(self._receive(HEAD.size))
        if answered != number:
            self._stop("the answer pipe was written to: an answer that was not asked for")
        if size > split_data.MAX_ANSWER_BYTES:
            self._stop(f"an answer of {size} bytes, more than {split_data.MAX_ANSWER_BYTES}")
        return self._receive(size)

    def _send(self, data):
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._calls, view) :]
        except BrokenPipeError:
            self._stop("")

    def _receive(self, size):
        data = wire.receive(lambda view: os.readv(self._answers, [view]), size)
        if data is None:
            self._stop("")
        return data

    def _understand(self, answer, given):
        if self._heard is not None:
            self._heard()
            self._heard = None
        message = split_data.parse(answer)
        if type(message) is not dict:
            raise ValueError("expected an object")
        if set(message) == {"no data"}:
            self._fail("error", _text(message["no data"]))
        objects = Objects(given)
        if set(message) == {"value", "after"}:
            value, raised = objects.read(message["value"]), None
        elif set(message) == {"raised", "after"}:
            value, raised = None, _rebuild(*message["raised"])
        else:
            raise ValueError("expected a value or an exception")
        self._change(objects, message["after"], given)
        return value, raised

    def _change(self, objects, after, given):
        if type(after) is not list or len(after) != len(given):
            raise ValueError(f"expected the state of {len(given)} arguments")
        if any(objects.read(data) is not one for data, one in zip(after, given)):
            raise ValueError("expected the arguments in order")


def _new_head(size):
    return HEAD.pack(int.from_bytes(os.urandom(8), "big") or 1, size)


def _rebuild(names, args, said):
    """The exception to raise here; the attribute `said` tells its place in the solution."""
    names, said = [_text(name) for name in names], _text(said)
    kind = next((_EXCEPTIONS[name] for name in names if name in _EXCEPTIONS), None)
    if kind is None:
        error = SolutionLeft(said)
    else:
        if names[0] not in _EXCEPTIONS:
            kind = type(names[0], (kind,), {"__module__": "builtins"})
        error = _made(kind, encoding.decode(args), said)
    error.said = said
    return error


def _made(kind, args, said):
    try:
        return kind(*args)
    except TypeError:  # a class that wants other arguments than its instance shows
        return Exception(said)


def _text(value):
    if type(value) is not str:
        raise ValueError(f"expected text, got {value!r:.40}")
    return value[:_TEXT_CHARS]


class Stub:
    """Stands for a function of the solution; used in any other way than by a call, it refuses."""

    def __init__(self, name, solution):
        self.__dict__.update(_name=name, _solution=solution)

    def __call__(self, /, *args, **kwargs):
        return self._solution.call(self._name, args, kwargs)

    def ahead(self, calls):
        """See `Solution.ahead`."""
        self._solution.ahead(self._name, calls)

    def __repr__(self):
        return f"<{self._name} of the solution>"


def _refusal(special):
    def refuse(self, *_):
        solution, name = self.__dict__["_solution"], self.__dict__["_name"]
        solution.refuse(f"{name} is used as a value ({special}); it can only be called here")

    return refuse


for _special in """
    getattr setattr delattr eq ne lt le gt ge hash bool len iter next reversed contains getitem
    setitem delitem enter exit await aiter index int float complex instancecheck subclasscheck
    add radd sub rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod divmod
    rdivmod pow rpow and rand or ror xor rxor lshift rlshift rshift rrshift neg pos abs invert
    round trunc floor ceil fspath bytes format mro_entries
""".split():
    setattr(Stub, f"__{_special}__", _refusal(_special))
