"""The answers about several clusters: as text, as one JSON object, and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.checker.report import ExitCode, worst
from assay.report.junit import junit
from assay.report.lines import Line, Tone, clean, plural
from assay.report.logs.first_screen import answer_lines
from assay.report.logs.validation_object import EXIT_CODES, exit_code, validation_cases, validation_object
from assay.report.specs.check_object import VERSION
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.result import TraceVerdict, Validation


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
    """The answers, each with the name of its cluster. The verdict is the worst of them."""
    return {
        "assay": VERSION,
        "verdict": _worst(reports).value,
        "clusters": [
            {"cluster": report.cluster, **validation_object(report.validation, report.overview)} for report in reports
        ],
    }


def _worst(reports: Sequence[ClusterReport]) -> TraceVerdict:
    code = worst([EXIT_CODES[report.validation.verdict] for report in reports])
    return next(report.validation.verdict for report in reports if EXIT_CODES[report.validation.verdict] is code)


def clusters_lines(reports: Sequence[ClusterReport], *, details: bool = False, width: int | None = None) -> list[Line]:
    """How many clusters have each verdict, then each cluster by itself."""
    counts = Counter(report.validation.verdict.value for report in reports)
    counted = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
    lines = [Line(f"{plural(len(reports), 'cluster')}: {counted}", Tone.HEADING)]
    for report in reports:
        lines += [Line(""), Line(f"cluster {clean(report.cluster)}", Tone.HEADING)]
        lines += answer_lines(report.validation, report.overview, details=details, width=width)
    return lines


def junit_of_clusters(reports: Sequence[ClusterReport]) -> str:
    """The XML: the cases of every cluster, each with the cluster's name before its own."""
    cases = [
        replace(case, name=f"{report.cluster}: {case.name}")
        for report in reports
        for case in validation_cases(report.validation)
    ]
    return junit("clusters", cases, max(report.validation.seconds for report in reports))
