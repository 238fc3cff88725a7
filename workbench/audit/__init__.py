"""Rewards and tasks put to the test with solutions of which everything is known.

Stage: beside the loop, before anybody trains. Left out: attacks that a model finds by itself.
"""

from workbench.audit.known_solutions import KINDS, kind_of, known_groups, what_it_pays
from workbench.audit.repositories import (
    RepositoryCheck,
    check_repository,
    repository_attacks,
)
from workbench.audit.security import func_sec, security_designs

__all__ = [
    "KINDS",
    "RepositoryCheck",
    "check_repository",
    "func_sec",
    "kind_of",
    "known_groups",
    "repository_attacks",
    "security_designs",
    "what_it_pays",
]
