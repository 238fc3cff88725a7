"""The cache moves rows between slots without losing or mixing what they hold."""

import torch

from workbench.sampler.cache import KVCache


def filled(num_rows=6, capacity=4):
    """A cache in which every key and value is its row's number."""
    cache = KVCache(
        num_layers=2, num_rows=num_rows, num_kv_heads=1, capacity=capacity, head_dim=2,
        like=torch.zeros(1),
    )  # fmt: skip
    for layer in cache.layers:
        layer += torch.arange(num_rows)[:, None, None, None]
    cache.lengths = [capacity] * num_rows
    return cache


def held(cache, layer=0):
    """Number held by each slot, checked to be one number throughout."""
    firsts = cache.layers[layer][0, :, 0, 0, 0]
    assert (cache.layers[layer] == firsts[:, None, None, None]).all()
    return firsts.int().tolist()


def test_rows_brought_to_front_keep_their_contents():
    cache = filled()
    for rows in ([5, 1], [0, 3, 4], [2], [5, 4, 3, 2, 1, 0]):
        cache.bring_to_front(rows)
        assert set(cache.row_of_slot[: len(rows)]) == set(rows)
        assert held(cache, 0) == held(cache, 1) == cache.row_of_slot
        assert [cache.slot_of_row[row] for row in cache.row_of_slot] == list(range(6))


def test_rows_already_in_front_are_not_moved():
    cache = filled()
    cache.bring_to_front([2, 0, 1])
    assert cache.row_of_slot == [0, 1, 2, 3, 4, 5]


def test_a_taken_cache_is_a_copy_of_the_rows_asked_for():
    cache = filled()
    cache.bring_to_front([5, 1])
    taken = cache.take([1, 1, 4])
    assert held(taken) == [1, 1, 4]
    taken.layers[0].zero_()
    assert held(cache) == cache.row_of_slot


def test_write_index_addresses_keys_then_values_head_by_head():
    cache = KVCache(
        num_layers=1, num_rows=3, num_kv_heads=2, capacity=5, head_dim=1, like=torch.zeros(1)
    )
    index = cache.write_index(torch.tensor([1]), torch.tensor([4]))
    cache.layers[0].view(-1, 1)[index] = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    assert cache.layers[0][:, 1, :, 4, 0].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert cache.layers[0].count_nonzero() == 4
