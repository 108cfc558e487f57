"""Collections in the second encoding: sets by their membership, maps and sequences by their entries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import z3

from assay.checker.symbolic.smt.values import Domain, OutsideTheoryError, TMap, TSeq, TSet
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import types as t

Values = dict[str, Any]
Moment = tuple[Values, Values, Values | None]


FEW = 3
"""Whether a set has so many elements is said by its elements."""

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Comparisons with the sides exchanged."""


class Collections(ABC):
    """What encoding an expression needs for collections; ``now``, ``before`` and ``bound`` are the values of names."""

    def __init__(self, domain: Domain, now: Values, before: Values | None) -> None:
        self.domain = domain
        self.now = now
        self.before = before
        self.bound: Values = {}

    @abstractmethod
    def read(self, expr: k.Expr) -> Any:
        """The term of an expression."""

    @abstractmethod
    def apart(self, make: Callable[[], Any]) -> Any:
        """What ``make`` encodes, which evaluation may not reach."""

    @abstractmethod
    def require(self, condition: Any) -> None:
        """Note that what is encoded is undefined without this condition."""

    def for_all(self, over: k.Expr, holds: Callable[[Any], Any]) -> Any:
        """Whether something holds for all elements of an expression's value."""
        if isinstance(over, k.TypeDomain):
            return self.domain.forall(over.of, holds)
        return self.domain.all_of(self.read(over), holds)

    def listed(self, over: TSet, span: Span) -> Sequence[tuple[Any, Any]]:
        """The possible elements of a set over which updates loop, each with the condition that it is present."""
        if over.items is not None:
            return over.items
        if self.domain.is_listed(over.of):
            return [(over.contains(x), x) for x in self.domain.values(over.of)]
        size = "of open size" if self.domain.is_open(over.of) else "as large as this"
        raise OutsideTheoryError(f"an update for each element of a set {size}", span)

    def _collection(self, node: Any) -> Any:
        match node:
            case k.Filter():
                return self._filter(node)
            case k.Image():
                return self._image(node)
            case k.Tabulate(of, binder, over, value):
                return self._tabulate(of, binder, over, value)
            case k.Interval(_, low, high):
                return self._interval(self.read(low), self.read(high))
            case k.Combine(of, op, left, right):
                return self._combine(op, self.read(left), self.read(right), of)
            case k.Keys(_, operand):
                table: TMap = self.read(operand)
                return table.keys
            case k.Values(_, operand):
                return self._values(self.read(operand), operand.type)
            case k.Elements(_, operand):
                return self._elements(self.read(operand), operand.type)
            case k.Slice():
                return self._slice(node)
            case _:
                raise OutsideTheoryError("the set of all subsets", node.span)

    def _holds_for(self, binder: k.Local, value: Any, condition: k.Expr) -> Any:
        self.bound[binder.name] = value
        return self.apart(lambda: self.read(condition))

    def _filter(self, node: k.Filter) -> TSet:
        if not isinstance(node.type, t.SetType):
            raise OutsideTheoryError("a filtered sequence", node.span)
        whole = self.read(node.domain)
        items = whole.items
        if items is not None:
            items = tuple((z3.And(p, self._holds_for(node.binder, x, node.condition)), x) for p, x in items)
        # A set is asked for its elements later, when the names may stand for something else.
        moment = self._moment()

        def contains(x: Any) -> Any:
            holds = self._at(moment, {node.binder.name: x}, lambda: self.read(node.condition))
            return z3.And(whole.contains(x), holds)

        return TSet(contains, whole.of, items)

    def _moment(self) -> Moment:
        return dict(self.bound), self.now, self.before

    def _at(self, moment: Moment, more: Values, make: Callable[[], Any]) -> Any:
        """What ``make`` encodes with the locals and the state of an earlier moment: a collection is evaluated lazily,
        at its uses."""
        outer = self.bound, self.now, self.before
        self.bound, self.now, self.before = {**moment[0], **more}, moment[1], moment[2]
        try:
            return self.apart(make)
        finally:
            self.bound, self.now, self.before = outer

    def _image(self, node: k.Image) -> Any:
        if isinstance(node.type, t.SeqType):
            return self._image_of_sequence(node)
        assert isinstance(node.type, t.SetType)
        of = node.type.item
        moment = self._moment()
        items = self.apart(lambda: self._listed_images(node, 0, z3.BoolVal(True)))
        if items is not None:
            return self.domain.set_of(items, of)

        def contains(y: Any) -> Any:
            return z3.Not(self._at(moment, {}, lambda: self._no_image(node, 0, y, of)))

        return TSet(contains, of)

    def _listed_images(self, node: k.Image, at: int, reached: Any) -> list[tuple[Any, Any]] | None:
        if at == len(node.generators):
            there = reached if node.condition is None else z3.And(reached, self.read(node.condition))
            return [(there, self.read(node.element))]
        generator = node.generators[at]
        over = self._listed(generator)
        if over is None:
            return None
        found: list[tuple[Any, Any]] = []
        for there, x in over:
            self.bound[generator.binder.name] = x
            more = self._listed_images(node, at + 1, z3.And(reached, there))
            if more is None:
                return None
            found += more
        return found

    def _listed(self, generator: k.Generator) -> Sequence[tuple[Any, Any]] | None:
        elements = self.read(generator.domain)  # a set: what is made of a sequence is one too
        if elements.items is not None:
            return list(elements.items)
        return self._items(elements) if self.domain.is_listed(elements.of) else None

    def _no_image(self, node: k.Image, at: int, y: Any, of: t.Type) -> Any:
        if at == len(node.generators):
            differ = z3.Not(self.domain.equal(y, self.read(node.element), of))
            return differ if node.condition is None else z3.Implies(self.read(node.condition), differ)
        generator = node.generators[at]

        def holds(x: Any) -> Any:
            self.bound[generator.binder.name] = x
            return self._no_image(node, at + 1, y, of)

        return self.for_all(generator.domain, holds)

    def _image_of_sequence(self, node: k.Image) -> TSeq:
        whole = self.read(node.generators[0].domain)
        if node.condition is not None or not isinstance(whole, TSeq):
            raise OutsideTheoryError("a sequence made of some elements", node.span)
        moment, binder = self._moment(), node.generators[0].binder

        def get(i: Any) -> Any:
            return self._at(moment, {binder.name: whole.get(i)}, lambda: self.read(node.element))

        return TSeq(whole.length, get, whole.most)

    def _tabulate(self, of: t.Type, binder: k.Local, over: k.Expr, value: k.Expr) -> TMap:
        assert isinstance(of, t.MapType)
        keys, moment = self.read(over), self._moment()

        def get(key: Any) -> Any:
            return self._at(moment, {binder.name: key}, lambda: self.read(value))

        return TMap(keys, get)

    def _interval(self, low: Any, high: Any) -> TSet:
        items = None
        # Between known ends the numbers are listed, so that a loop over them can be written out.
        if z3.is_int_value(z3.simplify(low)) and z3.is_int_value(z3.simplify(high)):
            numbers = range(z3.simplify(low).as_long(), z3.simplify(high).as_long() + 1)
            items = tuple((z3.BoolVal(True), z3.IntVal(n)) for n in numbers)
        return TSet(lambda x: z3.And(low <= x, x <= high), t.INT, items)

    def _combine(self, op: str, a: Any, b: Any, of: t.Type) -> Any:
        if isinstance(of, t.SeqType):
            return self._joined(a, b, of.item)
        if not isinstance(of, t.SetType):
            raise OutsideTheoryError("bags")
        match op:
            case "union":
                # An element of both is listed twice, which quantifiers do not mind; `_items` counts over the type.
                items = (*a.items, *b.items) if a.items is not None and b.items is not None else None
                # The type has to cover the elements of both. Else a quantifier over the union would leave some out.
                both = a.of if a.of == b.of else of.item
                return TSet(lambda x: z3.Or(a.contains(x), b.contains(x)), both, items)
            case "intersection":
                # The elements of the left side are enough: only they can be in the result.
                items = None if a.items is None else tuple((z3.And(p, b.contains(x)), x) for p, x in a.items)
                return TSet(lambda x: z3.And(a.contains(x), b.contains(x)), a.of, items)
            case _:
                items = None if a.items is None else tuple((z3.And(p, z3.Not(b.contains(x))), x) for p, x in a.items)
                return TSet(lambda x: z3.And(a.contains(x), z3.Not(b.contains(x))), a.of, items)

    def _joined(self, a: TSeq, b: TSeq, of: t.Type) -> TSeq:
        def get(i: Any) -> Any:
            return self.domain.choose(i < a.length, a.get(i), b.get(i - a.length), of)

        return TSeq(a.length + b.length, get, a.most + b.most)

    def _values(self, table: TMap, of: t.Type) -> TSet:
        assert isinstance(of, t.MapType)

        def contains(y: Any) -> Any:
            differ = self.domain.all_of(table.keys, lambda x: z3.Not(self.domain.equal(table.get(x), y, of.value)))
            return z3.Not(differ)

        return TSet(contains, of.value)

    def _elements(self, sequence: Any, of: t.Type) -> TSet:
        if not isinstance(sequence, TSeq) or not isinstance(of, t.SeqType):
            raise OutsideTheoryError("bags")
        spots = range(sequence.most)
        return self.domain.set_of([(sequence.length > at, sequence.get(z3.IntVal(at))) for at in spots], of.item)

    def _slice(self, node: k.Slice) -> TSeq:
        whole, length = self.read(node.operand), self.read(node.length)
        self.require(length >= 0)
        taken = z3.If(length < whole.length, length, whole.length)
        if node.op == "take":
            return TSeq(taken, whole.get, whole.most)
        return TSeq(whole.length - taken, lambda i: whole.get(i + taken), whole.most)

    def _items(self, collection: Any) -> Sequence[tuple[Any, Any]]:
        """The possible elements of a set, without repetitions that would count twice."""
        if isinstance(collection, TSet):
            # The values of the type come first, since each occurs once there; listed elements may repeat.
            if self.domain.is_listed(collection.of):
                return [(collection.contains(x), x) for x in self.domain.values(collection.of)]
            if collection.items is not None:
                return collection.items
        raise OutsideTheoryError("a number of elements where the size is open")

    def _count(self, collection: Any) -> Any:
        if isinstance(collection, TSeq):
            return collection.length
        keys = collection.keys if isinstance(collection, TMap) else collection
        if isinstance(keys, TSet) and self.domain.is_listed(keys.of):
            return z3.Sum([z3.If(there, 1, 0) for there, _ in self._items(keys)])
        if isinstance(keys, TSet) and isinstance(keys.of, t.AtomType):
            return self.domain.sizes.number(self.domain.scalar_sorts(keys.of)[0], keys.contains)
        raise OutsideTheoryError("a number of elements where the size is open")

    def few(self, op: str, left: k.Expr, right: k.Expr) -> Any | None:
        """Whether a set of open size has so few elements, as in ``count(S) <= 1``; None for any other comparison. Its
        elements say it without the laws of numbers."""
        # So that the number stands on the right.
        if isinstance(left, k.Const):
            op, left, right = _TURNED.get(op, op), right, left
        match left, right:
            case k.Count(_, operand), k.Const(_, int(number)) if isinstance(operand.type, t.SetType):
                # More than n is at least n + 1, and at most n is its negation.
                least = number + 1 if op in (">", "<=") else number
                # Each further element nests one more quantifier; equality needs one element beyond its number.
                if not (self.domain.is_open(operand.type.item) and 0 <= least <= (FEW - 1 if op == "==" else FEW)):
                    return None
                found = self.read(operand)
                if op == "==":
                    return z3.And(self._at_least(found, least), z3.Not(self._at_least(found, least + 1)))
                enough = self._at_least(found, least)
                return z3.Not(enough) if op in ("<", "<=") else enough
            case _:
                return None

    def _at_least(self, elements: TSet, number: int) -> Any:
        """Whether a set has so many elements that differ."""

        def fewer(known: tuple[Any, ...]) -> Any:
            """Whether all elements are among those known, or there are too few others."""
            if len(known) == number:
                return z3.BoolVal(False)

            def no_more(x: Any) -> Any:
                among = [self.domain.equal(x, y, elements.of) for y in known]
                return z3.Or(*among, fewer((*known, x)))

            return self.domain.all_of(elements, no_more)

        return z3.Not(fewer(()))

    def _only(self, items: Sequence[tuple[Any, Any]], of: t.Type) -> Any:
        """The only element of a set."""
        value, found, several = self.domain.filler(of), z3.BoolVal(False), z3.BoolVal(False)
        for there, x in items:
            other = z3.And(there, found, z3.Not(self.domain.equal(x, value, of)))
            several, found = z3.Or(several, other), z3.Or(found, there)
            value = self.domain.choose(there, x, value, of)
        self.require(z3.And(found, z3.Not(several)))
        return value

    def _aggregate(self, op: str, items: Sequence[tuple[Any, Any]]) -> Any:
        if op == "sum":
            raise OutsideTheoryError("a sum")
        result = z3.Int(self.domain.fresh(op))
        # Of nothing there is no least or greatest element, and any number will do: `require` says so.
        found, value = z3.BoolVal(False), result
        for there, x in items:
            better = z3.And(there, z3.Or(z3.Not(found), x < value if op == "min" else x > value))
            value, found = z3.If(better, x, value), z3.Or(found, there)
        self.require(found)
        return value
