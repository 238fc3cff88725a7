from datetime import datetime, time, timezone
from zoneinfo import ZoneInfo

from rota import Job, agenda

PARIS, TOKYO = ZoneInfo("Europe/Paris"), ZoneInfo("Asia/Tokyo")


def test_runs_are_listed_in_order_with_their_own_time():
    jobs = [Job("bell", time(8), PARIS), Job("mail", time(16), TOKYO)]
    start = datetime(2026, 1, 5, tzinfo=timezone.utc)
    end = datetime(2026, 1, 6, 7, tzinfo=timezone.utc)
    assert agenda(jobs, start, end) == [
        "2026-01-05 08:00 CET bell",
        "2026-01-05 16:00 JST mail",
        "2026-01-06 08:00 CET bell",
        "2026-01-06 16:00 JST mail",
    ]


def test_nothing_is_due_in_an_empty_stretch():
    start = datetime(2026, 1, 5, 7, tzinfo=timezone.utc)
    assert agenda([Job("bell", time(8), PARIS)], start, start) == []
