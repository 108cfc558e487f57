"""The answers about several clusters: as text, as one JSON object, and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.checker.report import PRECEDENCE, ExitCode, worst
from assay.grammar.lazy_dataclass import dataclass
from assay.report.junit import junit
from assay.report.lines import Line, Tone, clean, plural
from assay.report.logs.first_screen import MOST_LINES, answer_lines, brief_lines, last_lines
from assay.report.logs.validation_object import exit_code, validation_cases, validation_object
from assay.report.specs.check_object import VERSION
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.result import Validation

_MOST_SHOWN = 5
"""So many clusters fit on a first screen."""

# The first line, how many clusters are not shown, and the end of a first screen with a blank line before it.
_ROOM = MOST_LINES - 5
_NODES_SHOWN = 4
_LISTED = (
    "ignored",
    "unmapped",
    "violations",
    "properties",
    "remarks",
    "impact",
    "undecided",
    "notices",
    "explanations",
)
"""The lists of an answer that are joined for several clusters."""


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """The answer about one cluster, and an overview of its logs."""

    cluster: str
    validation: Validation
    overview: Overview


def clusters_exit_code(reports: Sequence[ClusterReport]) -> ExitCode:
    """The worst exit code of all clusters."""
    return worst([exit_code(report.validation) for report in reports])


def clusters_object(reports: Sequence[ClusterReport]) -> dict[str, Any]:
    """The answers, each with the name of its cluster below ``clusters``.

    At the top is the gravest answer, with the events, findings, notices and nodes of all.
    """
    # Made once: each is below `clusters`, and its lists are joined at the top.
    each = [validation_object(report.validation, report.overview) for report in reports]
    gravest = each[reports.index(gravest_first(reports)[0])]
    return {
        **gravest,
        "assay": VERSION,
        "slices": dict(sum((Counter(one["slices"]) for one in each), Counter())),
        "events": {name: sum(one["events"][name] for one in each) for name in gravest["events"]},
        **{name: [found for one in each for found in one[name]] for name in _LISTED},
        "trouble": gravest["trouble"] | {"findings": [found for one in each for found in one["trouble"]["findings"]]},
        "input": {name: [found for one in each for found in one["input"][name]] for name in gravest["input"]},
        "seconds": round(sum(one["seconds"] for one in each), 3),
        "clusters": [{"cluster": report.cluster, **one} for report, one in zip(reports, each, strict=True)],
    }


def gravest_first(reports: Sequence[ClusterReport]) -> list[ClusterReport]:
    """The answers by the precedence of their exit codes; equal ones in the order given."""
    return sorted(reports, key=lambda report: PRECEDENCE.index(exit_code(report.validation)))


def clusters_lines(reports: Sequence[ClusterReport], *, details: bool = False, width: int | None = None) -> list[Line]:
    """How many clusters have each verdict, then each cluster in a few lines, or with ``details`` whole."""
    counts = Counter(report.validation.verdict.value for report in reports)
    counted = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
    lines = [Line(f"{plural(len(reports), 'cluster')}, each checked by itself: {counted}", Tone.HEADING)]
    if details:
        for report in reports:
            lines += [Line(""), _heading(report)]
            lines += answer_lines(report.validation, report.overview, details=True, width=width)
        return lines
    shown = gravest_first(reports)[:_MOST_SHOWN]
    # In the order in which --details and JSON have them.
    for report in (each for each in reports if each in shown):
        lines += [Line(""), _heading(report)]
        # Two lines of each are the blank one and the heading.
        lines += brief_lines(report.validation, report.overview, _ROOM // len(shown) - 2, width)
    left = len(reports) - len(shown)
    more = [Line(f"and {plural(left, 'more cluster')}, see --details", Tone.WARN)] if left else []
    return [*lines, *more, Line(""), *last_lines(shown[0].validation, shown[0].overview)]


def _heading(report: ClusterReport) -> Line:
    name = f"cluster {clean(report.cluster)}" if report.cluster else "logs that belong to no known cluster"
    nodes = ", ".join(clean(node.node.name) for node in report.overview.nodes[:_NODES_SHOWN])
    more = len(report.overview.nodes) - _NODES_SHOWN
    return Line(f"{name}: {nodes}{f' and {more} more' if more > 0 else ''}", Tone.HEADING)


def junit_of_clusters(reports: Sequence[ClusterReport]) -> str:
    """The XML: the cases of every cluster, each with the cluster's name before its own."""
    cases = [
        replace(case, name=f"{report.cluster or 'no known cluster'}: {case.name}")
        for report in reports
        for case in validation_cases(report.validation)
    ]
    return junit("clusters", cases, max(report.validation.seconds for report in reports))
