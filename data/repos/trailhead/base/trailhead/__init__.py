"""The quickest way through a network of trails."""

from trailhead.network import Network
from trailhead.search import Route, quickest

__all__ = ["Network", "Route", "quickest"]
