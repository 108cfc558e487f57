"""Decides temporal properties on a state graph: for each a run that violates it, followed by the reference evaluator, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from assay.checker.evaluate.model import Model, outcomes
from assay.checker.evaluate.outcome import Successor
from assay.checker.evaluate.scope import Frame
from assay.checker.evaluate.undefined import Undefined
from assay.checker.liveness import advice
from assay.checker.liveness.formula import TRUE
from assay.checker.liveness.graph import Graph
from assay.checker.liveness.judge import Run
from assay.checker.liveness.lasso import Lasso, find_lasso
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.liveness.product import Product, Tables
from assay.checker.liveness.tableau import Automaton, automaton
from assay.checker.liveness.vacuity import premises_never_true
from assay.checker.print_kernel import Sources
from assay.checker.reference.store import Link
from assay.checker.verdict import EnginesDisagreeError, State, Step, Trace
from assay.grammar import kernel as k
from assay.grammar.diagnostics import Span

MakeProduct = Callable[[Graph, Tables], Product]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A fair run that violates a property: the conjunct that is false of it, and what else is worth saying."""

    trace: Trace
    conjunct: k.Conjunct
    reason: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WithoutValue:
    """A property asks something in the state of this number that has no value there."""

    state: int
    message: str
    span: Span | None


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
        return None if lasso is None else self._counterexample(claim.node, lasso)

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

    # --------------------------------------------------------------------------------------- counterexamples

    def _counterexample(self, node: k.Property, lasso: Lasso) -> Counterexample | WithoutValue:
        for each in (lasso.moving(), lasso):
            run = Run(self.model, self._trace(each))
            try:
                conjunct = run.first_false(node)
            except Undefined as undefined:
                return WithoutValue(each.states[-1], undefined.message, undefined.span)
            if conjunct is not None and not run.unfair():
                return Counterexample(run.trace, conjunct, advice.reason(run, conjunct), advice.remarks(run))
        raise EnginesDisagreeError(
            f"a run is said to violate `{node.name}`, and the reference evaluator does not agree"
        )

    def _trace(self, lasso: Lasso) -> Trace:
        states = [self.state(number) for number in lasso.states]
        steps = [self._first(states[0]), *(self._step(before, after) for before, after in pairwise(states))]
        return Trace(tuple(steps), lasso.loop)

    def _first(self, state: State) -> Step:
        for outcome in self.model.init.outcomes():
            if isinstance(outcome, Successor) and outcome.state == state:
                return Step(None, (), outcome.picks, state)
        raise EnginesDisagreeError(f"a run begins where the reference evaluator does not: {state}")

    def _step(self, before: State, after: State) -> Step:
        if before == after:
            return Step(None, (), (), after)
        for action, arguments, outcome in outcomes(self.model, before):
            if isinstance(outcome, Successor) and outcome.state == after:
                return Link(action, arguments, outcome.picks).step(after)
        raise EnginesDisagreeError(f"a run goes on as the reference evaluator does not: {before} to {after}")
