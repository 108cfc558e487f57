"""Dictionaries and sets by identity: they hold their keys, so that no identity in them is used again."""

from __future__ import annotations

import pickle
from weakref import ref

import pytest

from assay.grammar.identity_memo import IdentityMemo, IdentitySet, IdentitySetMemo, IdentityTupleMemo


class Thing:
    """Equal to every other thing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    def __hash__(self) -> int:
        return 0


def test_equal_objects_are_different_keys() -> None:
    one, other = Thing(), Thing()
    memo = IdentityMemo([(one, 1)])
    assert one in memo
    assert other not in memo
    assert memo.get(other, 2) == 2
    memo[other] = 3
    assert list(memo.items()) == [(one, 1), (other, 3)]
    assert [member is one for member in IdentitySet([one, other, one])] == [True, False]


def test_keys_live_as_long_as_their_entries() -> None:
    memo, members = IdentityMemo[Thing, int](), IdentitySet[Thing]()
    tuples, sets = IdentityTupleMemo[int](), IdentitySetMemo[int]()
    things = [Thing() for _ in range(4)]
    memo[things[0]] = 1
    members.add(things[1])
    tuples.put((things[2],), "v", 1)
    sets.put([things[3]], "v", 1)
    alive = [ref(each) for each in things]
    things.clear()
    assert all(each() is not None for each in alive)
    del memo, members, tuples, sets
    assert all(each() is None for each in alive)


def test_a_value_is_made_once_even_if_it_is_none() -> None:
    made: list[Thing] = []
    memo = IdentityMemo[Thing, None]()
    thing = Thing()
    for _ in range(2):
        assert memo.get_or_make(thing, made.append) is None
    assert len(made) == 1


def test_a_full_memo_is_emptied() -> None:
    memo = IdentityMemo[Thing, int](limit=2)
    tuples = IdentityTupleMemo[int](limit=2)
    things = [Thing() for _ in range(3)]
    for at, each in enumerate(things):
        memo[each] = at
        memo[each] = at
        tuples.put((each,), None, at)
    assert list(memo.values()) == list(tuples.values()) == [2]


def test_tuples_are_compared_in_order_and_sets_are_not() -> None:
    one, other = Thing(), Thing()
    tuples, sets = IdentityTupleMemo[int](), IdentitySetMemo[int]()
    tuples.put((one, other), "v", 1)
    sets.put((one, other), "v", 1)
    assert tuples.get((one, other), "v") == 1
    assert tuples.get((other, one), "v") is None
    assert tuples.get((one, other), "w") is None
    assert sets.get([other, one, one], "v") == 1
    assert sets.get([one], "v") is None


def test_a_key_that_was_removed_is_not_there() -> None:
    one = Thing()
    memo, tuples = IdentityMemo([(one, 1)]), IdentityTupleMemo[int]()
    tuples.put((one,), None, 2)
    assert (memo.pop(one), tuples.pop((one,))) == (1, 2)
    assert (len(memo), len(tuples)) == (0, 0)
    with pytest.raises(KeyError):
        memo.pop(one)


def test_a_copy_that_is_made_by_pickling_knows_the_copies_of_its_keys() -> None:
    one = Thing()
    copied, memo, members = pickle.loads(pickle.dumps((one, IdentityMemo([(one, 1)], limit=3), IdentitySet([one]))))
    assert memo[copied] == 1
    assert copied in members
    assert one not in memo
