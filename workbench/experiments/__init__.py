"""Experiments: what is better, and how sure is that? Arms and seeds, compared fairly.

Stage: above learning. `comparison` says what is compared and what came of it, `jobs` runs each arm
and seed in a process of its own.
"""

from workbench.experiments.comparison import Comparison, compare
from workbench.experiments.jobs import Arm, ComparisonProgress

__all__ = ["Arm", "Comparison", "ComparisonProgress", "compare"]
