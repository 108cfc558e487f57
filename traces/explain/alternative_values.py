"""Other values that a field might have had, nearest first, and the edit distance between values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from assay.checker.interpreter.values.domains import cardinality, domain
from assay.checker.interpreter.values.undefined import integer_text
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue, sort_key

ELEMENTS_TRIED = 24
ALTERNATIVES_TRIED = 80
"""The most elements of a set parameter, entries of a collection, and values of one field that are tried."""

TIMES = 10**9
"""Numbers from here on are compared as times are: seconds or milliseconds since 1970."""

NUMBERS_TRIED = 200
"""The most values that are tried of a number as large as a time: nine for each of its digits, and the hints."""


def alternatives(value: Value, type_: t.Type, hints: Sequence[Value] = ()) -> list[Value]:
    """Other values of the type, nearest first: small changes of the value, and ``hints``."""
    found = dict.fromkeys(other for other in _near(value, type_, hints) if other != value)
    if _gap(value, 0) < TIMES:
        return sorted(found, key=lambda other: distance(value, other))[:ALTERNATIVES_TRIED]
    return sorted(found, key=lambda other: (distance(value, other), _gap(value, other)))[:NUMBERS_TRIED]


def _near(value: Value, type_: t.Type, hints: Sequence[Value]) -> Iterator[Value]:
    yield from (hint for hint in hints if fits(hint, type_))
    match value:
        # The order counts: a `bool` is an `int`, and elements, options, records and variants are named tuples.
        case bool():
            yield not value
        case int():
            yield from (number for number in _numbers(value, hints) if fits(number, type_))
        case Atom():
            # Elements of a large set come from the log; most have nothing to do with this line. Hints come before.
            if cardinality(type_) <= ELEMENTS_TRIED:
                yield from domain(type_)
        case None | Some():
            yield from _optional(value, type_, hints)
        case frozenset():
            yield from _sets(value, type_)
        case FrozenMap():
            yield from _maps(value, type_, hints)
        case RecordValue(fields) if isinstance(type_, t.RecordType):
            yield from (RecordValue(row) for row in _rows(fields, [f.type for f in type_.fields], hints))
        case VariantValue(variant, payload) if isinstance(type_, t.EnumType):
            of = next(v for v in type_.variants if v.name == variant)
            yield from (VariantValue(variant, row) for row in _rows(payload, [f.type for f in of.fields], hints))
            yield from (VariantValue(other.name, ()) for other in type_.variants if not other.fields)
        case tuple() if isinstance(type_, t.SeqType):
            yield from _sequences(value, type_.item, hints)


def _numbers(value: int, hints: Sequence[Value]) -> Iterator[int]:
    """The neighbours of a number and of the hints, and every number that differs in one digit."""
    for known in (value, *hints):
        if isinstance(known, int) and not isinstance(known, bool):
            yield from (known, known + 1, known - 1)
    # One digit mistaken, and no leading zero put in.
    digits = str(abs(value))
    for at in range(len(digits)):
        for digit in "0123456789":
            if len(digits) == 1 or at > 0 or digit != "0":
                number = int(digits[:at] + digit + digits[at + 1 :])
                yield -number if value < 0 else number


def _optional(value: Some | None, type_: t.Type, hints: Sequence[Value]) -> Iterator[Value]:
    if not isinstance(type_, t.OptionType):
        return
    if value is not None:
        yield None
        yield from (Some(other) for other in _near(value.value, type_.item, hints))
    elif cardinality(type_.item) <= ELEMENTS_TRIED:
        yield from (Some(other) for other in domain(type_.item))


def _sets(value: frozenset[Value], type_: t.Type) -> Iterator[Value]:
    yield from (value - {item} for item in _in_order(value))
    if isinstance(type_, t.SetType) and cardinality(type_.item) <= ELEMENTS_TRIED:
        yield from (value | {item} for item in domain(type_.item))


def _in_order(values: frozenset[Value] | tuple[Value, ...]) -> Sequence[Value]:
    # What comes first is tried, so the order of a set must not depend on hashes.
    return sorted(values, key=sort_key) if isinstance(values, frozenset) else values


def _maps(value: FrozenMap, type_: t.Type, hints: Sequence[Value]) -> Iterator[Value]:
    if not isinstance(type_, t.MapType):
        return
    like = [dict(hint) for hint in hints if isinstance(hint, FrozenMap)]
    for key, near in _doubted(dict(value), like, hints).items():
        if type_.partial:
            yield value.without(key)
        # One entry at a time: with two changes at once nearly any line can be explained.
        yield from (value.changed(key, other) for other in _near(value[key], type_.value, near))


def _sequences(values: tuple[Value, ...], of: t.Type, hints: Sequence[Value]) -> Iterator[tuple[Value, ...]]:
    like = [dict(enumerate(hint)) for hint in hints if type(hint) is tuple]
    for at, near in _doubted(dict(enumerate(values)), like, hints).items():
        yield values[:at] + values[at + 1 :]
        yield from ((*values[:at], other, *values[at + 1 :]) for other in _near(values[at], of, near))


def _doubted(
    entries: dict[Any, Value], like: list[dict[Any, Value]], hints: Sequence[Value]
) -> dict[Any, Sequence[Value]]:
    """The keys of entries that may be wrong, with hints for each.

    Of many entries only those are doubted that another collection has with another value, which is the hint.
    """
    if len(entries) <= ELEMENTS_TRIED:
        return dict.fromkeys(entries, hints)
    others = {key: [each[key] for each in like if key in each] for key in entries}
    odd = (key for key, item in entries.items() if any(each.get(key) != item for each in like))
    return {key: others[key] for key in islice(odd, ELEMENTS_TRIED)}


def _rows(values: tuple[Value, ...], types: list[t.Type], hints: Sequence[Value]) -> Iterator[tuple[Value, ...]]:
    for at, (value, type_) in enumerate(zip(values, types, strict=True)):
        for other in _near(value, type_, hints):
            yield (*values[:at], other, *values[at + 1 :])


def fits(value: Value, type_: t.Type) -> bool:
    """Whether a value belongs to the type."""
    match type_:
        case t.BoolType():
            return isinstance(value, bool)
        case t.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case t.RangeType(low, high):
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case t.AtomType(sort):
            return isinstance(value, Atom) and value.sort == sort.name
        case t.OptionType(item):
            return value is None or (isinstance(value, Some) and fits(value.value, item))
        case t.SetType(item):
            return isinstance(value, frozenset) and all(fits(part, item) for part in value)
        case t.SeqType(item):
            # By the exact type: elements, options and records are tuples too, and no sequences.
            return type(value) is tuple and all(fits(part, item) for part in value)
        case t.MapType(key, item):
            return isinstance(value, FrozenMap) and all(fits(k, key) and fits(v, item) for k, v in value.items())
        case t.RecordType(_, fields):
            return isinstance(value, RecordValue) and _all_fit(value.fields, fields)
        case t.EnumType(_, variants):
            of = [each for each in variants if isinstance(value, VariantValue) and each.name == value.variant]
            return bool(of) and isinstance(value, VariantValue) and _all_fit(value.payload, of[0].fields)
        case _:
            return False


def _all_fit(values: Sequence[Value], fields: Sequence[t.FieldType]) -> bool:
    return len(values) == len(fields) and all(
        fits(value, field.type) for value, field in zip(values, fields, strict=True)
    )


def distinct(values: Iterable[Value]) -> list[Value]:
    """Some values, each once. Python takes `True` and 1 for one value, and a field of a number has no `True`."""
    return list({(each.__class__, each): each for each in values}.values())


def parts(value: Value) -> Iterator[Value]:
    """A value and all values nested in it."""
    yield value
    match value:
        case Atom() | str():
            return
        case Some(inner):
            yield from parts(inner)
        case VariantValue(_, row) | RecordValue(row):
            for part in row:
                yield from parts(part)
        case FrozenMap():
            for key, item in value.items():
                yield from parts(key)
                yield from parts(item)
        case frozenset() | tuple():
            for part in _in_order(value):
                yield from parts(part)
        case _:
            return


def telling_parts(value: Value) -> Iterator[Value]:
    """The parts of a value by which it is known again elsewhere."""
    return (each for each in parts(value) if each is not None and not isinstance(each, bool))


def distance(left: Value, right: Value) -> int:
    """The edit distance of the texts of two values: characters added, removed or replaced.

    Of two numbers as large as times it is the number of digits of their difference. A time is mistaken by some
    milliseconds, not in its first digit.
    """
    if min(_gap(left, 0), _gap(right, 0)) >= TIMES:
        return len(str(_gap(left, right)))
    a, b = _differing(_plain(left), _plain(right))
    # The Levenshtein distance, by one row of its table.
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def _gap(left: Value, right: Value) -> int:
    """The difference of two numbers; 0 for other values."""
    return abs(left - right) if isinstance(left, int) and isinstance(right, int) else 0


def _differing(one: str, other: str) -> tuple[str, str]:
    """Two texts without their common prefix and suffix, which a shortest edit never touches."""
    begin = _alike(one, other)
    one, other = one[begin:], other[begin:]
    end = _alike(one[::-1], other[::-1])
    return one[: len(one) - end], other[: len(other) - end]


def _alike(one: str, other: str) -> int:
    """The length of the common prefix."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _plain(value: Value) -> str:
    match value:
        case Atom(_, _, name):
            return name
        case Some(inner):
            return _plain(inner)
        case VariantValue(variant, row):
            return f"{variant}({','.join(map(_plain, row))})"
        case RecordValue(row):
            return ",".join(map(_plain, row))
        case FrozenMap():
            return ",".join(sorted(f"{_plain(k)}>{_plain(v)}" for k, v in value.items()))
        case frozenset():
            return ",".join(sorted(map(_plain, value)))
        case tuple():
            return ",".join(map(_plain, value))
        case int() if not isinstance(value, bool):
            return integer_text(value)
        case _:
            return str(value)
