import pytest

from larder import Cache, ManualClock


class Key:
    """A key that counts how often one of its kind was compared or hashed."""

    work = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        Key.work += 1
        return self.number

    def __eq__(self, other):
        Key.work += 1
        return self.number == other.number


def work_of(action):
    Key.work = 0
    action()
    return Key.work


def filled(num_entries, size=None, ttl=None, clock=None):
    cache = Cache(size or num_entries, ttl, clock or ManualClock())
    for number in range(num_entries):
        cache.put(Key(number), number)
    return cache


@pytest.mark.parametrize("ttl", [None, 100])
@pytest.mark.parametrize("number", [0, 300, 599])
def test_reading_one_entry_leaves_the_others_alone(number, ttl):
    cache = filled(600, ttl=ttl)
    assert work_of(lambda: cache.get(Key(number))) <= 30


@pytest.mark.parametrize("ttl", [None, 100])
def test_so_do_writing_and_eviction(ttl):
    cache = filled(600, ttl=ttl)
    assert work_of(lambda: cache.put(Key(300), "again")) <= 30
    assert work_of(lambda: cache.put(Key(5000), "new")) <= 30
    assert cache.stats.evictions == 1 and Key(0) not in cache


def test_reads_and_writes_of_old_entries_keep_them():
    cache = filled(4)
    cache.get(Key(0))
    cache.put(Key(1), "again")
    cache.put(Key(7), 7)
    cache.put(Key(8), 8)
    kept = [number for number in (0, 1, 2, 3, 7, 8) if Key(number) in cache]
    assert kept == [0, 1, 7, 8]


def test_that_holds_for_large_caches_too():
    cache = filled(700)
    cache.get(Key(0))
    cache.put(Key(9000), "new")
    assert Key(0) in cache and Key(1) not in cache


def test_a_read_does_not_prolong_an_entry_and_a_write_does():
    clock = ManualClock()
    cache = Cache(size=4, ttl=10, clock=clock)
    cache.put("read", 1)
    cache.put("written", 1)
    clock.advance(6)
    cache.get("read")
    cache.put("written", 2)
    clock.advance(6)
    assert "read" not in cache and cache.get("written") == 2 and len(cache) == 1


def test_an_entry_that_was_written_again_hides_no_older_one():
    clock = ManualClock()
    cache = Cache(size=4, ttl=10, clock=clock)
    cache.put("again", 1)
    cache.put("once", 1)
    clock.advance(6)
    cache.put("again", 2)
    clock.advance(6)
    assert "once" not in cache and cache.get("again") == 2 and len(cache) == 1


def test_expired_entries_make_room_before_others_are_evicted():
    clock = ManualClock()
    cache = Cache(size=2, ttl=10, clock=clock)
    cache.put("old", 1)
    clock.advance(5)
    cache.put("young", 2)
    cache.get("old")
    clock.advance(5)
    cache.put("new", 3)
    assert "young" in cache and "new" in cache and cache.stats.evictions == 0


def test_a_clock_that_jumps_empties_the_cache():
    clock = ManualClock()
    cache = filled(50, ttl=10, clock=clock)
    clock.advance(1000)
    assert len(cache) == 0 and cache.get(Key(3)) is None
    cache.put(Key(3), "back")
    assert cache.get(Key(3)) == "back" and len(cache) == 1
