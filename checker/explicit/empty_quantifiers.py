"""Quantifiers whose domain is empty in every state, found after a compiled search.

Compiled code does not observe quantifiers. Nearly every domain is nonempty in some early state, so the reference
evaluator looks at a sample of states first, and then at every state for the remaining quantifiers only. Beyond
``MOST_STATES`` states the second pass is skipped and nothing is reported: "always empty" is claimed only after all
states were looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.coverage import empty_quantifiers
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.property_monitor import Watch
from assay.checker.report import EmptyQuantifier

SPREAD = 64
"""How many states are sampled first, evenly spaced in the order of the search."""
MOST_STATES = 50_000


def always_empty(
    model: Model, states: RowStore, options: SearchOptions, sources: Sources
) -> tuple[EmptyQuantifier, ...]:
    """The quantifiers of invariants, lemmas and reachables whose domain was empty in every one of the states."""
    watch = Watch(model, options)
    count = len(states)
    _look_at(watch, states, range(0, count, max(1, count // SPREAD)))
    if _left(model, watch, sources) and count <= MOST_STATES:
        _look_at(watch, states, range(count))
        return _left(model, watch, sources)
    return ()


def _look_at(watch: Watch, states: RowStore, numbers: Sequence[int]) -> None:
    """Evaluate the properties in states for the sake of their quantifiers; violations were reported by the search
    already."""
    for number in numbers:
        watch.found.clear()
        watch.see_state(number, states[number])


def _left(model: Model, watch: Watch, sources: Sources) -> tuple[EmptyQuantifier, ...]:
    properties = [p for p in model.kernel.properties if p.kind in {"invariant", "lemma", "reachable"}]
    return empty_quantifiers(properties, watch.evaluated, watch.nonempty, sources)
