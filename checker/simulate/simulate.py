"""``simulate``: random walks by the fastest engine that supports the model, and a report of what they found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.checker.coverage import coverage
from assay.checker.engines.engine_selection import Engine, compile_or_decline
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import Report, Statistics
from assay.checker.results.property_results import Answers
from assay.checker.simulate.native_walkers import CompiledWalkers
from assay.checker.simulate.random_walks import Simulation, Walks
from assay.checker.simulate.walkers import InterpretedWalkers
from assay.grammar.current_work import answering
from assay.grammar.diagnostics.diagnostic import Diagnostic
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
    compiled, declined = compile_or_decline(kernel, chosen, engine, cache)
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
    return Simulated(report, walks, simulation.walks, simulation.ended, simulation.more_states, declined)
