"""Whether values of a type can contain elements of some set parameter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind


def mentions(type_: t.Type, sorts: Iterable[str]) -> bool:
    """Whether values of the type can contain elements of one of these set parameters."""
    names = frozenset(sorts)

    def inside(part: t.Type) -> bool:
        match kind(part):
            case t.BoolType() | t.IntType() | t.RangeType():
                return False
            case t.AtomType(sort):
                return sort.name in names
            case t.EnumType(_, variants):
                return any(inside(field.type) for variant in variants for field in variant.fields)
            case t.RecordType(_, fields):
                return any(inside(field.type) for field in fields)
            case t.OptionType(item) | t.SetType(item) | t.SeqType(item) | t.BagType(item):
                return inside(item)
            case t.MapType(key, value):
                return inside(key) or inside(value)
            case other:
                assert_never(other)

    return inside(type_)
