"""Classes of ``lazy_dataclass`` behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from itertools import pairwise
from typing import Any

import pytest

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """With all that a field can have."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list, compare=False)
    hidden: str = field(default="h", repr=False)

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError(self.x)


@dataclass(frozen=True, slots=True)
class Place(Point):
    """Derived, with a field more."""

    z: int = 3


@dataclass(slots=True)
class Counter:
    """Not frozen."""

    count: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Equal to itself only."""

    value: int


@dataclass(frozen=True, slots=True)
class OwnMethods:
    """Equality and hash of its own."""

    value: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnMethods)

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


@dataclass(frozen=True, slots=True)
class OwnEquality:  # noqa: PLW1641 - the decorator makes it
    """Equality of its own; the hash is of the fields."""

    value: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnEquality)


def _standard(cls: Any) -> Any:
    """The class of the standard library with the same fields."""
    same = [(each.name, each.type, each) for each in fields(cls)]
    hook = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    return dataclasses.make_dataclass(cls.__qualname__, same, namespace=hook, frozen=True, slots=True)


CASES: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((1,), {}), ((1, 5), {"hidden": "x"}), ((4,), {"names": ["a"]})]


@pytest.mark.parametrize("cls", [Point, Place])
def test_objects_are_printed_compared_and_hashed_as_those_of_the_standard_library(cls: Any) -> None:
    other = _standard(cls)
    ours = [cls(*values, **named) for values, named in CASES]
    theirs = [other(*values, **named) for values, named in CASES]
    assert [repr(each) for each in ours] == [repr(each) for each in theirs]
    assert [hash(each) for each in ours] == [hash(each) for each in theirs]
    assert [a == b for a, b in pairwise(ours)] == [a == b for a, b in pairwise(theirs)]
    assert cls.__match_args__ == other.__match_args__
    assert not hasattr(ours[0], "__dict__")


def test_the_first_call_may_be_any_method() -> None:
    made: Callable[[], Any] = lambda: dataclass(frozen=True, slots=True)(type("T", (), {"__annotations__": {"a": int}}))  # noqa: E731
    for use in (repr, hash, lambda each: each == copy.copy(each), copy.copy):
        cls = made()
        assert use(cls(1)) == use(cls(1))
    assert made()(1) != made()(1)


def test_objects_of_a_derived_class_are_no_others() -> None:
    assert Place(1) != Point(1)
    assert Place(1, z=4).z == 4
    assert replace(Place(1), y=9) == Place(1, 9)


def test_a_frozen_object_cannot_be_changed() -> None:
    point: Any = Point(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x


def test_wrong_arguments_are_a_type_error() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="-1"):
        Point(-1)


@pytest.mark.parametrize("value", [Point(1, names=["a"]), Place(2, z=5), Counter(3), Node(4).value])
def test_objects_are_pickled_and_copied(value: object) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.deepcopy(value) == value


def test_what_is_not_frozen_can_be_changed_and_has_no_hash() -> None:
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


def test_methods_of_the_class_itself_stay() -> None:
    assert Node(1) != Node(1)
    assert (OwnMethods(1) == OwnMethods(2), hash(OwnMethods(1)), repr(OwnMethods(1))) == (True, 7, "own")
    assert OwnEquality(1) == OwnEquality(2)
    assert hash(OwnEquality(1)) == hash((1,))
