"""The types of the kernel. Parameters are bound, so every type of a state variable is finite."""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Sort:
    """A set parameter with its elements; ``symmetric`` elements cannot be named, ordered or indexed."""

    name: str
    elements: tuple[str, ...]
    symmetric: bool


@dataclass(frozen=True, slots=True)
class Type:
    """A type."""


@dataclass(frozen=True, slots=True)
class BoolType(Type):
    """``bool``."""


@dataclass(frozen=True, slots=True)
class IntType(Type):
    """A mathematical integer: the type of arithmetic, never of a state variable."""


@dataclass(frozen=True, slots=True)
class RangeType(Type):
    """``low .. high``, both included; ``sized`` if a size parameter occurs in it, ``sized_below`` if one occurs in
    ``low``."""

    low: int
    high: int
    # Both count in equality: a range that a log may widen is another type than one of the same numbers that stays.
    sized: bool = False
    sized_below: bool = False


@dataclass(frozen=True, slots=True)
class AtomType(Type):
    """The elements of a set parameter."""

    sort: Sort


@dataclass(frozen=True, slots=True)
class FieldType:
    """A named component of a record or of a variant's payload."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class VariantType:
    """One variant of an enum."""

    name: str
    fields: tuple[FieldType, ...]


@dataclass(frozen=True, slots=True)
class EnumType(Type):
    """An enum; two enums are the same if their names and variants are."""

    name: str
    variants: tuple[VariantType, ...]


@dataclass(frozen=True, slots=True)
class RecordType(Type):
    """A record. A tuple is a record without a name, whose fields are called 0, 1 and so on. Two tuples are the same if
    their parts are.
    """

    name: str
    fields: tuple[FieldType, ...]

    @property
    def is_tuple(self) -> bool:
        """Whether this is the type of tuples."""
        return not self.name


@dataclass(frozen=True, slots=True)
class OptionType(Type):
    """``T?``."""

    item: Type


@dataclass(frozen=True, slots=True)
class SetType(Type):
    """``set[T]``; with a capacity it is the sparse ``set[T, max n]``."""

    item: Type
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class MapType(Type):
    """``map[K, V]``, total; with a capacity it is the partial ``map[K, V, max n]``."""

    key: Type
    value: Type
    capacity: int | None = None
    # Not told by the capacity: the partial map that an expression makes has none.
    partial: bool = False


@dataclass(frozen=True, slots=True)
class SeqType(Type):
    """``seq[T, max n]``; expressions may have sequences without a capacity."""

    item: Type
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class BagType(Type):
    """``bag[T, max n]``; the capacity counts elements with their multiplicity."""

    item: Type
    capacity: int | None = None


def tuple_type(items: Iterable[Type]) -> RecordType:
    """``(A, B)``."""
    return RecordType("", tuple(FieldType(str(at), item) for at, item in enumerate(items)))


BOOL = BoolType()
INT = IntType()
