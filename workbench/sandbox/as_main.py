"""A Python program as `python main.py` would run it: mode "program" of a run.

Stage: sandbox (server side, in a confined fork). A request with the text for standard input comes
in; what the program prints goes to its own descriptors, its exit code is the process's. What goes
through the result pipe (it did not compile, it had no memory left) can only do it harm. Left out:
`site` and what it sets up, but for `exit` and `quit`.
"""

from __future__ import annotations

import _thread
import builtins
import gc
import io
import os
import sys

from workbench.sandbox import candidate, wire, workspace


def run(request, pipe, box):
    """Run the entry file as `__main__`; the exit code."""
    workspace.offer_files(request["files"], box)
    path = f"{box}/{request['entry_file']}"
    try:
        code = compile(workspace.read(path), path, "exec", 0, True)
    except BaseException as error:
        _show(error, box)
        candidate.say_not_loaded(error, pipe, box)
        return 1
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__file__, main.__builtins__ = path, builtins
    builtins.exit = builtins.quit = sys.exit
    sys.argv = [request["entry_file"]]
    exit_code, ending = 0, wire.END
    try:
        exec(code, main.__dict__)
    except MemoryError as error:
        exit_code, ending = _exit_code(error, box), wire.NOT_LOADED + b'["memory","MemoryError"]'
    except BaseException as error:
        exit_code = _exit_code(error, box)
    _finish(main, box)
    candidate.say_last(pipe, ending)
    return exit_code


def _exit_code(error, box):
    """What Python makes of an exception that nothing caught."""
    if not isinstance(error, SystemExit):
        _show(error, box)
        return 1
    if error.code is None or isinstance(error.code, int):
        return int(error.code or 0) & 0xFF
    _to_stderr(f"{error.code}\n")
    return 1


def _finish(main, box):
    """What Python does at the end: wait for threads, call what was registered, close files."""
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        if "atexit" in sys.modules:
            sys.modules["atexit"]._run_exitfuncs()
        workspace.flush()
        if not _thread._count():  # a daemon thread would stumble over its missing globals
            main.__dict__.clear()
            gc.collect()
    except BaseException as error:
        _show(error, box)


def _show(error, box):
    """Write the traceback to standard error, as seen from inside the workspace."""
    try:
        _to_stderr(_traceback(error, box))
    except BaseException:  # the program's own __str__ or excepthook may do anything
        _to_stderr(f"{type(error).__name__}\n")


def _traceback(error, box):
    trace = error.__traceback__
    while trace and not trace.tb_frame.f_code.co_filename.startswith(f"{box}/"):
        trace = trace.tb_next  # our own frames come first
    kept, sys.stderr = sys.stderr, io.StringIO()
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        text = sys.stderr.getvalue()
    finally:
        sys.stderr = kept
    library = os.path.dirname(os.__file__)
    return candidate.without_addresses(text.replace(f"{box}/", "").replace(f"{library}/", ""))


def _to_stderr(text):
    workspace.flush()
    try:
        wire.write_all(2, text.encode("utf-8", "backslashreplace"))
    except OSError:  # the program closed it
        pass
