"""``check``: everything that the reference engine can say about a kernel, as one report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from assay.checker.coverage import coverage, empty_quantifiers
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.liveness.check import Decide, decisions, is_whole
from assay.checker.liveness.decide import Decider, Decisions
from assay.checker.liveness.plan import Plan
from assay.checker.liveness.plan import plan as temporal_plan
from assay.checker.liveness.product import BuchiProduct
from assay.checker.liveness.state_graph import reference_graph
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.bfs import Search
from assay.checker.reference.dfs import DepthFirstSearch
from assay.checker.reference.property_monitor import DEADLOCK, DEFINED
from assay.checker.reference.scenario import check_scenario
from assay.checker.report import EmptyQuantifier, Outcome, PropertyResult, Report, Statistics
from assay.checker.results.property_results import Answers
from assay.checker.symmetry.reduction import Reduction, reduction_of
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, SpecError
from assay.grammar.kernel import Kernel

ENGINE = "reference"
UNKNOWN_PROPERTY = "E804"


def check(kernel: Kernel, options: SearchOptions | None = None, sources: Sources | None = None) -> Report:
    """Search the reachable states, run the scenarios, and answer about every selected property.

    ``sources`` maps the files named in spans to their text, so that explanations show conditions as written. Raises ``SpecError`` if a
    domain is too large to list, or ``options`` names no property of the kernel.
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
        decided = {} if plan is None else reference_decisions(search, plan, texts)
        results = [*Answers(search, texts, decided).all(), *scenarios(search, texts)]
        empty = empty_quantifiers(list(kernel.properties), search.watch.evaluated, search.watch.nonempty, texts)
    return report_of(search, ENGINE, results, empty)


def report_of(
    search: Search,
    engine: str,
    results: Sequence[PropertyResult],
    empty: Sequence[EmptyQuantifier] = (),
    statistics: Statistics | None = None,
) -> Report:
    """What a search that has ended says of its kernel."""
    sizes = statistics or Statistics(len(search.store), search.generated, search.depth, search.seconds)
    reduction = search.reduction
    return Report(
        search.model.kernel,
        engine,
        tuple(results),
        sizes,
        dict(search.bounds),
        coverage(search.model.steps, search.taken, search.fresh, empty),
        search.stopped,
        search.interrupted,
        up_to_depth=search.up_to_depth,
        group=None if reduction is None else reduction.group,
        order=search.options.order,
    )


def searched_model(kernel: Kernel, reduction: Reduction | None) -> Model:
    """The model that a search runs: under reduction its quantifiers are strict."""
    return Model(kernel) if reduction is None else Model(kernel, strict=reduction.group.names)


def reference_decisions(search: Search, plan: Plan, sources: Sources) -> Decisions:
    """The decisions about temporal properties on the states of a search, by the reference evaluator."""

    def decide() -> Decide:
        graph = reference_graph(search.model, plan, search.store, search.initial)
        state = search.store.states.__getitem__
        return Decider(search.model, plan, graph, state, sources, BuchiProduct, whole=is_whole(search)).decide

    return decisions(search, plan, decide)


def scenarios(search: Search, sources: Sources) -> Iterator[PropertyResult]:
    """The answers about the selected scenarios, which run unreduced; after an interruption they are not run."""
    model = search.model if search.reduction is None else Model(search.model.kernel)
    for scenario in model.kernel.scenarios:
        if not search.options.selects(scenario.name):
            continue
        if not search.interrupted:
            try:
                yield check_scenario(model, scenario, sources)
                continue
            except KeyboardInterrupt:
                search.interrupted = True
        reason = "not run to its end: the check was interrupted"
        yield PropertyResult(scenario.name, "scenario", Outcome.UNKNOWN, scenario.span, reason)


def refuse_unknown_names(kernel: Kernel, options: SearchOptions) -> None:
    """Raise ``SpecError`` if a property is selected that the kernel does not have."""
    known = [DEFINED, DEADLOCK, *(p.name for p in kernel.properties), *(s.name for s in kernel.scenarios)]
    unknown = sorted((options.properties or frozenset()) - set(known))
    if unknown:
        raise SpecError(_unknown(name, known, kernel) for name in unknown)


def _unknown(name: str, known: list[str], kernel: Kernel) -> Diagnostic:
    close = get_close_matches(name, known, n=1)
    note = f"did you mean `{close[0]}`?" if close else f"its properties are: {', '.join(known)}"
    return Diagnostic(UNKNOWN_PROPERTY, kernel.span, f"`{kernel.name}` has no property `{name}`", (Note(note),))
