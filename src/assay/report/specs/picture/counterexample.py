"""The page about a run that violates something: of a check, a proof, a simulation, or a replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import Outcome, PropertyResult, Report, Trace
from assay.checker.saved_traces.replay import Replay
from assay.checker.saved_traces.saved_trace import SavedTrace
from assay.grammar.diagnostics.diagnostic import NOWHERE
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import clean
from assay.report.specs.picture.drawing import place_text, trace_drawing, why_drawing
from assay.report.specs.picture.heat_map import heat_files
from assay.report.specs.picture.page import as_script_data, asset, template, text_of
from assay.report.specs.picture.small_graph import MOST_DRAWN, graph_drawing
from assay.report.specs.replay import fate
from assay.report.specs.text import abstract_lines, blocked_lines, model_lines, statistics_line, verdict_word

TONES = {Outcome.HOLDS: "good", Outcome.VIOLATED: "bad"}


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a page is about."""

    kernel: Kernel
    sources: Mapping[str, str]
    verdict: str
    tone: str
    about: list[str]
    result: PropertyResult | None
    report: Report | None = None


def report_page(report: Report, sources: Mapping[str, str]) -> str:
    """The page about the first violated property that has a run, or about a search that found none."""
    violated = [each for each in report.properties if each.outcome is Outcome.VIOLATED and each.trace is not None]
    # As the other files about a counterexample: the run of a scenario is in the spec.
    result = next((each for each in violated if each.kind != "scenario"), None)
    tone = {Outcome.VIOLATED: "violated", Outcome.HOLDS: "holds"}.get(report.outcome, "")
    about = [line.text.strip() for line in [*model_lines(report.kernel), statistics_line(report)]]
    return _page(_Shown(report.kernel, sources, verdict_word(report), tone, about, result, report))


def replay_page(kernel: Kernel, sources: Mapping[str, str], saved: SavedTrace, answer: Replay) -> str:
    """The page about a saved run that was followed again, as far as it could be."""
    result = PropertyResult(
        saved.property,
        "saved run",
        # One run that does no harm says nothing of the property.
        Outcome.VIOLATED if answer.violated else Outcome.UNKNOWN,
        NOWHERE,
        reason=answer.diverged or answer.reason,
        trace=answer.trace if answer.trace.steps else None,
        explanation=answer.explanation,
        blocked=answer.blocked,
    )
    tone = "violated" if answer.violated else ""
    about = [line.text.strip() for line in model_lines(kernel)]
    return _page(_Shown(kernel, sources, fate(answer), tone, about, result))


def _page(shown: _Shown) -> str:
    result, kernel = shown.result, shown.kernel
    trace = result.trace if result is not None else None
    explanation = result.explanation if result is not None else None
    graph = _graph(shown, trace)
    data = {
        "run": trace_drawing(Model(kernel), trace) if trace is not None else None,
        "reason": why_drawing(explanation) if explanation is not None else None,
        "graph": graph,
    }
    details = [*blocked_lines(kernel, result.blocked), *abstract_lines(result.abstract)] if result is not None else []
    return template(text_of("counterexample.html.jinja")).render(
        title=f"{kernel.name}{f': {result.name}' if result is not None else ''}",
        verdict=shown.verdict,
        tone=shown.tone,
        about=[clean(line) for line in shown.about],
        has_trace=trace is not None,
        heading=f"{result.kind} {result.name}" if result is not None else "",
        place=place_text(result.span) if result is not None else "",
        reason=clean(result.reason) if result is not None and result.reason and explanation is None else "",
        notes=[clean(each) for each in result.remarks] if result is not None else [],
        details_heading="What blocks every action" if result is not None and result.blocked else "The abstract side",
        details="\n".join(clean(line.text) for line in details),
        properties=_properties(shown.report),
        graph=graph,
        heat=heat_files(kernel, shown.sources, shown.report, trace, explanation),
        data=as_script_data(data),
        style=asset("picture.css"),
        script=asset("picture.js", text_of("counterexample.js")),
    )


def _graph(shown: _Shown, trace: Trace | None) -> dict[str, Any] | None:
    """The graph of a model that a search has shown to be small."""
    report = shown.report
    # Under symmetry the number is one of orbits, which says nothing of how many states there are.
    if report is None or not 0 < report.statistics.distinct <= MOST_DRAWN or report.group is not None:
        return None
    return graph_drawing(shown.kernel, trace)


def _properties(report: Report | None) -> list[tuple[str, str, str, str]]:
    results = report.properties if report is not None else ()
    return [(each.kind, each.name, each.outcome.value, TONES.get(each.outcome, "warn")) for each in results]
