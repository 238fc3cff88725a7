"""Rewards put to the test: solutions of which everything is known, and what a design pays them.

Stage: beside the loop, before anybody trains. Left out: attacks that a model finds by itself.
"""

from workbench.audit.known_solutions import KINDS, kind_of, known_groups, what_it_pays
from workbench.audit.security import func_sec, security_designs

__all__ = [
    "KINDS",
    "func_sec",
    "kind_of",
    "known_groups",
    "security_designs",
    "what_it_pays",
]
