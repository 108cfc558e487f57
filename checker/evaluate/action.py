"""Actions: what each instance does in a state. A body is walked in order, so that guards protect what follows them.

A false ``when`` disables the instance. A false ``bound`` is remembered: if every later ``when`` holds, the instance is cut under the
label of the first such bound; if something later is undefined it is cut too. Otherwise what is undefined makes the instance stuck, which
goes before exceeding a capacity, which cuts it under ``capacity of x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import assert_never

from assay.checker.evaluate.conform import CapacityExceeded
from assay.checker.evaluate.families import statement
from assay.checker.evaluate.listing import Listing, listing
from assay.checker.evaluate.outcome import Cut, Outcome, Picks, Stuck, Successor
from assay.checker.evaluate.scope import Frame, Meaning, Scope
from assay.checker.evaluate.undefined import ENUMERATION_LIMIT, Undefined, too_large
from assay.checker.evaluate.update import Updater, Write, writer
from assay.grammar import kernel as k
from assay.grammar.values import Value

Arguments = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class GuardStep:
    """A guard line with its meaning."""

    node: k.Guard
    holds: Meaning
    is_bound: bool


@dataclass(frozen=True, slots=True)
class LetStep:
    """A name for a value."""

    node: k.Let
    name: str
    value: Meaning


@dataclass(frozen=True, slots=True)
class PickStep:
    """A choice."""

    node: k.Pick
    name: str
    elements: Listing


PrefixStep = GuardStep | LetStep | PickStep


@dataclass(frozen=True, slots=True)
class FalseGuard:
    """A guard that is not true in an instance, a pick from an empty set, or a pick or let without a value."""

    label: str
    node: k.Guard | k.Pick | k.Let
    is_bound: bool
    undefined: str | None = None


class ActionMeaning:
    """An action, ready to be run. ``decisive`` collects the labels of guards that were the only false one of some instance."""

    __slots__ = ("_bounded", "_instances", "_parameters", "_prefix", "_updater", "_updates", "decisive", "names", "node")

    def __init__(self, node: k.Action, scope: Scope, updater: Updater, *, bounded: bool = True) -> None:
        prefix, updates = _split(node.body)
        self.node = node
        self.names = tuple(parameter.binder.name for parameter in node.parameters)
        self.decisive: set[str] = set()
        self._bounded = bounded
        self._parameters = [listing(parameter.domain, scope) for parameter in node.parameters]
        self._prefix: list[PrefixStep] = [_step(each, scope) for each in prefix]
        self._updates = writer(updates, scope)
        self._updater = updater
        self._instances: tuple[Arguments, ...] | None = None

    @property
    def instances(self) -> tuple[Arguments, ...]:
        """All tuples of arguments in canonical order; raises ``SpecError`` if they are too many to list."""
        if self._instances is None:
            domains = self.domains()
            size = prod(map(len, domains))
            if size > ENUMERATION_LIMIT:
                raise too_large(f"the parameters of `{self.node.name}`", size, self.node.span)
            self._instances = tuple(product(*domains))
        return self._instances

    def domains(self) -> list[Sequence[Value]]:
        """The values of each parameter in canonical order."""
        nothing = Frame(())
        return [parameter(nothing) for parameter in self._parameters]

    def matching(self, wanted: Sequence[Value | None], given: Sequence[bool]) -> list[Arguments]:
        """The instances that have the wanted arguments wherever ``given`` says that one is wanted."""
        domains = self.domains()
        chosen = [[x for x in domain if x == want] if is_given else domain
                  for domain, want, is_given in zip(domains, wanted, given, strict=True)]  # fmt: skip
        return list(product(*chosen))

    def outcomes(self, state: tuple[Value, ...], arguments: Arguments) -> list[Outcome]:
        """What the instance can do in the state, one outcome for each way to pick; none if it is disabled."""
        found: list[Outcome] = []
        self._walk(self._frame(state, arguments), 0, (), (), found)
        return found

    def _frame(self, state: tuple[Value, ...], arguments: Arguments) -> Frame:
        return Frame(state, (), dict(zip(self.names, arguments, strict=True)))

    def _walk(self, frame: Frame, start: int, cuts: tuple[str, ...], picks: Picks, found: list[Outcome]) -> None:
        try:
            for at in range(start, len(self._prefix)):
                step = self._prefix[at]
                if isinstance(step, GuardStep):
                    if step.is_bound and not self._bounded:
                        continue
                    if step.holds(frame):
                        continue
                    if not step.is_bound:
                        self._note_decisive(step, frame, at, cuts)
                        return
                    cuts = (*cuts, step.node.label)
                elif isinstance(step, LetStep):
                    frame.locals[step.name] = step.value(frame)
                else:
                    for value in step.elements(frame):
                        frame.locals[step.name] = value
                        self._walk(frame, at + 1, cuts, (*picks, (step.name, value)), found)
                    return
            found.append(self._cut(cuts, picks) if cuts else self._update(frame, picks))
        except Undefined as undefined:
            found.append(Cut(picks, cuts[0]) if cuts else Stuck(picks, undefined.message, undefined.span))

    def _cut(self, cuts: tuple[str, ...], picks: Picks) -> Cut:
        if len(cuts) == 1:
            self.decisive.add(cuts[0])
        return Cut(picks, cuts[0])

    def _update(self, frame: Frame, picks: Picks) -> Outcome:
        writes: list[Write] = []
        self._updates(frame, writes)
        try:
            return Successor(picks, self._updater.after(frame.now, writes))
        except CapacityExceeded as exceeded:
            return Cut(picks, f"capacity of {exceeded}")

    def _note_decisive(self, step: GuardStep, frame: Frame, at: int, cuts: tuple[str, ...]) -> None:
        if not cuts and step.node.label not in self.decisive and self._rest_holds(frame, at + 1):
            self.decisive.add(step.node.label)

    def _rest_holds(self, frame: Frame, start: int) -> bool:
        """Whether every guard from ``start`` on is true for some way to pick; an undefined one is not true."""
        try:
            for at in range(start, len(self._prefix)):
                step = self._prefix[at]
                if isinstance(step, GuardStep):
                    if not step.holds(frame):
                        return False
                elif isinstance(step, LetStep):
                    frame.locals[step.name] = step.value(frame)
                else:
                    return any(self._rest_holds_with(frame, at, step, value) for value in step.elements(frame))
        except Undefined:
            return False
        return True

    def _rest_holds_with(self, frame: Frame, at: int, step: PickStep, value: Value) -> bool:
        frame.locals[step.name] = value
        return self._rest_holds(frame, at + 1)

    def false_guards(self, state: tuple[Value, ...], arguments: Arguments) -> list[tuple[FalseGuard, ...]]:
        """For every way to pick, all guards that are not true, evaluated without stopping at the first."""
        found: list[tuple[FalseGuard, ...]] = []
        self._list_false(self._frame(state, arguments), 0, (), found)
        return found

    def _list_false(
        self, frame: Frame, start: int, false: tuple[FalseGuard, ...], found: list[tuple[FalseGuard, ...]]
    ) -> None:
        for at in range(start, len(self._prefix)):
            step = self._prefix[at]
            try:
                if isinstance(step, GuardStep):
                    if not step.holds(frame):
                        false = (*false, FalseGuard(step.node.label, step.node, step.is_bound))
                elif isinstance(step, LetStep):
                    frame.locals[step.name] = step.value(frame)
                else:
                    self._list_false_picks(frame, at, step, false, found)
                    return
            except Undefined as undefined:
                if not isinstance(step, GuardStep):
                    false = (*false, FalseGuard(step.name, step.node, is_bound=False, undefined=undefined.message))
                    break
                false = (*false, FalseGuard(step.node.label, step.node, step.is_bound, undefined.message))
        found.append(false)

    def _list_false_picks(
        self, frame: Frame, at: int, step: PickStep, false: tuple[FalseGuard, ...], found: list[tuple[FalseGuard, ...]]
    ) -> None:
        values = step.elements(frame)
        for value in values:
            frame.locals[step.name] = value
            self._list_false(frame, at + 1, false, found)
        if not values:
            found.append((*false, FalseGuard(f"pick {step.name}", step.node, is_bound=False)))


def _split(body: Sequence[k.Statement]) -> tuple[Sequence[k.Statement], Sequence[k.Statement]]:
    at = next((i for i, each in enumerate(body) if isinstance(each, k.Assign | k.If | k.For)), len(body))
    return body[:at], body[at:]


def _step(each: k.Statement, scope: Scope) -> PrefixStep:
    node = statement(each)
    match node:
        case k.Guard(kind, _, condition):
            return GuardStep(node, scope.meaning(condition), kind == "bound")
        case k.Let(binder, value):
            return LetStep(node, binder.name, scope.meaning(value))
        case k.Pick(binder, domain):
            return PickStep(node, binder.name, listing(domain, scope))
        case k.Assign() | k.If() | k.For():
            raise AssertionError(f"{node.span}: an update among the guards")
        case _:
            assert_never(node)


def guards(action: k.Action) -> list[k.Guard]:
    """The guard lines of an action, in order."""
    return [each for each in action.body if isinstance(each, k.Guard)]
