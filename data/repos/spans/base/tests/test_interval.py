import pytest

from spans import Interval, merge


def test_an_interval_holds_its_start_but_not_its_end():
    morning = Interval(60, 120)
    assert morning.contains(60) and not morning.contains(120)
    assert morning.minutes == 60


def test_an_empty_interval_is_refused():
    with pytest.raises(ValueError):
        Interval(5, 5)


@pytest.mark.parametrize("other", [Interval(0, 70), Interval(70, 80), Interval(110, 200)])
def test_intervals_with_a_common_minute_overlap(other):
    assert Interval(60, 120).overlaps(other) and other.overlaps(Interval(60, 120))


def test_intervals_far_apart_do_not_overlap():
    assert not Interval(60, 120).overlaps(Interval(200, 300))


def test_merge_joins_what_overlaps():
    assert merge([Interval(50, 70), Interval(0, 10), Interval(5, 20)]) == [
        Interval(0, 20),
        Interval(50, 70),
    ]
