"""Maps that never change: their hashes, which are known of a copy with one other entry."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from random import Random

import pytest

from assay.grammar.values import FrozenMap, Some, Value


def test_the_hash_of_a_changed_copy_is_that_of_the_same_map_made_anew() -> None:
    random, table = Random(1), FrozenMap({1: "x", 2: (3, 4)})
    for _ in range(500):
        if random.random() < 0.7:
            hash(table)
        table = table.changed(random.randrange(12), random.randrange(5))
        anew = FrozenMap(dict(reversed(table.items())))
        assert table == anew
        assert hash(table) == hash(anew)


@pytest.mark.parametrize(
    "values", [(0, 1, 2, 3), (None, Some(1), Some(2)), (False, True), (frozenset(), frozenset({1}))]
)
def test_maps_that_differ_have_hashes_that_differ(values: tuple[Value, ...]) -> None:
    """With a sum over entries two maps with exchanged values had the same hash. Only one map in fifty had a hash of its
    own.
    """
    maps = [FrozenMap(enumerate(each)) for each in product(values, repeat=6)]
    assert len({hash(each) for each in maps}) == len(maps)


def test_a_hash_is_not_taken_to_another_process() -> None:
    table = FrozenMap({"a": FrozenMap({"b": 1})})
    hash(table)
    for same in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert same == table
        assert type(same) is FrozenMap
        assert not hasattr(same, "_hash")
        assert not hasattr(same["a"], "_hash")
