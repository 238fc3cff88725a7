"""docs/architecture.md lists the settings of RL as the code has them."""

import ast
import dataclasses
import inspect
from pathlib import Path

from workbench.learning import RLConfig
from workbench.learning.config import LR_FULL, LR_LORA

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text("utf-8")


def rows():
    """A setting, its default and the first sentence under it, as the page lists them."""
    body = ast.parse(inspect.getsource(RLConfig)).body[0].body[1:]  # behind the class's docstring
    for setting, said in zip(body[::2], body[1::2], strict=True):
        default = getattr(RLConfig, setting.target.id)
        shown = getattr(default, "__name__", repr(default))
        meaning = " ".join(said.value.value.split()).split(". ")[0].removesuffix(".")
        yield f"| `{setting.target.id}` | `{shown}` | {meaning} |"


def test_the_table_of_settings_is_the_code_s():
    expected = list(rows())
    assert len(expected) == len(dataclasses.fields(RLConfig))
    (table,) = (part for part in PAGE.split("\n\n") if part.startswith("| setting | default |"))
    assert table.splitlines()[2:] == expected
    assert f"`LR_FULL` is {LR_FULL['rl']} where" in PAGE
    assert f"`LR_LORA` {LR_LORA['rl']} for" in PAGE
