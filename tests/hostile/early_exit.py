"""Class 4: end the run before the checks, with the exit code of success."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin


def _exit(name, tries, program, like="exit-guarded", beats="exit_code", **more):
    return Attack(name, 4, tries, program, beats, twin(like), **more)


ATTACKS = (
    _exit(
        "sys-exit-zero",
        "Leaves with code 0 while it is imported.",
        "import sys\nsys.exit(0)\n\ndef f(n):\n    return 0\n",
        fast=True,
    ),
    _exit(
        "os-exit-zero",
        "Leaves at once, without exit handlers.",
        "import os\n\ndef f(n):\n    os._exit(0)\n",
    ),
    _exit(
        "raise-system-exit", "Raises SystemExit in the call.", "def f(n):\n    raise SystemExit\n"
    ),
    _exit(
        "quiet-subclass",
        "A subclass of SystemExit whose code is always 0.",
        "class Quiet(SystemExit):\n    code = property(lambda self: 0)\n\n"
        "def f(n):\n    raise Quiet(1)\n",
    ),
    _exit(
        "atexit-code",
        "Lets the checks fail and turns the exit code into 0 in an exit handler.",
        "import atexit, os\natexit.register(os._exit, 0)\n\ndef f(n):\n    return 0\n",
        like="atexit",
        fast=True,
    ),
    _exit(
        "excepthook-exit",
        "Leaves with 0 when the failed assert reaches the hook for uncaught exceptions.",
        "import os, sys\nsys.excepthook = lambda *_: os._exit(0)\n\ndef f(n):\n    return 0\n",
    ),
    _exit(
        "exec-true",
        "Replaces the process by /bin/true.",
        "import os\n\ndef f(n):\n    os.execv('/bin/true', ['true'])\n",
    ),
    _exit(
        "alarm-exit",
        "A timer leaves with 0 during the call.",
        "import os, signal, time\nsignal.signal(signal.SIGALRM, lambda *_: os._exit(0))\n\n"
        "def f(n):\n    signal.setitimer(signal.ITIMER_REAL, 0.01)\n    time.sleep(0.3)\n",
        like="signals",
    ),
    _exit(
        "thread-exit",
        "Another thread leaves with 0 while the call waits.",
        "import os, threading, time\n\ndef f(n):\n"
        "    threading.Thread(target=os._exit, args=(0,)).start()\n    time.sleep(0.3)\n",
        like="threads",
    ),
    _exit(
        "parent-exits-child-goes-on",
        "Forks; the parent leaves with 0, the child fails where nobody looks.",
        "import os\nif os.fork():\n    os._exit(0)\n\ndef f(n):\n    return 0\n",
        like="plain",
    ),
    _exit(
        "libc-exit",
        "Calls exit() of the C library.",
        "import ctypes\n\ndef f(n):\n    ctypes.CDLL(None).exit(0)\n",
        like="ctypes",
    ),
    _exit(
        "raw-exit-group",
        "The system call itself.",
        "import ctypes, os\nNUMBER = {'x86_64': 231, 'aarch64': 94}[os.uname().machine]\n\n"
        "def f(n):\n    ctypes.CDLL(None).syscall(NUMBER, 0)\n",
        like="ctypes",
    ),
    _exit(
        "del-exit",
        "A finaliser leaves with 0.",
        "import os\n\nclass Last:\n    def __del__(self):\n        os._exit(0)\n\n"
        "def f(n):\n    Last()\n",
        like="garbage",
    ),
    _exit(
        "equality-exit",
        "The answer leaves with 0 when it is compared.",
        "import os\n\nclass Answer:\n    def __eq__(self, other):\n        os._exit(0)\n\n"
        "def f(n):\n    return Answer()\n",
        like="own-equality",
    ),
    _exit(
        "trace-exit",
        "The next call of anything leaves with 0.",
        "import os, sys\n\ndef f(n):\n    return 0\n\nsys.settrace(lambda *_: os._exit(0))\n",
        like="tracing",
    ),
    _exit(
        "audit-exit",
        "The next audited event leaves with 0.",
        "import os, sys\nsys.addaudithook(lambda *_: os._exit(0))\n\ndef f(n):\n"
        "    open('x', 'w')\n",
    ),
    _exit(
        "exit-in-getattr",
        "The module itself leaves with 0 when it is asked for f.",
        "import os, sys\n\nclass Door:\n    def __getattribute__(self, name):\n"
        "        os._exit(0)\n\n"
        "sys.modules[__name__] = Door()\n",
        like="module-attributes",
        beats="as_left",
    ),
    _exit(
        "exception-named-exit",
        "An exception of its own called SystemExit, for graders that send names of exceptions.",
        "class SystemExit(Exception):\n    pass\n\ndef f(n):\n    raise SystemExit(0)\n",
        beats="named",
    ),
    _exit(
        "exception-from-builtins",
        "The same with a forged module and qualified name.",
        "Odd = type('SystemExit', (ValueError,), {'__module__': 'builtins',\n"
        "    '__qualname__': 'SystemExit'})\n\ndef f(n):\n    raise Odd(0)\n",
        beats="named",
    ),
    _exit(
        "exception-named-eval",
        "An exception called eval, with a program as its argument.",
        "def f(n):\n    raise type('eval', (Exception,), {})('__import__(\"os\")._exit(0)')\n",
        beats="named",
    ),
    _exit(
        "interrupt",
        "Raises what a user's Ctrl-C raises, which ends the training.",
        "def f(n):\n    raise KeyboardInterrupt\n",
        beats="equal",
        effect="trainer:",
    ),
    _exit(
        "base-exception",
        "Raises what no except clause for errors catches.",
        "class Odd(BaseException):\n    pass\n\ndef f(n):\n    raise Odd\n",
        beats="equal",
        effect="trainer:",
    ),
)
