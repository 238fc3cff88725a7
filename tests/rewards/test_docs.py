"""docs/rewards.md: its table holds every component as it is, its snippets run, its numbers hold."""

import inspect
import re
from pathlib import Path

import pytest

from workbench import rewards
from workbench.rewards import RewardDesign
from workbench.rewards.components import is_maker
from workbench.rewards.presets import VALUES
from workbench.rewards.rubrics import BLOCKERS, ITEMS
from workbench.rewards.rules import COLUMNS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "rewards.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def rows_under(head):
    """The cells of the table whose first line begins with `head`."""
    lines = PAGE[PAGE.index(f"| {head} |") :].splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:end]]


def components():
    """Name -> how it is written, of what `workbench.rewards` offers."""
    found = {}
    for name in rewards.__all__:
        thing = getattr(rewards, name)
        if not inspect.isfunction(thing):
            continue
        parameters = list(inspect.signature(thing).parameters.values())
        if is_maker(thing):
            bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
            found[name] = name + str(inspect.Signature(bare))
        elif [p.name for p in parameters] == ["trajectory", "task"]:
            found[name] = name
    return found


def test_the_table_holds_every_component_and_no_other():
    rows = rows_under("component")
    assert sorted(row[0].strip("`") for row in rows) == sorted(components().values())
    assert all(len(row) == 6 and all(row[:5]) for row in rows)


def test_the_table_of_columns_holds_every_column():
    named = {name for row in rows_under("column") for name in re.findall(r"`(\w+)`", row[0])}
    assert named == set(COLUMNS)


def test_presets_and_the_rubric_have_the_values_that_are_in_the_code():
    (row,) = (row for row in rows_under("system") if "`coderl`" in row[0])
    assert [float(cell.replace("−", "-")) for cell in row[1:]] == list(VALUES.values())
    for name, (_, weight) in (BLOCKERS | ITEMS).items():
        assert f"`{name}` {weight:g}" in PAGE.replace("\n", " ")


@pytest.mark.parametrize("row", rows_under("`tests`, `style` return"), ids=lambda row: row[0])
def test_the_worked_numbers_of_the_rules_hold(row):
    tests, style = (None if cell == "None" else float(cell) for cell in row[0].split(", "))
    weights = {"tests": (lambda *_: tests, 1.0), "style": (lambda *_: style, 0.2)}
    added = RewardDesign(**weights)
    shown = row[4].partition(";")[0]
    for design, cell in (
        (added, row[1]),
        (added.gate("style", needs="tests"), row[2]),
        (added.blockers("tests"), row[3]),
        (added.normalised(), shown),
    ):
        total = design.breakdown([tests, style]).total
        assert total == pytest.approx(eval(cell)), cell
    if "optional" in row[4]:
        optional = RewardDesign(optional=("style",), **weights).normalised()
        assert optional.breakdown([tests, style]).total == float(row[4].split(": ")[1])


@pytest.mark.slow
def test_its_snippets_run_in_order(capsys):
    names = {"__name__": "docs"}
    for snippet in SNIPPETS:
        exec(compile(snippet, "docs/rewards.md", "exec"), names)
    assert names["breakdown"].total in (0.0, 1.0)
    assert "short_messages" in repr(names["mine"])
    assert "design = RewardDesign(" in capsys.readouterr().out
