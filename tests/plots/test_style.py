"""What every figure has in common."""

import io
from types import SimpleNamespace

import pytest

from workbench import plots
from workbench.stats import wilson

NAME = "$\\frac$"
SEEDS = [[0.1] * 6] * 2


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: plots.reliability_diagram(
            {NAME: [SimpleNamespace(num_turns=3, predicted=0.2, observed=0.3)]}
        ),
        lambda: plots.choosing_curve({NAME: [0.2, 0.4]}, (1, 4)),
        lambda: plots.compared_curves({NAME: {NAME: SEEDS}}),
        lambda: plots.paid_and_true({NAME: {"paid": SEEDS, "solved": SEEDS}}),
        lambda: plots.pass_at_k_curve({"base": {1: wilson(1, 3)}, NAME: {1: wilson(1, 3)}}),
    ],
)
def test_a_name_is_no_formula(drawn):
    drawn().savefig(io.BytesIO())  # what draws titles and legends complained about the formula
