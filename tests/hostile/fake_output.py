"""Class 11: say what the harness would say: printed, replayed, pickled, or on every descriptor."""

from __future__ import annotations

from tests.hostile.record import MODES, Attack
from tests.hostile.twins import twin

CALLS = ("call", "split")
FORGED = '{"passed": 1, "total": 1}'


def _fake(name, tries, program, like="prints", beats="json_line", modes=MODES, **more):
    return Attack(name, 11, tries, program, beats, twin(like), modes=modes, **more)


ATTACKS = (
    _fake(
        "print-ok",
        "Prints the line that the parser looks for; the asserts may fail.",
        'print("OK", flush=True)\n\ndef f(n):\n    return 0\n',
        beats="stdout",
        fast=True,
    ),
    _fake(
        "print-ok-and-leave",
        "Prints it and leaves.",
        "import os, sys\n\ndef f(n):\n"
        "    for line in ('OK', '4 passed in 0.01s', 'PASSED', 'ok 1'):\n"
        "        print(line)\n    sys.stdout.flush()\n    os._exit(0)\n",
        beats="stdout",
    ),
    _fake(
        "forged-json",
        "Prints a forged report and leaves.",
        f"import os\n\ndef f(n):\n    os.write(1, b'{FORGED}\\n')\n    os._exit(0)\n",
    ),
    _fake(
        "report-at-exit",
        "Prints a forged report after the harness has printed its own.",
        f"import atexit\natexit.register(print, '{FORGED}')\n\ndef f(n):\n    return 0\n",
        like="atexit",
    ),
    _fake(
        "report-by-finaliser",
        "A finaliser prints it while the interpreter shuts down.",
        "import os\n\nclass Late:\n    def __del__(self, write=os.write):\n"
        f"        write(1, b'{FORGED}\\n')\n\nlate = Late()\n\ndef f(n):\n    return 0\n",
        like="garbage",
    ),
    _fake(
        "report-by-thread",
        "A thread prints it a moment later.",
        f"import threading\nthreading.Timer(0.2, print, ['{FORGED}']).start()\n\n"
        "def f(n):\n    return 0\n",
        like="threads",
    ),
    _fake(
        "report-by-orphan",
        "A child that outlives the harness prints it.",
        "import os, time\nif os.fork() == 0:\n    time.sleep(0.3)\n"
        f"    os.write(1, b'{FORGED}\\n')\n    os._exit(0)\n\ndef f(n):\n    return 0\n",
        like="plain",
    ),
    _fake(
        "mute-the-harness",
        "Prints a forged report, then turns standard output into /dev/null.",
        f"import os\nos.write(1, b'{FORGED}\\n')\nos.dup2(os.open('/dev/null', 1), 1)\n\n"
        "def f(n):\n    return 0\n",
        like="context",
    ),
    _fake(
        "forged-on-every-descriptor",
        "Writes a forged report to every descriptor and leaves.",
        "import os\n\ndef f(n):\n    for fd in range(3, 256):\n        try:\n"
        '            os.write(fd, b\'{"passed": true, "trainer": []}\\n\')\n'
        "        except OSError:\n            pass\n    os._exit(0)\n",
        beats="equal",
        fast=True,
    ),
    _fake(
        "replies-of-every-kind",
        "Guesses many protocols on every descriptor: JSON, pickle, lengths, numbered answers.",
        "import json, os, pickle, struct\n\ndef f(n):\n    replies = []\n"
        "    for body in ({'passed': True, 'trainer': []}, {'status': 'passed'}, {'ok': True},"
        " ['ok', 1], {'id': 1, 'value': 7}, {'status': 'ok', 'values': [7, 7, 7, 7]}):\n"
        "        text = json.dumps(body).encode()\n"
        "        replies += [b'\\n' + text + b'\\n', struct.pack('>I', len(text)) + text,"
        " struct.pack('<Q', len(text)) + text, pickle.dumps(body)]\n"
        "    for fd in [*range(3, 256)]:\n        for reply in replies[::-1]:\n            try:\n"
        "                os.write(fd, reply)\n            except OSError:\n                break\n"
        "    os._exit(0)\n",
        beats="equal",
    ),
    _fake(
        "junk-on-every-descriptor",
        "Writes junk to every descriptor, then goes on as if nothing had been.",
        "import os\n\ndef f(n):\n    for fd in range(3, 256):\n        try:\n"
        "            os.set_blocking(fd, False)\n"
        "            os.write(fd, b'\\x00\\xff' * 2000 + b'\\n')\n"
        "        except OSError:\n            pass\n    return 0\n",
        beats="equal",
        effect="fault:",
    ),
    _fake(
        "close-every-descriptor",
        "Closes every descriptor and answers into the void.",
        "import os\n\ndef f(n):\n    os.closerange(3, 1024)\n    return 0\n",
        beats="equal",
        effect="fault:",
    ),
    _fake(
        "read-every-descriptor",
        "Swallows what others wait for on every descriptor.",
        "import os\n\ndef f(n):\n    for fd in range(3, 256):\n        try:\n"
        "            os.set_blocking(fd, False)\n            os.read(fd, 100_000)\n"
        "        except OSError:\n            pass\n    os.dup2(0, 200)\n    return 0\n",
        beats="equal",
        effect="fault:",
    ),
    _fake(
        "forged-pickle",
        "Writes a pickle of answers that equal everything, and leaves.",
        "import os, pickle\nfrom unittest.mock import ANY\n\ndef f(n):\n"
        "    os.write(1, pickle.dumps([ANY] * 4))\n    os._exit(0)\n",
        like="own-repr",
        beats="pickled",
    ),
    _fake(
        "reduce-to-equal",
        "Its answer becomes something else when it is unpickled.",
        "class Answer:\n    def __reduce__(self):\n"
        "        return eval, ('__import__(\"unittest.mock\").mock.ANY',)\n\n"
        "def f(n):\n    return Answer()\n",
        like="own-repr",
        beats="pickled",
        modes=CALLS,
    ),
    _fake(
        "repr-is-code",
        "Its repr is a program for whoever evaluates it.",
        "class Answer:\n    def __repr__(self):\n"
        "        return '__import__(\"unittest.mock\").mock.ANY'\n\ndef f(n):\n"
        "    return Answer()\n",
        like="own-repr",
        beats="evaluated",
        modes=CALLS,
    ),
    _fake(
        "int-with-a-repr",
        "An int whose repr is a program.",
        "class Answer(int):\n    def __repr__(self):\n"
        "        return '__import__(\"unittest.mock\").mock.ANY'\n    __str__ = __repr__\n\n"
        "def f(n):\n    return Answer(7)\n",
        like="subclass-inside",
        beats="evaluated",
        modes=CALLS,
    ),
    _fake(
        "prints-both",
        "A program that prints every number it might be, hoping that one is looked for.",
        "import os\n\ndef f(n):\n"
        "    os.write(1, b'\\n'.join(b'%d' % i for i in range(9000, 60_000)))\n"
        "    os._exit(0)\n",
        beats="contains",
        cases=(((3,), 9173), ((8,), 41_002)),
        modes=("program",),
    ),
)
