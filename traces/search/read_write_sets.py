"""The read and write sets of an action instance: places of the state, with the written values where they are known
statically.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from assay.checker.interpreter.expressions.traverse import children, free_locals, variables_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import FrozenMap, Value
from assay.traces.search.transition_system import ANY, AnyValue, TraceModel

if TYPE_CHECKING:
    from assay.traces.observe.observation import Observation

Call = tuple[str, tuple[Value, ...]]
"""An action with all its arguments."""

Place = tuple[str, Value | AnyValue]
"""A variable and a key of it. The key ``ANY`` is the whole variable, or a key that is not known statically."""


class Unknown(Enum):
    """A value that depends on the state."""

    VALUE = "?"


UNKNOWN = Unknown.VALUE


@dataclass(frozen=True, slots=True)
class WriteEffect:
    """A place that an action assigns: ``sure`` if it always does, ``grows`` if it only adds elements to a set."""

    place: Place
    value: Value | Unknown
    sure: bool
    grows: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ConditionReads:
    """A guard, or a conjunct of an observation, with its statically known binders and the places that it reads.

    It is compared by identity, so that caches can be keyed by it.
    """

    expr: k.Expr
    bound: Mapping[str, Value]
    reads: frozenset[Place]
    closed: bool
    """Whether it depends on no choice of the action and on no local name for a value of the state."""


@dataclass(frozen=True, slots=True)
class ReadWriteSets:
    """The guards of an action, its writes, and the places that the written values depend on. ``choices``: whether it
    picks values.
    """

    conditions: tuple[ConditionReads, ...]
    writes: tuple[WriteEffect, ...]
    sources: frozenset[Place]
    choices: bool


def overlap(left: Place, right: Place) -> bool:
    """Whether two places may be the same, or one contains the other."""
    return left[0] == right[0] and (left[1] is ANY or right[1] is ANY or left[1] == right[1])


@dataclass(slots=True)
class BoundNames:
    """The binders in scope: values that are known statically, and the places that the other binders' values depend
    on.
    """

    model: TraceModel
    values: dict[str, Value]
    origins: dict[str, frozenset[Place]] = field(default_factory=dict)

    def bind(self, name: str, value: k.Expr) -> None:
        """Bind a name to an expression."""
        known = self.value(value)
        if isinstance(known, Unknown):
            self.origins[name] = self.reads(value)
        else:
            self.values[name] = known

    def value(self, expr: k.Expr) -> Value | Unknown:
        """The value of an expression that depends on no state and no choice; otherwise ``UNKNOWN``."""
        if isinstance(expr, k.Local):
            return self.values.get(expr.name, UNKNOWN)
        # State first: a value that hangs on the state is known in no search before it runs.
        if self.reads(expr) or not free_locals(expr) <= self.values.keys():
            return UNKNOWN
        try:
            return self.model.value(expr, self.values)
        except Undefined:
            return UNKNOWN

    def reads(self, expr: k.Expr) -> frozenset[Place]:
        """The places that an expression reads."""
        match expr:
            case k.Local(_, name):
                # The binder of a quantifier has no origin: its domain is a part of the quantifier, counted there.
                return self.origins.get(name, frozenset())
            case k.StateVar(_, name):
                return frozenset({(name, ANY)})
            case k.Lookup(_, k.StateVar(_, name), key) | k.Lookup(_, k.Old(_, k.StateVar(_, name)), key):
                known = self.value(key)
                return frozenset({(name, ANY if isinstance(known, Unknown) else known)}) | self.reads(key)
            # Names are never removed again: the kernel guarantees that no two binders of an action share one.
            case k.LetIn(_, binder, value, body):
                self.bind(binder.name, value)
                return self.reads(body)
            case _:
                return frozenset().union(*(self.reads(part) for part in children(expr)))


def read_write_sets(model: TraceModel, call: Call) -> ReadWriteSets:
    """The read and write sets of an action instance."""
    action, arguments = call
    meaning = model.meanings.actions[action]
    names = BoundNames(model, dict(zip(meaning.names, arguments, strict=True)))
    conditions: list[ConditionReads] = []
    writes: list[WriteEffect] = []
    sources: set[Place] = set()
    choices = False
    for each in meaning.node.body:
        match each:
            case k.Guard("when", _, condition):
                conditions += _conditions(names, condition)
            case k.Let(binder, value):
                names.bind(binder.name, value)
            case k.Pick(binder, domain):
                names.origins[binder.name] = names.reads(domain)
                choices = True
            case k.Guard():  # bounds do not limit a log
                continue
            case _:
                writes += _writes(names, each, sources, sure=True)
    return ReadWriteSets(tuple(conditions), tuple(writes), frozenset(sources), choices)


def observed(model: TraceModel, condition: k.Expr, bound: Mapping[str, Value]) -> tuple[ConditionReads, ...]:
    """The conjuncts of an observation's condition."""
    return tuple(_conditions(BoundNames(model, dict(bound)), condition))


def _conditions(names: BoundNames, expr: k.Expr) -> Iterator[ConditionReads]:
    if isinstance(expr, k.Logic) and expr.op == "and":
        for part in expr.parts:
            yield from _conditions(names, part)
    else:
        reads = names.reads(expr)
        # A copy of the binders: later statements of the body bind more names in `names`.
        yield ConditionReads(expr, dict(names.values), reads, free_locals(expr) <= names.values.keys())


def _writes(names: BoundNames, statement: k.Statement, sources: set[Place], *, sure: bool) -> Iterator[WriteEffect]:
    match statement:
        case k.Assign(_, variable, path, value):
            sources |= names.reads(value)
            yield _write(names, variable, path, value, sources, sure=sure)
        case k.If(condition, then, otherwise):
            # The branch that is taken decides what is written, so a written value depends on the condition as well.
            sources |= names.reads(condition)
            for part in (*then, *otherwise):
                yield from _writes(names, part, sources, sure=False)
        case k.For(_, domain, body):
            sources |= names.reads(domain)
            for part in body:
                yield from _writes(names, part, sources, sure=False)
        case k.Let(binder, value):
            names.bind(binder.name, value)
        case _:
            return


def _write(
    names: BoundNames,
    variable: str,
    path: tuple[k.AtKey | k.AtField, ...],
    value: k.Expr,
    sources: set[Place],
    *,
    sure: bool,
) -> WriteEffect:
    for step in path:
        if isinstance(step, k.AtKey):
            sources |= names.reads(step.key)
    key: Value | AnyValue | Unknown = names.value(path[0].key) if path and isinstance(path[0], k.AtKey) else ANY
    place: Place = (variable, ANY if isinstance(key, Unknown) else key)
    # Of `m[k].f := v` the value of `m[k]` stays unknown: its other fields keep what they had.
    whole = not path or (len(path) == 1 and place[1] is not ANY)
    grows = not path and isinstance(value, k.Combine) and value.op == "union" and _is(value.left, variable)
    return WriteEffect(place, names.value(value) if whole else UNKNOWN, sure, grows)


def _is(expr: k.Expr, variable: str) -> bool:
    return isinstance(expr, k.StateVar) and expr.name == variable


def keeps_false(write: WriteEffect, condition: ConditionReads) -> bool:
    """Whether a write cannot make the condition true: it adds to a set, and the condition is that something is not in
    this set.
    """
    absent = condition.expr
    return (
        write.grows
        and isinstance(absent, k.Member)
        and absent.negated
        and _is(absent.collection, write.place[0])
        and write.place[0] not in variables_of(absent.item)
    )


def falsifies(model: TraceModel, write: WriteEffect, condition: ConditionReads) -> bool:
    """Whether the condition is certainly false right after the write.

    That is known only if it reads nothing but the written place, and the written value is known.
    """
    # With a second place the condition could be true for a value of that place.
    if condition.reads != {write.place} or not condition.closed or isinstance(write.value, Unknown):
        return False
    name, key = write.place
    position = next(i for i, variable in enumerate(model.kernel.variables) if variable.name == name)
    # Any state will do: the condition reads nothing but the written place.
    state = list(model.states[model.initial[0]])
    if key is ANY:
        state[position] = write.value
    else:
        whole = state[position]
        if not isinstance(whole, FrozenMap):
            return False
        state[position] = whole.changed(key, write.value)
    try:
        return model.value(condition.expr, condition.bound, model.number(tuple(state))) is False
    except Undefined:
        return False


def contradicts_itself(model: TraceModel, seen: Observation) -> bool:
    """Whether a line states what is false in every state: a part of its condition reads none."""
    condition = seen.rule.then if seen.rule.steps else seen.rule.observe
    parts = () if condition is None else observed(model, condition, seen.bound)
    return any(_is_false(model, each) for each in parts if each.closed and not each.reads)


def _is_false(model: TraceModel, part: ConditionReads) -> bool:
    try:
        return model.value(part.expr, part.bound) is False
    except Undefined:
        return False
