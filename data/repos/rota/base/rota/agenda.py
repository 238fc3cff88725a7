"""The runs of several jobs, for people."""

from rota.schedule import runs_between


def agenda(jobs, start, end):
    """Lines "DATE TIME ZONE NAME" of all runs, in order; the time is that of the job's zone.

    Jobs that are due at the same moment stay in the order in which they were given.
    """
    runs = [(run, job) for job in jobs for run in runs_between(job, start, end)]
    runs.sort(key=lambda pair: pair[0])
    return [f"{run.astimezone(job.zone):%Y-%m-%d %H:%M %Z} {job.name}" for run, job in runs]
