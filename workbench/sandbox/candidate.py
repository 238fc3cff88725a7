"""The side of a run that executes the candidate's program; it lives in a confined fork.

Stage: sandbox. A request comes in as JSON; answer lines go out through the result pipe as tagged
data (`wire` lists them). Nothing here decides a verdict: in mode "call" the expected values never
enter this process, in mode "split" it answers the tests of another run (`split_solution`). In mode
"tests" the tests run next to the program and can be forged by it, which is what that mode is for.
Left out: programs that read standard input (`as_main`, `toolchain`).
"""

from __future__ import annotations

import json
import os
import sys

from workbench import encoding
from workbench.sandbox import wire
from workbench.sandbox.split_solution import answer_calls
from workbench.sandbox.workspace import flush, forget, offer_files, read, write_files

TRIAL = (
    {"mode": "call", "files": {"a.py": "def f():\n    return 1\n"}, "entry_file": "a.py",
     "entry_point": "f", "inputs": [{"tuple": []}]},
    [wire.VALUE + b"1", wire.END],
)  # fmt: skip
"""A request, and the lines it gives."""
_ONLY_AST = 0x400
"""`compile` flag: return the syntax tree (ast.PyCF_ONLY_AST, without importing ast)."""
SHOWN_BOX = "/box"
"""What messages call the work folder."""
_MESSAGE_CHARS = 200
_VALUE_CHARS = 80


def unpack(body, box):
    """The request in `body`, its files written to folder `box`; nothing untrusted runs yet, so
    whatever is raised here (a full disk) is not the candidate's doing."""
    request = encoding.parse_json(body.decode())
    forget(request["files"])
    write_files(request, box)
    return request


def run(request, pipe, box, ends=()):
    """Execute one request in folder `box` and write its answer lines to the descriptor `pipe`.

    ends: descriptors to read calls from and to write answers to, which only mode "split" uses.
    """
    if request["mode"] != "split":
        close_all(ends)
    modules = offer_files(request["files"], box)
    if request["mode"] == "call":
        _run_cases(request, modules, pipe, box)
    elif request["mode"] == "split":
        if loaded := _load(request, modules, pipe, box):
            answer_calls(loaded[0], *ends, lambda error: describe(error, box))
    else:
        _run_tests(request, pipe, box)


def close_all(descriptors):
    """Close each of them."""
    for descriptor in descriptors:
        os.close(descriptor)


def warm_up():
    """Do once, on harmless text, what every run does; the memory a fork must copy for it is then
    copied while nobody waits."""
    names = {}
    exec(compile("def f(x):\n    return [2 * y for y in x if y > 0]\n", "warm", "exec"), names)
    encoding.dump_bytes(names["f"](*encoding.decode(encoding.parse_json('{"tuple":[[1,2]]}'))))


def _run_cases(request, modules, pipe, box):
    loaded = _load(request, modules, pipe, box)
    if not loaded:
        return
    _, function = loaded
    for args in request["inputs"]:
        try:
            value = function(*encoding.decode(args))
            line = wire.VALUE + encoding.dump_bytes(value, flatten=True)
        except BaseException as error:  # SystemExit too: a candidate may raise anything
            line = wire.ERROR + dump([_status(error, "error"), describe(error, box)])
        say(pipe, line)
    say_last(pipe, wire.END)


def _load(request, modules, pipe, box):
    """[the module, its entry point]; [] if the program could not be loaded, which is said."""
    entry_file, entry_point = request["entry_file"], request["entry_point"]
    name = entry_file.removesuffix(".py").replace("/", ".")
    try:
        modules.load(name)
        return [sys.modules[name], getattr(sys.modules[name], entry_point)]
    except AttributeError as error:
        if error.obj is sys.modules.get(name) and error.name == entry_point:
            text = f"NameError {entry_file}: function '{entry_point}' is not defined"
            say_last(pipe, wire.NOT_LOADED + dump(["compile_error", text]))
        else:
            say_not_loaded(error, pipe, box)
    except BaseException as error:
        say_not_loaded(error, pipe, box)
    return []


def say_not_loaded(error, pipe, box):
    """Say why a file could not be compiled or executed."""
    kind = wire.LEFT if isinstance(error, SystemExit) else wire.NOT_LOADED
    say_last(pipe, kind + dump([_status(error, "compile_error"), describe(error, box)]))


def _run_tests(request, pipe, box):
    """Run each top-level statement of the tests that is not an import or a docstring."""
    path = f"{box}/{request['tests_file']}"
    try:
        source = read(path)
        statements = compile(source, path, "exec", _ONLY_AST, True).body
    except Exception as error:
        return say_not_loaded(error, pipe, box)
    namespace = {"__name__": "tests", "__file__": path}
    number = 0
    for statement in statements:
        kind = type(statement).__name__
        if kind in ("Import", "ImportFrom"):
            try:
                _execute(statement, path, namespace)
            except BaseException as error:
                return say_not_loaded(error, pipe, box)
        elif not (kind == "Expr" and type(statement.value).__name__ == "Constant"):
            number += 1
            status, message = run_test(statement, source, path, namespace, box)
            say(pipe, wire.TEST + dump([f"test:{number}", status, message]))
    say_last(pipe, wire.END)


def run_test(statement, source, path, namespace, box):
    """(status, message) of one top-level statement of a test file; also used by pretraining."""
    try:
        sides = _compared(statement)
        if sides is None:
            _execute(statement, path, namespace)
            return "passed", ""
        got, want = (_evaluate(side, path, namespace) for side in sides)
        if got == want:
            return "passed", ""
        side = sides[0]
        place = side.lineno, side.end_lineno, side.col_offset, side.end_col_offset
        call = source_of(source, *place)
        return "wrong", f"{call} got {shown(got, box)} want {shown(want, box)}"
    except AssertionError as error:
        return "wrong", describe(error, box)
    except BaseException as error:
        return _status(error, "error"), describe(error, box)


def _compared(statement):
    """The two sides of a plain `assert LEFT == RIGHT`, or None."""
    if type(statement).__name__ != "Assert" or statement.msg is not None:
        return None
    test = statement.test
    if type(test).__name__ != "Compare" or [type(o).__name__ for o in test.ops] != ["Eq"]:
        return None
    return test.left, test.comparators[0]


def _execute(statement, path, namespace):
    tree = compile("", path, "exec", _ONLY_AST, True)
    tree.body = [statement]
    exec(compile(tree, path, "exec", 0, True), namespace)


def _evaluate(expression, path, namespace):
    tree = compile("0", path, "eval", _ONLY_AST, True)
    tree.body = expression
    return eval(compile(tree, path, "eval", 0, True), namespace)


def source_of(source, line, end_line, column, end_column):
    """The text between two places of `source` (bytes; lines from 1), on one line."""
    lines = source.split(b"\n")[line - 1 : end_line]
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b" ".join(line.strip() for line in lines).decode("utf-8", "replace")[:_VALUE_CHARS]


def shown(value, box=None):
    """`value` as a message shows it: short, and the same in every run."""
    try:
        text = same_everywhere(repr(value), box)
    except ValueError:  # Python writes no integer of more than 4300 digits
        text = f"{type(value).__name__} with a number too long to show"
    return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 3] + "..."


def without_addresses(text):
    """`text` without what "<function f at 0x7f12a4f8>" says about memory: it differs from run to
    run, a policy reads it, and one digit changes everything it samples afterwards."""
    first, *rest = text.split(" at 0x")
    return first + "".join(part.lstrip("0123456789abcdefABCDEF") for part in rest)


def same_everywhere(text, box):
    """`text` without memory addresses, and with the work folder `box`, which lies elsewhere at
    every tier, under one name: a policy that reads it samples the same on every machine."""
    text = without_addresses(text)
    return text.replace(box, SHOWN_BOX) if box else text


def _status(error, otherwise):
    return "memory" if isinstance(error, MemoryError) else otherwise


def describe(error, box):
    """One line for people, e.g. "NameError lib.py:3: name 'ys' is not defined"."""
    kind = type(error).__name__[:60]
    try:
        if isinstance(error, SyntaxError) and error.filename:
            place, text = f"{error.filename}:{error.lineno}", str(error.msg)
        else:
            place, text = _place(error.__traceback__, box), same_everywhere(str(error), box)
    except BaseException:  # the candidate's own __str__ may do anything
        place, text = "", "(its message could not be read)"
    where = f"{kind} {place}".rstrip().replace(f"{box}/", "")
    return f"{where}: {text[:_MESSAGE_CHARS]}"


def _place(traceback, box):
    """The innermost frame's "file:line" whose file lies in the workspace, or ""."""
    place = ""
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if name.startswith(f"{box}/"):
            place = f"{name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def dump(value):
    """Plain texts as JSON, in one line."""
    return json.dumps(value).encode()


def say(pipe, line):
    """Write one line to the descriptor `pipe`."""
    wire.write_all(pipe, line + b"\n")


def say_last(pipe, line):
    """Write the last line, after what was printed."""
    flush()
    say(pipe, line)
