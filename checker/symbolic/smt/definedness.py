"""When expressions and steps are defined, in the second encoding: conditions that must all hold.

They require at least what the language does. Where evaluation stops early, at the first element that decides a
quantifier, they require all elements to be defined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, assert_never

import z3

from assay.checker.interpreter.expressions.traverse import assignments, children
from assay.checker.symbolic.smt.collections import Values
from assay.checker.symbolic.smt.encode import SmtEncoder
from assay.checker.symbolic.smt.values import Domain, OutsideTheoryError, TRecord, TSeq
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import expression, kind, statement
from assay.grammar.lazy_dataclass import dataclass


def has_value(reading: SmtEncoder, expr: k.Expr) -> Any:
    """Whether an expression is defined."""
    node = expression(expr)
    match node:
        case k.Logic(_, op, parts):
            return _in_order(reading, op, parts)
        case k.IfThenElse(_, condition, then, otherwise):
            # Only the branch that is taken needs a value.
            either = z3.If(reading.read(condition), has_value(reading, then), has_value(reading, otherwise))
            return z3.And(has_value(reading, condition), either)
        case k.LetIn(_, binder, value, body):
            known = has_value(reading, value)
            # By a name of its own: as a term the value would be written out at each use in the body.
            reading.bound[binder.name] = reading.named(value)
            return z3.And(known, has_value(reading, body))
        case k.Quantified(_, _, binder, over, body):
            return _for_all(reading, [k.Generator(binder, over)], lambda: has_value(reading, body))
        case k.Filter(_, binder, over, condition):
            return _for_all(reading, [k.Generator(binder, over)], lambda: has_value(reading, condition))
        case k.Tabulate(_, binder, over, value):
            return _for_all(reading, [k.Generator(binder, over)], lambda: has_value(reading, value))
        case k.Image(_, element, generators, test):
            kept = [each for each in (test, element) if each is not None]
            return _for_all(reading, generators, lambda: _in_order(reading, "and", kept))
        case k.Old(_, operand):
            return reading.earlier(lambda: has_value(reading, operand))
        case k.Count(_, operand):
            return has_value(reading, operand)  # the number itself may be outside the theory
        case k.Checked(of, operand):
            return z3.And(has_value(reading, operand), fits(reading.domain, reading.read(operand), of))
        case _:
            inside = [has_value(reading, each) for each in children(node)]
            return z3.And(*inside, *reading.needs(node))


def _in_order(reading: SmtEncoder, op: str, parts: Sequence[k.Expr]) -> Any:
    """For expressions that protect those after them: each is defined if it is reached."""
    first, rest = parts[0], parts[1:]
    known = has_value(reading, first)
    if not rest:
        return known
    # The right side of an `or` is evaluated where the left side is false; of `and` and `implies` where it is true.
    reached = z3.Not(reading.read(first)) if op == "or" else reading.read(first)
    return z3.And(known, z3.Implies(reached, _in_order(reading, op, rest)))


def _for_all(reading: SmtEncoder, generators: Sequence[k.Generator], holds: Callable[[], Any]) -> Any:
    if not generators:
        return holds()
    binder, over = generators[0].binder, generators[0].domain

    def inside(value: Any) -> Any:
        reading.bound[binder.name] = value
        return _for_all(reading, generators[1:], holds)

    return z3.And(has_value(reading, over), reading.for_all(over, inside))


def fits(domain: Domain, value: Any, of: t.Type) -> Any:
    """Whether a value of the right shape is in the ranges of a type, and has all keys of a total map. Capacities do not
    count.
    """
    match kind(of):
        case t.BoolType() | t.IntType() | t.RangeType() | t.AtomType():
            return domain.typed(value, of)
        case t.EnumType(_, variants):
            parts = [
                z3.Implies(value.tag == at, fits(domain, x, field.type))
                for at, variant in enumerate(variants)
                for x, field in zip(value.payloads[at], variant.fields, strict=True)
            ]
            return z3.And(parts)
        case t.RecordType(_, fields):
            return z3.And([fits(domain, x, f.type) for x, f in zip(value.fields, fields, strict=True)])
        case t.OptionType(item):
            return z3.Implies(value.present, fits(domain, value.item, item))
        case t.SetType(item):
            return domain.all_of(value, lambda x: fits(domain, x, item))
        case t.MapType(key, image, _, partial):
            whole = z3.BoolVal(True) if partial else domain.forall(key, value.keys.contains)
            inside = domain.all_of(
                value.keys, lambda x: z3.And(fits(domain, x, key), fits(domain, value.get(x), image))
            )
            return z3.And(whole, inside)
        case t.SeqType(item):
            spots = [z3.IntVal(at) for at in range(value.most)]
            return z3.And([z3.Implies(value.length > at, fits(domain, value.get(at), item)) for at in spots])
        case t.BagType():
            raise OutsideTheoryError("bags")
        case other:
            assert_never(other)


@dataclass(frozen=True, slots=True)
class _Write:
    """A write under conditions; its place is made of keys, each with its type, and of the positions of fields."""

    variable: str
    when: list[Any]
    place: tuple[tuple[Any, t.Type | None], ...]


class StepNeeds:
    """What a step needs to be defined: ``needs``, in any instance that satisfies ``given``.

    If not ``bounded``, bounds are no guards.
    """

    def __init__(self, domain: Domain, kernel: k.Kernel, now: Values, *, bounded: bool) -> None:
        self.domain = domain
        self.reading = SmtEncoder(domain, now)
        self.given: list[Any] = []
        self.needs: list[Any] = []
        self._types = {v.name: v.type for v in kernel.variables}
        self._bounded = bounded
        self._writes: list[_Write] = []

    def action(self, action: k.Action) -> None:
        """The needs of any instance of an action."""
        for parameter in action.parameters:
            self._pick(parameter.binder, parameter.domain, [])
        self._run(action.body, [])
        # Two writes of which one place lies at or inside the other have no result (`interpreter/actions/update.py`).
        for one, other in combinations(self._writes, 2):
            if one.variable == other.variable:
                self.needs.append(z3.Not(z3.And(*one.when, *other.when, *self._same_place(one, other))))

    def initial(self, init: k.Init) -> None:
        """The needs of initial states, without their conditions. Raises ``OutsideTheoryError`` where a value is given
        in parts."""
        whole = {each.variable for each in init.body if isinstance(each, k.Assign) and not each.path}
        if whole != self._types.keys() or len(whole) < sum(1 for _ in assignments(init.body)):
            raise OutsideTheoryError("an initial value that is given in parts", init.span)
        self._run(init.body, [])

    def _need(self, condition: Any, when: list[Any]) -> None:
        self.needs.append(z3.Implies(z3.And(when), condition) if when else condition)

    def _value(self, expr: k.Expr, when: list[Any]) -> Any:
        self._need(has_value(self.reading, expr), when)
        return self.reading.read(expr)

    def _pick(self, binder: k.Local, over: k.Expr, when: list[Any]) -> None:
        value = self.domain.unknown(binder.type, binder.name)()
        self.given.append(self.domain.typed(value, binder.type))
        # The domain of a type says nothing more than that the value is typed.
        if not isinstance(over, k.TypeDomain):
            # A copy, because `when` grows with the guards behind this line, which protect nothing before them.
            when.append(self._value(over, list(when)).contains(value))
        self.reading.bound[binder.name] = value

    def _run(self, body: Sequence[k.Statement], when: list[Any]) -> None:
        for each in body:
            node = statement(each)
            match node:
                case k.Guard(how, _, condition):
                    self._guard(how, condition, when)
                case k.Pick(binder, over):
                    self._pick(binder, over, when)
                case k.Let(binder, value):
                    self.reading.bound[binder.name] = self._value(value, when)
                case k.Assign():
                    self._assign(node, when)
                case k.If(condition, then, otherwise):
                    test = self._value(condition, when)
                    self._run(then, [*when, test])
                    self._run(otherwise, [*when, z3.Not(test)])
                case k.For(binder, over, inner):
                    for there, x in self.reading.listed(self._value(over, when), node.span):
                        self.reading.bound[binder.name] = x
                        self._run(inner, [*when, there])
                case _:
                    assert_never(node)

    def _guard(self, how: str, condition: k.Expr, when: list[Any]) -> None:
        known = has_value(self.reading, condition)
        if how == "when" or self._bounded:
            self._need(known, when)
            when.append(self.reading.read(condition))
        elif not z3.is_true(z3.simplify(known)):  # its numbers are those of the model
            raise OutsideTheoryError("a bound that may have no value", condition.span)

    def _assign(self, node: k.Assign, when: list[Any]) -> None:
        value = self._value(node.value, when)
        self._need(fits(self.domain, value, node.type), when)
        place = tuple(
            (self._value(part.key, when), part.key.type) if isinstance(part, k.AtKey) else (part.index, None)
            for part in node.path
        )
        keys = [key for key, _ in place]
        self._need(self._is_place(self.reading.now[node.variable], self._types[node.variable], keys), when)
        self._writes.append(_Write(node.variable, list(when), place))

    def _is_place(self, current: Any, of: t.Type, place: Sequence[Any]) -> Any:
        if not place:
            return z3.BoolVal(True)
        head, rest = place[0], place[1:]
        match of:
            case t.RecordType(_, fields):
                assert isinstance(current, TRecord)
                return self._is_place(current.fields[head], fields[head].type, rest)
            case t.MapType(key, image, _, partial):
                # A key of a partial map may be new; only what lies inside of an entry needs the entry.
                there = current.keys.contains(head) if rest or not partial else z3.BoolVal(True)
                return z3.And(fits(self.domain, head, key), there, self._is_place(current.get(head), image, rest))
            case t.SeqType(item):
                assert isinstance(current, TSeq)
                inside = z3.And(head >= 0, head < current.length)
                return z3.And(inside, self._is_place(current.get(head), item, rest))
            case _:
                raise AssertionError(of)

    def _same_place(self, one: _Write, other: _Write) -> list[Any]:
        """Whether one place lies at or inside the other."""
        # Up to the shorter one: a place that is the beginning of another one contains it.
        pairs = list(zip(one.place, other.place, strict=False))
        if any(of is None and a != b for (a, of), (b, _) in pairs):
            return [z3.BoolVal(False)]
        return [self.domain.equal(a, b, of) for (a, of), (b, _) in pairs if of is not None]
