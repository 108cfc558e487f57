"""``check`` by the reference searches: the oracle that every other engine is compared with."""

from __future__ import annotations

from assay.checker.coverage import empty_quantifiers
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.liveness.plan import plan as temporal_plan
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.bfs import Search
from assay.checker.reference.dfs import DepthFirstSearch
from assay.checker.report import Report
from assay.checker.report_assembly import (
    reference_decisions,
    refuse_unknown_names,
    report_of,
    scenarios,
    searched_model,
)
from assay.checker.results.property_results import Answers
from assay.checker.symmetry.reduction import reduction_of
from assay.grammar.current_work import answering
from assay.grammar.kernel import Kernel

ENGINE = "reference"


def check(kernel: Kernel, options: SearchOptions | None = None, sources: Sources | None = None) -> Report:
    """Search the reachable states, run the scenarios, and answer about every selected property.

    ``sources`` maps the files named in spans to their text, so that explanations show conditions as written. Raises
    ``SpecError`` if a domain is too large to list, or ``options`` names no property of the kernel.
    """
    chosen = options or SearchOptions()
    texts = sources or {}
    refuse_unknown_names(kernel, chosen)
    reduction = reduction_of(kernel, chosen)
    with deep_recursion(kernel):
        model = searched_model(kernel, reduction)
        plan = temporal_plan(model, chosen) if chosen.order == "bfs" else None
        search = (DepthFirstSearch if chosen.order == "dfs" else Search)(model, chosen, reduction)
        search.run()
        answering()
        decided = {} if plan is None else reference_decisions(search, search.store, plan, texts)
        results = [*Answers(search, texts, decided).all(), *scenarios(search, texts)]
        empty = empty_quantifiers(list(kernel.properties), search.watch.evaluated, search.watch.nonempty, texts)
    return report_of(search, ENGINE, results, empty)
