"""Decides temporal properties on a state graph: for each a violating run, confirmed by the reference evaluator, or why
there is none."""

from __future__ import annotations

from collections.abc import Callable

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness.buchi import Automaton, Transition, automaton
from assay.checker.liveness.confirm import Counterexample, Decision, NotViolated, WithoutValue, confirmed
from assay.checker.liveness.find_lasso import find_lasso
from assay.checker.liveness.nnf import TRUE, And, Enabled, Formula, Literal, Or, StateCondition, Truth
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.liveness.product import BuchiProduct, ProductTables
from assay.checker.liveness.state_graph import Kind, LabelledGraph
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import EnginesDisagreeError, State
from assay.grammar.lazy_dataclass import dataclass

MakeProduct = Callable[[LabelledGraph, ProductTables], BuchiProduct]


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides on one graph. ``state`` gives the state of a number; ``whole`` means that nothing was cut off
    the graph."""

    model: Model
    plan: Plan
    graph: LabelledGraph
    state: Callable[[int], State]
    sources: Sources
    make: MakeProduct
    whole: bool

    def decide(self, claim: Claim) -> Decision:
        """The decision about a property of the plan."""
        for negated in claim.negated():
            found = self.refute(claim, negated)
            if found is not None:
                return found
        # With the formula `true` every fair run is accepted. If there is none, that no run violates the property says
        # nothing.
        empty = not self.whole and find_lasso(self._product(automaton(TRUE, claim.node.span))) is None
        return NotViolated(premises_never_true(claim, self.graph, self.plan, self.sources), empty)

    def _product(self, of: Automaton) -> BuchiProduct:
        return self.make(self.graph, ProductTables(self.graph, of, self.plan))

    def refute(self, claim: Claim, negated: Automaton) -> Counterexample | WithoutValue | None:
        """A run that the negation of one conjunct of the claim accepts, or a state in which the claim is undefined."""
        product = self._product(negated)
        trouble = product.trouble()
        if trouble is not None:
            node, way = trouble
            number, _ = product.split(node)
            kind = self.graph.kinds[product.kind(node)]
            return without_value(self.model, self.plan, product.tables.ways[way], kind, number, self.state(number))
        lasso = find_lasso(product)
        return None if lasso is None else confirmed(self.model, claim.node, lasso, self.state)


def without_value(model: Model, plan: Plan, way: Transition, kind: Kind, number: int, state: State) -> WithoutValue:
    """The literal of a transition that is undefined in a state with this number and of this kind."""
    letter = next(at for at in sorted(literal.letter for literal in way.literals) if at in kind.undefined)
    try:
        model.meaning(plan.condition(letter))(Frame(state))
    except Undefined as undefined:
        return WithoutValue(number, undefined.message, undefined.span)
    raise EnginesDisagreeError(f"a condition has no value in {state}, and the reference evaluator has one")


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
            # What has no value, or is cut by a bound, is not known to be false.
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
