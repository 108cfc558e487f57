"""Decides temporal properties on a state graph: for each a violating run, confirmed by the reference evaluator, or why
there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness.buchi import Automaton, Transition, automaton
from assay.checker.liveness.confirm import Counterexample, WithoutValue, confirmed
from assay.checker.liveness.lasso import find_lasso
from assay.checker.liveness.nnf import TRUE
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.liveness.product import BuchiProduct, ProductTables
from assay.checker.liveness.state_graph import Kind, LabelledGraph
from assay.checker.liveness.vacuity import premises_never_true
from assay.checker.print_kernel import Sources
from assay.checker.report import EnginesDisagreeError, State

MakeProduct = Callable[[LabelledGraph, ProductTables], BuchiProduct]


@dataclass(frozen=True, slots=True)
class NotViolated:
    """No fair run of the graph violates the property. ``vacuous`` is the reason, if any, why that means little.

    ``empty``: the graph has no fair run at all, because a bound or a limit cut it off.
    """

    vacuous: str | None = None
    empty: bool = False


Decision = Counterexample | WithoutValue | NotViolated
Decisions = Mapping[str, Decision]
"""Decisions by property name; a property without a decision is missing."""


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
