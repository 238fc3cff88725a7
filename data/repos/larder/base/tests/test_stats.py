from larder import Cache


def test_hits_misses_and_evictions_are_counted():
    cache = Cache(size=1)
    cache.put("a", 1)
    cache.get("a")
    cache.get("b")
    cache.put("c", 3)
    assert (cache.stats.hits, cache.stats.misses, cache.stats.evictions) == (1, 1, 1)
    assert cache.stats.hit_rate == 0.5


def test_two_caches_count_apart():
    first, second = Cache(size=1), Cache(size=1)
    first.get("a")
    assert second.stats.misses == 0
