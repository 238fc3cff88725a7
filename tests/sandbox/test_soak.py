"""Thousands of executions, a tenth of them hostile, leave nothing behind."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench.records import Limits
from workbench.sandbox import open_sandbox

EXECUTIONS = 2000
HOSTILE = (
    "import os\nos._exit(0)\n",
    "def f(x):\n    while True: pass\n",
    "def f(x):\n    return 'a' * (4 << 20)\n",
    "import os\nfor n in range(256):\n    try: os.close(n)\n    except OSError: pass\n",
    "def f(x):\n    return bytearray(1 << 40)\n",
    "def f(x):\n    for n in range(10**6): open(str(n), 'w').write('a' * 1000)\n",
)


def processes(pid):
    """Process ids below `pid`, itself included."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid] + [found for child in children for found in processes(int(child))]


def state(sandbox):
    """(number of processes, of their descriptors and ours, KiB of memory of the servers)."""
    servers = [keeper._worker._process.pid for keeper in sandbox._pool._keepers]
    below = [pid for server in servers for pid in processes(server)]
    descriptors = sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in [os.getpid(), *servers])
    memory_kb = 0
    for pid in below:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        memory_kb += sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))
    return len(below), descriptors, memory_kb


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_two_thousand_executions_leave_no_process_descriptor_folder_or_memory():
    with open_sandbox(workers=2, reuse=False) as sandbox:
        if sandbox.tier < 2:
            pytest.skip("hostile programs run behind walls only")

        def execute(number):
            hostile = number % 10 == 0
            body = f"def f(x):\n    return x + {number}\n"
            program = HOSTILE[number // 10 % len(HOSTILE)] if hostile else body
            limits = Limits(cpu_s=0.1, memory_mb=128)
            result = sandbox.call({"lib.py": program}, "lib.py", "f", [(1,)], limits)
            return result.results[0].value if not hostile else None

        def run(numbers):
            with ThreadPoolExecutor(2) as pool:
                return list(pool.map(execute, numbers))

        run(range(100))
        before = state(sandbox)
        values = run(range(100, EXECUTIONS))
        assert [v for v in values if v is not None] == [
            n + 1 for n in range(100, EXECUTIONS) if n % 10
        ]
        for _ in range(100):  # a server may be about to make its next fork
            after = state(sandbox)
            if after[:2] == before[:2]:
                break
            time.sleep(0.05)
        assert after[:2] == before[:2]
        assert after[2] < before[2] + 4096
        assert (sandbox.stats.faults, sandbox.stats.restarts) == (0, 0)
    left = [p.name for p in Path("/tmp").iterdir() if f"sandbox-{os.getpid()}-" in p.name]
    assert left == []
