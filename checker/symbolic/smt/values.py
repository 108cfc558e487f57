"""Values as terms of first-order logic, for the second encoding: collections are functions, numbers are integers,
nothing is packed.

This shares no code with the encoding as gates. Elements of a set parameter are the integers from 0, or belong to a sort
of their own where the size is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, assert_never

import z3

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.layout.value_numbering import universe
from assay.checker.symbolic.smt.cardinality import Sizes
from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

LISTED = 300
"""Quantifiers over at most this many values are expanded."""


class OutsideTheoryError(Exception):
    """A construct that first-order logic over functions cannot express, with its place."""

    def __init__(self, what: str, span: Span = NOWHERE) -> None:
        super().__init__(what)
        self.what = what
        self.span = span


class TooLateError(Exception):
    """The time limit was reached while quantifiers were expanded."""


@dataclass(frozen=True, slots=True)
class TVariant:
    """A value of an enum: the variant's position, and the payload of each variant."""

    tag: Any
    payloads: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class TRecord:
    """A record."""

    fields: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class TOption:
    """An option; the item has no meaning where it is not present."""

    present: Any
    item: Any


@dataclass(frozen=True, slots=True)
class TSet:
    """A set by its membership. ``of`` is a type of all its elements: sets with different ranges can be compared.

    ``items`` lists its possible elements where they are known, each with the condition that it is present.
    """

    contains: Callable[[Any], Any]
    of: t.Type
    items: tuple[tuple[Any, Any], ...] | None = None


@dataclass(frozen=True, slots=True)
class TMap:
    """A map by its keys, and its value at each."""

    keys: TSet
    get: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class TSeq:
    """A sequence of at most ``most`` elements."""

    length: Any
    get: Callable[[Any], Any]
    most: int


class Domain:
    """The meaning of types: which sorts are of open size, and how to quantify over a type."""

    def __init__(self, open_sorts: frozenset[str] = frozenset(), expired: Callable[[], bool] = lambda: False) -> None:
        self.open_sorts = open_sorts
        self._expired = expired
        self.sizes = Sizes()
        self._sorts = {name: z3.DeclareSort(name) for name in open_sorts}
        self._names = count()

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        return f"{stem}!{next(self._names)}"

    # ------------------------------------------------------------------------------------------- scalars

    def scalar_sorts(self, of: t.Type) -> list[Any]:
        """The sorts of the scalars that a value of the type is made of, when it is used as a key."""
        match kind(of):
            case t.BoolType():
                return [z3.BoolSort()]
            case t.IntType() | t.RangeType():
                return [z3.IntSort()]
            case t.AtomType(sort):
                return [self._sorts.get(sort.name, z3.IntSort())]
            case t.EnumType(_, variants):
                return [z3.IntSort(), *(s for v in variants for f in v.fields for s in self.scalar_sorts(f.type))]
            case t.RecordType(_, fields):
                return [s for f in fields for s in self.scalar_sorts(f.type)]
            case t.OptionType(item):
                return [z3.BoolSort(), *self.scalar_sorts(item)]
            case t.SetType() | t.MapType() | t.SeqType() | t.BagType():
                raise OutsideTheoryError("a collection as an element or key of another")
            case other:
                assert_never(other)

    def scalars(self, value: Any, of: t.Type) -> list[Any]:
        """The scalars of a value. Unused parts are a fixed value, so that equal values have equal scalars."""
        match kind(of):
            case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
                return [value]
            case t.EnumType(_, variants):
                found = [value.tag]
                for at, (variant, payload) in enumerate(zip(variants, value.payloads, strict=True)):
                    for field, part in zip(variant.fields, payload, strict=True):
                        found += self._or_default(value.tag == at, self.scalars(part, field.type), field.type)
                return found
            case t.RecordType(_, fields):
                return [s for f, part in zip(fields, value.fields, strict=True) for s in self.scalars(part, f.type)]
            case t.OptionType(item):
                return [value.present, *self._or_default(value.present, self.scalars(value.item, item), item)]
            case t.SetType() | t.MapType() | t.SeqType() | t.BagType():
                raise OutsideTheoryError("a collection as an element or key of another")
            case other:
                assert_never(other)

    def _or_default(self, used: Any, scalars: list[Any], of: t.Type) -> list[Any]:
        # What is not used would else be any value, and equal variants would be different keys.
        defaults = [self._default(sort) for sort in self.scalar_sorts(of)]
        return [z3.If(used, scalar, default) for scalar, default in zip(scalars, defaults, strict=True)]

    def _default(self, sort: Any) -> Any:
        if sort == z3.BoolSort():
            return z3.BoolVal(False)
        return z3.IntVal(0) if sort == z3.IntSort() else z3.Const(f"some {sort.name()}", sort)

    # -------------------------------------------------------------------------------------------- making

    def unknown(self, of: t.Type, name: str, keys: Sequence[Any] = ()) -> Callable[..., Any]:
        """An unconstrained value of the type, as a function of scalars of the sorts ``keys``; a new one at
        every call."""
        match kind(of):
            case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
                sort, name = self.scalar_sorts(of)[0], self.fresh(name)  # `m.has` may be a field as well as a domain
                symbol = z3.Function(name, *keys, sort) if keys else z3.Const(name, sort)
                return symbol if keys else lambda *_: symbol
            case t.EnumType(_, variants):
                tag = self.unknown(t.INT, name, keys)
                parts = [[self.unknown(f.type, f"{name}.{v.name}.{f.name}", keys) for f in v.fields] for v in variants]
                return lambda *at: TVariant(tag(*at), tuple(tuple(p(*at) for p in payload) for payload in parts))
            case t.RecordType(_, fields):
                made = [self.unknown(f.type, f"{name}.{f.name}", keys) for f in fields]
                return lambda *at: TRecord(tuple(part(*at) for part in made))
            case t.OptionType(item):
                there, inner = self.unknown(t.BOOL, f"{name}.present", keys), self.unknown(item, f"{name}.some", keys)
                return lambda *at: TOption(there(*at), inner(*at))
            case t.SetType(item):
                inside = self.unknown(t.BOOL, f"{name}.has", [*keys, *self.scalar_sorts(item)])
                return lambda *at: TSet(
                    lambda x: z3.And(self.typed(x, item), inside(*at, *self.scalars(x, item))), item
                )
            case t.MapType():
                return self._unknown_map(of, name, keys)  # type: ignore[arg-type]
            case t.SeqType(item, capacity):
                length, get = (
                    self.unknown(t.INT, f"{name}.length", keys),
                    self.unknown(item, name, [*keys, z3.IntSort()]),
                )
                return lambda *at: TSeq(length(*at), lambda i: get(*at, i), capacity or 0)
            case t.BagType():
                raise OutsideTheoryError("bags")
            case other:
                assert_never(other)

    def _unknown_map(self, of: t.MapType, name: str, keys: Sequence[Any]) -> Callable[..., Any]:
        more = [*keys, *self.scalar_sorts(of.key)]
        get = self.unknown(of.value, name, more)
        has = self.unknown(t.BOOL, f"{name}.has", more) if of.partial else None

        def make(*at: Any) -> TMap:
            def there(key: Any) -> Any:
                inside = self.typed(key, of.key)
                return inside if has is None else z3.And(inside, has(*at, *self.scalars(key, of.key)))

            return TMap(TSet(there, of.key), lambda key: get(*at, *self.scalars(key, of.key)))

        return make

    def literal(self, value: Value, of: t.Type) -> Any:
        """A constant."""
        known: Any = value
        match kind(of):
            case t.BoolType():
                return z3.BoolVal(known)
            case t.IntType() | t.RangeType():
                return z3.IntVal(known)
            case t.AtomType(sort):
                if sort.name in self.open_sorts:
                    raise OutsideTheoryError(f"a named element of {sort.name}, whose size is open")
                return z3.IntVal(known.index)
            case t.EnumType(_, variants):
                at = next(i for i, v in enumerate(variants) if v.name == known.variant)
                payloads = [[self.filler(f.type) for f in v.fields] for v in variants]
                payloads[at] = [
                    self.literal(x, f.type) for x, f in zip(known.payload, variants[at].fields, strict=True)
                ]
                return TVariant(z3.IntVal(at), tuple(map(tuple, payloads)))
            case t.RecordType(_, fields):
                return TRecord(tuple(self.literal(x, f.type) for x, f in zip(known.fields, fields, strict=True)))
            case t.OptionType(item):
                if known is None:
                    return TOption(z3.BoolVal(False), self.filler(item))
                return TOption(z3.BoolVal(True), self.literal(known.value, item))
            case t.SetType(item):
                return self.set_of([(z3.BoolVal(True), self.literal(x, item)) for x in known], item)
            case t.MapType(key, image):
                return self.map_of([(self.literal(x, key), self.literal(y, image)) for x, y in known.items()], of)  # type: ignore[arg-type]
            case t.SeqType(item):
                return self.seq_of([self.literal(x, item) for x in known], item)
            case t.BagType():
                raise OutsideTheoryError("bags")
            case other:
                assert_never(other)

    def filler(self, of: t.Type) -> Any:
        """Some value of a type, as a placeholder."""
        return self.unknown(of, "any")()

    def set_of(self, items: Sequence[tuple[Any, Any]], of: t.Type) -> TSet:
        """The set of the items that are present."""
        return TSet(lambda x: z3.Or([z3.And(p, self.equal(x, y, of)) for p, y in items]), of, tuple(items))

    def map_of(self, entries: Sequence[tuple[Any, Any]], of: t.MapType) -> TMap:
        """The map of some entries, of which later ones win."""
        if not entries:
            # One filler for all keys: a new one at each use would make the map differ from itself.
            empty = self.filler(of.value)
            return TMap(self.set_of((), of.key), lambda _: empty)

        def get(key: Any) -> Any:
            # At other keys the language has no value, so any will do.
            result = entries[0][1]
            for at, value in entries[1:]:
                result = self.choose(self.equal(key, at, of.key), value, result, of.value)
            return result

        return TMap(self.set_of([(z3.BoolVal(True), at) for at, _ in entries], of.key), get)

    def seq_of(self, items: Sequence[Any], of: t.Type) -> TSeq:
        """The sequence of some elements."""

        def get(index: Any) -> Any:
            # Outside of the sequence the language has no value, so any will do.
            result = items[-1] if items else self.filler(of)
            for at, item in enumerate(items[:-1]):
                result = self.choose(index == at, item, result, of)
            return result

        return TSeq(z3.IntVal(len(items)), get, len(items))

    # ------------------------------------------------------------------------------------------ relations

    def is_open(self, of: t.Type) -> bool:
        """Whether the type has values that cannot be enumerated here."""
        match kind(of):
            case t.BoolType():
                return False
            case t.IntType():
                return True
            case t.RangeType(sized=sized):
                # A size parameter is as open as the sets: what is proved is meant for all sizes.
                return sized and bool(self.open_sorts)
            case t.AtomType(sort):
                return sort.name in self.open_sorts
            case t.EnumType(_, variants):
                return any(self.is_open(f.type) for v in variants for f in v.fields)
            case t.RecordType(_, fields):
                return any(self.is_open(f.type) for f in fields)
            case t.OptionType(item):
                return self.is_open(item)
            case t.SetType(item, capacity) | t.SeqType(item, capacity) | t.BagType(item, capacity):
                return self.is_open(item) or self._is_open_capacity(capacity)
            case t.MapType(key, value, capacity):
                return self.is_open(key) or self.is_open(value) or self._is_open_capacity(capacity)
            case other:
                assert_never(other)

    def _is_open_capacity(self, capacity: int | None) -> bool:
        """Whether a capacity is unknown because sizes are open: a size parameter may define it."""
        return capacity is not None and bool(self.open_sorts)

    def is_listed(self, of: t.Type) -> bool:
        """Whether quantifiers over the type are expanded."""
        return not self.is_open(of) and cardinality(of) <= LISTED

    def values(self, of: t.Type) -> list[Any]:
        """All values of a type that is expanded."""
        return [self.literal(value, of) for value in universe(of).values]

    def forall(self, of: t.Type, holds: Callable[[Any], Any]) -> Any:
        """For all values of a type: expanded where they are few."""
        if self.is_listed(of):
            if self._expired():
                raise TooLateError
            return z3.And([holds(value) for value in self.values(of)])
        names = [z3.Const(self.fresh("x"), sort) for sort in self.scalar_sorts(of)]
        value = self._from_scalars(list(names), of)
        with self.sizes.under(names):
            return z3.ForAll(names, z3.Implies(self.typed(value, of), holds(value)))

    def exists(self, of: t.Type, holds: Callable[[Any], Any]) -> Any:
        """For some value of a type: expanded where they are few."""
        return z3.Not(self.forall(of, lambda x: z3.Not(holds(x))))

    def _from_scalars(self, names: list[Any], of: t.Type) -> Any:
        """The value that scalars make; they are taken from the front."""
        match kind(of):
            case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
                return names.pop(0)
            case t.EnumType(_, variants):
                tag = names.pop(0)
                return TVariant(
                    tag, tuple(tuple(self._from_scalars(names, f.type) for f in v.fields) for v in variants)
                )
            case t.RecordType(_, fields):
                return TRecord(tuple(self._from_scalars(names, f.type) for f in fields))
            case t.OptionType(item):
                present = names.pop(0)
                return TOption(present, self._from_scalars(names, item))
            case t.SetType() | t.MapType() | t.SeqType() | t.BagType():
                raise OutsideTheoryError("a quantifier over collections")
            case other:
                assert_never(other)

    def typed(self, value: Any, of: t.Type) -> Any:
        """Whether a value is of the type: numbers in range, where the range has an end."""
        match kind(of):
            case t.BoolType() | t.IntType():
                return z3.BoolVal(True)
            case t.RangeType(low, high, sized, sized_below):
                # An end that a size parameter gives is open, above and below: with it a proof would be about this size
                # alone.
                if sized and self.open_sorts:
                    return z3.BoolVal(True) if sized_below else value >= low
                return z3.And(value >= low, value <= high)
            case t.AtomType(sort):
                if sort.name in self.open_sorts:
                    return z3.BoolVal(True)
                return z3.And(value >= 0, value < len(sort.elements))
            case t.EnumType(_, variants):
                parts = [value.tag >= 0, value.tag < len(variants)]
                for at, (variant, payload) in enumerate(zip(variants, value.payloads, strict=True)):
                    inner = [self.typed(x, f.type) for x, f in zip(payload, variant.fields, strict=True)]
                    parts.append(z3.Implies(value.tag == at, z3.And(inner)))
                return z3.And(parts)
            case t.RecordType(_, fields):
                return z3.And([self.typed(x, f.type) for x, f in zip(value.fields, fields, strict=True)])
            case t.OptionType(item):
                return z3.Implies(value.present, self.typed(value.item, item))
            case t.SetType():
                return z3.BoolVal(True)  # membership asks for the type itself
            case t.MapType(key, image):
                return self.forall(key, lambda x: z3.Implies(value.keys.contains(x), self.typed(value.get(x), image)))
            case t.SeqType(item, capacity):
                most = value.most if capacity is None else capacity
                parts = [value.length >= 0, value.length <= most]
                parts += [
                    z3.Implies(value.length > at, self.typed(value.get(z3.IntVal(at)), item)) for at in range(most)
                ]
                return z3.And(parts)
            case t.BagType():
                raise OutsideTheoryError("bags")
            case other:
                assert_never(other)

    def equal(self, a: Any, b: Any, of: t.Type) -> Any:
        """Whether two values are equal; ``of`` is the type of both up to ranges and capacities inside collections."""
        match kind(of):
            case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
                return a == b
            case t.EnumType(_, variants):
                parts = [a.tag == b.tag]
                for at, variant in enumerate(variants):
                    for index, field in enumerate(variant.fields):
                        same = self.equal(a.payloads[at][index], b.payloads[at][index], field.type)
                        parts.append(z3.Implies(a.tag == at, same))
                return z3.And(parts)
            case t.RecordType(_, fields):
                return z3.And([self.equal(x, y, f.type) for x, y, f in zip(a.fields, b.fields, fields, strict=True)])
            case t.OptionType(item):
                return z3.And(a.present == b.present, z3.Implies(a.present, self.equal(a.item, b.item, item)))
            case t.SetType():
                return self._equal_sets(a, b)
            case t.MapType(_, image):
                same = self.all_of(a.keys, lambda x: self.equal(a.get(x), b.get(x), image))
                return z3.And(self._equal_sets(a.keys, b.keys), same)
            case t.SeqType(item):
                parts = [a.length == b.length]
                for at in range(min(a.most, b.most)):
                    i = z3.IntVal(at)
                    parts.append(z3.Implies(a.length > at, self.equal(a.get(i), b.get(i), item)))
                return z3.And(parts)
            case t.BagType():
                raise OutsideTheoryError("bags")
            case other:
                assert_never(other)

    def _equal_sets(self, a: TSet, b: TSet) -> Any:
        # Sets with different ranges have no common quantifier: each is asked for its own elements.
        if a.items is None and b.items is None and a.of == b.of:
            return self.forall(a.of, lambda x: a.contains(x) == b.contains(x))
        return z3.And(self.subset(a, b), self.subset(b, a))

    def subset(self, a: TSet, b: TSet) -> Any:
        """Whether all elements of a set are in another."""
        return self.all_of(a, b.contains)

    def all_of(self, elements: TSet, holds: Callable[[Any], Any]) -> Any:
        """Whether something holds for all elements of a set."""
        # Listed elements need no quantifier, which costs the solver far more than a conjunction.
        if elements.items is not None:
            return z3.And([z3.Implies(there, holds(x)) for there, x in elements.items])
        return self.forall(elements.of, lambda x: z3.Implies(elements.contains(x), holds(x)))

    def choose(self, test: Any, yes: Any, no: Any, of: t.Type) -> Any:
        """One of two values."""
        match kind(of):
            case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
                return z3.If(test, yes, no)
            case t.EnumType(_, variants):
                payloads = tuple(
                    tuple(self.choose(test, x, y, f.type) for x, y, f in zip(p, q, v.fields, strict=True))
                    for p, q, v in zip(yes.payloads, no.payloads, variants, strict=True)
                )
                return TVariant(z3.If(test, yes.tag, no.tag), payloads)
            case t.RecordType(_, fields):
                parts = zip(yes.fields, no.fields, fields, strict=True)
                return TRecord(tuple(self.choose(test, x, y, f.type) for x, y, f in parts))
            case t.OptionType(item):
                return TOption(z3.If(test, yes.present, no.present), self.choose(test, yes.item, no.item, item))
            case t.SetType(item):
                return self._choose_set(test, yes, no, item)
            case t.MapType(key, image):
                keys = self._choose_set(test, yes.keys, no.keys, key)
                return TMap(keys, lambda x: self.choose(test, yes.get(x), no.get(x), image))
            case t.SeqType(item):
                length = z3.If(test, yes.length, no.length)
                return TSeq(length, lambda i: self.choose(test, yes.get(i), no.get(i), item), max(yes.most, no.most))
            case t.BagType():
                raise OutsideTheoryError("bags")
            case other:
                assert_never(other)

    @staticmethod
    def _choose_set(test: Any, yes: TSet, no: TSet, item: t.Type) -> TSet:
        items = None
        if yes.items is not None and no.items is not None:
            ours = [(z3.And(test, p), x) for p, x in yes.items]
            items = (*ours, *((z3.And(z3.Not(test), p), x) for p, x in no.items))
        # The type has to cover the elements of both, as in a union.
        of = yes.of if yes.of == no.of else item
        return TSet(lambda x: z3.If(test, yes.contains(x), no.contains(x)), of, items)
