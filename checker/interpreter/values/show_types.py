"""Types in the language's own notation."""

from __future__ import annotations

from typing import assert_never

from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind


def show_type(type_: t.Type) -> str:
    """The type as one would write it in a spec."""
    match kind(type_):
        case t.BoolType():
            return "bool"
        case t.IntType():
            return "int"
        case t.RangeType(low, high):
            return f"{low} .. {high}"
        case t.AtomType(sort):
            return sort.name
        # A tuple is a record without a name; this case precedes that of records, which print only their name.
        case t.RecordType("", fields):
            return f"({', '.join(show_type(field.type) for field in fields)})"
        case t.EnumType(name) | t.RecordType(name):
            return name
        case t.OptionType(item):
            return f"{show_type(item)}?"
        case t.SetType(item, capacity):
            return f"set[{show_type(item)}{_max(capacity)}]"
        case t.MapType(key, value, capacity):
            return f"map[{show_type(key)}, {show_type(value)}{_max(capacity)}]"
        case t.SeqType(item, capacity):
            return f"seq[{show_type(item)}{_max(capacity)}]"
        case t.BagType(item, capacity):
            return f"bag[{show_type(item)}{_max(capacity)}]"
        case other:
            assert_never(other)


def _max(capacity: int | None) -> str:
    return "" if capacity is None else f", max {capacity}"
