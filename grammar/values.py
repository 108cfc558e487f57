"""Values of the language as plain, hashable Python values, as the reference evaluator and traces use them.

========================  ===========================================================
type                      value
========================  ===========================================================
``bool``, integers        ``bool``, ``int``
element of a set param    ``Atom``
``T?``                    ``None`` for ``none``, ``Some(v)`` otherwise
enum                      ``VariantValue``
record                    ``RecordValue``
``set``                   ``frozenset``
``map``, total or partial ``FrozenMap`` from key to value
``bag``                   ``FrozenMap`` from element to multiplicity (at least 1)
``seq``                   ``tuple``
========================  ===========================================================
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import reduce
from operator import xor
from typing import Any, NamedTuple

Value = Hashable


class Atom(NamedTuple):
    """An element of a set parameter; ``index`` is its position in the declaration."""

    sort: str
    index: int  # type: ignore[assignment]  # a tuple has a method of this name, which nobody calls on an element
    name: str


class Some(NamedTuple):
    """A present optional value."""

    value: Value


class VariantValue(NamedTuple):
    """A value of an enum: the variant's name and its payload in the order of the fields."""

    variant: str
    payload: tuple[Value, ...]


class RecordValue(NamedTuple):
    """A value of a record: its fields in order."""

    fields: tuple[Value, ...]


_EMPTY = 0x3C6EF372
"""The hash of a map without entries."""


class FrozenMap(dict[Any, Any]):
    """A dictionary that never changes after it was made, and can therefore be hashed.

    Its hash is the exclusive or of the hashes of its entries. So the hash of a copy with one other entry takes constant
    time. With a sum instead, maps with two values exchanged often had one hash, because the hash of a pair is nearly a
    sum itself.
    """

    __slots__ = ("_hash",)
    _hash: int

    def __hash__(self) -> int:  # type: ignore[override]
        try:
            return self._hash
        except AttributeError:
            self._hash = reduce(xor, map(hash, self.items()), _EMPTY)
            return self._hash

    def __reduce__(self) -> tuple[type[FrozenMap], tuple[dict[Any, Any]]]:
        """Pickled without the hash: another process may hash the same strings differently."""
        return FrozenMap, (dict(self),)

    def changed(self, key: Value, value: Value) -> FrozenMap:
        """A copy that maps ``key`` to ``value``."""
        copy = FrozenMap(self)
        dict.__setitem__(copy, key, value)
        try:
            known = self._hash
        except AttributeError:
            return copy
        copy._hash = known ^ hash((key, value)) ^ (hash((key, self[key])) if key in self else 0)
        return copy

    def without(self, key: Value) -> FrozenMap:
        """A copy that lacks ``key``."""
        return FrozenMap((k, v) for k, v in self.items() if k != key)


def sort_key(value: Value) -> Any:
    """A key that orders values of one type: booleans, integers, elements by position, the rest lexicographically."""
    match value:
        case None:
            return ()
        case Atom(_, index, _):
            return index
        case Some(inner):
            return (sort_key(inner),)
        case VariantValue(variant, payload):
            return (variant, tuple(map(sort_key, payload)))
        case RecordValue(fields):
            return tuple(map(sort_key, fields))
        case frozenset():
            return (len(value), sorted(map(sort_key, value)))
        case FrozenMap():
            return (len(value), sorted((sort_key(k), sort_key(v)) for k, v in value.items()))
        case tuple():
            return (len(value), tuple(map(sort_key, value)))
        case _:
            return value
