"""The findings of an answer for the page, the gravest first, whatever the verdict is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from assay.grammar.lazy_dataclass import dataclass
from assay.report.logs.remarks import remark_groups
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.event import Event, LogPosition, LogRecord
from assay.traces.result import LogViolation, Validation
from assay.traces.trouble.finding import Gravity

FIRST = -1
"""The rank of a broken rule, which goes before everything else."""
MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class PageFinding:
    """A finding as the page shows it.

    ``rank`` orders findings: that of a broken rule, or a ``Gravity``. ``names`` are those of lanes that it concerns, and
    ``begin`` and ``end`` its time in milliseconds since the epoch. ``lines`` are places with texts, some of ``count``.
    """

    rank: int
    words: str
    heading: str
    text: str = ""
    advice: str = ""
    names: tuple[str, ...] = ()
    begin: int | None = None
    end: int | None = None
    count: int = 1
    lines: tuple[tuple[LogPosition, str], ...] = ()
    violation: LogViolation | None = field(default=None, repr=False)

    @property
    def tone(self) -> str:
        """How it is marked: ``bad`` for broken rules and lost data, ``risk``, or ``note``."""
        return "bad" if self.rank <= Gravity.LOST else "risk" if self.rank < Gravity.WARNING else "note"


def page_findings(validation: Validation, input_: Overview | None) -> list[PageFinding]:
    """All findings, sorted by gravity and time."""
    found = [*_broken(validation), *_trouble(validation), *_remarks(validation)]
    # Where a finding tells of lost records, moments at risk would tell of the same again.
    if input_ is not None and not any(each.rank <= Gravity.RISK for each in found):
        found += [
            PageFinding(Gravity.RISK, "data may be at risk", each.text, begin=each.time, lines=((each.place, ""),))
            for each in input_.moments
            if each.is_risk
        ]
    # What has no time, such as a broken initial state, goes first among its equals.
    return sorted(found, key=lambda each: (each.rank, -1 if each.begin is None else each.begin))


def _broken(validation: Validation) -> Iterator[PageFinding]:
    for broken in validation.properties:
        record = None if broken.event is None else broken.event.record
        where = "in the initial state" if record is None else "on the execution that explains the log"
        yield PageFinding(
            FIRST,
            "rule broken",
            f"{broken.kind} {broken.name}",
            f"It is broken {where} ({broken.span}).",
            begin=None if record is None else record.time,
            lines=_lines([] if record is None else [record]),
        )
    for each in validation.violations:
        record = each.event.record
        yield PageFinding(
            FIRST,
            "cannot be true with the other lines",
            str(each.place),
            names=_names(each.event),
            begin=record.time,
            lines=_lines([record]),
            violation=each,
        )


def _names(event: Event) -> tuple[str, ...]:
    """The lanes that a line concerns: its partition's, if it names one, and its node's."""
    topic, partition = event.fields.get("topic"), event.fields.get("partition")
    return (event.run.node,) if topic is None or partition is None else (f"{topic}-{partition}", event.run.node)


def _trouble(validation: Validation) -> Iterator[PageFinding]:
    for each in validation.trouble.findings:
        yield PageFinding(
            each.gravity,
            each.gravity.words,
            f"{each.heading} ({each.reference})" if each.reference else each.heading,
            each.text,
            each.advice,
            (*each.partitions, *each.nodes),
            each.begin,
            each.end,
            each.count,
            _lines(each.lines),
        )


def _remarks(validation: Validation) -> Iterator[PageFinding]:
    for group in remark_groups(validation):
        if group.is_reported(validation.trouble.findings):
            continue
        records = [event.record for event in group.lines]
        times = [record.time for record in records if record.time is not None]
        yield PageFinding(
            Gravity.RISK if group.severity == "risk" else Gravity.WARNING,
            group.heading,
            group.text,
            names=(*group.names, *dict.fromkeys(event.run.node for event in group.lines)),
            begin=min(times, default=None),
            end=max(times, default=None),
            count=len(records),
            lines=_lines(records),
        )


def _lines(records: Iterable[LogRecord]) -> tuple[tuple[LogPosition, str], ...]:
    return tuple((each.place, each.message.partition("\n")[0]) for each in records)[:MOST_LINES]
