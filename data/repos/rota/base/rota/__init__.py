"""When jobs are due."""

from rota.agenda import agenda
from rota.job import Job
from rota.schedule import next_run, runs_between

__all__ = ["Job", "agenda", "next_run", "runs_between"]
