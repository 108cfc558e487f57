"""Premises that are true in no state: the property then demands nothing."""

from __future__ import annotations

from assay.checker.liveness.nnf import And, Enabled, Formula, Literal, Or, StateCondition, Truth
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.liveness.state_graph import Kind, LabelledGraph
from assay.checker.print_kernel import Sources, expression_text


def premises_never_true(claim: Claim, graph: LabelledGraph, plan: Plan, sources: Sources) -> str | None:
    """A remark on the premises of a property that are true in no state of the graph; None if there is nothing to
    remark."""
    texts = [
        expression_text(expr, sources)
        for expr, formulas in claim.premises
        if not any(_may_hold(formula, kind, plan) for formula in formulas for kind in graph.kinds)
    ]
    if not texts:
        return None
    quoted = ", ".join(f"`{text}`" for text in dict.fromkeys(texts))
    return f"{quoted} is never true" if len(texts) == 1 else f"{quoted} are never true"


def _may_hold(formula: Formula, kind: Kind, plan: Plan) -> bool:
    """Whether a formula may be true in states of a kind; yes for formulas that are not about single states."""
    match formula:
        case Truth(value):
            return value
        case Literal(number, positive):
            letter = plan.letters[number]
            if number in kind.undefined or (
                isinstance(letter, Enabled) and plan.events.index(letter.event) in kind.cut
            ):
                return True
            return (number in kind.true) is positive if isinstance(letter, StateCondition | Enabled) else True
        case And(parts):
            return all(_may_hold(part, kind, plan) for part in parts)
        case Or(parts):
            return any(_may_hold(part, kind, plan) for part in parts)
        case _:
            return True
