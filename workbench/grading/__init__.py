"""From programs to verdicts and evidence. Expected values stay in this process.

Stage: grading. Tasks and workspaces in; `Verdict` and `Evidence` out.
"""

from workbench.grading.collectors import COLLECTORS, collect, store_collected
from workbench.grading.compare import (
    close_output,
    close_value,
    equal_value,
    matches,
    same_output,
    same_value,
)
from workbench.grading.evidence import collect_evidence
from workbench.grading.images import is_in_image
from workbench.grading.verdicts import (
    GRADER,
    final_judgement,
    final_verdict,
    grade,
    grade_many,
    judge,
    outcomes_as_left,
    verdict_mode,
)

__all__ = [
    "COLLECTORS",
    "GRADER",
    "close_output",
    "close_value",
    "collect",
    "collect_evidence",
    "equal_value",
    "final_judgement",
    "final_verdict",
    "grade",
    "grade_many",
    "is_in_image",
    "judge",
    "matches",
    "outcomes_as_left",
    "same_output",
    "same_value",
    "store_collected",
    "verdict_mode",
]
