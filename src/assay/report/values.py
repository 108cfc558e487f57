"""Values of the language as JSON and back.

A number, a truth value and an element (by name) are themselves, ``none`` is null, ``some(v)`` of an option of an option is ``{"some": v}``.
A variant is its name, or an object from its name to its payload; a record is an object. Sets, bags and sequences are lists, the first
two in canonical order. A map is an object where every key is a text in JSON, and a list of pairs otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.checker.evaluate.order import sorter
from assay.grammar import kernel_types as t
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue


def value_to_json(value: Value, type_: t.Type) -> Any:
    """The value as what ``json.dumps`` takes."""
    shown: Any = value
    match type_:
        case t.BoolType() | t.IntType() | t.RangeType():
            return shown
        case t.AtomType():
            return shown.name
        case t.EnumType():
            fields = _variant(type_, shown.variant).fields
            return {shown.variant: _named(shown.payload, fields)} if fields else shown.variant
        case t.RecordType(_, fields):
            return _named(shown.fields, fields)
        case t.OptionType(item):
            inner = None if shown is None else value_to_json(shown.value, item)
            return {"some": inner} if shown is not None and isinstance(item, t.OptionType) else inner
        case t.SetType(item):
            return [value_to_json(x, item) for x in sorter(item)(shown)]
        case t.BagType(item):
            return [value_to_json(x, item) for x in sorter(item)(shown) for _ in range(shown[x])]
        case t.SeqType(item):
            return [value_to_json(x, item) for x in shown]
        case t.MapType(key, image):
            pairs = [(value_to_json(k, key), value_to_json(shown[k], image)) for k in sorter(key)(shown)]
            return dict(pairs) if _is_text(key) else [list(pair) for pair in pairs]
        case _:
            raise TypeError(f"a type that values do not have: {type_!r}")


def value_from_json(data: Any, type_: t.Type) -> Value:
    """The value that ``value_to_json`` wrote so; raises ValueError where the data are not of the type."""
    try:
        return _decode(data, type_)
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError) as error:
        raise ValueError(f"{data!r} is no value of the type that the spec gives to this place") from error


def _decode(data: Any, type_: t.Type) -> Value:
    match type_:
        case t.BoolType():
            return bool(_instance(data, bool))
        case t.IntType() | t.RangeType():
            return _number(data)
        case t.AtomType(sort):
            return Atom(sort.name, sort.elements.index(data), data)
        case t.EnumType():
            name = data if isinstance(data, str) else next(iter(data))
            fields = _variant(type_, name).fields
            return VariantValue(name, _payload(data[name], fields) if fields else ())
        case t.RecordType(_, fields):
            return RecordValue(_payload(data, fields))
        case t.OptionType(item):
            inner = data["some"] if data is not None and isinstance(item, t.OptionType) else data
            return None if data is None else Some(_decode(inner, item))
        case _:
            return _decode_collection(data, type_)


def _decode_collection(data: Any, type_: t.Type) -> Value:
    match type_:
        case t.SetType(item):
            return frozenset(_decode(x, item) for x in _instance(data, list))
        case t.BagType(item):
            items = [_decode(x, item) for x in _instance(data, list)]
            return FrozenMap((x, items.count(x)) for x in items)
        case t.SeqType(item):
            return tuple(_decode(x, item) for x in _instance(data, list))
        case t.MapType(key, image):
            pairs = data.items() if _is_text(key) else _instance(data, list)
            return FrozenMap((_decode(k, key), _decode(v, image)) for k, v in pairs)
        case _:
            raise TypeError(f"a type that values do not have: {type_!r}")


def _variant(type_: t.EnumType, name: str) -> t.VariantType:
    return next(variant for variant in type_.variants if variant.name == name)


def _named(values: tuple[Value, ...], fields: tuple[t.FieldType, ...]) -> dict[str, Any]:
    return {field.name: value_to_json(value, field.type) for field, value in zip(fields, values, strict=True)}


def _payload(data: Mapping[str, Any], fields: tuple[t.FieldType, ...]) -> tuple[Value, ...]:
    return tuple(_decode(data[field.name], field.type) for field in fields)


def _is_text(type_: t.Type) -> bool:
    match type_:
        case t.AtomType():
            return True
        case t.EnumType(_, variants):
            return not any(variant.fields for variant in variants)
        case _:
            return False


def _instance(data: Any, kind: type) -> Any:
    if not isinstance(data, kind):
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data


def _number(data: Any) -> int:
    if isinstance(data, bool) or not isinstance(data, int):
        raise TypeError(f"{data!r} is no integer")
    return data
