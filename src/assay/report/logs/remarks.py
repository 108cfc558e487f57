"""Remarks about a log by what they say: the gravest first, each with the slices and the lines that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.result import Remark, Validation
from assay.traces.trouble.finding import Gravity, TroubleFinding

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

    def is_told(self, findings: Sequence[TroubleFinding]) -> bool:
        """Whether a finding about lost records, or a known bug, tells of the same slices."""
        graver = (Gravity.LOST, Gravity.RISK) if self.severity == "risk" else (Gravity.BUG,)
        told = {name for each in findings if each.gravity in graver for name in each.partitions}
        return bool(self.names) and told.issuperset(self.names)


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
