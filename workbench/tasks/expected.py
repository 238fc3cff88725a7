"""What a case of a program expects: a text on standard output, an exit code, or both.

Stage: tasks (checked when a file is read) and grading (compared after a run). A `Case` goes in.
Left out: files a program writes, and what it says on standard error.
"""

from __future__ import annotations

from workbench.records import Case


def expected_of(case: Case) -> tuple[str | None, int]:
    """(text for standard output, or None for any; exit code) that a program's case expects.

    Raises ValueError if the case is not a program's.
    """
    if len(case.args) != 1 or not isinstance(case.args[0], str):
        raise ValueError(f"expected one text for standard input, got {case.args!r:.60}")
    wanted = case.expected
    if isinstance(wanted, str):
        return wanted, 0
    if isinstance(wanted, dict) and wanted and set(wanted) <= {"stdout", "exit_code"}:
        stdout, exit_code = wanted.get("stdout"), wanted.get("exit_code", 0)
        is_text = "stdout" not in wanted or isinstance(stdout, str)
        if is_text and type(exit_code) is int and 0 <= exit_code <= 255:
            return stdout, exit_code
    raise ValueError(
        'expected the text for standard output, or {"stdout": text, "exit_code": 0 to 255} with '
        f"one of the two or both, got {wanted!r:.60}"
    )
