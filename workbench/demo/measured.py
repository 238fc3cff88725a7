"""One row of the table: a policy on tasks never seen, sampled and greedy.

Stage: evaluation. In: a policy and tasks; out: two evaluations, as JSON and as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.evaluation import Evaluation, evaluate

NAMES = {"base": "base", "rft": "rejection fine-tuning", "rl": "RL"}


@dataclass(frozen=True)
class Measured:
    """One row of the table: a policy on the test tasks."""

    sampled: Evaluation
    """At temperature 1."""
    greedy: Evaluation
    """Always the likeliest token."""

    def row(self) -> dict[str, Any]:
        """As stored in results.json."""
        found = {"policy_version": self.sampled.policy_version}
        for name, evaluation in (("sampled", self.sampled), ("greedy", self.greedy)):
            found[name] = vars(evaluation.solve_rate) | {
                "num_tasks": len(evaluation.results),
                "submit_share": evaluation.submit_share,
                "malformed_share": evaluation.malformed_share,
                "edited_tests_share": evaluation.edited_tests_share,
                "mean_turns": evaluation.mean_turns,
            }
        return found


def measure(policy, tasks, sandbox, seed: int) -> Measured:
    """The policy on the tasks, sampled and greedy."""
    return Measured(
        evaluate(policy, tasks, sandbox, seed=seed),
        evaluate(policy, tasks, sandbox, seed=seed, greedy=True),
    )


def table(results: dict[str, Any]) -> str:
    """The results as text: a row a stage, 95 % intervals at temperature 1, greedy beside it."""
    lines = [f"{'':<24}{'temperature 1':<24}greedy"]
    for stage, name in NAMES.items():
        if stage in results:
            cells = [_cell(results[stage][how]) for how in ("sampled", "greedy")]
            lines.append(f"{name:<24}{cells[0]:<24}{cells[1]}")
    return "\n".join(lines)


def _cell(row: dict[str, Any]) -> str:
    estimate, low, high = (100 * row[name] for name in ("estimate", "low", "high"))
    return f"{estimate:.1f} % [{low:.1f}, {high:.1f}]"


