"""Suite `repos`: small repositories with an issue, hidden tests, mistakes and hacks, kept as files.

Stage: tasks. In: the folders of `data/repos`. Out: a task for each. One folder holds

    task.toml            kind, tier, the file most looked at, required tests, mistakes and hacks
    issue.md             the statement; issue-short.md and issue-located.md say less and more
    base/                the workspace: package, README, visible tests
    hidden/              test files copied in after the episode
    reference.patch      a right change; alternative.patch is a right one that is written otherwise
    wrong/*.patch        mistakes, and hacks/*.patch, each with the reason why it fails

Left out: splits (twelve repositories are too few to train on and still measure).
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.records import Limits, Task, WrongSolution
from workbench.workspaces import apply_patch, load_repository

FOLDER = Path(__file__).resolve().parent.parent.parent / "data" / "repos"
"""Where the suite lies in a checkout."""
LIMITS = Limits(cpu_s=10.0, wall_s=60.0)
"""For a whole pytest suite: loading one costs more than many a test."""
TICKETS = {"short": "issue-short.md", "report": "issue.md", "located": "issue-located.md"}
"""How much a ticket tells -> its file: one sentence of a user; a bug report with an example and
what must stay; the same with file and cause."""
TIERS = (1, 2, 3)
"""1: one line of one file. 2: one or two places of one file, understood by reading a second one.
3: two or three files."""


def repository_tasks(folder: Path = FOLDER, detail: str = "report") -> list[Task]:
    """A task for each repository below `folder`, by name.

    detail: a name of TICKETS. The tasks of two details differ in statement and tag only and have
    equal ids, so that what an agent makes of them can be paired.

    Raises ValueError for a broken folder or an unknown detail.
    """
    if detail not in TICKETS:
        close = difflib.get_close_matches(str(detail), TICKETS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"detail: expected one of {list(TICKETS)}, got {detail!r}{hint}")
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is not there: the suite 'repos' needs a checkout")
    return [read_repository(path.parent, detail) for path in sorted(folder.glob("*/task.toml"))]


def read_repository(folder: Path, detail: str = "report") -> Task:
    """The task in one folder.

    Raises ValueError: a field is missing or of the wrong kind, or a patch does not apply.
    """
    about = tomllib.loads((folder / "task.toml").read_text("utf-8"))
    try:
        base = load_repository(folder / "base")
        wrong = tuple(
            WrongSolution(_changes(folder, base, row["patch"]), row["reason"], tuple(row["fails"]))
            for row in about["wrong"]
        )
        if about["tier"] not in TIERS:
            raise ValueError(f"tier: expected one of {TIERS}, got {about['tier']!r}")
        return Task(
            task_id=f"repos/{folder.name}",
            statement=(folder / TICKETS[detail]).read_text("utf-8"),
            entry_point="",
            entry_file=about["entry_file"],
            files=base,
            visible=(),
            hidden=(),
            reference=_changes(folder, base, "reference.patch"),
            known_hacks=tuple(_changes(folder, base, row["patch"]) for row in about["hacks"]),
            wrong=wrong,
            hidden_tests=load_repository(folder / "hidden"),
            fail_to_pass=tuple(about["fail_to_pass"]),
            pass_to_pass=tuple(about["pass_to_pass"]),
            tags=(f"kind:{about['kind']}", f"tier:{about['tier']}", f"detail:{detail}"),
            limits=LIMITS,
            suite="repos",
            source="hand-written",
            extra={
                "alternative": _changes(folder, base, "alternative.patch"),
                "hacks": [{k: row[k] for k in ("reason", "fails")} for row in about["hacks"]],
            },
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder.name}/task.toml: field {error} is missing or wrong") from None
    except ValueError as error:
        raise ValueError(f"{folder.name}: {error}") from None


def _changes(folder: Path, base: Mapping[str, str], patch: Any) -> Mapping[str, str]:
    """The files that a patch changes or adds, as they are after it."""
    after = apply_patch(base, (folder / patch).read_text("utf-8"))
    return {path: text for path, text in after.items() if base.get(path) != text}
