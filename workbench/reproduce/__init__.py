"""Every published figure, measured again: one module a claim, `measure(order)` in each.

Stage: around the loop. In: a claim's name; out: a printed table and a JSON file that says on what
machine, with which policy, seeds and versions it was made. `claims` says what each one shows and
what it does not; `jobs` runs seeds in processes of one thread and never runs a finished one
again. Left out: figures about speed (`benchmarks/`).
"""

from workbench.reproduce.claims import CLAIMS, Claim, Order, listing, reproduce

__all__ = ["CLAIMS", "Claim", "Order", "listing", "reproduce"]
