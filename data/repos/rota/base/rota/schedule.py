"""The runs of one job."""

from datetime import timedelta, timezone

from rota.clock import aware, day_of, moment


def next_run(job, after):
    """The first moment after `after` at which a job is due, in UTC."""
    after = aware(after).astimezone(timezone.utc)
    run = moment(day_of(after, job.zone), job.at, job.zone)
    while run <= after or not job.is_due_on(day_of(run, job.zone)):
        run += timedelta(days=1)
    return run


def runs_between(job, start, end):
    """The moments after `start` and not after `end` at which a job is due, in order."""
    found = []
    run = next_run(job, start)
    while run <= aware(end):
        found.append(run)
        run = next_run(job, run)
    return found
