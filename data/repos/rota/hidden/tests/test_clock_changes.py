from datetime import datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from rota import Job, agenda, next_run, runs_between

PARIS = ZoneInfo("Europe/Paris")  # 2026: forward on 29 March, back on 25 October, at 01:00 UTC
NEW_YORK = ZoneInfo("America/New_York")  # 2026: forward on 8 March, back on 1 November
AUCKLAND = ZoneInfo("Pacific/Auckland")  # 2026: back on 5 April, forward on 27 September


def utc(*numbers):
    return datetime(*numbers, tzinfo=timezone.utc)


def test_the_morning_after_the_clock_was_put_forward():
    bell = Job("bell", time(8), PARIS)
    assert next_run(bell, utc(2026, 3, 28, 7)) == utc(2026, 3, 29, 6)
    assert next_run(bell, utc(2026, 3, 29, 6)) == utc(2026, 3, 30, 6)


def test_the_morning_after_it_was_put_back():
    bell = Job("bell", time(8), PARIS)
    assert next_run(bell, utc(2026, 10, 24, 6)) == utc(2026, 10, 25, 7)
    assert next_run(bell, utc(2026, 10, 25, 7)) == utc(2026, 10, 26, 7)


def test_a_night_job_runs_once_a_day_in_every_week_of_the_year():
    night = Job("night", time(0, 30), PARIS)
    runs = runs_between(night, utc(2025, 12, 31, 12), utc(2026, 12, 31, 12))
    clocks = [run.astimezone(PARIS) for run in runs]
    assert len(clocks) == len({clock.date() for clock in clocks}) == 365
    assert {clock.time() for clock in clocks} == {time(0, 30)}


def test_over_a_weekend_too():
    bell = Job("bell", time(8), PARIS, days="mon fri")
    assert next_run(bell, utc(2026, 3, 27, 7)) == utc(2026, 3, 30, 6)
    assert next_run(bell, utc(2026, 10, 23, 6)) == utc(2026, 10, 26, 7)
    assert next_run(bell, utc(2026, 10, 23, 5)) == utc(2026, 10, 23, 6)


def test_other_zones_have_other_days():
    late = Job("late", time(23, 30), NEW_YORK, days="sat sun")
    assert next_run(late, utc(2026, 3, 8, 4, 30)) == utc(2026, 3, 9, 3, 30)
    assert next_run(late, utc(2026, 11, 1, 3, 30)) == utc(2026, 11, 2, 4, 30)
    early = Job("early", time(0, 15), AUCKLAND, days="mon")
    assert next_run(early, utc(2026, 4, 1)) == utc(2026, 4, 5, 12, 15)
    assert next_run(early, utc(2026, 9, 22)) == utc(2026, 9, 27, 11, 15)


def test_this_evening_is_not_over_where_it_is_tomorrow_in_london():
    late = Job("late", time(23, 30), NEW_YORK)
    assert next_run(late, utc(2026, 3, 7, 2)) == utc(2026, 3, 7, 4, 30)
    assert next_run(late, utc(2026, 3, 8, 2)) == utc(2026, 3, 8, 4, 30)


def test_a_time_that_the_clock_passes_twice_is_due_once():
    night = Job("night", time(2, 30), PARIS)
    runs = runs_between(night, utc(2026, 10, 24, 12), utc(2026, 10, 26, 12))
    assert runs == [utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)]
    assert next_run(night, utc(2026, 10, 25, 0, 45)) == utc(2026, 10, 26, 1, 30)


def test_a_time_that_it_jumps_over_is_due_all_the_same():
    night = Job("night", time(2, 30), PARIS)
    runs = runs_between(night, utc(2026, 3, 28, 12), utc(2026, 3, 30, 12))
    assert runs == [utc(2026, 3, 29, 1, 30), utc(2026, 3, 30, 0, 30)]


def test_the_agenda_of_the_issue():
    bell = Job("bell", time(8), PARIS)
    assert agenda([bell], utc(2026, 10, 24), utc(2026, 10, 27)) == [
        "2026-10-24 08:00 CEST bell",
        "2026-10-25 08:00 CET bell",
        "2026-10-26 08:00 CET bell",
    ]


def test_zones_without_changes_go_on_as_before():
    east = timezone(timedelta(hours=5, minutes=45))
    job = Job("job", time(5), east, days="tue")
    assert next_run(job, utc(2026, 3, 28)) == utc(2026, 3, 30, 23, 15)
    assert next_run(job, utc(2026, 3, 30, 23, 15)) == utc(2026, 4, 6, 23, 15)


def test_runs_come_out_in_utc():
    run = next_run(Job("bell", time(8), NEW_YORK), utc(2026, 3, 7, 14))
    assert run.utcoffset() == timedelta(0) and run == utc(2026, 3, 8, 12)
