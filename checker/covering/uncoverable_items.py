"""The items that no run of a model can cover: the engines look at all states much faster than the search for runs does."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from assay.checker.covering.runs import CoverItem, NeverCovered
from assay.checker.covering.search import all_items
from assay.checker.engines.engine_selection import check
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.report import Coverage, Outcome
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel

MOST_STATES = 5_000_000


def never_covered(
    kernel: Kernel, kinds: Collection[str], seconds: float, over: Callable[[], str | None]
) -> NeverCovered | None:
    """What no run from any initial state covers; None if that is not known.

    It is known only if the native engine looked at every state in that time, and found nothing that could end its
    search early. A pair of actions of which one never happens is not covered either.
    """
    options = SearchOptions(
        # No property and no deadlock is asked, since a violation would end the search early.
        properties=frozenset(),
        check_deadlock=False,
        max_states=MOST_STATES,
        timeout=seconds,
        view=False,
        interrupted=lambda: over() is not None,
    )
    try:
        report = check(kernel, options, engine="native").report
    except SpecError:
        return None
    violated = any(each.outcome is Outcome.VIOLATED for each in report.properties)
    if violated or report.interrupted or report.stopped is not None or report.up_to_depth is not None:
        return None
    return NeverCovered(frozenset(_never(Model(kernel), kinds, report.coverage)), report.statistics.distinct)


def _never(model: Model, kinds: Collection[str], found: Coverage) -> Iterator[CoverItem]:
    # Actions that are never taken are in no pair either. Whether two that are taken follow each other is not known.
    taken = {each.action for each in found.actions if each.taken}
    decisive = {(each.action, each.label) for each in found.guards if each.decisive}
    for item in all_items(model, kinds):
        if item.names not in decisive if item.kind == "guards" else not taken.issuperset(item.names):
            yield item
