"""Parts of a level: which owners of states a part has."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from assay.checker.explicit.checkpoint import Saved
from assay.spark.storage.filesystem import Storage
from assay.spark.storage.manifest import LevelPart, Manifest, newest


def test_a_part_is_within_a_range_that_shares_an_owner_with_it() -> None:
    for begin, end, first, last in product(range(5), repeat=4):
        if begin < end and first < last:
            part = LevelPart("a", first_owner=begin, last_owner=end, count=1)
            assert part.within(first, last) == bool(set(range(begin, end)) & set(range(first, last)))


def test_a_part_without_states_is_within_nothing() -> None:
    assert not LevelPart("a", first_owner=0, last_owner=4, count=0).within(0, 4)


def test_a_damaged_manifest_leaves_the_one_before_it(tmp_path: Path) -> None:
    storage = Storage(str(tmp_path))
    saved = Saved((1,), 0, 0, 0, 5, "prints", "auto", 0.0, 0.0, (), {})
    first, second = (Manifest("00", "program", levels, saved) for levels in (((),), ((), ())))
    storage.write(first.name, first.pack())
    assert newest(storage) == first
    storage.write(second.name, second.pack())
    assert newest(storage) == second
    for damaged in (second.pack()[:-9], b"null", b"5", b'"text"', b"[]", b"{}"):
        storage.write(second.name, damaged)
        assert newest(storage) == first
