"""Decodes fields of events into values of the model's types, and collects what a field needs of the model's sets and
ranges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress

from assay.checker.interpreter.values.domains import cardinality
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue
from assay.traces.event import Field


class FieldMismatchError(Exception):
    """A field has another form than the rule's type, so the rule does not apply to this event."""


class OutOfRangeError(Exception):
    """A field has the form of the rule's type and is none of its values: no execution of the model can explain it."""


_VALUES_KEPT = 1 << 16
"""Of how many fields the values of a type are remembered."""

_TYPES_KEPT = 1 << 8

_known: IdentityMemo[t.Type, dict[Field, Value]] = IdentityMemo(limit=_TYPES_KEPT)


def decode(value: Field, type_: t.Type) -> Value:
    """The value of the type that a field denotes; raises ``FieldMismatchError`` or ``OutOfRangeError``.

    Numbers, texts and tuples of numbers are kept in a table: a log repeats few distinct values very often.
    """
    kind = value.__class__
    # Exact classes, because `True == 1` as a key: a truth value would be decoded as the number 1.
    plain = kind is int or kind is str or (kind is tuple and all(each.__class__ is int for each in value))  # type: ignore[union-attr]
    if not plain:
        return _decoded(value, type_)
    known = _known.get(type_)
    if known is None:
        known = _known[type_] = {}
    if value not in known:
        # Emptied whole: an order of use would cost more than to decode again.
        if len(known) >= _VALUES_KEPT:
            known.clear()
        known[value] = _decoded(value, type_)
    return known[value]


def _decoded(value: Field, type_: t.Type) -> Value:
    match type_:
        case t.BoolType():
            return _truth(value)
        case t.IntType():
            return integer(value)
        case t.RangeType(low, high):
            return _ranged(integer(value), low, high)
        case t.AtomType(sort):
            return _atom(element(value), sort)
        case t.EnumType(_, variants):
            return _variant(value, variants)
        case t.RecordType(_, fields):
            return _record(value, fields)
        case t.OptionType(item):
            return None if value is None else Some(decode(value, item))
        case t.SetType(item):
            return frozenset(decode(part, item) for part in _parts(value))
        case t.SeqType(item):
            return tuple(decode(part, item) for part in _parts(value))
        case t.BagType(item):
            return FrozenMap(Counter(decode(part, item) for part in _parts(value)))
        case t.MapType():
            return _map(value, type_)
        case _:
            raise AssertionError(f"no values of {type_}")


def integer(value: Field) -> int:
    """A field as an integer, from a number or its text, decimal or hexadecimal; raises ``FieldMismatchError``."""
    # In Python a `bool` is an `int`; in a log `true` is no number.
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise FieldMismatchError
    if isinstance(value, int):
        return value
    # Python reads `1_0` as ten; in a log it is a name, and no other name's number.
    if "_" in value:
        raise FieldMismatchError
    try:
        return int(value, 16) if value.lower().startswith("0x") else int(value)
    except ValueError:
        raise FieldMismatchError from None


def element(value: Field) -> str:
    """The name of a field's value as an element of a set parameter: its text. Raises ``FieldMismatchError``."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise FieldMismatchError
    return str(value)


def _truth(value: Field) -> bool:
    match value:
        case bool():
            return value
        case "true" | "false":
            return value == "true"
        case _:
            raise FieldMismatchError


def _ranged(number: int, low: int, high: int) -> int:
    if not low <= number <= high:
        raise OutOfRangeError(f"{number} is not in {low} .. {high}")
    return number


def _atom(name: str, sort: t.Sort) -> Atom:
    try:
        return Atom(sort.name, sort.elements.index(name), name)
    except ValueError:
        raise OutOfRangeError(f"{name} is no element of {sort.name}") from None


def _variant(value: Field, variants: tuple[t.VariantType, ...]) -> VariantValue:
    for variant in variants:
        if variant.name == value and not variant.fields:
            return VariantValue(variant.name, ())
    raise FieldMismatchError


def _record(value: Field, fields: tuple[t.FieldType, ...]) -> RecordValue:
    if not isinstance(value, Mapping):
        raise FieldMismatchError
    return RecordValue(tuple(decode(value[key_of(field.name, value)], field.type) for field in fields))


def key_of(name: str, value: Mapping[Field, Field]) -> Field:
    """The key of an object for a field of a record. It is the same word, or else the only one that differs in case and
    signs between words: ``Term``, ``prev-index`` and ``prevIndex`` for ``prev_index``. Raises ``FieldMismatchError``.
    """
    if name in value:
        return name
    # One alone: of two that are alike it is not known which one is meant.
    like = [key for key in value if isinstance(key, str) and _plain(key) == _plain(name)]
    if len(like) != 1:
        raise FieldMismatchError
    return like[0]


def _plain(word: str) -> str:
    return word.replace("_", "").replace("-", "").lower()


def _parts(value: Field) -> tuple[Field, ...]:
    if not isinstance(value, tuple):
        raise FieldMismatchError
    return value


def _map(value: Field, type_: t.MapType) -> FrozenMap:
    if not isinstance(value, Mapping):
        raise FieldMismatchError
    table = FrozenMap((decode(key, type_.key), decode(item, type_.value)) for key, item in value.items())
    # A total map has a value for every key; a field that lacks some is of another form, not out of range.
    if not type_.partial and len(table) < cardinality(type_.key):
        raise FieldMismatchError
    return table


def encode(value: Value) -> Field:
    """A field that ``decode`` reads as this value. It is the inverse of ``decode`` for values without records and
    payloads.
    """
    match value:
        case Atom(_, _, name):
            return name
        case Some(inner):
            return encode(inner)
        case VariantValue(variant, _):
            return variant
        case FrozenMap():
            return {encode(key): encode(item) for key, item in value.items()}
        case frozenset():
            return tuple(sorted(map(encode, value), key=str))
        case RecordValue(row) | tuple(row):
            return tuple(map(encode, row))
        case bool() | int() | str() | None:
            return value
        case _:
            raise AssertionError(f"no field for {value}")


@dataclass(frozen=True, slots=True)
class Named:
    """A field needs this element in a set parameter."""

    sort: str
    name: str


@dataclass(frozen=True, slots=True)
class Reached:
    """A field needs this number where a size parameter limits the type."""

    number: int


def needs(value: Field, type_: t.Type) -> Iterator[Named | Reached]:
    """What a field needs of the model's sets and ranges to have a value; nothing for a field of another form."""
    match type_:
        # The same forms as `element` takes: a field that it refuses must not enlarge the model.
        case t.AtomType(sort) if isinstance(value, int | str) and not isinstance(value, bool):
            yield Named(sort.name, str(value))
        case t.RangeType(_, _, True) if isinstance(value, int | str) and not isinstance(value, bool):
            yield from _number(value)
        case t.OptionType(item) if value is not None:
            yield from needs(value, item)
        case t.SetType(item) | t.SeqType(item) | t.BagType(item) if isinstance(value, tuple):
            for part in value:
                yield from needs(part, item)
        case t.MapType(key, item) if isinstance(value, Mapping):
            for index, part in value.items():
                yield from needs(index, key)
                yield from needs(part, item)
        case t.RecordType(_, fields) if isinstance(value, Mapping):
            for field in fields:
                with suppress(FieldMismatchError):
                    yield from needs(value[key_of(field.name, value)], field.type)
        case _:
            return


def _number(value: int | str) -> Iterator[Reached]:
    try:
        yield Reached(integer(value))
    except FieldMismatchError:
        return
