"""Which notebooks there are, and what is in them.

Stage: outside the loop. In: names as a person types them; out: paths, and notebooks as nbformat
reads them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"
"""Where the notebooks lie, in a clone or an editable install."""


class ClassroomError(ValueError):
    """Something to fix first; the text says what."""


def find_notebooks(names: Sequence[str] = (), folder: Path = NOTEBOOKS) -> list[Path]:
    """Paths of the named notebooks ("00", "00_watch_it_learn" or a path); all if none is named.

    Raises ClassroomError naming those there are, if a name fits none.
    """
    present = sorted(folder.glob("*.ipynb"))
    if not present:
        raise ClassroomError(f"there are no notebooks in {folder}")
    return [_one(name, present) for name in names] if names else present


def read_notebook(path: Path) -> Any:
    """The notebook at `path`. Raises ClassroomError if it is none or has no cells."""
    import nbformat  # part of the test extra

    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError) as error:
        raise ClassroomError(f"{path.name}: is not a notebook ({str(error)[:200]})")
    if not notebook.cells:
        raise ClassroomError(f"{path.name}: has no cells")
    return notebook


def make_folder(path: Path) -> None:
    """Make sure that the folder is there. Raises ClassroomError if it cannot be written to."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClassroomError(f"{path}: cannot be made ({error.strerror})")
    if not os.access(path, os.W_OK):
        raise ClassroomError(f"{path}: may not be written to")


def _one(name: str, present: list[Path]) -> Path:
    if name.endswith(".ipynb") and Path(name).is_file():
        return Path(name)
    stem = name.removesuffix(".ipynb")
    for path in present:
        if stem in (path.stem, path.stem.split("_")[0]):
            return path
    there = ", ".join(path.stem for path in present)
    raise ClassroomError(f"there is no notebook {name!r}; there are {there}")
