"""Values that only grow: a log to which calls append, a sum to which they add.

A call that returns such a value can come later only if the value is still on the way to it. Then what the log holds now
is the beginning of what the call saw. So an order that appends the wrong entry first is given up at once, and not at
the return of a call that shows it. A call that sets the value anew (a put, a pop) ends that, while it is open.

The results that a value leads to lie side by side in the order of the values. So each result has a rank, and what may
still come in a state is a range of ranks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.checker.interpreter.expressions.traverse import children, locals_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.observe.observation import Observation
from assay.traces.search.transition_system import AnyValue, TraceModel

NOTHING = (0, 0)
"""The range of no rank."""


class Place(NamedTuple):
    """A variable, or the entry of a key in one that is a map."""

    variable: str
    key: Value | None


@dataclass(frozen=True, slots=True)
class _Assignment:
    """An assignment with what is known of the names in it."""

    statement: k.Assign
    known: Mapping[str, Value]


class Growth:
    """Which of the results of some calls may still come. ``ranks`` has the rank of each call's result, -1 if it has
    none. ``begins`` has the ranks that the effect of each leads to, whatever the value was before.
    """

    def __init__(self, model: TraceModel, calls: Sequence[Observation]) -> None:
        self.ranks = [-1] * len(calls)
        self.begins = [NOTHING] * len(calls)
        self._model = model
        self._items: dict[Value, int] = {}
        seen = [_seen_by(model, each) for each in calls]
        place = _growing_place(model, seen)
        self._place = place
        if place is None:
            return
        self._at = [each.name for each in model.kernel.variables].index(place.variable)
        own = [(self._key(found[1]), at) for at, found in enumerate(seen) if found is not None and found[0] == place]
        # In this order the results that begin with one value lie side by side, so that a range of ranks names them.
        own.sort()
        self._keys = [key for key, _ in own]
        for rank, (_, at) in enumerate(own):
            self.ranks[at] = rank
        self.begins = [self._begins(each) for each in calls]

    def __bool__(self) -> bool:
        return self._place is not None

    def range_of(self, states: Sequence[int]) -> tuple[int, int]:
        """The ranks of the results to which one of some states of the model may lead."""
        # One range around all: it may hold ranks that none of the states leads to, which only looks ahead less sharply.
        found = [each for each in map(self._range_in, states) if each != NOTHING]
        return (min(low for low, _ in found), max(high for _, high in found)) if found else NOTHING

    def _range_in(self, state: int) -> tuple[int, int]:
        assert self._place is not None
        value: Value = self._model.states[state][self._at]
        return self._range(value if self._place.key is None else value[self._place.key])  # type: ignore[index]  # a map

    def _range(self, value: Value) -> tuple[int, int]:
        if isinstance(value, int):
            # A sum to which only naturals are added may lead to each result that is not below it.
            return bisect_left(self._keys, (value,)), len(self._keys)
        assert isinstance(value, tuple)
        # An item that no call returns: no result can begin with this value.
        if not all(item in self._items for item in value):
            return NOTHING
        key = self._key(value)
        low = bisect_left(self._keys, key)
        high = bisect_right(self._keys, key, lo=low, key=lambda each: each[: len(key)])
        return (low, high) if low < high else NOTHING

    def _key(self, value: Value) -> tuple[int, ...]:
        if isinstance(value, int):
            return (value,)
        assert isinstance(value, tuple)
        return tuple(self._items.setdefault(item, len(self._items)) for item in value)

    def _begins(self, call: Observation) -> tuple[int, int]:
        assert self._place is not None
        low, high = NOTHING
        for each in _assignments(self._model, call, self._place.variable):
            if each is not None and _grows(each.statement):
                continue
            one, other = (0, len(self._keys)) if each is None else self._set(each)
            low, high = (one, other) if low == high else (min(low, one), max(high, other))
        return low, high

    def _set(self, assignment: _Assignment) -> tuple[int, int]:
        """The ranks that a value leads to which an action sets."""
        value = assignment.statement.value
        assert self._place is not None
        is_whole = len(assignment.statement.path) == (self._place.key is not None)
        # What is set is not known here, so any result may follow: to look ahead may only give up what is certainly
        # lost.
        if not is_whole or _reads_state(value) or not locals_of(value) <= assignment.known.keys():
            return 0, len(self._keys)
        try:
            return self._range(self._model.value(value, assignment.known))
        except Undefined:
            return 0, len(self._keys)


def _growing_place(model: TraceModel, seen: Sequence[tuple[Place, Value] | None]) -> Place | None:
    """The place that most calls see, of those to which some action adds and which no hidden step sets anew."""
    for place, _ in Counter(each[0] for each in seen if each is not None).most_common():
        hidden = [each for name in model.plan.hidden for each in _assigned(model.kernel, name, place.variable)]
        actions = {call.action for rule in model.plan.rules for step in rule.steps for call in step}
        known = [each for name in sorted(actions) for each in _assigned(model.kernel, name, place.variable)]
        # A call that sets the place anew is known while it is open (`begins`). A hidden step has no such time.
        if any(map(_grows, known)) and all(map(_grows, hidden)):
            return place
    return None


def _seen_by(model: TraceModel, call: Observation) -> tuple[Place, Value] | None:
    """The place whose value a call returns, with that value; None if it is none of these calls, or changes anything."""
    rule = call.rule
    if not rule.steps and rule.observe is not None:
        return _seen_in(rule.observe, call.bound)
    if len(rule.steps) != 1 or len(rule.steps[0]) != 1:
        return None
    body = model.kernel.action(rule.steps[0][0].action).body
    if any(True for _ in _all_assignments(body)):
        return None
    known = _arguments(model, rule.steps[0][0], call.bound)
    found = (_seen_in(each.condition, known) for each in body if isinstance(each, k.Guard) and each.kind == "when")
    return next((each for each in found if each is not None), None)


def _arguments(model: TraceModel, call: k.ActionCall, bound: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments that a step of a rule has, by the names that they have in the action."""
    names = [each.binder.name for each in model.kernel.action(call.action).parameters]
    wanted = model.wanted_or_none(call, bound) or ()
    return {name: each for name, each in zip(names, wanted, strict=False) if not isinstance(each, AnyValue)}


def _seen_in(condition: k.Expr, known: Mapping[str, Value]) -> tuple[Place, Value] | None:
    match condition:
        case k.Logic(_, "and", parts):
            found = (_seen_in(each, known) for each in parts)
            return next((each for each in found if each is not None), None)
        case k.Equal(_, k.Local() as said, other, False) | k.Equal(_, other, k.Local() as said, False):
            place = _place_of(other, known)
            value = known.get(said.name)
            is_growing = isinstance(value, tuple | int) and isinstance(other.type, t.SeqType | t.RangeType)
            return (place, value) if place is not None and value is not None and is_growing else None
        case _:
            return None


def _place_of(expr: k.Expr, known: Mapping[str, Value]) -> Place | None:
    match expr:
        case k.StateVar(_, name):
            return Place(name, None)
        case k.Lookup(_, k.StateVar(_, name), k.Local(_, key)) if key in known:
            return Place(name, known[key])
        case _:
            return None


def _assignments(model: TraceModel, call: Observation, variable: str) -> Iterator[_Assignment | None]:
    """The assignments that the call may make to a variable; None for one of which more is not known."""
    steps = call.rule.steps
    for each in (call for step in steps for call in step):
        for statement in _assigned(model.kernel, each.action, variable):
            is_alone = len(steps) == 1 and statement in model.kernel.action(each.action).body
            yield _Assignment(statement, _arguments(model, each, call.bound)) if is_alone or _grows(statement) else None


def _assigned(kernel: k.Kernel, action: str, variable: str) -> list[k.Assign]:
    return [each for each in _all_assignments(kernel.action(action).body) if each.variable == variable]


def _all_assignments(body: Sequence[k.Statement]) -> Iterator[k.Assign]:
    for statement in body:
        match statement:
            case k.Assign():
                yield statement
            case k.If(_, then, otherwise):
                yield from _all_assignments((*then, *otherwise))
            case k.For(_, _, inside):
                yield from _all_assignments(inside)
            case _:
                continue


def _grows(statement: k.Assign) -> bool:
    """Whether an assignment adds to what the place holds."""
    match statement.value:
        case k.Combine(_, "concat", left, _):
            return _is_target(left, statement)
        case k.Arithmetic(_, "+", left, right):
            return (_is_target(left, statement) and _is_natural(right)) or (
                _is_target(right, statement) and _is_natural(left)
            )
        case _:
            return False


def _is_target(expr: k.Expr, statement: k.Assign) -> bool:
    match expr, statement.path:
        case k.StateVar(_, name), ():
            return name == statement.variable
        case k.Lookup(_, k.StateVar(_, name), k.Local(_, key)), (k.AtKey(k.Local(_, own)),):
            return name == statement.variable and key == own
        case _:
            return False


def _is_natural(expr: k.Expr) -> bool:
    match expr:
        case k.Const(_, int(value)):
            return value >= 0
        case _:
            return isinstance(expr.type, t.RangeType) and expr.type.low >= 0


def _reads_state(expr: k.Expr) -> bool:
    return isinstance(expr, k.StateVar) or any(map(_reads_state, children(expr)))
