"""Events that report a step of the model as lines of a recorded log would. The values that a rule of the trace clause
asks for take the place of a line's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from assay.checker.interpreter.expressions.traverse import free_locals
from assay.checker.interpreter.values.domains import cardinality, domain
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.values import Some, Value
from assay.traces.event import Event, Field
from assay.traces.observe.binding import observe
from assay.traces.observe.field_values import encode
from assay.traces.observe.observation import Observation, fields_of
from assay.traces.search.transition_system import Taken, TraceModel

REPAIRS = 24
"""How many fields of a line are put right one after another."""

FEW = 64
"""A field with more values than this is put right only where a condition says what it is equal to."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the model, the state before it and its number in the model."""

    taken: Taken
    before: int

    def __str__(self) -> str:
        said = ", ".join(f"{name} {encode(value)}" for name, value in self.taken.arguments)
        return f"{self.taken.action}: {said}"


class StepLines:
    """Reports steps by the lines of a log. ``lines`` are their observations; the first of each rule is the example that
    is changed.
    """

    def __init__(self, model: TraceModel, lines: Sequence[Observation]) -> None:
        self._model = model
        self._runs = {str(seen.event.run): seen.event.run for seen in lines}
        self._rules: dict[str, list[k.TraceRule]] = {}
        for rule in model.plan.rules:
            self._rules.setdefault(rule.event, []).append(rule)
        self._examples: IdentityMemo[k.TraceRule, Observation] = IdentityMemo()
        for seen in lines:
            self._examples.setdefault(seen.rule, seen)

    def events(self, step: Step, time: int) -> Iterator[Event]:
        """Events of that time, each of which reports a step: by any rule that names its action, or its version."""
        action = step.taken.action
        for rule in self._model.plan.rules:
            for call in (call for call in (rule.steps[0] if len(rule.steps) == 1 else ()) if call.action == action):
                yield from self._events_by(rule, dict(_given(rule, call, step.taken)), step, time)
            if rule.at is not None and not rule.steps and action in self._model.plan.numbered:
                yield from self._events_by(rule, {}, step, time)

    def _events_by(self, rule: k.TraceRule, fixed: Mapping[str, Field], step: Step, time: int) -> Iterator[Event]:
        seen = self._examples.get(rule)
        if seen is not None:
            event_of_step = self._put_right(seen.event, {**fields_of(seen.event), **fixed}, frozenset(fixed), step)
            if event_of_step is not None:
                yield replace(event_of_step, record=replace(event_of_step.record, time=time))

    def _put_right(self, event: Event, fields: dict[str, Field], fixed: frozenset[str], step: Step) -> Event | None:
        """The event with fields of which all that rules say of the step is true; None if such were not found."""
        for _ in range(REPAIRS):
            run = self._runs.get(str(fields["node"]), event.run)
            stated = {name: value for name, value in fields.items() if name in event.fields or name in fixed}
            event_of_step = replace(event, fields=stated, run=run)
            parts = self._parts(event_of_step, step)
            if parts is None:
                return None
            wrong = next((part for part in parts if not part.holds), None)
            if wrong is None:
                return event_of_step
            other = wrong.put_right(fixed)
            if other is None or fields.get(other[0]) == other[1]:
                return None
            fields[other[0]] = other[1]
        return None

    def _parts(self, event: Event, step: Step) -> list[Part] | None:
        """What the rules for an event say of a step, in parts; None if it states what the model does not have."""
        found: list[Part] = []
        for rule in self._rules[event.kind]:
            seen = observe(event, rule, self._model.applies)
            if isinstance(seen, Observation):
                condition = rule.then if rule.steps else rule.observe
                is_logged = not rule.steps or any(call.action == step.taken.action for call in rule.steps[0])
                if condition is not None and is_logged:
                    found += _parts(self._model, condition, _names(rule, seen), step)
            elif seen is not None:
                return None
        return found


def _given(rule: k.TraceRule, call: k.ActionCall, taken: Taken) -> Iterator[tuple[str, Field]]:
    """The fields of a rule that are arguments of a step."""
    names = {field.binder.name: field.field for field in rule.fields}
    for argument, (_, value) in zip(call.arguments, taken.arguments, strict=True):
        if isinstance(argument, k.Local) and argument.name in names:
            yield names[argument.name], encode(value)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a condition for what a field states, so often made a value that may be absent."""

    field: str
    binder: k.Local
    wraps: int = 0

    def wrapped(self, value: Value) -> Value:
        """What the name stands for if the field states a value."""
        for _ in range(self.wraps):
            value = Some(value)
        return value

    def stated(self, value: Value) -> Value:
        """What the field has to state for the name to stand for a value; raises ``Undefined`` if nothing does."""
        for _ in range(self.wraps):
            if not isinstance(value, Some):
                raise Undefined("it is absent", self.binder.span)
            value = value.value
        return value


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a condition: their values, and those that stand for fields."""

    bound: Mapping[str, Value]
    fields: Mapping[str, Name]

    def with_name(self, binder: k.Local, value: Value, name: Name | None) -> Names:
        """One more."""
        fields = self.fields if name is None else {**self.fields, binder.name: name}
        return Names({**self.bound, binder.name: value}, fields)

    def name_of(self, expr: k.Expr) -> Name | None:
        """The field that an expression stands for by itself."""
        match expr:
            case k.Local(_, name):
                return self.fields.get(name)
            case k.MakeSome(_, operand) if (inner := self.name_of(operand)) is not None:
                return replace(inner, wraps=inner.wraps + 1)
            case _:
                return None


def _names(rule: k.TraceRule, seen: Observation) -> Names:
    return Names(seen.bound, {each.binder.name: Name(each.field, each.binder) for each in rule.fields})


@dataclass(frozen=True, slots=True)
class Part:
    """One of the conditions that have all to hold after a step, with what its names stand for."""

    model: TraceModel
    expr: k.Expr
    names: Names
    step: Step

    @property
    def holds(self) -> bool:
        """Whether it is true."""
        return self._is_true(self.names.bound)

    def _is_true(self, bound: Mapping[str, Value]) -> bool:
        return self.model.holds(self.expr, bound, self.step.taken.state, self.step.before)

    def put_right(self, fixed: frozenset[str]) -> tuple[str, Field] | None:
        """A field, none of those that are fixed, and what it has to state for the condition to hold; None if that is not found."""
        with suppress(Undefined):
            if isinstance(self.expr, k.Equal) and not self.expr.negated:
                for side, other in product((self.expr.left, self.expr.right), repeat=2):
                    name = self.names.name_of(side)
                    if other is not side and name is not None and name.field not in fixed:
                        return name.field, encode(name.stated(self._value(other)))
        return self._tried(fixed)

    def _value(self, expr: k.Expr) -> Value:
        return self.model.value(expr, self.names.bound, self.step.taken.state, self.step.before)

    def _tried(self, fixed: frozenset[str]) -> tuple[str, Field] | None:
        """The same by trying all values of each field, of which there must be few."""
        read = sorted(free_locals(self.expr) & self.names.fields.keys())
        open_ = (self.names.fields[name] for name in read)
        for binder in dict.fromkeys(each.binder for each in open_ if each.field not in fixed):
            for value in domain(binder.type) if cardinality(binder.type) <= FEW else ():
                alike = {n: each.wrapped(value) for n, each in self.names.fields.items() if each.binder == binder}
                if self._is_true({**self.names.bound, **alike}):
                    field = next(each.field for each in self.names.fields.values() if each.binder == binder)
                    return field, encode(value)
        return None


def _parts(model: TraceModel, condition: k.Expr, names: Names, step: Step) -> Iterator[Part]:
    """The conditions that all have to hold for a condition to hold."""
    match condition:
        case k.Logic(op="and", parts=parts):
            for part in parts:
                yield from _parts(model, part, names, step)
        case k.LetIn(_, binder, value, body):
            try:
                known = model.value(value, names.bound, step.taken.state, step.before)
            except Undefined:
                yield Part(model, condition, names, step)
                return
            yield from _parts(model, body, names.with_name(binder, known, names.name_of(value)), step)
        case _:
            yield Part(model, condition, names, step)
