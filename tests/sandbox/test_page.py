"""docs/sandbox.md says what is so: its numbers are the code's, the tests it names are there."""

import re
from pathlib import Path

from workbench.sandbox import checking, wire

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "sandbox.md").read_text("utf-8")


def test_every_row_of_what_happens_when_names_a_test_that_is_there():
    table = PAGE.partition("## What happens when")[2].partition("\n\n`")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    texts = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    known = {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    assert len(rows) >= 15
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row.split(" | ")[-1])
        assert named and set(named) <= known, row


def test_the_limits_of_a_work_folder_are_those_of_the_code():
    assert f"{wire.BOX_MB} MiB and {wire.BOX_FILES} files" in PAGE
    said = f"more than {checking.MAX_FILES} files and folders, more\nthan 1 MiB of text"
    assert said in PAGE and wire.MAX_SOURCE_BYTES == 1 << 20
    assert f"longer than {checking.MAX_PATH_BYTES} bytes" in PAGE
