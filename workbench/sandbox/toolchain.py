"""Compilers and interpreters other than Python: modes "compile" and "execute" of a run.

Stage: sandbox (server side, in a confined fork of a server whose walls let programs start). To
compile is to start a program we trust on a text we do not; it may start others. What it made goes
back through the result pipe: nothing of a run stays here. To execute is to become the program,
which has no result pipe and, unless its language needs it, can start nothing more. Left out:
linking with libraries that are not the system's.
"""

from __future__ import annotations

import os
import signal
import stat

from workbench.sandbox import candidate, wire


def run(request, pipe, box):
    """Execute one request; what the process's exit status shall be, if it comes back."""
    os.set_inheritable(pipe, False)
    for name in ("SIGINT", "SIGPIPE", "SIGXFSZ"):  # Python ignores them, and programs inherit that
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    if request["mode"] == "compile":
        _compile(request["command"], f"{box}/{request['makes']}", pipe)
    else:
        _become(request["command"], pipe)
    return 1


def _compile(command, makes, pipe):
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(2, 1)
            os.execvp(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]} could not be started: {error.strerror}".encode())
        finally:
            os._exit(127)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if exit_code:
        return _say_failed(pipe, f"the compiler ended with exit code {exit_code}")
    try:
        data = _read(makes)
    except OSError as error:
        return _say_failed(pipe, f"the compiler made no program: {error.strerror}")
    if len(data) >= wire.MAX_ANSWER_BYTES:
        return _say_failed(pipe, f"the program has more than {wire.MAX_ANSWER_BYTES - 1} bytes")
    wire.write_all(pipe, wire.VALUE + data)


def _read(path):
    """The first bytes of a plain file, as many as an answer has room for."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise OSError(0, "it is not a file")
    data = b""
    while chunk := os.read(file, wire.MAX_ANSWER_BYTES - len(data)):
        data += chunk
    return data


def _say_failed(pipe, reason):
    candidate.say_last(pipe, wire.NOT_LOADED + candidate.dump(["compile_error", reason]))


def _become(command, pipe):
    try:
        os.execvp(command[0], command)
    except OSError as error:
        reason = f"{command[0]} could not be started: {error.strerror}"
        candidate.say_last(pipe, wire.LEFT + candidate.dump(["crash", reason]))
