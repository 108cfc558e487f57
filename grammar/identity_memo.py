"""Dictionaries and sets whose keys are compared by identity: ``is`` and not ``==``.

The ``id`` of an object is unique only while the object lives. Each container of this file holds its keys, so that no
identity in it is used again (docs/design/identity-memos.md). No other file of the product calls ``id``, and a test
keeps it so.

Identity is for two sorts of keys. Some are slow to compare, such as nodes of the kernel, which are hashed down to their
leaves. Others may be equal and differ nevertheless, such as two events with the same fields. Copies that are made by
pickling have identities of their own, so containers are pickled as their entries.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, ValuesView
from typing import Any, Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")


class IdentityMemo(Generic[K, V]):
    """A dictionary from objects, by identity, to values.

    With a ``limit`` it is emptied before it would hold more entries than that.
    """

    __slots__ = ("_entries", "_limit")

    def __init__(self, entries: Iterable[tuple[K, V]] = (), *, limit: int | None = None) -> None:
        self._entries: dict[int, tuple[K, V]] = {id(key): (key, value) for key, value in entries}
        self._limit = limit

    @overload
    def get(self, key: K) -> V | None: ...

    @overload
    def get(self, key: K, default: D) -> V | D: ...

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key, or the default."""
        entry = self._entries.get(id(key))
        # The key itself need not be compared: the entry holds it, so no other living object has its `id`.
        return default if entry is None else entry[1]

    def get_or_make(self, key: K, make: Callable[[K], V]) -> V:
        """The value of a key, which is made of the key where there is none yet."""
        entry = self._entries.get(id(key))
        if entry is not None:
            return entry[1]
        value = make(key)
        self[key] = value
        return value

    def setdefault(self, key: K, default: V) -> V:
        """The value of a key, which is the default from now on where there was none."""
        return self._entries.setdefault(id(key), (key, default))[1]

    def pop(self, key: K) -> V:
        """Remove a key; raises ``KeyError`` if it is not there."""
        return self._entries.pop(id(key))[1]

    def __getitem__(self, key: K) -> V:
        return self._entries[id(key)][1]

    def __setitem__(self, key: K, value: V) -> None:
        entries = self._entries
        if self._limit is not None and len(entries) >= self._limit and id(key) not in entries:
            entries.clear()
        entries[id(key)] = key, value

    def __contains__(self, key: K) -> bool:
        return id(key) in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        return (key for key, _ in self._entries.values())

    def values(self) -> Iterator[V]:
        """The values, in the order in which their keys were added."""
        return (value for _, value in self._entries.values())

    def items(self) -> ValuesView[tuple[K, V]]:
        """The keys with their values, in the order in which they were added."""
        return self._entries.values()

    def __reduce__(self) -> tuple[Callable[..., IdentityMemo[K, V]], tuple[object, ...]]:
        return _memo_of, (tuple(self._entries.values()), self._limit)


def _memo_of(entries: Iterable[tuple[K, V]], limit: int | None) -> IdentityMemo[K, V]:
    return IdentityMemo(entries, limit=limit)


class IdentitySet(Generic[K]):
    """A set of objects, by identity, in the order in which they were added."""

    __slots__ = ("_members",)

    def __init__(self, members: Iterable[K] = ()) -> None:
        self._members: dict[int, K] = {id(member): member for member in members}

    def add(self, member: K) -> bool:
        """Whether an object was not there before; it is from now on."""
        members = self._members
        if id(member) in members:
            return False
        members[id(member)] = member
        return True

    def __contains__(self, member: object) -> bool:
        return id(member) in self._members

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[K]:
        return iter(self._members.values())

    def __reduce__(self) -> tuple[type[IdentitySet[K]], tuple[tuple[K, ...]]]:
        return IdentitySet, (tuple(self._members.values()),)


class IdentityTupleMemo(Generic[V]):
    """A dictionary whose keys are several objects, by identity, with a value, by equality.

    For example a rule of a trace clause is such an object, and the values of a line's fields are the value. With a
    ``limit`` the dictionary is emptied before it would hold more entries than that.
    """

    __slots__ = ("_entries", "_limit")

    def __init__(self, *, limit: int | None = None) -> None:
        self._entries: dict[tuple[Hashable, ...], tuple[Sequence[object], V]] = {}
        self._limit = limit

    @overload
    def get(self, objects: Sequence[object], value: Hashable = None) -> V | None: ...

    @overload
    def get(self, objects: Sequence[object], value: Hashable, default: D) -> V | D: ...

    def get(self, objects: Sequence[object], value: Hashable = None, default: Any = None) -> Any:
        """What is known of some objects with a value, or the default."""
        entry = self._entries.get((value, *map(id, objects)))
        return default if entry is None else entry[1]

    def put(self, objects: Sequence[object], value: Hashable, made: V) -> V:
        """Add what is known of some objects with a value, and return it. The sequence must not change any more."""
        entries = self._entries
        if self._limit is not None and len(entries) >= self._limit:
            entries.clear()
        entries[value, *map(id, objects)] = objects, made
        return made

    def setdefault(self, objects: Sequence[object], value: Hashable, default: V) -> V:
        """What is known of some objects with a value, which is the default from now on where there was nothing."""
        return self._entries.setdefault((value, *map(id, objects)), (objects, default))[1]

    def pop(self, objects: Sequence[object], value: Hashable = None) -> V:
        """Remove some objects with a value; raises ``KeyError`` if they are not there."""
        return self._entries.pop((value, *map(id, objects)))[1]

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> Iterator[V]:
        """What is known, in the order in which it was added."""
        return (made for _, made in self._entries.values())


class IdentitySetMemo(Generic[V]):
    """A dictionary whose keys are sets of objects, by identity, with a value, by equality."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[Hashable, frozenset[int]], tuple[Sequence[object], V]] = {}

    def get(self, objects: Sequence[object], value: Hashable = None) -> V | None:
        """What is known of some objects, in any order and with repetitions, with a value; None if nothing is."""
        entry = self._entries.get((value, frozenset(map(id, objects))))
        return None if entry is None else entry[1]

    def put(self, objects: Sequence[object], value: Hashable, made: V) -> V:
        """Add what is known of some objects with a value, and return it. The sequence must not change any more."""
        self._entries[value, frozenset(map(id, objects))] = objects, made
        return made
