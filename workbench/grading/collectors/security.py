"""Collector "security": what Bandit says about the final files, tests left out.

Stage: grading, after it; runs Bandit, never the program. All of Bandit's rules, at every level of
confidence; `# nosec` is not heard. **A static scan is a hint.** It misses what has another name
(`getattr`), and knows neither paths nor pages; and it cannot tell a die from a password. Files that
it cannot read are a finding of high severity: what was not scanned is not known to be safe.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.grading.collectors.findings import UNREADABLE, Remark, findings_of, need
from workbench.grading.collectors.lint import write_texts
from workbench.records import Finding, Task
from workbench.workspaces import is_test_file

CHILD = Path(__file__).with_name("bandit_child.py")
_ENDED = Remark(UNREADABLE, 1, "high", "Bandit needs too long, or ended while it read this file")


def security_findings(
    attempts: Sequence[tuple[Task, Mapping[str, str]]],
) -> list[tuple[Finding, ...]]:
    """Bandit's findings about each attempt's files. RuntimeError if Bandit does not run."""

    def reads(task: Task, path: str) -> bool:
        return path.endswith(".py") and path != task.tests_file and not is_test_file(path)

    return findings_of("bandit", bandit_remarks, attempts, reads, unreadable="high")


def bandit_remarks(texts: Sequence[str]) -> list[tuple[Remark, ...]]:
    """What Bandit says about each text. One that it cannot read, or not in time, is `unreadable`.

    It works in a process of its own, which hostile text may end; the next one goes on behind it.
    """
    need("bandit")
    said: list[tuple[Remark, ...]] = []
    with tempfile.TemporaryDirectory(prefix="workbench-security-") as folder:
        write_texts(folder, texts)
        while len(said) < len(texts):
            command = [sys.executable, "-P", str(CHILD), folder, str(len(said))]
            run = subprocess.run(command, capture_output=True)
            *lines, _ = run.stdout.split(b"\n")  # a last line that is not ended is not said
            said += [_remarks(json.loads(line)) for line in lines]
            if run.returncode > 0:
                trouble = run.stderr.decode("utf-8", "replace")[-300:]
                raise RuntimeError(f"Bandit does not run here, expected 1.9 or newer: {trouble}")
            if run.returncode < 0:
                said.append((_ENDED,))
    return said


def _remarks(answer: Mapping) -> tuple[Remark, ...]:
    if answer["trouble"]:
        return (Remark(UNREADABLE, 1, "high", answer["trouble"]),)
    return tuple(
        Remark(rule, line, severity.lower() if severity != "UNDEFINED" else "", text)
        for rule, line, severity, text in answer["findings"]
    )
