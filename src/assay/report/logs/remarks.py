"""Remarks and notices about a log by what they say: the gravest first, and what several files have in common once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import plural
from assay.report.logs.shown_line import place_text
from assay.traces.event import Event, Notice, Remark
from assay.traces.result import Validation
from assay.traces.trouble.finding import Gravity, TroubleFinding

NOT_UNDERSTOOD = "not understood"
"""The kind of notices about files in which nothing was read."""
_COUNT = re.compile(r"^[\d,]+ lines?\b")
SEVERITIES = {"risk": "data at risk", "known": "known behaviour"}


@dataclass(frozen=True, slots=True)
class RemarkGroup:
    """Remarks with one text: what kind they are of, the names of their slices, and their lines."""

    severity: str
    text: str
    names: tuple[str, ...]
    lines: tuple[Event, ...]

    @property
    def heading(self) -> str:
        """The severity in words."""
        return SEVERITIES[self.severity]

    def is_reported(self, findings: Sequence[TroubleFinding]) -> bool:
        """Whether a finding about lost records tells of the same slices, or a known bug of these or of the same lines."""
        # A finding of the same kind only: a stuck partition says nothing of records at risk.
        graver = (Gravity.LOST, Gravity.RISK) if self.severity == "risk" else (Gravity.BUG,)
        same = [each for each in findings if each.gravity in graver]
        reported = {name for each in same for name in each.partitions}
        places = {line.place for each in same if each.gravity is Gravity.BUG for line in each.lines}
        by_lines = any(event.record.place in places for event in self.lines)
        return by_lines or (bool(self.names) and reported.issuperset(self.names))


def remark_groups(validation: Validation) -> list[RemarkGroup]:
    """The remarks of what all slices share and of each slice; data at risk before known behaviour."""
    found: dict[tuple[str, str], list[tuple[Remark, str]]] = {}
    for remark in validation.remarks:
        found.setdefault((remark.severity, remark.text), []).append((remark, ""))
    for result in validation.slices:
        for remark in result.remarks:
            found.setdefault((remark.severity, remark.text), []).append((remark, result.name))
    ordered = sorted(found.items(), key=lambda each: list(SEVERITIES).index(each[0][0]))
    return [
        RemarkGroup(
            severity,
            text,
            tuple(dict.fromkeys(name for _, name in group if name)),
            tuple(remark.event for remark, _ in group),
        )
        for (severity, text), group in ordered
    ]


def reported_together(notices: Iterable[Notice]) -> list[str]:
    """The texts of notices. What is said of several files, but for a count of lines, is said once, with the sum. Of
    files that were not understood the first is quoted.
    """
    groups: dict[tuple[str, str], list[Notice]] = {}
    for each in notices:
        # `12 lines …` and `3 lines …` of two files become `15 lines … (in 2 files, first …)`.
        same = "" if each.kind == NOT_UNDERSTOOD else _COUNT.sub("", each.text) if each.place is not None else each.text
        groups.setdefault((each.kind, same), []).append(each)
    return [_of_all(kind, group) for (kind, _), group in groups.items()]


def _of_all(kind: str, group: Sequence[Notice]) -> str:
    first = group[0]
    files = list(dict.fromkeys(each.place.file for each in group if each.place is not None))
    if kind == NOT_UNDERSTOOD and first.place is not None:
        file = place_text(first.place).rpartition(":")[0]
        more = f" and {plural(len(files) - 1, 'more file')}" if len(files) > 1 else ""
        return f"{file}{more}: {first.text}"
    if len(files) < 2 or first.place is None:
        return first.text
    counts = [
        int(found[0].partition(" ")[0].replace(",", ""))
        for each in group
        if (found := _COUNT.match(each.text)) is not None
    ]
    text = _COUNT.sub(f"{sum(counts):,} lines", first.text) if counts else first.text
    return f"{text} (in {plural(len(files), 'file')}, first {place_text(first.place)})"
