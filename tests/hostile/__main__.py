"""`python -m tests.hostile [backend ...]`: the table of what hostile programs achieve here."""

from __future__ import annotations

import sys

from tests.hostile import arena, trial

if __name__ == "__main__":
    if why := arena.why_not():
        sys.exit(f"no arena, so no hostile program is run: {why}")
    print(trial.report(sys.argv[1:] or trial.BACKENDS))
