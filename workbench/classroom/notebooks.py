"""Which notebooks there are.

Stage: outside the loop. In: names as a person types them; out: paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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


def _one(name: str, present: list[Path]) -> Path:
    if name.endswith(".ipynb") and Path(name).is_file():
        return Path(name)
    stem = name.removesuffix(".ipynb")
    for path in present:
        if stem in (path.stem, path.stem.split("_")[0]):
            return path
    there = ", ".join(path.stem for path in present)
    raise ClassroomError(f"there is no notebook {name!r}; there are {there}")
