import pytest

from spans import Calendar, Conflict, Interval, merge


@pytest.mark.parametrize(("first", "second"), [((0, 10), (10, 20)), ((300, 345), (345, 346))])
def test_neighbours_have_no_minute_in_common(first, second):
    assert not Interval(*first).overlaps(Interval(*second))
    assert not Interval(*second).overlaps(Interval(*first))


def test_one_common_minute_is_an_overlap():
    assert Interval(0, 11).overlaps(Interval(10, 20))


def test_an_interval_overlaps_one_inside_it_and_itself():
    assert Interval(0, 60).overlaps(Interval(20, 30))
    assert Interval(20, 30).overlaps(Interval(0, 60))
    assert Interval(0, 60).overlaps(Interval(0, 60))


def test_a_day_can_be_booked_without_gaps_in_any_order():
    room = Calendar()
    for start in (120, 0, 60, 180):
        room.book(f"at {start}", start, start + 60)
    assert [room.at(minute) for minute in (59, 60, 120)] == ["at 0", "at 60", "at 120"]


def test_a_booking_around_another_is_still_refused():
    room = Calendar()
    room.book("short", 100, 110)
    with pytest.raises(Conflict):
        room.book("long", 50, 200)
    with pytest.raises(Conflict):
        room.book("same", 100, 110)


def test_neighbours_are_one_busy_stretch():
    assert merge([Interval(10, 20), Interval(0, 10), Interval(30, 40)]) == [
        Interval(0, 20),
        Interval(30, 40),
    ]


def test_no_slot_lies_between_neighbours():
    room = Calendar()
    room.book("a", 60, 120)
    room.book("b", 120, 180)
    assert room.busy() == [Interval(60, 180)]
    assert room.free_slots(0, 240, minutes=0) == [Interval(0, 60), Interval(180, 240)]
