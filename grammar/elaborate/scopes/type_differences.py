"""The difference of two types that are written alike. It is a record or an enum of one name in two modules, or one set
parameter bound twice.
"""

from __future__ import annotations

from assay.grammar.elaborate.scopes.type_relations import is_sized, parts, type_text
from assay.grammar.kernel.types import AtomType, EnumType, FieldType, RangeType, RecordType, Type


def difference(have: Type, want: Type) -> list[str]:
    """A sentence about the first difference of two types that are written alike; none if the text tells them apart."""
    if type_text(have) != type_text(want) or have == want:
        return []
    match have, want:
        case RangeType(), RangeType():
            found = _range_difference(have)
        case AtomType(a), AtomType(b):
            found = _elements(a.elements, b.elements) or "one is `symmetric` and the other is not"
        case RecordType(name, fields), RecordType(_, others):
            found = f"two records are called {name}: {_fields(fields, others)}"
        case EnumType(name, variants), EnumType(_, others):
            left, right = [v.name for v in variants], [v.name for v in others]
            if left != right:
                return [
                    f"two enums are called {name}: the variants are {', '.join(left)} here, {', '.join(right)} there"
                ]
            differ = next(pair for pair in zip(variants, others, strict=True) if pair[0] != pair[1])
            found = f"two enums are called {name}: in the variant {differ[0].name}, " + _fields(
                *(v.fields for v in differ)
            )
        case _:
            # Collections are written with their parts, so the difference is in one of these.
            inside = [difference(a, b) for a, b in zip(parts(have), parts(want), strict=False)]
            return next((each for each in inside if each), [])
    return [found]


def shared_variants(have: Type, want: Type) -> list[str]:
    """How the variants of the wanted enum are written, if what was found is another enum with variants of the same
    names."""
    if type(have) is not type(want):
        return []
    if not isinstance(have, EnumType) or not isinstance(want, EnumType):
        inside = [shared_variants(a, b) for a, b in zip(parts(have), parts(want), strict=False)]
        return next((each for each in inside if each), [])
    names = {variant.name for variant in want.variants}
    shared = [variant.name for variant in have.variants if variant.name in names]
    if have.name == want.name or not shared:
        return []
    return [f"{have.name} and {want.name} both have {shared[0]}; that of another module is `module.{shared[0]}`"]


def _range_difference(have: Type) -> str:
    sized = "a `size param`, whose value a log may exceed"
    where = "here and not there" if is_sized(have) else "there and not here"
    return f"the range is that of {sized}, {where}"


def _elements(left: tuple[str, ...], right: tuple[str, ...]) -> str:
    return "" if left == right else f"the elements are {', '.join(left)} here, {', '.join(right)} there"


def _fields(left: tuple[FieldType, ...], right: tuple[FieldType, ...]) -> str:
    names, others = ([field.name for field in fields] for fields in (left, right))
    if names != others:
        return f"the fields are {', '.join(names)} here, {', '.join(others)} there"
    for one, other in zip(left, right, strict=True):
        if one != other:
            texts = type_text(one.type), type_text(other.type)
            inside = difference(one.type, other.type)
            reported = f"{texts[0]} here, {texts[1]} there" if texts[0] != texts[1] else "".join(inside)
            return f"of the field `{one.name}`, {reported}" if inside else f"the field `{one.name}` is {reported}"
    return "they are declared apart"
