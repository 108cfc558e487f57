"""Whether the cases of a ``match`` cover every value, and whether each can be reached.

The method is that of L. Maranget, Warnings for pattern matching (Journal of Functional Programming 17, 2007): rows of
patterns are taken apart one constructor at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from assay.grammar import syntax
from assay.grammar.kernel.types import BoolType, EnumType, OptionType, RangeType, RecordType, Type
from assay.grammar.lazy_dataclass import dataclass

MOST_INTEGERS = 64
"""A longer range counts as one that no list of numbers covers."""


@dataclass(frozen=True, slots=True)
class Constructed:
    """A pattern that asks for one constructor: a variant, ``some``, ``none``, a record, a number, a truth value."""

    key: str
    inside: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Any:
    """A pattern that every value fits."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A pattern that compares with a value which only the state tells: it covers nothing for certain."""


Cell = Constructed | _Any | _Compared
Row = tuple[Cell, ...]
ANY = _Any()


def cell(pattern: syntax.SubPattern, type_: Type) -> Cell:
    """A pattern of a value of a type, names resolved."""
    match pattern:
        case None:
            return ANY
        case syntax.SamePattern():
            return _Compared()
        case syntax.LiteralPattern(value):
            return Constructed(str(value).lower(), ())
        case syntax.Name(text):
            # A plain name is a variant or binds, as in `fitting`. The two must agree on which cases cover what.
            fields = dict(_constructors(type_) or ()).get(text) if isinstance(type_, EnumType) else None
            return ANY if fields is None else Constructed(text, (ANY,) * len(fields))
        case syntax.TuplePattern(parts):
            fields = dict(_constructors(type_) or ())[""]
            return Constructed("", tuple(map(cell, parts, fields)))
        case syntax.Pattern(variant, parts):
            key = variant.parts[-1].text
            fields = dict(_constructors(type_) or ())[type_.name if isinstance(type_, RecordType) else key]
            inside = (ANY,) * len(fields) if parts is None else tuple(map(cell, parts, fields))
            return Constructed(type_.name if isinstance(type_, RecordType) else key, inside)


def uncovered(cells: Sequence[Cell], type_: Type) -> str | None:
    """A value that fits none of the patterns, as a pattern; None if every value fits one."""
    # Whether `==e` fits is known in a state only. So it covers nothing here, and below it makes no case unreachable.
    found = _missing(tuple((each,) for each in cells if not _compares(each)), (type_,))
    return None if found is None else found[0]


def reachable(before: Sequence[Cell], pattern: Cell, type_: Type) -> bool:
    """Whether some value fits the pattern and none of those before it."""
    return _useful(tuple((each,) for each in before if not _compares(each)), (pattern,), (type_,))


def _compares(pattern: Cell) -> bool:
    match pattern:
        case Constructed(_, inside):
            return any(map(_compares, inside))
        case _:
            return isinstance(pattern, _Compared)


@cache
def _constructors(type_: Type) -> tuple[tuple[str, tuple[Type, ...]], ...] | None:
    """The constructors of a type with the types of what they carry; None if there are too many."""
    match type_:
        case EnumType(_, variants):
            return tuple((variant.name, tuple(field.type for field in variant.fields)) for variant in variants)
        case RecordType(name, fields):
            return ((name, tuple(field.type for field in fields)),)
        case OptionType(item):
            return (("none", ()), ("some", (item,)))
        case BoolType():
            return (("true", ()), ("false", ()))
        case RangeType(low, high) if high - low < MOST_INTEGERS:
            return tuple((str(value), ()) for value in range(low, high + 1))
        case _:
            return None


def _specialised(rows: Sequence[Row], key: str, count: int) -> tuple[Row, ...]:
    """The rows that may fit a value of the constructor, with what it carries in place of it."""
    found = []
    for first, *rest in rows:
        match first:
            case Constructed(name, inside) if name == key:
                # The row of `A(x, y)` begins with x and y now, and one of `_` with two of these.
                found.append((*inside, *rest))
            case _Any():
                found.append(((ANY,) * count) + tuple(rest))
            case _:
                pass
    return tuple(found)


def _without_first(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(tuple(rest) for first, *rest in rows if isinstance(first, _Any))


def _used(rows: Sequence[Row]) -> set[str]:
    return {row[0].key for row in rows if isinstance(row[0], Constructed)}


def _missing(rows: Sequence[Row], types: tuple[Type, ...]) -> list[str] | None:
    if not types:
        return None if rows else []
    first, *others = types
    known, used = _constructors(first), _used(rows)
    # Each constructor has a row: a value that nothing fits must be made by one of them.
    if known is not None and used >= {key for key, _ in known}:
        for key, fields in known:
            found = _missing(_specialised(rows, key, len(fields)), (*fields, *others))
            if found is not None:
                inside = f"({', '.join(found[: len(fields)])})" if fields else ""
                return [key + inside, *found[len(fields) :]]
        return None
    # Some constructor has no row, so rows that ask for another one cannot cover it: Maranget's default matrix.
    rest = _missing(_without_first(rows), tuple(others))
    if rest is None:
        return None
    shown = "_"
    if used and known is not None:
        # Any constructor without a row is an example, since only rows with `_` could cover it.
        key, fields = next((key, fields) for key, fields in known if key not in used)
        shown = key + (f"({', '.join('_' for _ in fields)})" if fields else "")
    return [shown, *rest]


def _useful(rows: Sequence[Row], row: Row, types: tuple[Type, ...]) -> bool:
    if not types:
        return not rows
    first, *others = types
    match row[0]:
        case Constructed(key, inside):
            # A number of a long range has no constructor in the table, and carries nothing.
            fields = dict(_constructors(first) or ()).get(key, ())
            return _useful(_specialised(rows, key, len(inside)), (*inside, *row[1:]), (*fields, *others))
        case _:
            known = _constructors(first)
            if known is None or not _used(rows) >= {key for key, _ in known}:
                return _useful(_without_first(rows), row[1:], tuple(others))
            return any(
                _useful(
                    _specialised(rows, key, len(fields)), ((ANY,) * len(fields)) + tuple(row[1:]), (*fields, *others)
                )
                for key, fields in known
            )
