"""What the logs' own words tell, from all rules together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from assay.traces.event import Remark
from assay.traces.log_reader import LogReading
from assay.traces.trouble.data_loss import TAKEN, data_loss
from assay.traces.trouble.families import (
    TroubleLines,
    explained_lines,
    generic_findings,
    trouble_groups,
    unexplained_lines,
)
from assay.traces.trouble.finding import Gravity, Trouble, TroubleFinding
from assay.traces.trouble.identity import identity_of
from assay.traces.trouble.known_bugs import bugs_of_execution, known_bugs
from assay.traces.trouble.stuck import REFUSED, stuck
from assay.traces.trouble.waiting import TAKEN as WAITING
from assay.traces.trouble.waiting import waiting

SOON = 60_000
"""A broker that is refused its id gives up within so many milliseconds."""


def trouble_of(reading: LogReading) -> Trouble:
    """The findings by gravity and time, and every other line of trouble, explained or counted."""
    lines = TroubleLines(reading)
    found: list[TroubleFinding] = []
    taken: set[str] = set()
    found += data_loss(reading, lines)
    found += waiting(reading, lines)
    # Before the generic findings: these are left out where a bug or a wait has said the same already.
    bugs = list(known_bugs(reading, lines))
    # What a bug explains is reported once, as the bug. What waits is reported with whom it waits for.
    shown = {record.place for bug in bugs for record in bug.lines}
    waits = [each for each in stuck(reading) if not shown.issuperset(record.place for record in each.lines)]
    shown |= {record.place for each in waits for record in each.lines}
    # From here on a family that one rule has reported is not reported by the next.
    taken |= TAKEN | WAITING
    for each in generic_findings(lines, taken):
        if not shown.issuperset(record.place for record in each.lines) and not _follows_refusal(each, waits):
            found.append(each)
    found += [*bugs, *waits]
    taken |= {family.name for family in lines.families if family.gravity}
    groups = trouble_groups(reading)
    return Trouble(
        identity=identity_of(reading),
        findings=_ordered(found),
        explained=tuple(explained_lines(lines, taken)),
        unexplained=tuple(unexplained_lines(reading)),
        lines=sum(group.count for group in groups),
        described=sum(group.count for group in groups if group.described),
    )


def _follows_refusal(finding: TroubleFinding, waits: Sequence[TroubleFinding]) -> bool:
    """Whether a process ended because its id was taken: that is reported with who has the id."""
    refused = [
        (record.place.file, record.time or 0) for each in waits if each.heading == REFUSED for record in each.lines
    ]
    # Only where each of its lines follows a refusal: a process may have ended for another reason, too.
    return finding.gravity is Gravity.ENDED and all(
        any(file == record.place.file and 0 <= (record.time or 0) - time <= SOON for file, time in refused)
        for record in finding.lines
    )


def with_execution(trouble: Trouble, remarks: Iterable[Remark]) -> Trouble:
    """The same, with the known bugs that the accepted execution shows."""
    bugs = tuple(bugs_of_execution(remarks, trouble.identity.versions))
    return replace(trouble, findings=_ordered((*trouble.findings, *bugs))) if bugs else trouble


def _ordered(findings: Iterable[TroubleFinding]) -> tuple[TroubleFinding, ...]:
    return tuple(sorted(findings, key=lambda each: (each.gravity, each.begin or 0, each.text)))


def trouble_in_scope(trouble: Trouble, since: int | None, until: int | None, topics: Sequence[str]) -> Trouble:
    """The findings that concern an interval of time and these topics, or no topic at all."""

    def concerns(finding: TroubleFinding) -> bool:
        begin = finding.begin if finding.begin is not None else -inf
        end = finding.end if finding.end is not None else inf
        in_time = (since is None or end >= since) and (until is None or begin <= until)
        names = {partition.rpartition("-")[0] for partition in finding.partitions}
        return in_time and (not topics or not names or not names.isdisjoint(topics))

    return replace(trouble, findings=tuple(each for each in trouble.findings if concerns(each)))
