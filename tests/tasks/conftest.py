"""Files of other projects, read where they are present; they are not part of the repository."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def human_eval_file():
    """The published HumanEval.jsonl.gz, from $WORKBENCH_DATA or a `shared/data` nearby."""
    folders = [CHECKOUT.parent / "shared" / "data", CHECKOUT / "shared" / "data"]
    if os.environ.get("WORKBENCH_DATA"):
        folders = [Path(os.environ["WORKBENCH_DATA"])]
    for folder in folders:
        if (folder / "HumanEval.jsonl.gz").is_file():
            return folder / "HumanEval.jsonl.gz"
    pytest.skip("HumanEval.jsonl.gz is not here; put its folder in WORKBENCH_DATA to run this")
