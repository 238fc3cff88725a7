"""Collector "lint": what ruff says about the final files, tests included.

Stage: grading, after it; runs ruff, never the program. The rules are fixed here, whatever
configuration a workspace or this machine has, and comments that ask for silence are not heard.
Left out: style (line length, naming, order of imports) and whether the code is formatted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence

from workbench.grading.collectors.findings import UNREADABLE, Remark, findings_of, need
from workbench.records import Finding, Task

RULES = ("E4", "E7", "E9", "F", "B")
"""Likely mistakes: unused and undefined names, bare except, mutable defaults, ..."""
OPTIONS = ("--isolated", "--no-cache", "--ignore-noqa", "--no-respect-gitignore", "--exit-zero",
           "--quiet", "--output-format=json", f"--select={','.join(RULES)}", "--unfixable=ALL",
           f"--target-version=py3{min(sys.version_info.minor, 13)}")  # fmt: skip
"""With how things could be mended, what is said about one line of 16 KiB takes a gigabyte."""
CHUNK_BYTES = 1 << 20
"""How much text ruff is given at once."""
MAX_ANSWER_BYTES = 16 << 20
"""A longer answer, of some 40,000 remarks, is not read: about one file it makes it `unreadable`."""
TIMEOUT_S = 120.0
_CRASHED = Remark(UNREADABLE, 1, "", "ruff ended while it read this file, or said too much of it")


def lint_findings(attempts: Sequence[tuple[Task, Mapping[str, str]]]) -> list[tuple[Finding, ...]]:
    """Ruff's findings about each attempt's Python files. RuntimeError if ruff does not run."""
    return findings_of("ruff", ruff_remarks, attempts, lambda task, path: path.endswith(".py"))


def ruff_remarks(texts: Sequence[str]) -> list[tuple[Remark, ...]]:
    """What ruff says about each text. A text that ends ruff itself is `unreadable`."""
    need("ruff")
    return [remarks for chunk in _chunks(texts) for remarks in _read(chunk)]


def _chunks(texts: Sequence[str]) -> Iterator[list[str]]:
    chunk, size = [], 0
    for text in texts:
        if chunk and size + len(text) > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(text)
        size += len(text)
    if chunk:
        yield chunk


def _read(texts: Sequence[str]) -> list[tuple[Remark, ...]]:
    said, trouble = _run_ruff(texts)
    if not trouble:
        return said
    if len(texts) > 1:  # one of them did it: look for it in halves
        half = len(texts) // 2
        return _read(texts[:half]) + _read(texts[half:])
    if _run_ruff(["pass\n"])[1]:
        raise RuntimeError(f"ruff does not run here, expected 0.9 or newer: {trouble}")
    return [(_CRASHED,)]


def _run_ruff(texts: Sequence[str]) -> tuple[list[tuple[Remark, ...]], str]:
    """(what was said about each text, why ruff failed or "")."""
    with tempfile.TemporaryDirectory(prefix="workbench-lint-") as folder:
        write_texts(folder, texts)
        command = [sys.executable, "-P", "-m", "ruff", "check", *OPTIONS, folder]
        exit_code, answer, errors = _answer(command)
    if exit_code != 0:
        return [], f"exit code {exit_code}: {errors.decode('utf-8', 'replace')[-300:]}"
    said: list[list[Remark]] = [[] for _ in texts]
    for row in json.loads(answer):
        number = int(os.path.basename(row["filename"]).removesuffix(".py"))
        rule = row["code"] or "invalid-syntax"
        said[number].append(Remark(rule, row["location"]["row"], "", row["message"]))
    return [tuple(remarks) for remarks in said], ""


def _answer(command: Sequence[str]) -> tuple[int, bytes, bytes]:
    """(exit code, output, errors) of a program; it is ended if it takes or says too much."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as run,
    ):
        timer = threading.Timer(TIMEOUT_S, run.kill)
        timer.start()
        try:
            answer = run.stdout.read(MAX_ANSWER_BYTES + 1)
            if len(answer) > MAX_ANSWER_BYTES:
                run.kill()
            exit_code = run.wait()
        finally:
            timer.cancel()
            run.kill()  # interrupted: nothing is left behind
        errors.seek(0)
        return exit_code, answer, errors.read()


def write_texts(folder: str, texts: Sequence[str]) -> None:
    """Write each text to a file of its own; their names, in order, are those of the texts."""
    for number, text in enumerate(texts):
        with open(os.path.join(folder, file_name(number)), "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))


def file_name(number: int) -> str:
    """What the file of a text is called: names sort as their numbers do.

    >>> file_name(7)
    '000000007.py'
    """
    return f"{number:09}.py"
