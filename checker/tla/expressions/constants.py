"""Constants of every type as TLA+ values."""

from __future__ import annotations

from typing import Any, assert_never

from assay.checker.interpreter.values.value_order import sorter
from assay.checker.tla.expressions.formula import MERGE, PAIR, TIGHT, Formula, listed
from assay.checker.tla.expressions.scope import ModuleNeeds
from assay.checker.tla.expressions.types import number, record_field, variant_value
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Value


def constant(value: Value, of: t.Type, parts: ModuleNeeds) -> Formula:
    """The value, written as a person would write it."""
    shown: Any = value
    match kind(of):
        case t.BoolType():
            return Formula("TRUE" if shown else "FALSE")
        case t.IntType() | t.RangeType():
            return Formula(number(shown))
        case t.AtomType():
            return parts.atom(shown)
        case t.EnumType(_, variants) as enum:
            fields = next(variant.fields for variant in variants if variant.name == shown.variant)
            payload = [constant(v, f.type, parts) for v, f in zip(shown.payload, fields, strict=True)]
            return variant_value(enum, shown.variant, payload, parts)
        case t.RecordType(_, fields) as record:
            return record_value(record, [constant(v, f.type, parts) for v, f in zip(shown.fields, fields, strict=True)])
        case t.OptionType(item):
            return parts.none if shown is None else some(constant(shown.value, item, parts), item)
        case t.SetType(item):
            return _set(shown, item, parts)
        case t.SeqType(item):
            return Formula(f"<<{listed(constant(x, item, parts) for x in shown)}>>")
        case t.MapType(key, image):
            pairs = [(constant(k, key, parts), constant(shown[k], image, parts)) for k in sorter(key)(shown)]
            return function(pairs, parts)
        case t.BagType(item):
            return function([(constant(x, item, parts), Formula(str(shown[x]))) for x in sorter(item)(shown)], parts)
        case other:
            assert_never(other)


def _set(items: Any, item: t.Type, parts: ModuleNeeds) -> Formula:
    # The name of the whole set, also in models where TLC is given another number of elements.
    if isinstance(item, t.AtomType) and len(items) == len(item.sort.elements) > 1:
        return Formula(parts.names.of("sort", item.sort.name))
    return Formula("{" + listed(constant(x, item, parts) for x in sorter(item)(items)) + "}")


def some(value: Formula, item: t.Type) -> Formula:
    """A present option: the value itself, in a record where options nest."""
    return Formula(f"[some |-> {value.text}]") if isinstance(item, t.OptionType) else value


def record_value(of: t.RecordType, items: list[Formula]) -> Formula:
    """A record or a tuple from its fields in order."""
    if of.is_tuple:
        return Formula(f"<<{listed(items)}>>")
    pairs = (f"{record_field(of, index)} |-> {item.text}" for index, item in enumerate(items))
    return Formula(f"[{', '.join(pairs)}]")


def function(pairs: list[tuple[Formula, Formula]], parts: ModuleNeeds) -> Formula:
    """The function of these pairs; of two with one key the last counts."""
    if not pairs:
        return Formula(parts.use("EmptyMap"))
    parts.use(":>")
    # In `f @@ g` the value of f counts where both have the key, so the last pair is written first.
    made = [f"{key.within(TIGHT)} :> {value.within(TIGHT)}" for key, value in reversed(pairs)]
    if len(made) == 1:
        return Formula(made[0], PAIR)
    parts.use("@@")
    return Formula(" @@ ".join(f"({each})" for each in made), MERGE)
