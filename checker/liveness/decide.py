"""Decides temporal properties on a state graph: for each a run that violates it, followed by the reference evaluator, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from assay.checker.evaluate.model import Model
from assay.checker.evaluate.scope import Frame
from assay.checker.evaluate.undefined import Undefined
from assay.checker.liveness.confirm import Counterexample, WithoutValue, confirmed
from assay.checker.liveness.formula import TRUE
from assay.checker.liveness.graph import Graph
from assay.checker.liveness.lasso import find_lasso
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.liveness.product import Product, Tables
from assay.checker.liveness.tableau import Automaton, automaton
from assay.checker.liveness.vacuity import premises_never_true
from assay.checker.print_kernel import Sources
from assay.checker.verdict import EnginesDisagreeError, State

MakeProduct = Callable[[Graph, Tables], Product]


@dataclass(frozen=True, slots=True)
class NotViolated:
    """No fair run of the graph violates the property. ``vacuous`` says why that means little, if it does.

    ``empty``: there is no fair run at all in the graph, because of what was cut off it.
    """

    vacuous: str | None = None
    empty: bool = False


Decision = Counterexample | WithoutValue | NotViolated
Decisions = Mapping[str, Decision]
"""Decisions by the names of properties; one that is missing was not made."""


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides on one graph. ``state`` gives the state of a number; ``whole`` says that nothing was cut off the graph."""

    model: Model
    plan: Plan
    graph: Graph
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

    def _product(self, of: Automaton) -> Product:
        return self.make(self.graph, Tables(self.graph, of, self.plan))

    def refute(self, claim: Claim, negated: Automaton) -> Counterexample | WithoutValue | None:
        """A run that a part of the claim, negated, accepts; or where it asks for what has no value."""
        product = self._product(negated)
        trouble = product.trouble()
        if trouble is not None:
            return self._without_value(product, *trouble)
        lasso = find_lasso(product)
        return None if lasso is None else confirmed(self.model, claim.node, lasso, self.state)

    def _without_value(self, product: Product, node: int, way: int) -> WithoutValue:
        number, _ = product.split(node)
        letters = sorted(literal.letter for literal in product.tables.ways[way].literals)
        undefined = product.graph.kinds[product.kind(node)].undefined
        expr = self.plan.condition(next(letter for letter in letters if letter in undefined))
        try:
            self.model.meaning(expr)(Frame(self.state(number)))
        except Undefined as undefined_:
            return WithoutValue(number, undefined_.message, undefined_.span)
        raise EnginesDisagreeError(
            f"a condition has no value in {self.state(number)}, and the reference evaluator has one"
        )
