"""The solution's run in mode "split": it answers the calls that the tests' run sends.

Stage: sandbox (in a confined fork). Calls come in through one pipe as `split_data`, answers go
out through another, in lock step: the value, or the exception's names, arguments and place; and
the arguments as the call left them. The tests themselves never come here. Left out: callbacks,
and objects that stay on this side and are named by a handle.
"""

from __future__ import annotations

import os
import select

from workbench import encoding
from workbench.sandbox import split_data, wire
from workbench.sandbox.split_data import HEAD, LOADED, Objects
from workbench.sandbox.wire import write_all as _write
from workbench.sandbox.workspace import flush


def answer_calls(module, calls, answers, describe):
    """Answer until the tests' run has closed its end.

    module: where the functions are looked up; calls, answers: descriptors to read from and to
    write to; describe: makes one line for people of an exception.
    """
    first = LOADED  # said at once only to tests that have not asked yet: each message wakes them
    if not select.select([calls], (), (), 0)[0]:
        _write(answers, LOADED)
        first = b""
    while head := wire.receive(lambda view: os.readv(calls, [view]), HEAD.size):
        number, size = HEAD.unpack(head)
        body = wire.receive(lambda view: os.readv(calls, [view]), size)
        if body is None:
            return
        answer = _answer(module, split_data.parse(body), describe)
        if len(answer) > split_data.MAX_ANSWER_BYTES:
            limit = split_data.MAX_ANSWER_BYTES
            answer = _no_data(f"ValueError: an answer of {len(answer)} bytes, more than {limit}")
        flush()  # once the tests have ended there is no time left for it
        _write(answers, first + HEAD.pack(number, len(answer)) + answer)
        first = b""


def _answer(module, call, describe):
    objects = Objects()
    kwargs = {word: objects.read(data) for word, data in call["kwargs"].items()}
    args = objects.read(call["args"])
    given = objects.known
    try:
        function = getattr(module, call["name"], _NOTHING)
        if function is _NOTHING:
            raise NameError(f"name '{call['name']}' is not defined")
        value = function(*args, **kwargs)
        objects = Objects(given, flatten=True)
        answer = {"value": _plain(objects, value)}
    except _NoData as error:
        return _no_data(describe(error.__cause__))
    except BaseException as error:  # SystemExit too: a candidate may raise anything
        objects = Objects(given, flatten=True)
        answer = {"raised": _raised(error, describe)}
    try:
        answer["after"] = [objects.write(one) for one in given]
        return split_data.dump(answer)
    except Exception as error:
        return _no_data(describe(error))


_NOTHING = object()


class _NoData(BaseException):
    """What was returned cannot be sent; apart from what the function itself raises."""


def _plain(objects, value):
    try:
        return objects.write(value)
    except Exception as error:
        raise _NoData from error


def _no_data(text):
    return split_data.dump({"no data": text})


def _raised(error, describe):
    names = [kind.__name__[:60] for kind in type(error).__mro__][:20]
    said = describe(error)
    try:
        args = encoding.encode(error.args, flatten=True)
    except Exception:
        args = encoding.encode((said,))
    return [names, args, said]
