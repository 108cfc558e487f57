"""Relations of types: which are the same for typing, which convert, what two have in common, and how they are written.

All integers are one type for typing: ``int`` and every range are the same, and a capacity makes no difference. Only a
value that is stored, passed or put into a payload must be in the range (see ``types.coercion``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.grammar.kernel.types import (
    INT,
    AtomType,
    BagType,
    BoolType,
    EnumType,
    FieldType,
    IntType,
    MapType,
    OptionType,
    RangeType,
    RecordType,
    SeqType,
    SetType,
    Type,
    tuple_type,
)
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ErrorType(Type):
    """The type of an expression in which an error was reported; it suppresses follow-up errors."""


@dataclass(frozen=True, slots=True)
class UnknownType(Type):
    """The item type of a ``none`` or an empty display until its surroundings determine it."""


ERROR = ErrorType()
UNKNOWN = UnknownType()


def is_integer(type_: Type) -> bool:
    """Whether the values are integers."""
    return isinstance(type_, IntType | RangeType)


def parts(type_: Type) -> Iterator[Type]:
    """The types directly inside a type."""
    match type_:
        case OptionType(item) | SetType(item) | SeqType(item) | BagType(item):
            yield item
        case MapType(key, value):
            yield from (key, value)
        case RecordType(_, fields):
            yield from (field.type for field in fields)
        case EnumType(_, variants):
            yield from (field.type for variant in variants for field in variant.fields)
        case _:
            return


def mentions(type_: Type, kind: type[Type]) -> bool:
    """Whether a type of that kind occurs in a type."""
    if isinstance(type_, kind):
        return True
    return type(type_) not in _WITHOUT_PARTS and any(mentions(part, kind) for part in parts(type_))


_WITHOUT_PARTS = frozenset({BoolType, IntType, RangeType, AtomType})
"""Most types: asked of each expression, they are not to be asked for their parts."""


def is_sized(type_: Type) -> bool:
    """Whether a size parameter determines how many values the type has."""
    if isinstance(type_, RangeType):
        return type_.sized
    return any(is_sized(part) for part in parts(type_))


def without_option(type_: Type | None) -> Type | None:
    """``T`` of ``T?``; any other type unchanged."""
    return type_.item if isinstance(type_, OptionType) else type_


def erased(type_: Type) -> Type:
    """The type with integers for ranges and without capacities. Enums and named records keep the types of their fields."""
    match type_:
        case RangeType():
            return INT
        case OptionType(item):
            return OptionType(erased(item))
        case SetType(item):
            return SetType(erased(item))
        case SeqType(item):
            return SeqType(erased(item))
        case BagType(item):
            return BagType(erased(item))
        case MapType(key, value, _, partial):
            return MapType(erased(key), erased(value), None, partial)
        # A named type is what was declared under its name. So fields of records and variants keep their ranges.
        case RecordType(_, fields) if type_.is_tuple:
            return tuple_type(erased(field.type) for field in fields)
        case _:
            return type_


def unbounded(type_: Type) -> Type:
    """The type of a collection that may have outgrown its capacity."""
    match type_:
        case SetType() | SeqType() | BagType() | MapType():
            return replace(type_, capacity=None)
        case _:
            return type_


def same(left: Type, right: Type) -> bool:
    """Whether two types are the same for typing."""
    return erased(left) == erased(right)


def join(left: Type, right: Type) -> Type | None:
    """The least type to which values of both convert: for ``T`` and ``T?`` it is ``T?``; None if there is none."""
    match left, right:
        case (OptionType(a), OptionType(b)):
            item = join(a, b)
        case (OptionType(a), b) | (b, OptionType(a)):
            item = join(a, b)
        case _:
            return _join_plain(left, right)
    # An option on one side is enough: a value without one is wrapped where the common type wants it.
    return None if item is None else OptionType(item)


def _join_plain(left: Type, right: Type) -> Type | None:
    """The common type without a conversion at this level."""
    # What is open takes the other type, and an error is reported only once.
    if isinstance(left, ErrorType | UnknownType) or left == right:
        return right
    if isinstance(right, ErrorType | UnknownType):
        return left
    match left, right:
        # Not the range that holds both: a result of arithmetic may lie outside of it.
        case (IntType() | RangeType(), IntType() | RangeType()):
            return INT
        case (SetType(a), SetType(b)):
            item = _join_inside(a, b)
            return None if item is None else SetType(item, _capacity(left, right))
        case (SeqType(a), SeqType(b)):
            item = _join_inside(a, b)
            return None if item is None else SeqType(item, _capacity(left, right))
        case (BagType(a), BagType(b)):
            item = _join_inside(a, b)
            return None if item is None else BagType(item, _capacity(left, right))
        case (MapType(), MapType()):
            return _join_maps(left, right)
        case (RecordType(_, fields), RecordType(_, others)) if left.is_tuple and right.is_tuple:
            return _join_tuples(fields, others)
        case _:
            return None


def _join_maps(left: MapType, right: MapType) -> Type | None:
    key, value = _join_inside(left.key, right.key), _join_inside(left.value, right.value)
    # A total map has every key and a partial one need not: neither is a case of the other.
    if key is None or value is None or left.partial != right.partial:
        return None
    return MapType(key, value, _capacity(left, right), left.partial)


def _join_tuples(left: tuple[FieldType, ...], right: tuple[FieldType, ...]) -> Type | None:
    if len(left) != len(right):
        return None
    items = [_join_inside(a.type, b.type) for a, b in zip(left, right, strict=True)]
    known = [item for item in items if item is not None]
    return tuple_type(known) if len(known) == len(items) else None


def _join_inside(left: Type, right: Type) -> Type | None:
    """The common type inside a collection, where nothing converts: ``set[T]`` and ``set[T?]`` have nothing
    in common."""
    if isinstance(left, OptionType) and isinstance(right, OptionType):
        item = _join_inside(left.item, right.item)
        return None if item is None else OptionType(item)
    return _join_plain(left, right)


def _capacity(left: Type, right: Type) -> int | None:
    # Two that differ leave the common type without a capacity.
    capacities = {getattr(left, "capacity", None), getattr(right, "capacity", None)}
    return capacities.pop() if len(capacities) == 1 else None


def type_text(type_: Type) -> str:
    """The type in the notation of the language."""
    match type_:
        case BoolType():
            return "bool"
        case IntType():
            return "int"
        case RangeType(low, high):
            return f"{low} .. {high}"
        case AtomType(sort):
            return sort.name
        case RecordType("", fields):
            return f"({', '.join(type_text(field.type) for field in fields)})"
        case EnumType(name) | RecordType(name):
            return name
        # The only value is known by its word; a type for it would be a guess.
        case OptionType(UnknownType()):
            return "none"
        case OptionType(item):
            return f"{type_text(item)}?"
        case SetType(UnknownType()):
            return "{}"
        case SetType() | SeqType() | BagType():
            return _collection_text(type_)
        case MapType(key, value, capacity, partial):
            limit = f", max {capacity}" if capacity is not None else ", max n" if partial else ""
            return f"map[{type_text(key)}, {type_text(value)}{limit}]"
        case _:
            return "?"


def _collection_text(type_: SetType | SeqType | BagType) -> str:
    word = {SetType: "set", SeqType: "seq", BagType: "bag"}[type(type_)]
    limit = "" if type_.capacity is None else f", max {type_.capacity}"
    item = "_" if isinstance(type_.item, UnknownType) else type_text(type_.item)
    return f"{word}[{item}{limit}]"
