import pytest

from spans import Calendar, Conflict, Interval

NINE, TEN, ELEVEN = 540, 600, 660


@pytest.fixture
def room():
    calendar = Calendar()
    calendar.book("stand-up", NINE, NINE + 15)
    return calendar


def test_who_is_in_the_room(room):
    assert room.at(NINE + 14) == "stand-up" and room.at(NINE + 15) is None


def test_overlapping_bookings_are_refused(room):
    with pytest.raises(Conflict, match="'planning' overlaps 'stand-up'"):
        room.book("planning", NINE + 5, TEN)
    assert room.at(TEN - 1) is None


def test_a_cancelled_booking_makes_room(room):
    room.cancel("stand-up")
    room.book("planning", NINE, TEN)
    assert room.busy() == [Interval(NINE, TEN)]


def test_free_slots_lie_around_the_bookings(room):
    room.book("review", TEN, ELEVEN)
    assert room.free_slots(NINE, 720, minutes=30) == [
        Interval(NINE + 15, TEN),
        Interval(ELEVEN, 720),
    ]


def test_the_review_can_follow_the_stand_up():
    room = Calendar()
    room.book("stand-up", NINE, TEN)
    room.book("review", TEN, ELEVEN)
    assert room.at(TEN) == "review"
