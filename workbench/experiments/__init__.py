"""Experiments: what is better, and how sure is that? Arms and seeds, compared fairly."""

from workbench.experiments.comparison import Comparison, compare
from workbench.experiments.jobs import Arm, ComparisonProgress

__all__ = ["Arm", "Comparison", "ComparisonProgress", "compare"]
