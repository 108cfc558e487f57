"""Formulas that check whether a value is in the range of its type, and within its capacities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from assay.checker.tla.expressions.formula import SET, TIGHT, Formula, compare, conjunction, headed, implication
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.expressions.types import (
    binding,
    is_variant,
    part,
    payload_field,
    record_field,
    tag,
    type_set,
    unwrapped,
    wide_set,
)
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind

Question = Callable[[Formula, t.Type, TlaScope], Formula | None]
"""Checks something of a value of a type; None where the answer is always yes."""


def in_range(value: Formula, of: t.Type, scope: TlaScope) -> Formula:
    """The value is of its type, ignoring capacities."""
    known = wide_set(of, scope.parts)
    if known is not None:
        return compare(value, "\\in", known)
    match kind(of):
        case t.EnumType(_, variants) as enum:
            kinds = Formula("{" + ", ".join(f'"{variant.name}"' for variant in variants) + "}")
            return conjunction(
                [compare(part(value, tag(enum)), "\\in", kinds), *_payloads(value, enum, scope, in_range)]
            )
        case t.RecordType() as record:
            return conjunction(_fields(value, record, scope, in_range))
        case t.BagType(item):
            return in_range(_keys(value), t.SetType(item), scope)
        case t.MapType(key, image, _, partial):
            keys = _keys(value)
            # A total map has exactly the keys of its type.
            right = in_range(keys, t.SetType(key), scope) if partial else compare(keys, "=", type_set(key, scope.parts))
            return conjunction([right, in_range(_images(value, scope), t.SetType(image), scope)])
        case t.OptionType() | t.SetType() | t.SeqType() as made:
            return _inside(value, made, scope, in_range) or Formula("TRUE")
        case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
            raise AssertionError(f"{of} has a set")
        case other:
            assert_never(other)


def within_capacity(value: Formula, of: t.Type, scope: TlaScope) -> Formula | None:
    """The value has no more elements than its type allows, at any depth; None if it cannot have more."""
    match kind(of):
        case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
            return None
        case t.EnumType() as enum:
            return _all(_payloads(value, enum, scope, within_capacity))
        case t.RecordType() as record:
            return _all(_fields(value, record, scope, within_capacity))
        case t.OptionType() as option:
            return _inside(value, option, scope, within_capacity)
        case t.SetType(item, capacity) as made:
            return _all(
                [
                    _size("Cardinality", value, binding(item, capacity), scope),
                    _inside(value, made, scope, within_capacity),
                ]
            )
        case t.SeqType(_, capacity) as made:
            return _all([_size("Len", value, capacity, scope), _inside(value, made, scope, within_capacity)])
        case t.BagType(item, capacity):
            within = _inside(_keys(value), t.SetType(item), scope, within_capacity)
            return _all([_size("BagSize", value, capacity, scope), within])
        case t.MapType(key, image, capacity, _):
            keys = _keys(value)
            asked = [_size("Cardinality", keys, binding(key, capacity), scope)]
            asked.append(_inside(keys, t.SetType(key), scope, within_capacity))
            asked.append(_inside(_images(value, scope), t.SetType(image), scope, within_capacity))
            return _all(asked)
        case other:
            assert_never(other)


def _size(operator: str, value: Formula, most: int | None, scope: TlaScope) -> Formula | None:
    if most is None:
        return None
    return compare(Formula(f"{scope.parts.use(operator)}({value.text})"), "<=", Formula(str(most)))


def _all(answers: Sequence[Formula | None]) -> Formula | None:
    asked = [answer for answer in answers if answer is not None]
    return conjunction(asked) if asked else None


def _keys(value: Formula) -> Formula:
    return Formula(f"DOMAIN {value.within(TIGHT)}", SET)


def _images(value: Formula, scope: TlaScope) -> Formula:
    return Formula(f"{scope.parts.use('Range')}({value.text})")


def _fields(value: Formula, of: t.RecordType, scope: TlaScope, ask: Question) -> list[Formula]:
    answers = (ask(part(value, record_field(of, i)), field.type, scope) for i, field in enumerate(of.fields))
    return [answer for answer in answers if answer is not None]


def _payloads(value: Formula, of: t.EnumType, scope: TlaScope, ask: Question) -> list[Formula]:
    found = []
    for variant in of.variants:
        places = (part(value, payload_field(of, variant.name, i)) for i in range(len(variant.fields)))
        asked = [ask(place, field.type, scope) for place, field in zip(places, variant.fields, strict=True)]
        answer = _all(asked)
        if answer is not None:
            # TLC stops at a field that a record lacks, so the variant is asked first.
            found.append(implication(is_variant(value, of, variant.name), answer))
    return found


def _inside(value: Formula, of: t.OptionType | t.SetType | t.SeqType, scope: TlaScope, ask: Question) -> Formula | None:
    """The check applied to the contents of an option, a set or a sequence."""
    if isinstance(of, t.OptionType):
        answer = ask(unwrapped(value, of.item), of.item, scope)
        return None if answer is None else implication(compare(value, "#", scope.parts.none), answer)
    # Checks nest where collections do, so each needs a name of its own.
    name, inner = scope.fresh("e")
    answer = ask(Formula(name), of.item, inner)
    if answer is None:
        return None
    elements = _images(value, scope) if isinstance(of, t.SeqType) else value
    return headed(f"\\A {name} \\in {elements.text} :", answer)
