"""The text of a spec, coloured by what a search and a run did with its lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import log10

from assay.checker.report import Explanation, Report, Trace
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import clean

LARGEST = 150_000
"""Characters of spec text in one page; further files are left out."""


@dataclass(frozen=True, slots=True)
class HeatLine:
    """A line of the spec: ``tone`` is its class in the style sheet, ``note`` what stands beside its number."""

    number: int
    text: str
    tone: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeatFile:
    """A file of the spec, with what its colours mean."""

    name: str
    legend: str
    lines: tuple[HeatLine, ...]


def heat_files(
    kernel: Kernel,
    sources: Mapping[str, str],
    report: Report | None,
    trace: Trace | None,
    explanation: Explanation | None,
) -> list[HeatFile]:
    """The files of a spec in which something happened, the top module first."""
    notes: dict[tuple[str, int], list[str]] = defaultdict(list)
    tones: dict[tuple[str, int], str] = {}
    for number, step in enumerate(trace.steps if trace is not None else (), start=1):
        if step.action is not None:
            notes[_key(kernel.action(step.action).span)].append(f"{number}")
    notes = defaultdict(list, {at: [f"step {', '.join(_few(each))}"] for at, each in notes.items()})
    if report is not None:
        _add_coverage(report, tones, notes)
    if explanation is not None:
        for span in (explanation.span, *(part.span for part in explanation.parts)):
            tones[_key(span)] = "false"
    return _files(kernel, sources, tones, notes, _legend(report))


def _few(numbers: list[str]) -> list[str]:
    return numbers if len(numbers) <= 4 else [*numbers[:3], "…"]


def _key(span: Span) -> tuple[str, int]:
    return span.file, span.line


def _is_complete(report: Report) -> bool:
    return report.stopped is None and report.up_to_depth is None and bool(report.coverage.actions)


def _legend(report: Report | None) -> str:
    if report is None or not report.coverage.actions:
        return "Numbers are the steps of the run; red is what is false at its end."
    taken = "Beside an action: how often it was taken, darker the more often; and in which steps of the run."
    if not _is_complete(report):
        return f"{taken} The search ended early, so that nothing is said of guards. Red is what is false."
    return (
        f"{taken} A guard that was the only obstacle of some instance is green, one that never was is red, an action "
        "that never happened yellow. Dark red is what is false at the end of the run."
    )


def _add_coverage(report: Report, tones: dict[tuple[str, int], str], notes: dict[tuple[str, int], list[str]]) -> None:
    taken = {each.action: each.taken for each in report.coverage.actions}
    for action in report.coverage.actions:
        at = _key(action.span)
        if action.taken:
            # A class for each power of ten, up to the fourth.
            tones[at] = f"h{min(4, 1 + int(log10(action.taken)))}"
            notes[at].insert(0, f"{action.taken:,} times")
        elif _is_complete(report):
            tones[at] = "idle"
            notes[at].append("never")
    for guard in report.coverage.guards if _is_complete(report) else ():
        if taken.get(guard.action):
            at = _key(guard.span)
            # A guard of a module that is used twice has one line here: that it decides in one place is enough.
            tones[at] = "h3" if guard.decisive else tones.get(at, "never")
            notes[at] = ["decides" if tones[at] == "h3" else "never decides"]


def _files(
    kernel: Kernel,
    sources: Mapping[str, str],
    tones: Mapping[tuple[str, int], str],
    notes: Mapping[tuple[str, int], list[str]],
    legend: str,
) -> list[HeatFile]:
    named = {file for file, _ in (*tones, *notes)}
    order = sorted(named & sources.keys(), key=lambda file: (file != kernel.span.file, file))
    found: list[HeatFile] = []
    room = LARGEST
    for file in order:
        # The top module comes first: what no longer fits are modules that it uses.
        room -= len(sources[file])
        if room >= 0:
            lines = tuple(
                HeatLine(n, clean(text), tones.get((file, n), ""), "; ".join(notes.get((file, n), ())))
                for n, text in enumerate(sources[file].split("\n"), start=1)
            )
            found.append(HeatFile(file.rpartition("/")[2], legend, lines))
    return found
