"""docs/doctor.md lists the checks and the mask patterns as the code has them."""

import re
from pathlib import Path

from workbench.diagnostics import CHECKS, PATTERNS, machine, thresholds

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "doctor.md").read_text("utf-8")


def row(one):
    """A check as the page lists it."""
    on = ", ".join(one.on)
    return f"| `{one.name}` | {one.severity} | {on} | {one.finds} | {one.why} | {one.change} |"


def test_the_table_of_checks_is_the_code_s():
    rows = [row(one) for one in (*CHECKS, *machine.CHECKS)]
    listed = [line for line in PAGE.splitlines() if re.match(r"\| `[\w-]+` \| (error|warn)", line)]
    assert listed == rows


def test_every_pattern_of_masks_is_listed():
    rows = [f"| {name} | {meaning} |" for name, meaning in PATTERNS.items()]
    assert [line for line in PAGE.splitlines() if line in rows] == rows


def test_every_planted_fault_is_a_test():
    """The page names a test a check; it exists, and it names the check."""
    planted = re.findall(r"^- `([\w-]+)`: (test_\w+\.py)", PAGE, re.MULTILINE)
    assert {name for name, _ in planted} == {one.name for one in (*CHECKS, *machine.CHECKS)}
    for name, file in planted:
        text = (TOP / "tests" / "diagnostics" / file).read_text("utf-8")
        assert f'"{name}"' in text, f"{file} does not name {name}"


def test_every_threshold_says_where_it_comes_from():
    source = Path(thresholds.__file__).read_text("utf-8")
    for name in (n for n in vars(thresholds) if n.isupper()):
        assert re.search(rf'^{name} = [^\n]+\n"""', source, re.MULTILINE), name


def test_what_the_page_imports_is_there():
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        lines = [line for line in block.splitlines() if re.match(r"from \w|import \w", line)]
        assert lines
        exec("\n".join(lines), {})
