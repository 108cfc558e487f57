"""Quantifiers whose domain is empty in every state, found after a compiled search.

Compiled code does not observe quantifiers. Nearly every domain is nonempty in some early state. So the reference
evaluator looks at a sample of states first, and at all states for the remaining quantifiers only. Beyond
``MOST_STATES`` states the second pass is skipped and nothing is reported: "always empty" is claimed only after all
states were looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from assay.checker.coverage import empty_quantifiers
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.enumerate_set import may_be_large
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.interpreter.property_meaning import property_meaning
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import EmptyQuantifier
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentitySet

SPREAD = 64
"""How many states are sampled first, evenly spaced in the order of the search."""
MOST_STATES = 50_000


def always_empty(
    model: Model, states: RowStore, options: SearchOptions, sources: Sources
) -> tuple[EmptyQuantifier, ...]:
    """The quantifiers of invariants, lemmas and reachables whose domain was empty in every one of the states."""
    asked = _AskedQuantifiers(model, options)
    count = len(states)
    asked.evaluate_in(states, range(0, count, max(1, count // SPREAD)))
    # The sample may have missed the only states in which a domain has elements.
    if asked.empty(sources) and count <= MOST_STATES:
        asked.evaluate_in(states, range(count))
        return asked.empty(sources)
    return ()


class _AskedQuantifiers:
    """The selected properties of states, and which of their quantifiers were evaluated, and ranged over something."""

    def __init__(self, model: Model, options: SearchOptions) -> None:
        of_states = [p for p in model.kernel.properties if p.kind in {"invariant", "lemma", "reachable"}]
        self._evaluated = IdentitySet[k.Expr]()
        self._nonempty = IdentitySet[k.Expr]()
        self._of_states = of_states
        scope = replace(model.scope, evaluated=self._evaluated, nonempty=self._nonempty)
        self._meanings = [property_meaning(p, scope) for p in of_states if options.selects(p.name) and _worth_it(p)]

    def evaluate_in(self, states: RowStore, numbers: Sequence[int]) -> None:
        """Evaluate the properties in states for the sake of their quantifiers; the search reported violations
        already."""
        for number in numbers:
            frame = Frame(states[number])
            for each in self._meanings:
                with suppress(Undefined):
                    each.first_false(frame)

    def empty(self, sources: Sources) -> tuple[EmptyQuantifier, ...]:
        """The quantifiers that were evaluated, and ranged over nothing so far."""
        return empty_quantifiers(self._of_states, self._evaluated, self._nonempty, sources)


def _worth_it(of: k.Property) -> bool:
    """Whether a property has a domain that may be empty, and none that takes long to go through. What is not evaluated
    is not claimed to be empty.
    """
    quantifiers = [
        node
        for conjunct in of.conjuncts
        for node in (conjunct.condition, *descendants(conjunct.condition))
        if isinstance(node, k.Quantified)
    ]
    return not all(isinstance(each.domain, k.TypeDomain | k.Subsets) for each in quantifiers) and not any(
        may_be_large(each.domain) for each in quantifiers
    )
