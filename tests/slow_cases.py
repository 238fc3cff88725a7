"""Which cases of a parametrised test the fast suite leaves out; the slow suite runs them all."""

import pytest


def slow(names, cases):
    """The cases in their order, those that are in `names` marked slow.

    Raises ValueError where a name is no case: it has been renamed, and is slow no more.
    """
    if unknown := set(names) - set(cases):
        raise ValueError(f"expected names of {list(cases)}, got {sorted(unknown)}")
    return [pytest.param(one, marks=pytest.mark.slow) if one in names else one for one in cases]
