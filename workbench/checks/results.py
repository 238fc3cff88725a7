"""What a reader has done so far, as a table, a small file, and a teacher's table of such files.

Stage: outside the loop. In: what this kernel remembers; out: records. Nothing is stored unless
`save_results` is called, nothing is sent anywhere. Left out: proof that a file is true; it is the
reader's own word.
"""

from __future__ import annotations

import importlib.metadata
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from workbench.checks import memory
from workbench.checks.comparing import shown
from workbench.checks.questions import QUESTIONS, Question, find

if TYPE_CHECKING:
    import pandas

SCHEMA = 1
"""Version of the file's layout; a file with another number is named and left out."""
MAX_POINTS = 100
"""More than any question is worth: a file that says more is not believed."""
Status = Literal["solved", "wrong", "not attempted", "guessed"]
"""How a question can stand."""


@dataclass(frozen=True)
class QuestionResult:
    """How one question stands."""

    title: str
    """What was asked, in one line; "" if no notebook of the workbench has this question."""
    points: float
    """What a right answer is worth."""
    status: Status
    """"solved" if any attempt was right; a prediction is guessed or not attempted."""
    attempts: int
    """How often it was checked, stubs not counted."""
    hints_used: int
    """How many hints were asked for."""
    guess: Any = None
    """What was predicted."""
    truth: Any = None
    """What came out."""


class Results(dict[str, QuestionResult]):
    """Results by question; printed as a table."""

    def earned(self) -> float:
        """Points of the solved exercises."""
        return sum(one.points for one in self.values() if one.status == "solved")

    def __repr__(self) -> str:
        rows = [("", "status", "pts", "tries", "hints", "guess", "truth", "question")]
        for question, one in self.items():
            numbers = (one.points, one.attempts, one.hints_used)
            rows.append(
                (question, one.status)
                + tuple(f"{number:g}" if number else "" for number in numbers)
                + (_short(one.guess), _short(one.truth), one.title)
            )
        columns = [column for column in zip(*rows) if any(column[1:])]
        widths = [max(map(len, column)) for column in columns]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns)]
        possible = sum(one.points for one in self.values())
        return "\n".join([*lines, f"points: {self.earned():g} of {possible:g}"])


def results(notebook: str | None = None) -> Results:
    """How every question stands of one notebook ("00"), or of all that were begun here."""
    touched = {q for d in (memory.said, memory.guesses, memory.hints_used) for q in d}
    begun = {question.split("-")[0] for question in touched} if notebook is None else {notebook}
    known = [one.id for one in QUESTIONS if one.notebook in begun]
    others = sorted(q for q in touched - set(known) if q.split("-")[0] in begun)
    return Results({question: _result(question) for question in known + others})


def save_results(path: str | Path = "results.json", name: str = "") -> None:
    """Write `results()` to a small JSON file for a teacher, with a name if the reader gives one."""
    found = {question: vars(one) for question, one in results().items()}
    values = {
        "schema": SCHEMA,
        "workbench": _version(),
        "name": name,
        "results": {
            question: {key: _storable(value) for key, value in one.items()}
            for question, one in found.items()
        },
    }
    text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
    # made whole before the file is opened: what is there already is not lost to an error
    Path(path).write_bytes(text.encode("utf-8", "backslashreplace"))
    print(f"{len(values['results'])} questions written to {path}.")


def collect(folder: str | Path) -> pandas.DataFrame:
    """A row for each file of `save_results` in `folder` (at any depth) and question.

    Columns: file, name, workbench, question, and the fields of `QuestionResult`. A file that
    cannot be read is printed with the reason, listed in `.attrs["left_out"]`, and left out. What
    lies in a folder with a dot before its name (.ipynb_checkpoints) is no submission.

    Raises:
        ValueError: if there is no such folder.
    """
    import pandas  # half a second that only teachers need

    if not Path(folder).is_dir():
        raise ValueError(f"{folder}: expected a folder of results; there is none")
    rows, left_out = [], {}
    for path in sorted(Path(folder).rglob("*.json")):
        file = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in file.split("/")):
            continue
        try:
            rows += [{"file": file, **row} for row in _rows(path)]
        except (OSError, ValueError) as error:
            left_out[file] = str(error)
            print(f"left out {file}: {error}")
    names = ["file", "name", "workbench", "question", *(f.name for f in fields(QuestionResult))]
    table = pandas.DataFrame(rows, columns=names)
    table.attrs["left_out"] = left_out
    return table


def _result(question: str) -> QuestionResult:
    known = find(question) or Question(question, "", "")
    attempts = memory.attempts.get(question, 0)
    if question in memory.once_solved:
        status = "solved"
    elif attempts:
        status = "wrong"
    else:
        status = "guessed" if question in memory.guesses else "not attempted"
    return QuestionResult(
        known.title,
        known.points,
        status,
        attempts,
        memory.hints_used.get(question, 0),
        memory.guesses.get(question),
        memory.truths.get(question),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows of one file. Raises ValueError saying what is wrong with it."""
    try:
        values = json.loads(path.read_text("utf-8-sig"))
        # half a character ("\\ud800") could be neither printed nor written: "?" in its place
        text = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
        values = json.loads(text)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})")
    schema = values.get("schema") if isinstance(values, dict) else type(values).__name__
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"expected results of schema {SCHEMA}, got {schema!r}")
    found = values.get("results")
    if not isinstance(found, dict):
        raise ValueError("expected an object `results`")
    for question, one in found.items():
        if wrong := _what_is_wrong(one):
            raise ValueError(f"{question}: {wrong}")
    who = {key: str(values.get(key, "")) for key in ("name", "workbench")}
    return [{**who, "question": question, **one} for question, one in found.items()]


def _what_is_wrong(one: Any) -> str:
    """What is wrong with the stored result of a question; "" if nothing is."""
    names = {field.name for field in fields(QuestionResult)}
    if not isinstance(one, dict) or set(one) != names:
        return f"expected the fields {sorted(names)}"
    if not isinstance(one["title"], str):
        return f"expected a text as title, got {one['title']!r:.60}"
    if one["status"] not in (known := get_args(Status)):
        return f"expected one of {known} as status, got {one['status']!r:.60}"
    points = one["points"]
    if type(points) not in (int, float) or not 0 <= points <= MAX_POINTS:
        return f"expected 0 to {MAX_POINTS} as points, got {points!r:.60}"
    for name in ("attempts", "hints_used"):
        if type(one[name]) is not int or one[name] < 0:
            return f"expected a count as {name}, got {one[name]!r:.60}"
    return ""


def _storable(value: Any) -> Any:
    """The value if it is JSON, else its text."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return shown(value)
    return value


def _version() -> str:
    try:
        return importlib.metadata.version("rl-workbench")
    except importlib.metadata.PackageNotFoundError:  # run from a clone that was not installed
        return "not installed"


def _short(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.3g}" if isinstance(value, float) else shown(value)
    if isinstance(value, str):
        text = value.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= 20 else text[:17] + "..."
