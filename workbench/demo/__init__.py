"""Two runs to watch: the headline, and a policy that is allowed to cheat.

Stage: the whole loop, headless. In: a seed; out: a run folder with figures and results.json.
"""

from workbench.demo.cheating import cheat
from workbench.demo.headline import demo

__all__ = ["cheat", "demo"]
