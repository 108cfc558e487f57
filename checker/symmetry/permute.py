"""Values under a permutation of the elements of set parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from assay.checker.symmetry_group import Permutation
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue


def permuted(value: Value, type_: t.Type, by: Permutation) -> Value:
    """The value with every element replaced by its image."""
    known: Any = value
    match kind(type_):
        case t.BoolType() | t.IntType() | t.RangeType():
            return value
        case t.AtomType(sort):
            return _element(known, sort, by)
        case t.EnumType(_, variants):
            fields = next(variant.fields for variant in variants if variant.name == known.variant)
            return VariantValue(known.variant, _each(known.payload, [field.type for field in fields], by))
        case t.RecordType(_, record_fields):
            return RecordValue(_each(known.fields, [field.type for field in record_fields], by))
        case t.OptionType(item):
            return None if known is None else Some(permuted(known.value, item, by))
        case t.SetType(item):
            return frozenset(permuted(x, item, by) for x in known)
        case t.SeqType(item):
            return tuple(permuted(x, item, by) for x in known)
        case t.BagType(item):
            return FrozenMap((permuted(x, item, by), n) for x, n in known.items())
        case t.MapType(key, image):
            return FrozenMap((permuted(k, key, by), permuted(v, image, by)) for k, v in known.items())
        case other:
            assert_never(other)


def _element(atom: Atom, sort: t.Sort, by: Permutation) -> Atom:
    if sort.name not in by:
        return atom
    to = by[sort.name][atom.index]
    return Atom(sort.name, to, sort.elements[to])


def _each(values: Iterable[Value], types: Iterable[t.Type], by: Permutation) -> tuple[Value, ...]:
    return tuple(permuted(value, type_, by) for value, type_ in zip(values, types, strict=True))
