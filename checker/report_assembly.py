"""A report from a search that has ended, whichever engine ran it. It is made of findings, and of the scenarios that run
beside a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from assay.checker.coverage import coverage
from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.check import Decide, decisions, is_whole
from assay.checker.liveness.confirm import Decisions
from assay.checker.liveness.plan import Plan
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import EmptyQuantifier, Outcome, PropertyResult, Report, Statistics
from assay.checker.results.scenario import check_scenario
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.checker.search_interface.protocols import EndedSearch, StateIndex
from assay.checker.symmetry.reduction import Reduction
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, SpecError
from assay.grammar.kernel import Kernel

UNKNOWN_PROPERTY = "E804"


def report_of(
    search: EndedSearch,
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


def reference_decisions(search: EndedSearch, store: StateIndex, plan: Plan, sources: Sources) -> Decisions:
    """The decisions about temporal properties on the states in the store of a search, by the reference evaluator.

    Without temporal properties nothing of this is loaded: the reference engine then needs the standard library alone.
    """
    from assay.checker.liveness.decide import Decider  # noqa: PLC0415
    from assay.checker.liveness.product import BuchiProduct  # noqa: PLC0415
    from assay.checker.liveness.state_graph import reference_graph  # noqa: PLC0415

    def decide() -> Decide:
        graph = reference_graph(search.model, plan, store, search.initial)
        state = store.states.__getitem__
        return Decider(search.model, plan, graph, state, sources, BuchiProduct, whole=is_whole(search)).decide

    return decisions(search, plan, decide)


def scenarios(search: EndedSearch, sources: Sources) -> Iterator[PropertyResult]:
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
