"""Where the controls of a design stand, and the design that follows: a pure function.

Stage: reading. In: a design, other weights and rules; out: a design of the same components, or of
some of them. Left out: other components; limits of gates and blockers, which stay as the design
has them (1 where it has none).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.rewards import Gate, RewardDesign
from workbench.rewards.rules import gate_words


@dataclass(frozen=True)
class Mix:
    """Settings of a design that controls can change."""

    weights: Mapping[str, float]
    """Component -> weight, of every component, also of those that are off."""
    off: tuple[str, ...]
    """Components that are left out. Rules that need them are void meanwhile."""
    gates: Mapping[str, tuple[Gate, ...]]
    """Component -> its gates, of every component."""
    blockers: tuple[str, ...]
    """Components that block."""
    normalised: bool
    """Whether the sum is divided by the sum of the weights."""

    @classmethod
    def of(cls, design: RewardDesign) -> Mix:
        """The settings under which `design` is as it is."""
        return cls(
            weights={c.name: c.weight for c in design.components},
            off=(),
            gates={c.name: c.gates for c in design.components},
            blockers=tuple(c.name for c in design.components if c.blocks_below is not None),
            normalised=design.is_normalised,
        )

    def design(self, base: RewardDesign) -> RewardDesign:
        """`base` under these settings.

        Raises ValueError as `RewardDesign` and its methods do: nothing is on, a gate's component
        is behind a gate itself, a negative weight in a normalised design.
        """
        on = [c for c in base.components if c.name not in self.off]
        pairs = {c.name: (c.component, self.weights[c.name]) for c in on}
        design = RewardDesign(**pairs, optional=[c.name for c in on if c.optional])
        for name in pairs:
            for gate in self.gates[name]:
                if gate.needs in pairs:
                    design = design.gate(name, needs=gate.needs, at_least=gate.at_least)
            if name in self.blockers:
                design = design.blockers(name, at_least=block_limit(base, name))
        return design.normalised() if self.normalised else design


def block_limit(base: RewardDesign, name: str) -> float:
    """What `name` must reach for the total not to be 0, should it block."""
    limit = base.component(name).blocks_below
    return 1.0 if limit is None else limit


def gate_choices(base: RewardDesign, name: str) -> list[tuple[str, tuple[Gate, ...]]]:
    """(words, gates) that the component can be under: none, each other one, and as in `base`."""
    own = base.component(name).gates
    limits = {gate.needs: gate.at_least for gate in own}
    others = [c.name for c in base.components if c.name != name]
    choices = [()] + [(Gate(other, limits.get(other, 1.0)),) for other in others]
    choices += [own] * (own not in choices)
    return [(gate_words(gates), gates) for gates in choices]
