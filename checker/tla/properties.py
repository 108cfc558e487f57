"""Properties as definitions: of states, of steps, and of behaviours."""

from __future__ import annotations

from assay.checker.tla.actions import can_be_cut, possible
from assay.checker.tla.expressions.formula import PREFIX, Formula, conjunction, disjunction, negation
from assay.checker.tla.expressions.range_checks import in_range
from assay.checker.tla.expressions.scope import TlaScope
from assay.checker.tla.nondeterminism import as_one
from assay.grammar import kernel as k


def conjuncts(node: k.Property, scope: TlaScope) -> Formula:
    """All conjuncts of a property, with the labels that the author gave."""
    made = []
    for each in node.conjuncts:
        formula = scope.formula(each.condition)
        is_given = each.label != node.name and ":" not in each.label
        made.append(formula.noted(each.label) if is_given and len(node.conjuncts) > 1 else formula)
    return conjunction(made)


def type_ok(kernel: k.Kernel, scope: TlaScope) -> Formula:
    """Every variable has a value of its type: violated by storing a value out of range."""
    return conjunction([in_range(scope.variable(v.name), v.type, scope) for v in kernel.variables])


def stay(kernel: k.Kernel, scope: TlaScope, *, everywhere: bool) -> Formula | None:
    """A stuttering step for states that TLC would otherwise report as deadlocks; None if there are none.

    Those are states in which the system may stop, and states whose only possible instances a bound or a capacity cuts
    off. If nobody looks for deadlocks, those are all states.
    """
    if everywhere:
        return Formula("UNCHANGED vars", PREFIX)
    ways = [scope.formula(each.condition).noted("terminal") for each in kernel.terminal]
    for action in map(kernel.action, kernel.next):
        if can_be_cut(kernel, action, scope):
            way = possible(action, scope)
            # One action is always possible, so no state is a deadlock: the other ways need not be written.
            if way is None:
                return Formula("UNCHANGED vars", PREFIX)
            ways.append(way.noted(action.name))
    # As one question, or TLC would count a stuttering step for each way.
    return conjunction([as_one(disjunction(ways), scope), Formula("UNCHANGED vars", PREFIX)]) if ways else None


def unreachable(node: k.Property, scope: TlaScope) -> Formula:
    """The negation of a reachable: an invariant whose violation is the run to the wanted state."""
    return negation(conjunction([scope.formula(each.condition) for each in node.conjuncts]))
