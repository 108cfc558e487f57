"""Parts of a level: which owners of states a part has."""

from __future__ import annotations

from itertools import product

from assay.spark.storage.manifest import LevelPart


def test_a_part_is_within_a_range_that_shares_an_owner_with_it() -> None:
    for begin, end, first, last in product(range(5), repeat=4):
        if begin < end and first < last:
            part = LevelPart("a", first_owner=begin, last_owner=end, count=1)
            assert part.within(first, last) == bool(set(range(begin, end)) & set(range(first, last)))


def test_a_part_without_states_is_within_nothing() -> None:
    assert not LevelPart("a", first_owner=0, last_owner=4, count=0).within(0, 4)
