"""``check`` by compiled code: the same report as the reference engine's."""

from __future__ import annotations

from contextlib import closing

from assay.checker.check import scenarios, searched_model
from assay.checker.coverage import coverage
from assay.checker.evaluate.depth import deep_recursion
from assay.checker.explicit.behaviour import decisions_of
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.machine import Compiled
from assay.checker.explicit.quantifiers import always_empty
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.results import Answers
from assay.checker.symmetry.reduction import reduction_of
from assay.checker.verdict import Report
from assay.grammar.kernel import Kernel

ENGINE = "native"


def check(
    kernel: Kernel, compiled: Compiled, options: SearchOptions | None = None, sources: Sources | None = None
) -> Report:
    """Search the reachable states with compiled code, run the scenarios, and answer about every selected property.

    Quantifiers over domains that are always empty are looked for as ``quantifiers`` says, when the search has come to its end.
    """
    chosen, texts = options or SearchOptions(), sources or {}
    reduction = reduction_of(kernel, chosen)
    with deep_recursion(kernel):
        model = searched_model(kernel, reduction)
        with closing(BlockSearch(model, chosen, compiled, reduction)) as search:
            search.run()
            decided = {} if compiled.behaviours is None else decisions_of(search, compiled.behaviours, texts)
            results = [*Answers(search, texts, decided).all(), *scenarios(search, texts)]
            complete = search.stopped is None and search.up_to_depth is None and not search.interrupted
            empty = always_empty(model, search.rows, chosen, texts) if complete else ()
    statistics = search.statistics()
    ended_early = search.stopped is not None or search.up_to_depth is not None
    checkpoint = chosen.checkpoint if ended_early else None
    covered = coverage(model.steps, search.taken, search.fresh, empty)
    return Report(
        kernel,
        ENGINE,
        tuple(results),
        statistics,
        dict(search.bounds),
        covered,
        search.stopped,
        search.interrupted,
        up_to_depth=search.up_to_depth,
        checkpoint=checkpoint,
        group=None if reduction is None else reduction.group,
    )
