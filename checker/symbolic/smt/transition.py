"""Initial states and steps in the second encoding: variables after a step as terms over the variables before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import z3

from assay.checker.symbolic.smt.collections import Values
from assay.checker.symbolic.smt.encode import COLLECTIONS, SmtEncoder
from assay.checker.symbolic.smt.values import Domain, OutsideTheoryError, TMap, TRecord
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import mentions
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import statement
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TheoryStep:
    """A step of an action with arbitrary arguments: the conditions under which it happens, and the variables
    after it."""

    action: str
    conditions: tuple[Any, ...]
    after: Values


def any_state(domain: Domain, variables: Sequence[k.Variable], stem: str) -> tuple[Values, list[Any]]:
    """Unknown values of the variables, with the condition that each is of its type."""
    values = {v.name: domain.unknown(v.type, f"{stem}{v.name}")() for v in variables}
    return values, [domain.typed(values[v.name], v.type) for v in variables]


def first_state(domain: Domain, kernel: k.Kernel) -> TheoryStep:
    """The initial states, as a step from no state."""
    nothing, typed = any_state(domain, kernel.variables, "initial ")
    reading = SmtEncoder(domain, dict(nothing))
    writer = _Writer(reading, kernel)
    writer.run(kernel.init.body)
    after = SmtEncoder(domain, writer.after)
    conditions = [after.read(guard.condition) for guard in kernel.init.conditions]
    return TheoryStep("init", (*typed, *writer.conditions, *reading.known, *conditions), writer.after)


def step_of(domain: Domain, kernel: k.Kernel, action: k.Action, now: Values, *, bounded: bool) -> TheoryStep:
    """A step of an action from the values ``now``. If not ``bounded``, its ``bound`` lines are no guards."""
    reading = SmtEncoder(domain, now)
    writer = _Writer(reading, kernel, bounded=bounded)
    for parameter in action.parameters:
        writer.pick(parameter.binder, parameter.domain)
    writer.run(action.body)
    return TheoryStep(action.name, (*writer.conditions, *reading.known), writer.after)


def cuts_of(domain: Domain, kernel: k.Kernel, action: k.Action, now: Values, label: str) -> Iterator[tuple[Any, ...]]:
    """For each ``bound`` of that label conditions under which it is the first to cut the action. Other bounds are
    ignored, so they may hold more often."""
    reading = SmtEncoder(domain, now)
    writer = _Writer(reading, kernel, bounded=False)
    for parameter in action.parameters:
        writer.pick(parameter.binder, parameter.domain)
    for each in action.body:
        if isinstance(each, k.Guard) and each.kind == "bound":
            if each.label == label:
                denied = reading.apart(lambda each=each: z3.Not(reading.read(each.condition)))  # type: ignore[misc]
                yield (*writer.conditions, *reading.known, denied)
        # Behind the first update there is no bound any more.
        elif isinstance(each, k.Guard | k.Pick | k.Let):
            writer.run([each])
        else:
            return


def more_than(domain: Domain, value: Any, of: t.Type) -> Any:
    """Whether a set or partial map has more elements than its type allows. Raises ``OutsideTheoryError`` for capacities
    inside."""
    match of:
        case t.SetType(item, int(capacity)):
            image, keys = item, value
        case t.MapType(item, image, int(capacity)):
            keys = value.keys
        case _:
            raise OutsideTheoryError("a capacity inside of a value")
    if any(mentions(part, each) for part in (item, image) for each in COLLECTIONS) or not domain.is_listed(item):
        raise OutsideTheoryError("a capacity inside of a value")
    return z3.Sum([z3.If(keys.contains(x), 1, 0) for x in domain.values(item)]) > capacity


class _Writer:
    def __init__(self, reading: SmtEncoder, kernel: k.Kernel, *, bounded: bool = True) -> None:
        self.reading = reading
        self.domain = reading.domain
        self.after: Values = dict(reading.now)
        self.conditions: list[Any] = []
        self._types = {v.name: v.type for v in kernel.variables}
        self._bounded = bounded

    def pick(self, binder: k.Local, over: k.Expr) -> None:
        """Let the binder be any element of the set."""
        value = self.domain.unknown(binder.type, binder.name)()
        self.conditions.append(self.domain.typed(value, binder.type))
        # A whole type asks for nothing beyond `typed`, and as a set it may be outside of the theory
        # (`SmtEncoder._whole`).
        if not isinstance(over, k.TypeDomain):
            self.conditions.append(self.reading.read(over).contains(value))
        self.reading.bound[binder.name] = value

    def run(self, body: Sequence[k.Statement]) -> None:
        """Encode the guards, lets and picks, and make the writes."""
        for each in body:
            node = statement(each)
            match node:
                case k.Guard(kind, _, condition):
                    if kind == "when" or self._bounded:
                        self.conditions.append(self.reading.read(condition))
                case k.Pick(binder, over):
                    self.pick(binder, over)
                case k.Let() | k.Assign() | k.If() | k.For():
                    self._write([each], [])
                case _:
                    assert_never(node)

    def _write(self, body: Sequence[k.Statement], when: list[Any]) -> None:
        for each in body:
            node = statement(each)
            match node:
                case k.Let(binder, value):
                    self.reading.bound[binder.name] = self._read(value, when)
                case k.Assign():
                    self._assign(node, when)
                case k.If(condition, then, otherwise):
                    test = self._read(condition, when)
                    self._write(then, [*when, test])
                    self._write(otherwise, [*when, z3.Not(test)])
                case k.For():
                    self._for(node, when)
                case k.Guard() | k.Pick():
                    raise AssertionError(f"{node.span}: a guard among the updates")
                case _:
                    assert_never(node)

    def _read(self, expr: k.Expr, when: list[Any]) -> Any:
        # Under a condition the value may not be needed at all, so what it needs is no condition of the step.
        return self.reading.apart(lambda: self.reading.read(expr)) if when else self.reading.read(expr)

    def _for(self, node: k.For, when: list[Any]) -> None:
        for there, x in self.reading.listed(self._read(node.domain, when), node.span):
            self.reading.bound[node.binder.name] = x
            self._write(node.body, [*when, there])

    def _assign(self, node: k.Assign, when: list[Any]) -> None:
        value = self._read(node.value, when)
        # With a value outside of its type the instance is stuck or cut in the language, and makes no step.
        self._require(self.domain.typed(value, node.type), when)
        path = [self._read(part.key, when) if isinstance(part, k.AtKey) else part.index for part in node.path]
        of, current = self._types[node.variable], self.after[node.variable]
        new = self._put(current, of, path, value, when)
        self.after[node.variable] = self.domain.choose(z3.And(when), new, current, of) if when else new

    def _require(self, condition: Any, when: list[Any]) -> None:
        """Allow only steps that satisfy a condition if they make the write it belongs to."""
        # Where the write is not made, the condition must not hold back the step: the system has it, and a proof would
        # miss it.
        self.conditions.append(z3.Implies(z3.And(when), condition) if when else condition)

    def _put(self, current: Any, of: t.Type, path: list[Any], value: Any, when: list[Any]) -> Any:
        if not path:
            return value
        head, rest = path[0], path[1:]
        if isinstance(of, t.RecordType):
            assert isinstance(current, TRecord)
            inner = self._put(current.fields[head], of.fields[head].type, rest, value, when)
            return TRecord((*current.fields[:head], inner, *current.fields[head + 1 :]))
        assert isinstance(of, t.MapType | t.SeqType)
        inner_type = of.value if isinstance(of, t.MapType) else of.item
        if isinstance(of, t.MapType) and isinstance(current, TMap):
            self._require(self.domain.typed(head, of.key), when)
        inner = self._put(current.get(head), inner_type, rest, value, when) if rest else value
        return self.reading.apart(lambda: self.reading.with_entry(current, head, inner, of))
