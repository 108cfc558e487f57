"""Answers as JUnit XML, which every continuous integration server shows: a test case for each thing that was
checked.
"""

from __future__ import annotations

from typing import Literal
from xml.etree import ElementTree as Xml

from assay.checker.report import Outcome, Report
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import clean
from assay.report.specs.text import property_lines

Status = Literal["passed", "failure", "error", "skipped"]

STATUS: dict[Outcome, Status] = {
    Outcome.HOLDS: "passed",
    Outcome.UP_TO_BOUND: "passed",
    Outcome.VIOLATED: "failure",
    Outcome.UNKNOWN: "error",
    Outcome.VACUOUS: "skipped",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A test case. ``message`` is one line; ``details`` may have many."""

    name: str
    status: Status
    message: str = ""
    details: str = ""


def junit_of_report(report: Report) -> str:
    """The XML of a check: a violated property is a failure, and one that no engine could decide is an error."""
    cases = []
    for result in report.properties:
        message = result.reason or result.outcome.value
        details = "\n".join(line.text for line in property_lines(report.kernel, result))
        cases.append(Case(f"{result.kind} {result.name}", STATUS[result.outcome], message, details))
    return junit(report.kernel.name, cases, report.statistics.seconds)


def junit(suite: str, cases: list[Case], seconds: float) -> str:
    """One test suite as a document."""
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.status == "failure" for case in cases)),
        "errors": str(sum(case.status == "error" for case in cases)),
        "skipped": str(sum(case.status == "skipped" for case in cases)),
        "time": f"{seconds:.3f}",
    }
    root = Xml.Element("testsuites")
    element = Xml.SubElement(root, "testsuite", {"name": suite, **counts})
    for case in cases:
        _add(element, suite, case)
    Xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _add(suite: Xml.Element, classname: str, case: Case) -> None:
    element = Xml.SubElement(suite, "testcase", {"classname": classname, "name": clean(case.name)})
    if case.status != "passed":
        child = Xml.SubElement(element, case.status, {"message": clean(case.message)})
        # XML 1.0 has no control characters but tab and line ends, not even as references: one of a log would spoil the
        # file.
        child.text = "\n".join(map(clean, case.details.splitlines())) or None
    elif case.message:
        Xml.SubElement(element, "system-out").text = clean(case.message)
