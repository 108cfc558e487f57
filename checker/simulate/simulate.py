"""``simulate``: random walks by the fastest engine that takes the model, and what they found as a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.checker.coverage import coverage
from assay.checker.evaluate.depth import deep_recursion
from assay.checker.evaluate.model import Model
from assay.checker.options import SearchOptions
from assay.checker.portfolio import Engine, compile_or_decline
from assay.checker.print_kernel import Sources
from assay.checker.reference.results import Answers
from assay.checker.reference.watch import Watch
from assay.checker.simulate.compiled import CompiledCrowd
from assay.checker.simulate.crowd import Evaluated
from assay.checker.simulate.simulation import Simulation, Walks
from assay.checker.verdict import Report, Statistics
from assay.grammar.diagnostics import Diagnostic
from assay.grammar.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Simulated:
    """A report of what walks found, and what was done.

    Its statistics count the different states that were seen (at least so many where ``more_states``) and all that were walked through; the
    depth is the number of states of the longest walk. ``ended`` walks came to a state without a way on.
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
    """Make random walks and answer about every selected property but scenarios: violated, found reachable, or unknown.

    Raises ``SpecError`` as ``portfolio.check`` does.
    """
    chosen, texts = options or SearchOptions(), sources or {}
    compiled, declined = compile_or_decline(kernel, chosen, engine, cache)
    with deep_recursion(kernel):
        model = Model(kernel)
        crowd: Any = Evaluated(model, Watch(model, chosen)) if compiled is None else CompiledCrowd(model, compiled)
        simulation: Simulation[Any] = Simulation(model, chosen, walks, crowd)
        simulation.run()
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
