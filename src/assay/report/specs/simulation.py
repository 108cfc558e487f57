"""The answer of a simulation, as text and as JSON."""

from __future__ import annotations

from typing import Any

from assay.checker.report import Outcome
from assay.checker.simulate.simulate import Simulated
from assay.report.lines import Line, Tone, plural
from assay.report.specs.check_object import report_object
from assay.report.specs.coverage import coverage_lines
from assay.report.specs.text import findings_lines


def simulation_lines(simulated: Simulated) -> list[Line]:
    """The verdict, the properties, what was not exercised (unless a violation ended the simulation early), and the
    number of walks.
    """
    report, s = simulated.report, simulated.report.statistics
    least = "at least " if simulated.more_states else ""
    done = (
        f"{plural(simulated.walks, 'walk')} of up to {plural(simulated.plan.depth, 'state')}, the longest {s.depth:,}, "
        f"{plural(simulated.ended, 'walk')} without a way on; {s.generated:,} states, {least}{s.distinct:,} of them distinct; "
        f"seed {simulated.plan.seed}, {s.seconds:.1f} s, engine {report.engine}"
    )
    remarks = [] if report.outcome is Outcome.VIOLATED else coverage_lines(report)
    lines = [*findings_lines(report), *remarks, Line("")]
    if report.stopped:
        lines.append(Line(f"A simulation proves nothing: {report.stopped}", Tone.WARN))
    return [*lines, Line(done, Tone.FAINT)]


def simulation_object(simulated: Simulated) -> dict[str, Any]:
    """The answer as for a check, with ``walks`` in place of the sizes of a search."""
    answer = report_object(simulated.report)
    s = simulated.report.statistics
    walks = {
        "number": simulated.walks, "depth": simulated.plan.depth, "seed": simulated.plan.seed, "longest": s.depth, "ended": simulated.ended,
        "states": s.generated, "distinct": s.distinct, "distinct_is_exact": not simulated.more_states,
    }  # fmt: skip
    return {name: part for name, part in answer.items() if name not in {"states", "up_to_depth"}} | {"walks": walks}
