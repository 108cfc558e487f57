"""A model whose search is cut by bounds and ends in a violation. Also the part of a report that must not depend on the
search.
"""

from __future__ import annotations

from dataclasses import replace

from assay.checker.report import Report

GRID = """\
module grid
type Count = 0 .. 17
state:
    x: Count = 0
    y: Count = 0
    z: Count = 0
    phase: 0 .. 3 = 0
action right:
    bound width: x < 17
    x := x + 1
action up:
    bound height: y < 17
    y := y + 1
action out:
    when x + y > 6
    bound depth: z < 17
    z := z + 1
action turn:
    phase := if phase == 3 then 0 else phase + 1
invariant inside: x + y + z < 36
reachable corner: x == 17 and y == 17 and z == 0
"""


def answer(report: Report) -> tuple[object, ...]:
    """All of a report that does not speak of time and memory."""
    sizes = replace(report.statistics, seconds=0)
    return sizes, report.properties, report.bounds, report.coverage, report.stopped, report.exit_code
