"""Values as JSON, by type, and back.

==================  =====================================================================
type                JSON
==================  =====================================================================
``bool``, integers  ``true``, ``3``; an integer of more than 4,000 digits is a text
element of a set    its name, ``"b1"``
``T?``              ``null``, or the value; ``{"some": …}`` where T is an option itself
enum                the variant's name, ``{"variant": name, field: …}`` with a payload;
                    ``{"variant": name, "fields": {field: …}}`` if a field is called ``variant``
record              ``{field: …}``
``set``, ``seq``    an array, of a set in canonical order
``bag``             an array in canonical order, with repetitions
``map``             an array of ``[key, value]`` pairs in canonical order
==================  =====================================================================
"""

from __future__ import annotations

from collections import Counter
from typing import Any, assert_never

from assay.checker.interpreter.values.show_types import show_type
from assay.checker.interpreter.values.type_check import CapacityExceeded, conform
from assay.checker.interpreter.values.undefined import Undefined, integer_text, is_printed
from assay.checker.interpreter.values.value_order import sorter
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue

VARIANT = "variant"
FIELDS = "fields"
SOME = "some"


class NotOfType(ValueError):  # noqa: N818 - reads as what it says
    """JSON that is no value of the type that was wanted."""


def to_json(value: Value, type_: t.Type) -> Any:
    """The value as what ``json.dumps`` takes."""
    read: Any = value
    match kind(type_):
        case t.BoolType() | t.RangeType():
            return read
        case t.IntType():
            # Of an expression, not of a state: `json.dumps` refuses what Python does not print.
            return read if is_printed(read) else integer_text(read)
        case t.AtomType():
            return read.name
        case t.EnumType(_, variants):
            fields = next(each.fields for each in variants if each.name == read.variant)
            own = _object(read.payload, fields)
            # A field of that name would take the place of the variant.
            return {VARIANT: read.variant, **({FIELDS: own} if VARIANT in own else own)} if own else read.variant
        case t.RecordType("", fields):
            return [to_json(each, field.type) for each, field in zip(read.fields, fields, strict=True)]
        case t.RecordType(_, fields):
            return _object(read.fields, fields)
        case t.OptionType(item):
            inner = None if read is None else to_json(read.value, item)
            return {SOME: inner} if read is not None and isinstance(item, t.OptionType) else inner
        case t.SetType(item):
            return [to_json(each, item) for each in sorter(item)(read)]
        case t.SeqType(item):
            return [to_json(each, item) for each in read]
        case t.BagType(item):
            return [to_json(each, item) for each in sorter(item)(read) for _ in range(read[each])]
        case t.MapType(key, image):
            return [[to_json(each, key), to_json(read[each], image)] for each in sorter(key)(read)]
        case other:
            assert_never(other)


def _object(values: tuple[Value, ...], fields: tuple[t.FieldType, ...]) -> dict[str, Any]:
    return {field.name: to_json(value, field.type) for value, field in zip(values, fields, strict=True)}


def from_json(data: Any, type_: t.Type) -> Value:
    """The value of the type that the JSON represents. Raises ``NotOfType``."""
    value = _read(data, type_)
    try:
        # The form alone was read: ranges and capacities of the model may be narrower than when it was saved.
        return conform(value, type_)
    except (Undefined, CapacityExceeded):
        raise _not(data, type_) from None


def _read(data: Any, type_: t.Type) -> Value:
    match kind(type_):
        case t.BoolType():
            return bool(_of(data, bool, type_))
        case t.IntType() | t.RangeType():
            # In Python `true` is an int as well.
            if isinstance(data, bool):
                raise _not(data, type_)
            return int(_of(data, int, type_))
        case t.AtomType(sort):
            return _atom(data, sort, type_)
        case t.EnumType(_, variants):
            return _variant(data, variants, type_)
        case t.RecordType("", fields):
            given = _of(data, list, type_)
            if len(given) != len(fields):
                raise _not(data, type_)
            return RecordValue(tuple(_read(each, field.type) for each, field in zip(given, fields, strict=True)))
        case t.RecordType(_, fields):
            return RecordValue(_fields(_of(data, dict, type_), fields, type_))
        case t.OptionType(item):
            if data is None:
                return None
            if isinstance(item, t.OptionType):
                return Some(_read(_key(data, SOME, type_), item))
            return Some(_read(data, item))
        case t.SetType(item):
            return frozenset([_read(each, item) for each in _of(data, list, type_)])
        case t.SeqType(item):
            return tuple([_read(each, item) for each in _of(data, list, type_)])
        case t.BagType(item):
            return FrozenMap(Counter([_read(each, item) for each in _of(data, list, type_)]))
        case t.MapType(key, image):
            return FrozenMap([_entry(each, key, image, type_) for each in _of(data, list, type_)])
        case other:
            assert_never(other)


def _not(data: Any, type_: t.Type) -> NotOfType:
    return NotOfType(f"{data!r} is no value of the type `{show_type(type_)}`")


def _of(data: Any, wanted: type, type_: t.Type) -> Any:
    if not isinstance(data, wanted):
        raise _not(data, type_)
    return data


def _key(data: Any, name: str, type_: t.Type) -> Any:
    if not isinstance(data, dict) or name not in data:
        raise _not(data, type_)
    return data[name]


def _atom(data: Any, sort: t.Sort, type_: t.Type) -> Atom:
    if data not in sort.elements:
        raise _not(data, type_)
    return Atom(sort.name, sort.elements.index(data), data)


def _variant(data: Any, variants: tuple[t.VariantType, ...], type_: t.Type) -> VariantValue:
    name = data if isinstance(data, str) else _key(data, VARIANT, type_)
    for variant in variants:
        if variant.name == name and bool(variant.fields) is isinstance(data, dict):
            nested = any(field.name == VARIANT for field in variant.fields)
            own = _key(data, FIELDS, type_) if nested else data
            return VariantValue(name, _fields(own, variant.fields, type_) if variant.fields else ())
    raise _not(data, type_)


def _fields(data: dict[str, Any], fields: tuple[t.FieldType, ...], type_: t.Type) -> tuple[Value, ...]:
    return tuple(_read(_key(data, field.name, type_), field.type) for field in fields)


def _entry(data: Any, key: t.Type, image: t.Type, type_: t.Type) -> tuple[Value, Value]:
    if not isinstance(data, list) or len(data) != 2:
        raise _not(data, type_)
    return _read(data[0], key), _read(data[1], image)
