"""The kernel as a transition system for searches over traces: states are numbered, and every step is computed once.

``bound`` clauses are not guards here: they limit a search of all behaviours, and a log is not limited by them. A step
that exceeds a capacity is no step but is recorded in ``overflowed``. Otherwise a model too small for a log would be
taken for a log that breaks the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import product
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from assay.checker.interpreter.actions.codegen_actions import WORTH_IT, condition_code
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.domains import cardinality
from assay.checker.interpreter.values.type_check import capacity_check, range_check
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT, Undefined
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.observe.partial_order import OrderedObservation

if TYPE_CHECKING:
    from assay.traces.observe.observation import Observation


class AnyValue(Enum):
    """The argument ``_``: any value."""

    ANY = "_"


ANY = AnyValue.ANY
Wanted = tuple[Value | AnyValue, ...]
"""The arguments of a call, as far as the log gives them."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One occurrence of an action: its arguments and picks by name, and the number of the state after it."""

    action: str
    arguments: tuple[tuple[str, Value], ...]
    picks: tuple[tuple[str, Value], ...]
    state: int


Consumed = tuple[tuple[int, tuple[Taken, ...]], ...]
"""The outcomes of an item in a state: each state after it, with the steps that explain the item."""

NOWHERE_TO: Consumed = ()


class _Evaluated:
    """An expression with its evaluator, which is replaced by generated code once it was used often."""

    __slots__ = ("_asked", "_expr", "_meaning", "_meanings")

    def __init__(self, expr: k.Expr, meanings: Meanings) -> None:
        self._expr, self._meanings, self._meaning = expr, meanings, meanings.meaning(expr)
        self._asked = 0

    def value(self, frame: Frame) -> Value:
        """The value in a frame; raises ``Undefined`` if it has none."""
        self._asked += 1
        # Most expressions are asked a few times, and code for them would take longer to make than to save.
        if self._asked == WORTH_IT:
            self._meaning = condition_code(self._expr, self._meanings.scope) or self._meaning
        value: Value = self._meaning(frame)
        return value


class TraceModel:
    """A kernel with one of its trace clauses, as a transition system."""

    def __init__(self, kernel: k.Kernel, plan: k.TracePlan) -> None:
        self.kernel = kernel
        self.plan = plan
        self.meanings = Meanings(kernel, bounded=False, remember=True)
        self.states: list[State] = []
        self.overflowed: set[str] = set()
        self.visited = 0
        self._reported = frozenset(each.action for each in plan.reported)
        self._numbers: dict[State, int] = {}
        self._expressions: IdentityMemo[k.Expr, _Evaluated] = IdentityMemo()
        self._hidden: dict[tuple[int, frozenset[str] | None], tuple[Taken, ...]] = {}
        self._calls: dict[tuple[str, Wanted, int], tuple[Taken, ...]] = {}
        self._consumed: WeakKeyDictionary[OrderedObservation, dict[int, Consumed]] = WeakKeyDictionary()
        self._stays: WeakKeyDictionary[OrderedObservation, dict[int, bool]] = WeakKeyDictionary()
        self._choices_known: dict[tuple[str, Wanted], tuple[Sequence[Value], ...]] = {}
        self._domains: IdentityMemo[k.Parameter, Sequence[Value]] = IdentityMemo()
        self._instances: dict[tuple[str, Wanted], list[tuple[Value, ...]]] = {}
        self.initial = tuple(dict.fromkeys(self._initial()))

    def forget(self) -> None:
        """Drop all numbered states but the initial ones: a model that checks one slice after another would keep those
        of all.

        The initial states stay the same objects, because caches inside the interpreter compare by identity.
        """
        initial = [self.states[number] for number in self.initial]
        self.states.clear()
        # Choices, domains and instances stay: they are keyed by no state.
        # All that is keyed by numbers of states: the same numbers mean other states from now on.
        for known in (self._numbers, self._hidden, self._calls, self._consumed, self._stays):
            known.clear()
        self.initial = tuple(map(self.number, initial))

    def _initial(self) -> Iterable[int]:
        for outcome in self.meanings.init.outcomes():
            match outcome:
                case Successor(_, state):
                    yield self.number(state)
                case Cut(_, label):
                    self.overflowed.add(label)
                # What has no value is no initial state here; a check of the spec reports it.
                case Stuck():
                    continue

    def number(self, state: State) -> int:
        """The number of a state; a new state gets the next one."""
        found = self._numbers.get(state)
        if found is None:
            found = self._numbers[state] = len(self.states)
            self.states.append(state)
        return found

    def value(
        self, expr: k.Expr, bound: Mapping[str, Value], now: int | None = None, before: int | None = None
    ) -> Value:
        """The value of an expression of the clause or the kernel; raises ``Undefined``.

        ``now`` and ``before`` are numbers of states; without them the expression may read no state.
        """
        known = self._expressions.get(expr)
        if known is None:
            known = self._expressions[expr] = _Evaluated(expr, self.meanings)
        # The binders are copied, because evaluation adds local names to its frame.
        frame = Frame(
            () if now is None else self.states[now], () if before is None else self.states[before], dict(bound)
        )
        return known.value(frame)

    def holds(
        self, expr: k.Expr, bound: Mapping[str, Value], now: int | None = None, before: int | None = None
    ) -> bool:
        """Whether a condition holds; one without a value does not."""
        try:
            return self.value(expr, bound, now, before) is True
        except Undefined:
            return False

    def applies(self, rule: k.TraceRule, bound: Mapping[str, Value]) -> bool:
        """Whether a rule's ``if`` holds for the values of its binders."""
        return rule.condition is None or self.holds(rule.condition, bound)

    def applies_to(self, observation: Observation) -> bool:
        """Whether the rule's ``if`` holds for the values of an observation."""
        return self.applies(observation.rule, observation.bound)

    def hidden(self, state: int, names: frozenset[str] | None = None) -> tuple[Taken, ...]:
        """The hidden steps that change the state, one for each state reached; of all hidden actions, or of those in
        ``names``.
        """
        found = self._hidden.get((state, names))
        if found is None:
            steps: dict[int, Taken] = {}
            for name in (each for each in self.plan.hidden if names is None or each in names):
                for taken in self.call(name, (ANY,) * len(self.meanings.actions[name].names), state):
                    # A hidden step that changes nothing explains no line, and would make an endless closure.
                    if taken.state != state:
                        steps.setdefault(taken.state, taken)
            found = self._hidden[state, names] = tuple(steps.values())
        return found

    def call(self, action: str, wanted: Wanted, state: int) -> tuple[Taken, ...]:
        """The occurrences of an action in a state with the given arguments. Bounds are ignored."""
        key = (action, wanted, state)
        found = self._calls.get(key)
        if found is None:
            found = self._calls[key] = tuple(self._outcomes(action, wanted, state))
        return found

    def repeat(self, taken: Taken, state: int) -> tuple[Taken, ...]:
        """The occurrences of the same action with the same arguments in another state."""
        return self.call(taken.action, tuple(value for _, value in taken.arguments), state)

    def _outcomes(self, action: str, wanted: Wanted, state: int) -> Iterable[Taken]:
        meaning = self.meanings.actions[action]
        for arguments, result in meaning.results(self.states[state], self.choices_of(action, wanted)):
            match result:
                case Successor(picks, after):
                    yield Taken(action, tuple(zip(meaning.names, arguments, strict=True)), picks, self.number(after))
                case Cut(_, label):
                    self.overflowed.add(label)

    def instances(self, action: str, wanted: Wanted) -> list[tuple[Value, ...]]:
        """The instances of an action that match the given arguments; none if an argument is outside its parameter's
        domain.
        """
        found = self._instances.get((action, wanted))
        if found is None:
            found = self._instances[action, wanted] = list(product(*self.choices_of(action, wanted)))
        return found

    def is_listable(self, action: str, wanted: Wanted) -> bool:
        """Whether the open arguments have few enough values to enumerate."""
        parameters = self.meanings.actions[action].node.parameters
        open_ = (p.binder.type for p, value in zip(parameters, wanted, strict=True) if isinstance(value, AnyValue))
        return all(cardinality(type_) <= ENUMERATION_LIMIT for type_ in open_)

    def choices_of(self, action: str, wanted: Wanted) -> tuple[Sequence[Value], ...]:
        """The possible values of each parameter."""
        found = self._choices_known.get((action, wanted))
        if found is None:
            parameters = self.meanings.actions[action].node.parameters
            found = tuple(self._choices(p, value) for p, value in zip(parameters, wanted, strict=True))
            self._choices_known[action, wanted] = found
        return found

    def _choices(self, parameter: k.Parameter, wanted: Value | AnyValue) -> Sequence[Value]:
        # A given value is only checked against its type: the type may have too many values to list.
        if not isinstance(wanted, AnyValue) and isinstance(parameter.domain, k.TypeDomain):
            return [wanted] if _fits(wanted, parameter.domain) and self._has_room(wanted, parameter) else []
        ordered = self._domain(parameter)
        return ordered if isinstance(wanted, AnyValue) else [value for value in ordered if value == wanted]

    def _has_room(self, value: Value, parameter: k.Parameter) -> bool:
        """Whether a value has no more elements than its parameter takes: a limit of the model, as that of a variable."""
        exceeds = capacity_check(parameter.binder.type)
        if exceeds is None or not exceeds(value):
            return True
        self.overflowed.add(f"capacity of {parameter.binder.name}")
        return False

    def _domain(self, parameter: k.Parameter) -> Sequence[Value]:
        """All values of a parameter: the same list object each time, by which ``ActionMeaning.results`` recognises it."""
        known = self._domains.get(parameter)
        if known is None:
            values: Iterable[Value] = self.value(parameter.domain, {})  # type: ignore[assignment]  # a set, by its type
            known = self._domains[parameter] = sorter(parameter.binder.type)(values)
        return known

    def consume(self, item: OrderedObservation, state: int) -> Consumed:
        """The outcomes of an item in a state, without hidden steps."""
        known = self._consumed.get(item)
        if known is None:
            known = self._consumed[item] = {}
        found = known.get(state)
        if found is None:
            found = known[state] = self._consume(item, state)
        return found

    def may_leave_unchanged(self, item: OrderedObservation, state: int) -> bool:
        """Whether an item is enabled in a state and may leave it unchanged. Other outcomes are not cached, to save
        memory.
        """
        known = self._consumed.get(item)
        if known is not None and state in known:
            return any(after == state for after, _ in known[state])
        stays = self._stays.get(item)
        if stays is None:
            stays = self._stays[item] = {}
        found = stays.get(state)
        if found is None:
            found = stays[state] = self._may_leave_unchanged(item, state)
        return found

    def observation_holds(self, item: OrderedObservation, state: int) -> bool:
        """Whether an observation holds in a state, without hidden steps."""
        return bool(self.consume(item, state))

    def _may_leave_unchanged(self, item: OrderedObservation, state: int) -> bool:
        rule, bound = item.observation.rule, item.observation.bound
        # A rule of several steps may leave the state and come back, so only its whole sequence tells.
        if len(rule.steps) != 1:
            return any(after == state for after, _ in self.consume(item, state))
        calls = ((call.action, self.wanted_or_none(call, bound)) for call in rule.steps[0])
        back = [self._leads_back(action, wanted, state) for action, wanted in calls if wanted is not None]
        return any(back) and (rule.then is None or self.holds(rule.then, bound, state, state))

    def _leads_back(self, action: str, wanted: Wanted, state: int) -> bool:
        """Whether an action can lead from a state to itself."""
        found = False
        for _, result in self.meanings.actions[action].results(self.states[state], self.choices_of(action, wanted)):
            match result:
                case Successor(_, after):
                    # No early return: each later result that exceeds a capacity must still be recorded.
                    found = found or after == self.states[state]
                case Cut(_, label):
                    self.overflowed.add(label)
        return found

    def _consume(self, item: OrderedObservation, state: int) -> Consumed:
        rule, bound = item.observation.rule, item.observation.bound
        if not rule.steps:
            held = rule.observe is None or self.holds(rule.observe, bound, state)
            return ((state, ()),) if held else NOWHERE_TO
        outcomes: dict[int, tuple[Taken, ...]] = {}
        for steps in self._sequence(rule.steps, bound, state):
            after = steps[-1].state
            if after in outcomes:
                # Of two explanations of one state the one with fewer reported behaviours is the lesser charge.
                outcomes[after] = min(outcomes[after], steps, key=self.reported_count)
            # `then` reads only the states before and after, so of all ways to one state it is asked once.
            elif rule.then is None or self.holds(rule.then, bound, after, state):
                outcomes[after] = steps
        return tuple(outcomes.items())

    def reported_count(self, steps: Iterable[Taken]) -> int:
        """How many of the steps are of actions that the clause reports (known behaviours and the like)."""
        return sum(taken.action in self._reported for taken in steps)

    def _sequence(
        self, steps: tuple[tuple[k.ActionCall, ...], ...], bound: Mapping[str, Value], state: int
    ) -> Iterable[tuple[Taken, ...]]:
        """The sequences of steps that take one alternative of each step of a rule, in order."""
        for call in steps[0]:
            for taken in self.taken(call, bound, state):
                if len(steps) == 1:
                    yield (taken,)
                else:
                    yield from ((taken, *more) for more in self._sequence(steps[1:], bound, taken.state))

    def taken(self, call: k.ActionCall, bound: Mapping[str, Value], state: int) -> tuple[Taken, ...]:
        """The occurrences of a call of the clause in a state."""
        wanted = self.wanted_or_none(call, bound)
        return () if wanted is None else self.call(call.action, wanted, state)

    def wanted(self, call: k.ActionCall, bound: Mapping[str, Value]) -> Wanted:
        """The arguments of a call of the clause for these binders; raises ``Undefined`` if one has no value."""
        return tuple(ANY if each is None else self._argument(each, bound) for each in call.arguments)

    def wanted_or_none(self, call: k.ActionCall, bound: Mapping[str, Value]) -> Wanted | None:
        """The same; None if an argument has no value."""
        try:
            return self.wanted(call, bound)
        except Undefined:
            return None

    def _argument(self, expr: k.Expr, bound: Mapping[str, Value]) -> Value:
        return bound[expr.name] if isinstance(expr, k.Local) and expr.name in bound else self.value(expr, bound)


def _fits(value: Value, domain: k.TypeDomain) -> bool:
    check = range_check(domain.of)
    if check is None:
        return True
    try:
        check(value)
    except Undefined:
        return False
    return True
