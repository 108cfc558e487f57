"""The order of guards by cost, and names whose values are computed on first use (docs/design/guard-order.md).

Both are sound only where nothing is reported about instances that are disabled or stuck.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.checker.interpreter.actions.action_prefix import GuardStep, LetStep, PickStep, PrefixStep
from assay.checker.interpreter.expressions.enumerate_set import Listing
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Locals, Meaning
from assay.checker.interpreter.expressions.traverse import children, free_locals
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k

GOING_THROUGH = (k.Quantified, k.Filter, k.Image, k.Tabulate, k.Aggregate, k.Keys, k.Values, k.Elements, k.Subsets)
"""The nodes that enumerate a collection."""

LONG = 30
"""How many plain operations an enumeration counts for."""


class LazyLocals(dict[str, Any]):
    """The values of locals; those of ``let`` names are computed on first use."""

    __slots__ = ("_lets", "_now")

    def __init__(self, known: Locals, lets: Mapping[str, LetStep], now: tuple[Any, ...]) -> None:
        super().__init__(known)
        self._lets, self._now = lets, now

    def __missing__(self, name: str) -> Any:
        # The same locals: a name may need another one, which is computed in the same way.
        value = self[name] = self._lets[name].value(Frame(self._now, (), self))
        return value


def lazy_frame(state: tuple[Any, ...], known: Locals, lets: Mapping[str, LetStep]) -> Frame:
    """A frame in which these names get their values on first use."""
    return Frame(state, (), LazyLocals(known, lets, state))


def all_hold(frame: Frame, guards: Iterable[GuardStep]) -> bool:
    """Whether all guards are true; an undefined one is not."""
    try:
        for guard in guards:
            if not guard.holds(frame):
                return False
    except Undefined:
        return False
    return True


def have_values(frame: Frame, names: Iterable[str]) -> bool:
    """Whether all names have values."""
    try:
        for name in names:
            frame.locals[name]
    except Undefined:
        return False
    return True


def needed(node: k.Node) -> frozenset[str]:
    """The names that a statement mentions without binding them inside."""
    return frozenset().union(*map(free_locals, children(node)))


def by_cost(guards: Iterable[GuardStep], lets: Mapping[str, LetStep]) -> list[GuardStep]:
    """The guards in increasing order of their cost, including that of the names that they need."""
    return sorted(guards, key=lambda guard: cost_of(guard.node, lets))


def cost_of(node: k.Node, lets: Mapping[str, LetStep]) -> int:
    """The number of operations of a statement, including those of the names that it needs."""
    known: dict[str, int] = {}

    def cost(node: k.Node) -> int:
        # A name that several guards need is counted for each; the first of them pays for all.
        return _size(node) + sum(named(name) for name in needed(node) & lets.keys())

    def named(name: str) -> int:
        if name not in known:
            known[name] = 0  # no name needs itself
            known[name] = cost(lets[name].node)
        return known[name]

    return cost(node)


def _size(node: k.Node) -> int:
    own = LONG if isinstance(node, GOING_THROUGH) else 1
    return own + sum(map(_size, children(node)))


def narrowed(steps: Sequence[PrefixStep], known: Iterable[str], scope: EvaluationScope) -> list[PrefixStep]:
    """The steps, with each pick restricted to values that a later guard ``b == v`` allows, where v is
    ``known`` before."""
    found: list[PrefixStep] = []
    # In the order of the body: a value that a later step gives is not known where the pick is made.
    names = set(known)
    for at, step in enumerate(steps):
        match step:
            case PickStep(node, name, elements, needs):
                wanted = [each for later in steps[at + 1 :] for each in required_values(later, name, names)]
                asked = [scope.meaning(each) for each in wanted]
                found.append(PickStep(node, name, _among(elements, asked) if asked else elements, needs))
                names.add(name)
            case LetStep():
                found.append(step)
                names.add(step.name)
            case GuardStep():
                found.append(step)
    return found


def required_values(step: PrefixStep, name: str, known: set[str]) -> Iterator[k.Expr]:
    """The values that a guard requires a local to have, as far as they are known before it."""
    if not isinstance(step, GuardStep) or step.is_bound:
        return
    condition = step.node.condition
    match condition:
        # `when Switch implies rule`, where the parameter is bound to true.
        case k.Logic(op="implies", parts=(k.Const(_, True), required_values)):
            condition = required_values
        case _:
            pass
    match condition:
        case k.Equal(_, k.Local(_, item), other, False) | k.Equal(_, other, k.Local(_, item), False) if item == name:
            if free_locals(other) <= known:
                yield other
        case _:
            return


def _among(elements: Listing, wanted: Sequence[Meaning]) -> Listing:
    def listed(frame: Frame) -> Sequence[Any]:
        values = [value(frame) for value in wanted]
        return [each for each in elements(frame) if all(each == value for value in values)]

    return listed
