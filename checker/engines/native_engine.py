"""``check`` by compiled code: the same report as the reference engine's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.dfs import DepthFirstBlockSearch
from assay.checker.explicit.empty_quantifiers import always_empty
from assay.checker.explicit.expansion.compiled_interface import Behaviours, Compiled
from assay.checker.explicit.liveness.state_graph import decisions_of
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.liveness.confirm import Decisions
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import Coverage, Report
from assay.checker.report_assembly import report_of, scenarios, searched_model
from assay.checker.results.property_results import Answers
from assay.checker.symmetry.reduction import reduction_of
from assay.grammar.current_work import answering
from assay.grammar.kernel import Kernel

ENGINE = "native"
Decide = Callable[[BlockSearch, Behaviours, Sources], Decisions]


def check(
    kernel: Kernel, compiled: Compiled, options: SearchOptions | None = None, sources: Sources | None = None
) -> Report:
    """Search the reachable states with compiled code, run the scenarios, and answer about every selected property.

    Empty quantifiers are looked for after a complete search (``explicit.empty_quantifiers``).
    """
    chosen, texts = options or SearchOptions(), sources or {}
    reduction = reduction_of(kernel, chosen)
    with deep_recursion(kernel):
        model = searched_model(kernel, reduction)
        kind = DepthFirstBlockSearch if chosen.order == "dfs" else BlockSearch
        with closing(kind(model, chosen, compiled, reduction)) as search:
            report = answered(search, texts, ENGINE)
    return replace(report, checkpoint=chosen.checkpoint if ended_early(search) else None)


def ended_early(search: BlockSearch) -> bool:
    """Whether there may be states that a search did not reach."""
    return search.stopped is not None or search.up_to_depth is not None


def answered(search: BlockSearch, texts: Sources, engine: str, decide: Decide | None = None) -> Report:
    """Run a search and make its report; ``decide`` decides temporal properties, where that happens elsewhere."""
    model = search.model
    search.run()
    answering()
    behaviours = search.compiled.behaviours
    decided = None if behaviours is None else (decide or decisions_of)(search, behaviours, texts)
    results = [*Answers(search, texts, decided).all(), *scenarios(search, texts)]
    # A depth-first search has forgotten its states, so they cannot be looked at again.
    whole = search.options.order == "bfs" and not ended_early(search) and not search.interrupted
    looks = whole and not search.options.reduce
    empty = always_empty(model, search.rows, search.options, texts) if looks else ()
    report = report_of(search, engine, results, empty, search.statistics())
    if not search.options.reduce:
        return report
    # What never happens or decides is a question about all states.
    return replace(report, reduced=search.reduced, coverage=Coverage())
