"""The second encoding: expressions and steps of the kernel as first-order formulas, read straight off the kernel.

It agrees with the language wherever an expression is defined. An undefined expression may have any value here, and a
step whose guards or updates are undefined may happen. So there may be more steps here than in the system, never fewer,
and what is inductive here is inductive there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, assert_never

import z3

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.symbolic.smt.collections import Collections, Values
from assay.checker.symbolic.smt.values import (
    Domain,
    OutsideTheoryError,
    TMap,
    TOption,
    TRecord,
    TSeq,
    TSet,
    TVariant,
)
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import is_integer, mentions
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import AnyExpr, expression

COLLECTIONS = (t.SetType, t.MapType, t.SeqType, t.BagType)
FEW = 16
"""A set that a `let` names is encoded element by element where its type has no more values. So it is where the type has
fewer values than the set has possible elements."""


class SmtEncoder(Collections):
    """The encoder of expressions. ``now`` and ``before`` are the values of the state variables, ``bound`` those of
    locals."""

    def __init__(self, domain: Domain, now: Values, before: Values | None = None) -> None:
        super().__init__(domain, now, before)
        self.known: list[Any] = []
        """Conditions without which something that was read outside of any binder has no value."""
        self._inside = 0

    def read(self, expr: k.Expr) -> Any:
        """The term of an expression. Raises ``OutsideTheoryError`` with its place."""
        try:
            return self._read(expression(expr))
        except OutsideTheoryError as error:
            raise (error if error.span.file else OutsideTheoryError(error.what, expr.span)) from None

    def require(self, condition: Any) -> None:
        """Note a condition without which an expression outside of any binder is undefined."""
        if not self._inside:
            self.known.append(condition)

    def needs(self, expr: k.Expr) -> list[Any]:
        """The conditions under which an expression is defined if its parts are, and further needs."""
        outer, self.known, inside, self._inside = self.known, [], self._inside, 0
        try:
            self.read(expr)
            return self.known
        finally:
            self.known, self._inside = outer, inside

    def apart(self, make: Callable[[], Any]) -> Any:
        """What ``make`` encodes; needs inside it are dropped, because evaluation may not reach it."""
        self._inside += 1
        try:
            return make()
        finally:
            self._inside -= 1

    def _read(self, node: AnyExpr) -> Any:
        match node:
            case k.Const() | k.StateVar() | k.Local() | k.TypeDomain() | k.Old() | k.IfThenElse() | k.LetIn():
                return self._simple(node)
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
            case (
                k.Lookup() | k.Endpoint() | k.ReadField() | k.Payload() | k.Unwrap()
                | k.UpdateEntry() | k.UpdateField() | k.Without()
            ):  # fmt: skip
                return self._access(node)
            case k.Temporal() | k.ActionAtom():
                raise OutsideTheoryError("temporal operators", node.span)
            case _:
                assert_never(node)

    def _simple(self, node: k.Const | k.StateVar | k.Local | k.TypeDomain | k.Old | k.IfThenElse | k.LetIn) -> Any:
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
                return self.earlier(lambda: self.read(operand))
            case k.IfThenElse(of, condition, then, otherwise):
                test = self.read(condition)
                return self.domain.choose(
                    test, self.apart(lambda: self.read(then)), self.apart(lambda: self.read(otherwise)), of
                )
            case k.LetIn(_, binder, value, body):
                self.bound[binder.name] = self.named(value)
                return self.read(body)
            case _:
                assert_never(node)

    def named(self, value: k.Expr) -> Any:
        """The value of a `let`. Which elements a set of few has is encoded once, and not again at each use."""
        known = self.read(value)
        if isinstance(value, k.StateVar | k.Local | k.TypeDomain) or not isinstance(known, TSet):
            return known
        # Else a function of sets that calls itself would be encoded at each use, on each level anew.
        if not self.domain.is_listed(known.of) or cardinality(known.of) > max(FEW, len(known.items or ())):
            return known
        return self.domain.set_of(self._items(known), known.of)

    def earlier(self, make: Callable[[], Any]) -> Any:
        """What ``make`` encodes, over the state before."""
        assert self.before is not None
        now, self.now = self.now, self.before
        try:
            return make()
        finally:
            self.now = now

    def _whole(self, of: t.Type) -> TSet:
        def contains(x: Any) -> Any:
            # `typed` asks nothing of the elements of a set, so a yes would be no answer here.
            if any(mentions(of, each) for each in COLLECTIONS):
                raise OutsideTheoryError("membership in a type of collections")
            return self.domain.typed(x, of)

        return TSet(contains, of)

    # ------------------------------------------------------------------------------------------ conditions

    def _condition(self, node: Any) -> Any:
        domain = self.domain
        match node:
            case k.Not(_, operand):
                return z3.Not(self.read(operand))
            case k.Logic(_, op, parts):
                return self._logic(op, parts)
            case k.Equal(_, left, right, negated) if (few := self.few("==", left, right)) is not None:
                return z3.Not(few) if negated else few
            case k.Compare(_, op, left, right) if (few := self.few(op, left, right)) is not None:
                return few
            case k.Equal(_, left, right, negated):
                same = domain.equal(self.read(left), self.read(right), left.type)
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
                return self._subset(self.read(left), self.read(right), strict)
            case k.IsVariant(_, operand, variant):
                return self.read(operand).tag == _position(operand.type, variant)
            case k.IsSome(_, operand):
                return self.read(operand).present
            case _:
                raise AssertionError(node)

    def _logic(self, op: str, parts: Sequence[k.Expr]) -> Any:
        # Evaluation may end before a later part. So what such a part needs is not required.
        first, rest = self.read(parts[0]), [self.apart(lambda part=part: self.read(part)) for part in parts[1:]]  # type: ignore[misc]
        if op == "implies":
            return z3.Implies(first, rest[0])
        return z3.And(first, *rest) if op == "and" else z3.Or(first, *rest)

    def _quantified(self, quantifier: str, binder: k.Local, over: k.Expr, body: k.Expr) -> Any:
        def holds(value: Any) -> Any:
            self.bound[binder.name] = value
            return self.apart(lambda: self.read(body))

        if quantifier == "forall":
            return self.for_all(over, holds)
        return z3.Not(self.for_all(over, lambda value: z3.Not(holds(value))))

    def _member(self, item: Any, of: t.Type, collection: Any, type_: t.Type) -> Any:
        match collection:
            case TSet():
                return collection.contains(item)
            case TMap():
                return collection.keys.contains(item)
            case TSeq():
                assert isinstance(type_, t.SeqType)
                spots = [z3.IntVal(at) for at in range(collection.most)]
                return z3.Or(
                    [z3.And(collection.length > at, self.domain.equal(collection.get(at), item, of)) for at in spots]
                )
            case _:
                raise OutsideTheoryError("membership in this")

    def _subset(self, a: Any, b: Any, strict: bool) -> Any:
        if not isinstance(a, TSet):
            raise OutsideTheoryError("an order of bags")
        inside = self.domain.subset(a, b)
        return z3.And(inside, z3.Not(self.domain.subset(b, a))) if strict else inside

    # -------------------------------------------------------------------------------------------- integers

    def _integer(self, node: k.Negate | k.Arithmetic | k.Count | k.Times | k.Aggregate) -> Any:
        match node:
            case k.Negate(_, operand):
                return -self.read(operand)
            case k.Arithmetic(_, op, left, right):
                return self._arithmetic(op, self.read(left), self.read(right))
            case k.Count(_, operand):
                return self._count(self.read(operand))
            case k.Aggregate(_, op, operand):
                return self._aggregate(op, self._items(self.read(operand)))
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

    # ---------------------------------------------------------------------------------------------- making

    def _making(self, node: Any) -> Any:
        domain, of = self.domain, node.type
        match node:
            case k.Checked(_, operand):
                value = self.read(operand)
                self.require(domain.typed(value, of))
                return value
            case k.MakeSome(_, operand):
                return TOption(z3.BoolVal(True), self.read(operand))
            case k.MakeSet(_, items):
                return domain.set_of([(z3.BoolVal(True), self.read(x)) for x in items], of.item)
            case k.MakeSeq(_, items):
                return domain.seq_of([self.read(x) for x in items], of.item)
            case k.MakeMap(_, entries):
                return domain.map_of([(self.read(x), self.read(y)) for x, y in entries], of)
            case k.MakeRecord(_, items):
                return TRecord(tuple(self.read(x) for x in items))
            case k.MakeVariant(_, variant, items):
                # Payloads of other variants may be anything: `equal` compares those of the variant alone.
                payloads = [tuple(domain.filler(f.type) for f in v.fields) for v in of.variants]
                at = _position(of, variant)
                payloads[at] = tuple(self.read(x) for x in items)
                return TVariant(z3.IntVal(at), tuple(payloads))
            case _:
                raise OutsideTheoryError("bags", node.span)

    # ---------------------------------------------------------------------------------------------- access

    def _access(self, node: Any) -> Any:
        match node:
            case k.Lookup(_, collection, key):
                return self._entry(self.read(collection), self.read(key))
            case k.Endpoint(_, "only", operand):
                return self._only(self._items(self.read(operand)), node.type)
            case k.Endpoint(_, op, operand):
                whole = self.read(operand)
                self.require(whole.length > 0)
                return whole.get(z3.IntVal(0) if op == "first" else whole.length - 1)
            case k.ReadField(_, record, index):
                return self.read(record).fields[index]
            case k.Payload(_, operand, variant, index):
                value, at = self.read(operand), _position(operand.type, variant)
                self.require(value.tag == at)
                return value.payloads[at][index]
            case k.Unwrap(_, operand):
                option = self.read(operand)
                self.require(option.present)
                return option.item
            case k.UpdateEntry(of, collection, key, value):
                changed = self.with_entry(self.read(collection), self.read(key), self.read(value), of)
                return self._also_outside(changed, key.type)
            case k.UpdateField(_, record, index, value):
                fields = self.read(record).fields
                return TRecord((*fields[:index], self.read(value), *fields[index + 1 :]))
            case k.Without(of, collection, key):
                return self._without(self.read(collection), self.read(key), of)
            case _:
                raise AssertionError(node)

    def _entry(self, collection: Any, key: Any) -> Any:
        self.require(
            z3.And(key >= 0, key < collection.length) if isinstance(collection, TSeq) else collection.keys.contains(key)
        )
        return collection.get(key)

    def with_entry(self, collection: Any, key: Any, value: Any, of: t.Type) -> Any:
        """The map or sequence with another entry."""
        if isinstance(collection, TSeq):
            assert isinstance(of, t.SeqType)
            item = of.item
            self.require(z3.And(key >= 0, key < collection.length))
            return TSeq(
                collection.length,
                lambda i: self.domain.choose(i == key, value, collection.get(i), item),
                collection.most,
            )
        assert isinstance(of, t.MapType)

        def same(x: Any) -> Any:
            return self.domain.equal(x, key, of.key)

        keys = collection.keys
        if not of.partial:
            self.require(keys.contains(key))
        else:
            keys = TSet(lambda x: z3.Or(same(x), collection.keys.contains(x)), keys.of)
        return TMap(keys, lambda x: self.domain.choose(same(x), value, collection.get(x), of.value))

    @staticmethod
    def _also_outside(table: Any, key: t.Type) -> Any:
        """The map or sequence; the keys of a partial map in an expression may be outside their range."""
        if isinstance(table, TMap) and is_integer(key) and key != table.keys.of:
            return TMap(TSet(table.keys.contains, t.INT), table.get)
        return table

    def _without(self, table: TMap, key: Any, of: t.Type) -> TMap:
        assert isinstance(of, t.MapType)
        without = TSet(
            lambda x: z3.And(table.keys.contains(x), z3.Not(self.domain.equal(x, key, of.key))), table.keys.of
        )
        return TMap(without, table.get)


def _position(of: t.Type, variant: str) -> int:
    assert isinstance(of, t.EnumType)
    return next(at for at, each in enumerate(of.variants) if each.name == variant)
