"""The canonical order of the values of a type, used by ``pick``, quantifiers, printing and enumeration.

Booleans have ``false`` first, options ``none``. Elements of a set parameter are ordered by position, variants by
declaration. Records and payloads are ordered lexicographically. Sequences are ordered by length, then lexicographically;
sets and maps by size, then by their sorted elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any, assert_never

from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Value

Key = Callable[[Any], Any]
Sorter = Callable[[Iterable[Value]], list[Any]]


def order_key(type_: t.Type) -> Key | None:
    """A sort key for values of the type; None where Python's own order is the canonical one."""
    match kind(type_):
        case t.BoolType() | t.IntType() | t.RangeType():
            return None
        case t.AtomType():
            # An atom is (sort, position in the sort, name).
            return itemgetter(1)
        case t.EnumType(_, variants):
            return _enum_key(variants)
        case t.RecordType(_, fields):
            keys = [_total(field.type) for field in fields]
            return lambda record: [key(value) for key, value in zip(keys, record.fields, strict=True)]
        case t.OptionType(item):
            inner = _total(item)
            # Tuples, so that `none` is compared with values; the empty one is less than any other.
            return lambda option: () if option is None else (inner(option.value),)
        case t.SetType(item):
            sort = sorter(item)
            inner = _total(item)
            # Python's own `<` of sets is inclusion, which is no total order.
            return lambda items: (len(items), [inner(x) for x in sort(items)])
        case t.SeqType(item):
            inner = _total(item)
            return lambda items: (len(items), [inner(x) for x in items])
        case t.MapType(key, value):
            return _entries_key(_total(key), _total(value))
        case t.BagType(item):
            return _entries_key(_total(item), _same)
        case other:
            assert_never(other)


def sorter(type_: t.Type) -> Sorter:
    """A function that lists values of the type in canonical order."""
    key = order_key(type_)
    return lambda items: sorted(items, key=key)


def _same(value: Any) -> Any:
    return value


def _total(type_: t.Type) -> Key:
    return order_key(type_) or _same


def _enum_key(variants: tuple[t.VariantType, ...]) -> Key:
    ranks = {variant.name: rank for rank, variant in enumerate(variants)}
    keys = {variant.name: [_total(field.type) for field in variant.fields] for variant in variants}

    def of_variant(value: Any) -> Any:
        name, payload = value
        # Payloads of two variants may have other types. They are never compared: the ranks differ.
        return (ranks[name], [key(field) for key, field in zip(keys[name], payload, strict=True)])

    return of_variant


def _entries_key(key: Key, value: Key) -> Key:
    # Within a map keys differ, so they alone sort it. Values count between two maps.
    return lambda entries: (len(entries), sorted((key(k), value(v)) for k, v in entries.items()))
