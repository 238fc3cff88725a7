"""Class 16: other processes: daemons, signals, kills, and the state of the trainer itself."""

from __future__ import annotations

from tests.hostile.record import Attack
from tests.hostile.twins import twin

HERE = ("call", "split")
"""Two modes of three: walls do not depend on how values are compared."""

OTHERS = "[int(p) for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]"


def _process(name, tries, body, effect="process:", like="plain", modes=HERE, **more):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = f"import os, signal, sys, time\n\ndef f(n):\n{lines}    return 0\n"
    return Attack(name, 16, tries, program, "equal", twin(like), effect, modes=modes, **more)


def _trainer(name, tries, body, like="signals", modes=("call",), **more):
    return _process(name, tries, body, "trainer:", like, modes, **more)


ATTACKS = (
    _process(
        "daemon",
        "Forks twice, starts a session of its own, stays.",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(60)\n"
        "    os._exit(0)",
        fast=True,
    ),
    _process(
        "daemon-ignores-signals",
        "A child that ignores every signal it can.",
        "if os.fork() == 0:\n    for number in range(1, 65):\n        try:\n"
        "            signal.signal(number, signal.SIG_IGN)\n"
        "        except (OSError, ValueError):\n            pass\n"
        "    os.setsid()\n    time.sleep(60)",
    ),
    _process("popen", "Starts a program.", "import subprocess\nsubprocess.Popen(['sleep', '60'])"),
    _process("shell", "Starts a shell in the background.", "os.system('sleep 60 &')"),
    _process(
        "spawn",
        "Starts a program by posix_spawn.",
        "os.posix_spawn('/bin/sleep', ['sleep', '60'], {})",
    ),
    _process(
        "raw-fork",
        "The fork system call itself, below Python.",
        "import ctypes\nnumber = {'x86_64': 57}.get(os.uname().machine)\n"
        "libc = ctypes.CDLL(None)\nif (libc.syscall(number) if number else libc.fork()) == 0:\n"
        "    time.sleep(60)",
        like="ctypes",
    ),
    _process(
        "multiprocessing",
        "Starts a worker process that stays.",
        "import multiprocessing\nfork = multiprocessing.get_context('fork')\n"
        "fork.Process(target=time.sleep, args=(60,)).start()",
    ),
    _process(
        "fork-bomb",
        "Forks in a tree until it may not.",
        "here = os.getpid()\nfor _ in range(5):\n    try:\n        os.fork()\n"
        "    except OSError:\n        break\nif os.getpid() != here:\n    time.sleep(60)",
    ),
    _process(
        "orphan-holds-the-pipe",
        "A child keeps every descriptor open so that nobody sees the end.",
        "if os.fork() == 0:\n    time.sleep(60)\nos._exit(0)",
    ),
    _process(
        "child-answers-parent-stays",
        "The child answers while the parent sleeps.",
        "if os.fork():\n    time.sleep(60)\n    os._exit(0)\nos._exit(0)",
        "hang:",
        modes=("call",),
        wall_s=1.0,
    ),
    _process("kill-all", "Kills all it may.", "os.kill(-1, signal.SIGKILL)", fast=True),
    _process(
        "kill-by-proc",
        "Kills every process it finds in /proc.",
        f"for pid in {OTHERS}:\n    try:\n        os.kill(pid, signal.SIGKILL)\n"
        "    except OSError:\n        pass",
    ),
    _process(
        "kill-by-number",
        "Kills every number a process may have.",
        "for pid in range(2, 5000):\n    try:\n        if pid != os.getpid():\n"
        "            os.kill(pid, signal.SIGKILL)\n    except OSError:\n        pass",
    ),
    _process(
        "kill-by-pidfd",
        "Signals through process descriptors.",
        "for pid in range(2, 5000):\n    try:\n        if pid != os.getpid():\n"
        "            signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)\n"
        "    except OSError:\n        pass",
    ),
    _process(
        "kill-the-group",
        "Kills its parent and whoever is in its group.",
        "try:\n    os.kill(os.getppid(), signal.SIGKILL)\nexcept OSError:\n    pass\n"
        "os.setpgid(0, 0)\nos.killpg(0, signal.SIGKILL)",
        "trainer:",
    ),
    _process(
        "stop-self",
        "Stops itself: neither dead nor alive.",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "hang:",
        "signals",
        modes=("call",),
        wall_s=1.0,
    ),
    _trainer("kill-self", "Kills itself.", "os.kill(os.getpid(), signal.SIGKILL)", modes=HERE),
    _trainer("segfault", "Reads address 0.", "import ctypes\nctypes.string_at(0)", "ctypes"),
    _trainer("abort", "Aborts.", "os.abort()"),
    _trainer(
        "stack-overflow",
        "Lets recursion in C run over the end of the stack.",
        "sys.setrecursionlimit(10 ** 9)\nx = ()\nfor _ in range(10 ** 6):\n    x = (x,)\nhash(x)",
        "recursion-raised",
    ),
    _trainer("change-folder", "Changes the working folder.", "os.chdir('/')", "environment"),
    _trainer(
        "delete-folder",
        "Changes into a folder and removes it.",
        "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')",
        "files-here",
    ),
    _trainer("change-umask", "Changes the mask for new files.", "os.umask(0o777)", "files-here"),
    _trainer(
        "change-environment",
        "Changes the environment that later programs inherit.",
        "os.environ.clear()\nos.environ['LD_PRELOAD'] = '/canary/mine.so'",
        "environment",
        fast=True,
    ),
    _trainer(
        "change-path",
        "Changes where modules are looked for.",
        "sys.path.insert(0, '/canary')",
        "imports-by-name",
    ),
    _trainer(
        "lower-limits",
        "Lowers limits for good.",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (210, 210))",
    ),
    _trainer("be-nice", "Makes itself, and who inherits from it, slow.", "os.nice(15)"),
    _trainer(
        "ignore-children",
        "Lets children vanish unwaited for, so that a parent waits in vain.",
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    ),
    _trainer(
        "ignore-terminate",
        "Ignores SIGTERM and SIGINT.",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)",
    ),
    _trainer(
        "leave-threads",
        "Leaves threads that never end.",
        "import threading\nfor _ in range(20):\n"
        "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "threads",
    ),
    _trainer(
        "leave-tracing",
        "Leaves a trace and a profile function.",
        "sys.settrace(lambda *_: None)\nsys.setprofile(lambda *_: None)",
        "tracing",
    ),
    _trainer(
        "leave-timer",
        "Leaves a timer that will go off later.",
        "signal.setitimer(signal.ITIMER_REAL, 5)",
    ),
    _trainer(
        "fill-descriptors",
        "Opens files until it may not.",
        "keep = f.__dict__.setdefault('keep', [])\ntry:\n    while True:\n"
        "        keep.append(os.open('/dev/null', 0))\nexcept OSError:\n    pass",
        "files-here",
    ),
)
