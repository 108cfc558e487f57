"""The second encoding: expressions and steps of the kernel as first-order formulas, read straight off the kernel.

It agrees with the language wherever an expression has a value. What has none may have any value here, and steps whose guards or updates
have none may happen; so there may be more steps here than in the system, never fewer, and what is inductive here is inductive there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, assert_never

import z3

from assay.checker.evaluate.families import AnyExpr, expression
from assay.checker.symbolic.theory_values import Domain, OutsideTheoryError, TMap, TOption, TRecord, TSeq, TSet, TVariant
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t

Values = dict[str, Any]
Moment = tuple[Values, Values, Values | None]


class Reading:
    """The translation of expressions. ``now`` and ``before`` are the values of the state variables, ``bound`` those of locals."""

    def __init__(self, domain: Domain, now: Values, before: Values | None = None) -> None:
        self.domain = domain
        self.now = now
        self.before = before
        self.bound: Values = {}
        self.known: list[Any] = []
        """Conditions without which something that was read outside of any binder has no value."""
        self._inside = 0

    def read(self, expr: k.Expr) -> Any:
        """The term of an expression; raises ``OutsideTheoryError`` with its place."""
        try:
            return self._read(expression(expr))
        except OutsideTheoryError as error:
            raise (error if error.span.file else OutsideTheoryError(error.what, expr.span)) from None

    def _require(self, condition: Any) -> None:
        if not self._inside:
            self.known.append(condition)

    def apart(self, make: Callable[[], Any]) -> Any:
        """What ``make`` reads; that something has no value in it is not noted, as it may not be reached."""
        self._inside += 1
        try:
            return make()
        finally:
            self._inside -= 1

    def _read(self, node: AnyExpr) -> Any:
        match node:
            case k.Const(of, value):
                return self.domain.literal(value, of)
            case k.StateVar(_, name):
                return self.now[name]
            case k.Local(_, name):
                return self.bound[name]
            case k.TypeDomain(_, of):
                return self._whole(of)
            case k.Old(_, operand):
                return self._old(operand)
            case k.IfThenElse(of, condition, then, otherwise):
                test = self.read(condition)
                return self.domain.choose(test, self.apart(lambda: self.read(then)), self.apart(lambda: self.read(otherwise)), of)
            case k.LetIn(_, binder, value, body):
                self.bound[binder.name] = self.read(value)
                return self.read(body)
            case (
                k.Not() | k.Logic() | k.Equal() | k.Compare() | k.Quantified()
                | k.Member() | k.Subset() | k.IsVariant() | k.IsSome()
            ):  # fmt: skip
                return self._condition(node)
            case k.Negate() | k.Arithmetic() | k.Count() | k.Times() | k.Aggregate():
                return self._integer(node)
            case (
                k.Checked() | k.MakeSome() | k.MakeSet() | k.MakeSeq() | k.MakeBag()
                | k.MakeMap() | k.MakeRecord() | k.MakeVariant()
            ):  # fmt: skip
                return self._making(node)
            case (
                k.Filter() | k.Image() | k.Tabulate() | k.Interval() | k.Combine()
                | k.Subsets() | k.Keys() | k.Values() | k.Elements() | k.Slice()
            ):  # fmt: skip
                return self._collection(node)
            case k.Lookup() | k.Endpoint() | k.ReadField() | k.Payload() | k.Unwrap() | k.UpdateEntry() | k.UpdateField() | k.Without():
                return self._access(node)
            case k.Temporal() | k.ActionAtom():
                raise OutsideTheoryError("temporal operators", node.span)
            case _:
                assert_never(node)

    def _old(self, operand: k.Expr) -> Any:
        assert self.before is not None
        now, self.now = self.now, self.before
        try:
            return self.read(operand)
        finally:
            self.now = now

    def _whole(self, of: t.Type) -> TSet:
        return TSet(lambda x: self.domain.typed(x, of), None)

    # ------------------------------------------------------------------------------------------ conditions

    def _condition(self, node: Any) -> Any:
        domain = self.domain
        match node:
            case k.Not(_, operand):
                return z3.Not(self.read(operand))
            case k.Logic(_, op, parts):
                return self._logic(op, parts)
            case k.Equal(_, left, right, negated):
                same = domain.equal(self.read(left), self.read(right), _common(left.type, right.type))
                return z3.Not(same) if negated else same
            case k.Compare(_, op, left, right):
                a, b = self.read(left), self.read(right)
                return {"<": lambda: a < b, "<=": lambda: a <= b, ">": lambda: a > b, ">=": lambda: a >= b}[op]()
            case k.Quantified(_, quantifier, binder, over, body):
                return self._quantified(quantifier, binder, over, body)
            case k.Member(_, item, collection, negated):
                inside = self._member(self.read(item), item.type, self.read(collection), collection.type)
                return z3.Not(inside) if negated else inside
            case k.Subset(_, left, right, strict):
                return self._subset(self.read(left), self.read(right), left.type, strict)
            case k.IsVariant(_, operand, variant):
                return self.read(operand).tag == _position(operand.type, variant)
            case k.IsSome(_, operand):
                return self.read(operand).present
            case _:
                raise AssertionError(node)

    def _logic(self, op: str, parts: Sequence[k.Expr]) -> Any:
        first, rest = self.read(parts[0]), [self.apart(lambda part=part: self.read(part)) for part in parts[1:]]  # type: ignore[misc]
        if op == "implies":
            return z3.Implies(first, rest[0])
        return z3.And(first, *rest) if op == "and" else z3.Or(first, *rest)

    def _quantified(self, quantifier: str, binder: k.Local, over: k.Expr, body: k.Expr) -> Any:
        def holds(value: Any) -> Any:
            self.bound[binder.name] = value
            return self.apart(lambda: self.read(body))

        if quantifier == "forall":
            return self._forall(over, binder.type, holds)
        return z3.Not(self._forall(over, binder.type, lambda value: z3.Not(holds(value))))

    def _forall(self, over: k.Expr, of: t.Type, holds: Callable[[Any], Any]) -> Any:
        if isinstance(over, k.TypeDomain):
            return self.domain.forall(over.of, holds)
        elements = self.read(over)
        if elements.items is not None:
            return z3.And([z3.Implies(there, holds(x)) for there, x in elements.items])
        return self.domain.forall(of, lambda x: z3.Implies(elements.contains(x), holds(x)))

    def _member(self, item: Any, of: t.Type, collection: Any, type_: t.Type) -> Any:
        match collection:
            case TSet():
                return collection.contains(item)
            case TMap():
                return collection.has(item)
            case TSeq():
                assert isinstance(type_, t.SeqType)
                spots = [z3.IntVal(at) for at in range(collection.most)]
                return z3.Or([z3.And(collection.length > at, self.domain.equal(collection.get(at), item, of)) for at in spots])
            case _:
                raise OutsideTheoryError("membership in this")

    def _subset(self, a: Any, b: Any, of: t.Type, strict: bool) -> Any:
        if not isinstance(of, t.SetType):
            raise OutsideTheoryError("an order of bags")
        inside = self._all_of(a, of.item, b.contains)
        return z3.And(inside, z3.Not(self._all_of(b, of.item, a.contains))) if strict else inside

    def _all_of(self, elements: TSet, of: t.Type, holds: Callable[[Any], Any]) -> Any:
        if elements.items is not None:
            return z3.And([z3.Implies(there, holds(x)) for there, x in elements.items])
        return self.domain.forall(of, lambda x: z3.Implies(elements.contains(x), holds(x)))

    # -------------------------------------------------------------------------------------------- integers

    def _integer(self, node: k.Negate | k.Arithmetic | k.Count | k.Times | k.Aggregate) -> Any:
        match node:
            case k.Negate(_, operand):
                return -self.read(operand)
            case k.Arithmetic(_, op, left, right):
                return self._arithmetic(op, self.read(left), self.read(right))
            case k.Count(_, operand):
                return self._count(self.read(operand), operand.type)
            case k.Aggregate(_, op, operand):
                return self._aggregate(op, self._items(self.read(operand), operand.type))
            case k.Times():
                raise OutsideTheoryError("bags", node.span)
            case _:
                assert_never(node)

    @staticmethod
    def _arithmetic(op: str, a: Any, b: Any) -> Any:
        match op:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case _:
                raise OutsideTheoryError("division")

    def _items(self, collection: Any, of: t.Type) -> Sequence[tuple[Any, Any]]:
        """What may be in a set, without repetitions that count twice."""
        if isinstance(collection, TSet) and isinstance(of, t.SetType):
            if self.domain.is_listed(of.item):
                found: list[tuple[Any, Any]] = []
                self.domain.forall(of.item, lambda x: found.append((collection.contains(x), x)) or z3.BoolVal(True))
                return found
            if collection.items is not None:
                return collection.items
        raise OutsideTheoryError("a number of elements where the size is open")

    def _count(self, collection: Any, of: t.Type) -> Any:
        if isinstance(collection, TSeq):
            return collection.length
        if isinstance(collection, TSet) and isinstance(of, t.SetType) and self.domain.is_listed(of.item):
            return z3.Sum([z3.If(there, 1, 0) for there, _ in self._items(collection, of)])
        if isinstance(collection, TMap) and isinstance(of, t.MapType) and self.domain.is_listed(of.key):
            keys = self._items(TSet(collection.has), t.SetType(of.key))
            return z3.Sum([z3.If(there, 1, 0) for there, _ in keys])
        raise OutsideTheoryError("a number of elements where the size is open")

    def _aggregate(self, op: str, items: Sequence[tuple[Any, Any]]) -> Any:
        if op == "sum":
            raise OutsideTheoryError("a sum")
        result = z3.Int(self.domain.fresh(op))
        found, value = z3.BoolVal(False), result
        for there, x in items:
            better = z3.And(there, z3.Or(z3.Not(found), x < value if op == "min" else x > value))
            value, found = z3.If(better, x, value), z3.Or(found, there)
        self._require(found)
        return value

    # ---------------------------------------------------------------------------------------------- making

    def _making(self, node: Any) -> Any:
        domain = self.domain
        match node:
            case k.Checked(of, operand):
                value = self.read(operand)
                self._require(domain.typed(value, of))
                return value
            case k.MakeSome(_, operand):
                return TOption(z3.BoolVal(True), self.read(operand))
            case k.MakeSet(of, items):
                return domain.set_of([(z3.BoolVal(True), self.read(x)) for x in items], of.item)
            case k.MakeSeq(of, items):
                return domain.seq_of([self.read(x) for x in items], of.item)
            case k.MakeMap(of, entries):
                return domain.map_of([(self.read(x), self.read(y)) for x, y in entries], of)
            case k.MakeRecord(_, items):
                return TRecord(tuple(self.read(x) for x in items))
            case k.MakeVariant(of, variant, items):
                payloads = [tuple(domain.filler(f.type) for f in v.fields) for v in of.variants]
                at = _position(of, variant)
                payloads[at] = tuple(self.read(x) for x in items)
                return TVariant(z3.IntVal(at), tuple(payloads))
            case _:
                raise OutsideTheoryError("bags", node.span)

    # ----------------------------------------------------------------------------------------- collections

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
                return TSet(self.read(operand).has)
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
        moment = self._moment()

        def contains(x: Any) -> Any:
            holds = self._at(moment, {node.binder.name: x}, lambda: self.read(node.condition))
            return z3.And(whole.contains(x), holds)

        return TSet(contains, items)

    def _moment(self) -> Moment:
        return dict(self.bound), self.now, self.before

    def _at(self, moment: Moment, more: Values, make: Callable[[], Any]) -> Any:
        """What ``make`` reads with the locals and the state of an earlier moment: collections are read when they are asked."""
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

        return TSet(contains)

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
        elements, of = self.read(generator.domain), generator.binder.type
        if isinstance(elements, TSeq):
            return [(elements.length > at, elements.get(z3.IntVal(at))) for at in range(elements.most)]
        if elements.items is not None:
            return list(elements.items)
        return self._items(elements, t.SetType(of)) if self.domain.is_listed(of) else None

    def _no_image(self, node: k.Image, at: int, y: Any, of: t.Type) -> Any:
        if at == len(node.generators):
            differ = z3.Not(self.domain.equal(y, self.read(node.element), of))
            return differ if node.condition is None else z3.Implies(self.read(node.condition), differ)
        generator = node.generators[at]

        def holds(x: Any) -> Any:
            self.bound[generator.binder.name] = x
            return self._no_image(node, at + 1, y, of)

        return self._forall(generator.domain, generator.binder.type, holds)

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

        return TMap(keys.contains, get)

    def _interval(self, low: Any, high: Any) -> TSet:
        items = None
        if z3.is_int_value(z3.simplify(low)) and z3.is_int_value(z3.simplify(high)):
            numbers = range(z3.simplify(low).as_long(), z3.simplify(high).as_long() + 1)
            items = tuple((z3.BoolVal(True), z3.IntVal(n)) for n in numbers)
        return TSet(lambda x: z3.And(low <= x, x <= high), items)

    def _combine(self, op: str, a: Any, b: Any, of: t.Type) -> Any:
        if isinstance(of, t.SeqType):
            return self._joined(a, b, of.item)
        if not isinstance(of, t.SetType):
            raise OutsideTheoryError("bags")
        match op:
            case "union":
                items = (*a.items, *b.items) if a.items is not None and b.items is not None else None
                return TSet(lambda x: z3.Or(a.contains(x), b.contains(x)), items)
            case "intersection":
                items = None if a.items is None else tuple((z3.And(p, b.contains(x)), x) for p, x in a.items)
                return TSet(lambda x: z3.And(a.contains(x), b.contains(x)), items)
            case _:
                items = None if a.items is None else tuple((z3.And(p, z3.Not(b.contains(x))), x) for p, x in a.items)
                return TSet(lambda x: z3.And(a.contains(x), z3.Not(b.contains(x))), items)

    def _joined(self, a: TSeq, b: TSeq, of: t.Type) -> TSeq:
        def get(i: Any) -> Any:
            return self.domain.choose(i < a.length, a.get(i), b.get(i - a.length), of)

        return TSeq(a.length + b.length, get, a.most + b.most)

    def _values(self, table: TMap, of: t.Type) -> TSet:
        assert isinstance(of, t.MapType)

        def contains(y: Any) -> Any:
            return self.domain.exists(of.key, lambda x: z3.And(table.has(x), self.domain.equal(table.get(x), y, of.value)))

        return TSet(contains)

    def _elements(self, sequence: Any, of: t.Type) -> TSet:
        if not isinstance(sequence, TSeq) or not isinstance(of, t.SeqType):
            raise OutsideTheoryError("bags")
        spots = range(sequence.most)
        return self.domain.set_of([(sequence.length > at, sequence.get(z3.IntVal(at))) for at in spots], of.item)

    def _slice(self, node: k.Slice) -> TSeq:
        whole, length = self.read(node.operand), self.read(node.length)
        self._require(length >= 0)
        taken = z3.If(length < whole.length, length, whole.length)
        if node.op == "take":
            return TSeq(taken, whole.get, whole.most)
        return TSeq(whole.length - taken, lambda i: whole.get(i + taken), whole.most)

    # ---------------------------------------------------------------------------------------------- access

    def _access(self, node: Any) -> Any:
        match node:
            case k.Lookup(_, collection, key):
                return self._entry(self.read(collection), self.read(key))
            case k.Endpoint(_, op, operand):
                whole = self.read(operand)
                self._require(whole.length > 0)
                return whole.get(z3.IntVal(0) if op == "first" else whole.length - 1)
            case k.ReadField(_, record, index):
                return self.read(record).fields[index]
            case k.Payload(_, operand, variant, index):
                value, at = self.read(operand), _position(operand.type, variant)
                self._require(value.tag == at)
                return value.payloads[at][index]
            case k.Unwrap(_, operand):
                option = self.read(operand)
                self._require(option.present)
                return option.item
            case k.UpdateEntry(of, collection, key, value):
                return self.with_entry(self.read(collection), self.read(key), self.read(value), of)
            case k.UpdateField(_, record, index, value):
                fields = self.read(record).fields
                return TRecord((*fields[:index], self.read(value), *fields[index + 1 :]))
            case k.Without(of, collection, key):
                return self._without(self.read(collection), self.read(key), of)
            case _:
                raise AssertionError(node)

    def _entry(self, collection: Any, key: Any) -> Any:
        self._require(
            z3.And(key >= 0, key < collection.length) if isinstance(collection, TSeq) else collection.has(key)
        )
        return collection.get(key)

    def with_entry(self, collection: Any, key: Any, value: Any, of: t.Type) -> Any:
        """The map or sequence with another entry."""
        if isinstance(collection, TSeq):
            assert isinstance(of, t.SeqType)
            item = of.item
            self._require(z3.And(key >= 0, key < collection.length))
            return TSeq(
                collection.length,
                lambda i: self.domain.choose(i == key, value, collection.get(i), item),
                collection.most,
            )
        assert isinstance(of, t.MapType)
        same = lambda x: self.domain.equal(x, key, of.key)  # noqa: E731 - a name for what is said twice
        has = (lambda x: z3.Or(same(x), collection.has(x))) if of.partial else collection.has
        return TMap(has, lambda x: self.domain.choose(same(x), value, collection.get(x), of.value))

    def _without(self, table: TMap, key: Any, of: t.Type) -> TMap:
        assert isinstance(of, t.MapType)
        return TMap(lambda x: z3.And(table.has(x), z3.Not(self.domain.equal(x, key, of.key))), table.get)


def _position(of: t.Type, variant: str) -> int:
    assert isinstance(of, t.EnumType)
    return next(at for at, each in enumerate(of.variants) if each.name == variant)


def _common(a: t.Type, b: t.Type) -> t.Type:
    """Of two types of one value the one that says more: integers in expressions have no range."""
    return b if isinstance(a, t.IntType) else a
