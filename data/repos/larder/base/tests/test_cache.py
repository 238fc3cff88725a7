import pytest

from larder import Cache, ManualClock


def test_what_was_put_can_be_got():
    cache = Cache(size=2)
    cache.put("a", 1)
    assert cache.get("a") == 1 and cache.get("b", "none") == "none"
    assert "a" in cache and "b" not in cache and len(cache) == 1


def test_a_full_cache_drops_what_was_used_least_recently():
    cache = Cache(size=2)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert "b" not in cache and cache.get("a") == 1 and cache.get("c") == 3


def test_entries_expire():
    clock = ManualClock()
    cache = Cache(size=2, ttl=10, clock=clock)
    cache.put("a", 1)
    clock.advance(9)
    assert cache.get("a") == 1
    clock.advance(1)
    assert cache.get("a") is None and len(cache) == 0


def test_a_cache_has_room_for_something():
    with pytest.raises(ValueError):
        Cache(size=0)
