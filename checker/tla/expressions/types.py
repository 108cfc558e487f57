"""Types as sets of TLA+ values, and the values of enums.

``T?`` is T with the constant ``none`` added (a record with the field ``some`` where T is itself optional). An enum
without payloads is a set of strings, any other a set of records with the field ``kind``. A map is a function, a bag a
function to multiplicities as in the standard module Bags, a sequence a sequence.
"""

from __future__ import annotations

from typing import assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.tla.expressions.formula import SET, TIGHT, Formula, apply, compare, infix, lines, listed
from assay.checker.tla.expressions.names import WORDS, clean
from assay.checker.tla.expressions.scope import ModuleNeeds, type_key
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind


def has_payload(of: t.EnumType) -> bool:
    """Whether some variant has a payload: then all values are records."""
    return any(variant.fields for variant in of.variants)


def tag(of: t.EnumType) -> str:
    """The field that names the variant."""
    name = "kind"
    # The author may have a field of that name.
    while any(field.name == name for variant in of.variants for field in variant.fields):
        name += "_"
    return name


def record_field(of: t.RecordType, index: int) -> str:
    """The name of a record's field; of a part of a tuple its number from 1 on."""
    return str(index + 1) if of.is_tuple else _field(of.fields[index].name)


def payload_field(of: t.EnumType, variant: str, index: int) -> str:
    """The name of a payload field; with the variant's name if another variant has a field of that name and another
    type.

    TLC compares records with equal field names field by field, and refuses to compare values of different kinds.
    """
    wanted = next(each for each in of.variants if each.name == variant).fields[index]
    same = (f.type for each in of.variants for f in each.fields if f.name == wanted.name)
    return _field(wanted.name if all(type_ == wanted.type for type_ in same) else f"{variant}_{wanted.name}")


def _field(name: str) -> str:
    text = clean(name)
    # Fields have a name space of their own: only reserved words have to be avoided.
    return f"{text}_" if text in WORDS else text


def interval(low: int, high: int) -> Formula:
    """``low .. high``."""
    return Formula(f"{number(low)}..{number(high)}", SET)


def number(value: int) -> str:
    """An integer; a negative one in parentheses."""
    return str(value) if value >= 0 else f"({value})"


def type_set(of: t.Type, parts: ModuleNeeds) -> Formula:
    """The set of the values of a type, in a form that TLC can enumerate."""
    match kind(of):
        case t.BoolType():
            return Formula("BOOLEAN")
        case t.IntType():
            return Formula("Int")
        case t.RangeType(low, high):
            return interval(low, high)
        case t.AtomType(sort):
            return Formula(parts.names.of("sort", sort.name))
        case t.EnumType() | t.RecordType() as named:
            return _named(named, parts)
        case t.OptionType(item):
            return _optional(type_set(item, parts), item, parts)
        case t.SetType(item, capacity):
            return _subsets(type_set(item, parts), binding(item, capacity), parts)
        case t.MapType(key, value, capacity, partial):
            keys, values = type_set(key, parts), type_set(value, parts)
            if not partial:
                return Formula(f"[{keys.text} -> {values.text}]")
            chosen = _subsets(keys, binding(key, capacity), parts)
            return apply(parts.use("MapsOver"), [chosen, values])
        case t.SeqType(item, capacity):
            # `Seq(S)` is infinite, and TLC could not enumerate it.
            return apply(parts.use("SeqsUpTo"), [type_set(item, parts), Formula(str(capacity or 0))])
        case t.BagType(item, capacity):
            most = capacity or 0
            # A bag of at most n elements has at most n different ones.
            chosen = Formula(f"{parts.use('UpTo')}({type_set(item, parts).text}, {most})")
            every = apply(parts.use("MapsOver"), [chosen, interval(1, most)])
            return apply(parts.use("BagsWithin"), [every, Formula(str(most))])
        case other:
            assert_never(other)


def binding(item: t.Type, capacity: int | None) -> int | None:
    """The capacity, if the type has more values than that."""
    # A capacity that no set can exceed is not worth an operator in the text.
    return capacity if capacity is not None and cardinality(item) > capacity else None


def _subsets(items: Formula, capacity: int | None, parts: ModuleNeeds) -> Formula:
    if capacity is None:
        return Formula(f"SUBSET {items.within(TIGHT)}", SET)
    return Formula(f"{parts.use('UpTo')}({items.text}, {capacity})")


def _optional(items: Formula, item: t.Type, parts: ModuleNeeds) -> Formula:
    # Otherwise `none` and `some(none)` would be one value.
    inner = Formula(f"[some : {items.text}]") if isinstance(item, t.OptionType) else items
    return infix(inner, "\\cup", Formula(f"{{{parts.none.text}}}"), SET)


def wide_set(of: t.Type, parts: ModuleNeeds) -> Formula | None:
    """The set of the values of a type without capacities, in which TLC tests membership without enumerating it, if
    possible."""
    match kind(of):
        case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
            return type_set(of, parts)
        case t.EnumType() | t.RecordType() as named:
            fields = named.fields if isinstance(named, t.RecordType) else [f for v in named.variants for f in v.fields]
            return _named(named, parts) if all(_is_plain(field.type) for field in fields) else None
        case t.OptionType(item):
            items = wide_set(item, parts)
            return None if items is None else _optional(items, item, parts)
        case t.SetType(item):
            items = wide_set(item, parts)
            return None if items is None else _subsets(items, None, parts)
        case t.SeqType(item):
            items = wide_set(item, parts)
            return None if items is None else Formula(f"{parts.use('Seq')}({items.text})")
        case t.MapType(key, value, _, False):
            values = wide_set(value, parts)
            # A total map has exactly the keys of its type: their capacities count, unlike those of values.
            return None if values is None else Formula(f"[{type_set(key, parts).text} -> {values.text}]")
        case t.MapType() | t.BagType():
            return None
        case other:
            assert_never(other)


def _is_plain(of: t.Type) -> bool:
    """Whether the enumerable set also allows membership tests without enumeration, and has no capacity."""
    match kind(of):
        case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
            return True
        case t.EnumType(_, variants):
            return all(_is_plain(field.type) for variant in variants for field in variant.fields)
        case t.RecordType(_, fields):
            return all(_is_plain(field.type) for field in fields)
        case t.OptionType(item):
            return _is_plain(item)
        case t.SetType(item, capacity):
            return binding(item, capacity) is None and _is_plain(item)
        case t.MapType(key, value, _, partial):
            return not partial and _is_plain(key) and _is_plain(value)
        # Their sets are unions over all lengths and multiplicities, which TLC lists to find an element.
        case t.SeqType() | t.BagType():
            return False
        case other:
            assert_never(other)


def _named(of: t.EnumType | t.RecordType, parts: ModuleNeeds) -> Formula:
    name = parts.names.of("type", type_key(of))
    # Its parts are written first, by `type_set`, and so stand before it.
    if name not in parts.definitions:
        made = _enum_set(of, parts) if isinstance(of, t.EnumType) else _record_set(of, parts)
        parts.definitions[name] = definition(name, made)
    return Formula(name)


def definition(head: str, body: Formula) -> list[str]:
    """The lines of ``head == body``."""
    made = lines(body, 96)
    if len(made) == 1 and len(head) + len(made[0]) < 96:
        return [f"{head} == {made[0]}"]
    return [f"{head} ==", *(f"    {line}" for line in made)]


def _enum_set(of: t.EnumType, parts: ModuleNeeds) -> Formula:
    if not has_payload(of):
        return Formula("{" + ", ".join(f'"{variant.name}"' for variant in of.variants) + "}")
    plain = [variant_value(of, variant.name, [], parts) for variant in of.variants if not variant.fields]
    sets = [Formula(f"{{{listed(plain)}}}")] if plain else []
    for variant in of.variants:
        if variant.fields:
            fields = [f'{tag(of)} : {{"{variant.name}"}}']
            for index, field in enumerate(variant.fields):
                fields.append(f"{payload_field(of, variant.name, index)} : {type_set(field.type, parts).text}")
            sets.append(Formula(f"[{', '.join(fields)}]"))
    return Formula(" \\cup ".join(each.text for each in sets), SET)


def _record_set(of: t.RecordType, parts: ModuleNeeds) -> Formula:
    if of.is_tuple:
        # In parentheses: `\X` of three sets is a set of triples, of a product and a set one of pairs.
        return Formula(" \\X ".join(f"({type_set(field.type, parts).text})" for field in of.fields), SET)
    fields = (f"{record_field(of, i)} : {type_set(field.type, parts).text}" for i, field in enumerate(of.fields))
    return Formula(f"[{', '.join(fields)}]")


def variant_value(of: t.EnumType, variant: str, payload: list[Formula], parts: ModuleNeeds) -> Formula:
    """A value of an enum: a string, or an application of the variant's operator."""
    if not has_payload(of):
        return Formula(f'"{variant}"')
    name = parts.names.of("variant", f"{type_key(of)}.{variant}")
    if name not in parts.definitions:
        fields = [payload_field(of, variant, index) for index in range(len(payload))]
        # A field may be called as a variable of the module; a parameter of the operator may not.
        parameters = [parts.names.local(f"{field}", fields[:index]) for index, field in enumerate(fields)]
        pairs = [f'{tag(of)} |-> "{variant}"', *(f"{f} |-> {p}" for f, p in zip(fields, parameters, strict=True))]
        head = f"{name}({', '.join(parameters)})" if parameters else name
        parts.definitions[name] = [f"{head} == [{', '.join(pairs)}]"]
    return Formula(f"{name}({listed(payload)})" if payload else name)


def part(value: Formula, field: str) -> Formula:
    """``value.field``, or ``value[2]`` of a tuple."""
    return Formula(value.within(TIGHT) + access(field))


def access(field: str) -> str:
    """What follows a value, or the ``!`` of an ``EXCEPT``, to name a part of it."""
    return f"[{field}]" if field.isdigit() else f".{field}"


def is_variant(value: Formula, of: t.EnumType, variant: str) -> Formula:
    """Whether the value is of the variant."""
    return compare(part(value, tag(of)) if has_payload(of) else value, "=", Formula(f'"{variant}"'))


def unwrapped(value: Formula, item: t.Type) -> Formula:
    """The value of an option that is present."""
    return part(value, "some") if isinstance(item, t.OptionType) else value
