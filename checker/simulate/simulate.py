"""``simulate``: random walks by the fastest engine that supports the model, and a report of what they found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.checker.coverage import coverage
from assay.checker.engines.engine_selection import Engine, compile_kernel, compile_or_decline
from assay.checker.engines.enough_slots import search_in_slots
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import Report, Statistics
from assay.checker.results.property_results import Answers
from assay.checker.simulate.native_walkers import CompiledWalkers
from assay.checker.simulate.random_walks import Simulation, Walks
from assay.checker.simulate.walkers import InterpretedWalkers
from assay.grammar.current_work import answering
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Simulated:
    """A report of what walks found, and their counters.

    Its statistics count distinct states (a lower bound if ``more_states``) and all visited ones; the depth is the
    number of states of the longest walk. ``ended`` walks reached a state without successor.
    """

    report: Report
    plan: Walks
    walks: int
    ended: int
    more_states: bool
    declined: Diagnostic | None = None


def simulate(
    kernel: Kernel,
    walks: Walks,
    options: SearchOptions | None = None,
    sources: Sources | None = None,
    engine: Engine = "auto",
    cache: Path | None = None,
) -> Simulated:
    """Make random walks and answer about every selected property except scenarios: violated, found reachable, or
    unknown.

    Raises ``SpecError`` as ``engine_selection.check`` does.
    """
    chosen, texts = options or SearchOptions(), sources or {}
    try:
        compiled, declined = compile_or_decline(kernel, chosen, engine, cache)
    except SpecError:
        found = None if engine == "reference" else _in_slots(kernel, walks, chosen, texts, cache)
        if found is None:
            raise
        return found
    if compiled is None and engine != "reference":
        found = _in_slots(kernel, walks, chosen, texts, cache)
        if found is not None:
            return found
    return replace(_walked(kernel, walks, chosen, texts, compiled), declined=declined)


def _in_slots(
    kernel: Kernel, walks: Walks, options: SearchOptions, sources: Sources, cache: Path | None
) -> Simulated | None:
    """Walks of the native engine with slots for sets that are too large for bits, where that helps."""
    made = list[Simulated]()

    def search(slotted: Kernel, wanted: SearchOptions) -> Report | None:
        try:
            with deep_recursion(slotted):
                compiled = compile_kernel(slotted, wanted, cache, hurry=True)
        except (UnsupportedError, SpecError):
            return None
        made.append(_walked(slotted, walks, wanted, sources, compiled))
        return made[-1].report

    with deep_recursion(kernel):
        report = search_in_slots(kernel, options, search)
    return None if report is None else replace(made[-1], report=report)


def _walked(
    kernel: Kernel, walks: Walks, chosen: SearchOptions, texts: Sources, compiled: Compiled | None
) -> Simulated:
    with deep_recursion(kernel):
        model = Model(kernel)
        # Without a transition property no step is judged, and the reference evaluator need not look at them.
        asks_steps = any(p.kind == "transition" and chosen.selects(p.name) for p in kernel.properties)
        engine_walkers: Any = (
            InterpretedWalkers(model, asks_steps=asks_steps) if compiled is None else CompiledWalkers(model, compiled)
        )
        simulation: Simulation[Any] = Simulation(model, chosen, walks, engine_walkers)
        simulation.run()
        answering()
        # Only what is reported is made shorter, after the walks: it takes long.
        simulation.shorten()
        results = Answers(simulation, texts).all()
    statistics = Statistics(simulation.distinct, simulation.generated, simulation.longest, simulation.seconds)
    covered = coverage(model.steps, simulation.taken, simulation.fresh, ())
    name = "reference" if compiled is None else "native"
    report = Report(
        kernel,
        name,
        tuple(results),
        statistics,
        dict(simulation.bounds),
        covered,
        simulation.stopped,
        simulation.interrupted,
    )
    return Simulated(report, walks, simulation.walks, simulation.ended, simulation.more_states)
