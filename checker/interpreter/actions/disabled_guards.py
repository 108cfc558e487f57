"""Why an instance is disabled: which guards are not true, and whether one of them is the only obstacle.

Guards protect what follows them: what is undefined behind a false guard is no obstacle of its own
(docs/design/protected-guards.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.checker.interpreter.actions.action_prefix import GuardStep, LetStep, PickStep, PrefixStep
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

Names = frozenset[str]
NO_NAMES: Names = frozenset()


@dataclass(frozen=True, slots=True)
class FalseGuard:
    """A guard that is not true in an instance, a pick from an empty set, or a pick or let without a value."""

    label: str
    node: k.Guard | k.Pick | k.Let
    is_bound: bool
    undefined: str | None = None


def rest_holds(prefix: Sequence[PrefixStep], frame: Frame, start: int, lost: Names = NO_NAMES) -> bool:
    """Whether, behind a false guard, nothing from ``start`` on is an obstacle for some combination of picks.

    ``lost`` are the names without a value; what mentions one is no obstacle (docs/design/protected-guards.md).
    """
    for at in range(start, len(prefix)):
        step = prefix[at]
        # What mentions a name without a value was protected together with it.
        if step.needs & lost:
            lost = _without(step, lost)
            continue
        try:
            if isinstance(step, GuardStep):
                if not step.holds(frame):
                    return False
            elif isinstance(step, LetStep):
                frame.locals[step.name] = step.value(frame)
            else:
                # A pick from an empty set gives False: it is an obstacle of its own.
                return any(_rest_holds_with(prefix, frame, at, step, value, lost) for value in step.elements(frame))
        except Undefined:
            lost = _without(step, lost)
    return True


def _rest_holds_with(
    prefix: Sequence[PrefixStep], frame: Frame, at: int, step: PickStep, value: Value, lost: Names
) -> bool:
    frame.locals[step.name] = value
    return rest_holds(prefix, frame, at + 1, lost)


def _without(step: PrefixStep, lost: Names) -> Names:
    return lost if isinstance(step, GuardStep) else lost | {step.name}


def false_guards(prefix: Sequence[PrefixStep], frame: Frame) -> Iterator[tuple[FalseGuard, ...]]:
    """For every combination of picks, one after the other, all obstacles, evaluated without stopping at the first
    (docs/design/protected-guards.md).

    What mentions a ``let`` or ``pick`` without a value is left out; that ``let`` or ``pick`` itself is listed.
    """
    # Lazily: combinations may be millions, and who asks may look at some of them only.
    return map(_unprotected, _each_false(prefix, frame, 0, (), NO_NAMES))


def _unprotected(guards: tuple[FalseGuard, ...]) -> tuple[FalseGuard, ...]:
    # Bounds do not protect: what is undefined behind one makes the instance cut.
    false = next((at for at, each in enumerate(guards) if each.undefined is None and not each.is_bound), len(guards))
    return tuple(each for at, each in enumerate(guards) if each.undefined is None or at < false)


def _each_false(
    prefix: Sequence[PrefixStep], frame: Frame, start: int, false: tuple[FalseGuard, ...], lost: Names
) -> Iterator[tuple[FalseGuard, ...]]:
    for at in range(start, len(prefix)):
        step = prefix[at]
        if step.needs & lost:
            lost = _without(step, lost)
            continue
        try:
            if isinstance(step, GuardStep):
                if not step.holds(frame):
                    false = (*false, FalseGuard(step.node.label, step.node, step.is_bound))
            elif isinstance(step, LetStep):
                frame.locals[step.name] = step.value(frame)
            else:
                values = step.elements(frame)
                for value in values:
                    frame.locals[step.name] = value
                    yield from _each_false(prefix, frame, at + 1, false, lost)
                if not values:
                    yield (*false, FalseGuard(f"pick {step.name}", step.node, is_bound=False))
                return
        except Undefined as undefined:
            # Listed for now; `_unprotected` takes it out again where a guard before it is false.
            false = (*false, _undefined(step, undefined))
            lost = _without(step, lost)
    yield false


def _undefined(step: PrefixStep, undefined: Undefined) -> FalseGuard:
    if isinstance(step, GuardStep):
        return FalseGuard(step.node.label, step.node, step.is_bound, undefined.message)
    return FalseGuard(step.name, step.node, is_bound=False, undefined=undefined.message)
