from datetime import datetime, time, timezone
from zoneinfo import ZoneInfo

import pytest

from rota import Job, next_run, runs_between

PARIS = ZoneInfo("Europe/Paris")


def utc(*numbers):
    return datetime(*numbers, tzinfo=timezone.utc)


def test_a_job_is_due_later_today_or_tomorrow():
    bell = Job("bell", time(8), PARIS)
    assert next_run(bell, utc(2026, 1, 5, 6, 59)) == utc(2026, 1, 5, 7)
    assert next_run(bell, utc(2026, 1, 5, 7)) == utc(2026, 1, 6, 7)


def test_other_days_of_the_week_are_passed_over():
    bell = Job("bell", time(8), PARIS, days="mon wed")
    assert next_run(bell, utc(2026, 1, 7, 12)) == utc(2026, 1, 12, 7)


def test_summer_has_another_offset():
    assert next_run(Job("bell", time(8), PARIS), utc(2026, 7, 1)) == utc(2026, 7, 1, 6)


def test_runs_follow_each_other():
    bell = Job("bell", time(8), PARIS, days="sat sun")
    assert runs_between(bell, utc(2026, 1, 3, 7), utc(2026, 1, 10, 7)) == [
        utc(2026, 1, 4, 7),
        utc(2026, 1, 10, 7),
    ]


def test_moments_in_any_zone_will_do():
    tokyo = datetime(2026, 1, 5, 15, 59, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert next_run(Job("bell", time(8), PARIS), tokyo) == utc(2026, 1, 5, 7)


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="with a time zone"):
        next_run(Job("bell", time(8), PARIS), datetime(2026, 1, 5))


@pytest.mark.parametrize("days", ["", "mo tu", "mon, tue"])
def test_days_have_names(days):
    with pytest.raises(ValueError, match="days: expected"):
        Job("bell", time(8), PARIS, days)
