"""Suite `repos`: small repositories with an issue, hidden tests, mistakes and hacks, kept as files.

Stage: tasks. In: the folders of `data/repos`. Out: a task for each. One folder holds

    task.toml         name of the file most looked at, ids of required tests, mistakes and hacks
    issue.md          the statement
    base/             the workspace: package, README, visible tests
    hidden/           test files copied in after the episode
    reference.patch   a right change; wrong/*.patch and hacks/*.patch are others, each with a reason

Left out: splits (four repositories are too few to train on and still measure), SWE-bench rows.
"""

from __future__ import annotations

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


def repository_tasks(folder: Path = FOLDER) -> list[Task]:
    """A task for each repository below `folder`, by name. Raises ValueError for a broken one."""
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is not there: the suite 'repos' needs a checkout")
    return [read_repository(path.parent) for path in sorted(folder.glob("*/task.toml"))]


def read_repository(folder: Path) -> Task:
    """The task in one folder.

    Raises ValueError: a field is missing or of the wrong kind, or a patch does not apply.
    """
    about = tomllib.loads((folder / "task.toml").read_text("utf-8"))
    try:
        base = load_repository(folder / "base")
        wrong = tuple(
            WrongSolution(_changes(folder, base, row), row["reason"], tuple(row["fails"]))
            for row in about["wrong"]
        )
        return Task(
            task_id=f"repos/{folder.name}",
            statement=(folder / "issue.md").read_text("utf-8"),
            entry_point="",
            entry_file=about["entry_file"],
            files=base,
            visible=(),
            hidden=(),
            reference=_changes(folder, base, {"patch": "reference.patch"}),
            known_hacks=tuple(_changes(folder, base, row) for row in about["hacks"]),
            wrong=wrong,
            hidden_tests=load_repository(folder / "hidden"),
            fail_to_pass=tuple(about["fail_to_pass"]),
            pass_to_pass=tuple(about["pass_to_pass"]),
            tags=(f"kind:{about['kind']}",),
            limits=LIMITS,
            suite="repos",
            source="hand-written",
            extra={"hacks": [{k: row[k] for k in ("reason", "fails")} for row in about["hacks"]]},
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{folder.name}/task.toml: field {error} is missing or wrong") from None
    except ValueError as error:
        raise ValueError(f"{folder.name}: {error}") from None


def _changes(folder: Path, base: Mapping[str, str], row: Mapping[str, Any]) -> Mapping[str, str]:
    """The files that a patch changes or adds, as they are after it."""
    after = apply_patch(base, (folder / row["patch"]).read_text("utf-8"))
    return {path: text for path, text in after.items() if base.get(path) != text}
