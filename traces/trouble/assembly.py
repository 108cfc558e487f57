"""What the logs' own words tell, from all rules together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from assay.traces.log_reader import LogReading
from assay.traces.trouble.data_loss import TAKEN, data_loss
from assay.traces.trouble.families import (
    TroubleLines,
    explained_lines,
    generic_findings,
    trouble_groups,
    unexplained_lines,
)
from assay.traces.trouble.finding import Trouble, TroubleFinding
from assay.traces.trouble.identity import identity_of
from assay.traces.trouble.waiting import TAKEN as WAITING
from assay.traces.trouble.waiting import waiting


def trouble_of(reading: LogReading) -> Trouble:
    """The findings by gravity and time, and every other line of trouble, explained or counted."""
    lines = TroubleLines(reading)
    found: list[TroubleFinding] = []
    taken: set[str] = set()
    found += data_loss(reading, lines)
    found += waiting(reading, lines)
    taken |= TAKEN | WAITING
    found += generic_findings(lines, taken)
    taken |= {family.name for family in lines.families if family.gravity}
    groups = trouble_groups(reading)
    return Trouble(
        identity=identity_of(reading),
        findings=tuple(sorted(found, key=lambda each: (each.gravity, each.begin or 0, each.text))),
        explained=tuple(explained_lines(lines, taken)),
        unexplained=tuple(unexplained_lines(reading)),
        lines=sum(group.count for group in groups),
        described=sum(group.count for group in groups if group.described),
    )


def trouble_in_scope(trouble: Trouble, since: int | None, until: int | None, topics: Sequence[str]) -> Trouble:
    """The findings that concern an interval of time and these topics, or no topic at all."""

    def concerns(finding: TroubleFinding) -> bool:
        begin = finding.begin if finding.begin is not None else -inf
        end = finding.end if finding.end is not None else inf
        in_time = (since is None or end >= since) and (until is None or begin <= until)
        names = {partition.rpartition("-")[0] for partition in finding.partitions}
        return in_time and (not topics or not names or not names.isdisjoint(topics))

    return replace(trouble, findings=tuple(each for each in trouble.findings if concerns(each)))
