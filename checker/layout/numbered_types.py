"""Types whose values are numbered by arithmetic, in canonical order: sets of them are bit masks, maps of them tables."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind

MASK_LIMIT = 512
"""The widest bit mask that is computed with."""


def has_ranks(type_: t.Type, *, stored: bool = False, surely: bool = False) -> bool:
    """Whether symbols of the type can be numbered by arithmetic.

    Integers in a set or map are checked only when it is stored. Until then it may be no value of the type, and has no
    number. With ``stored`` only values of the type are meant. A sequence may be too long until it is stored. With
    ``surely`` all of these count as numbered, and callers ask whether a symbol ``surely`` is a value.
    """
    numbered = partial(has_ranks, stored=stored, surely=surely)

    def loose(type_: t.Type) -> bool:
        return isinstance(type_, t.IntType | t.RangeType) and not (stored or surely)

    match kind(type_):
        case t.BoolType() | t.RangeType() | t.AtomType():
            return True
        case t.IntType() | t.BagType():
            return False
        case t.SeqType(item, capacity):
            return (surely or stored) and capacity is not None and numbered(item)
        case t.EnumType(_, variants):
            return all(numbered(field.type) for variant in variants for field in variant.fields)
        case t.RecordType(_, fields):
            return all(numbered(field.type) for field in fields)
        case t.OptionType(item):
            return numbered(item)
        case t.SetType(item, capacity):
            return capacity is None and cardinality(item) <= 8 and numbered(item) and not loose(item)
        case t.MapType(key, value, _, is_partial):
            parts = (key, value)
            return not is_partial and all(numbered(part) and not loose(part) for part in parts)
        case other:
            assert_never(other)


def is_small(type_: t.Type) -> bool:
    """Whether sets of the type are bit masks."""
    return cardinality(type_) <= MASK_LIMIT and has_ranks(type_)


def is_masked(type_: t.Type) -> bool:
    """Whether sets of the type are bit masks when they are stored: those with sequences, and with collections of
    integers, in them too."""
    return cardinality(type_) <= MASK_LIMIT and has_ranks(type_, surely=True)
