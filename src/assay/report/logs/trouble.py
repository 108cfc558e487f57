"""What the logs' own lines of trouble tell, as text and as JSON: findings by gravity, then what is explained and what is
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assay.report.lines import Line, Tone, clean, plural
from assay.report.logs.impact import clock
from assay.traces.event import LogPosition, LogRecord
from assay.traces.trouble.finding import (
    ClusterIdentity,
    ExplainedLines,
    Gravity,
    LostRange,
    Trouble,
    TroubleFinding,
    UnexplainedLines,
)

EXPLAINED_SHOWN = 12
UNEXPLAINED_SHOWN = 8
LINES_SHOWN = 2


def trouble_lines(trouble: Trouble) -> Iterator[Line]:
    """The findings, the gravest first, then the lines of trouble that are explained, and those that are not."""
    for finding in trouble.findings:
        yield Line("")
        yield from finding_lines(finding)
    if trouble.explained:
        yield Line("")
        yield Line("what other warnings and errors mean", Tone.HEADING)
    # The sort is stable: families of equal numbers stay in the order of the answer.
    for each in sorted(trouble.explained, key=lambda lines: -lines.count)[:EXPLAINED_SHOWN]:
        advice = f" {each.advice}" if each.advice else ""
        yield Line(f"  {each.count:6,}  {clean(each.text)}{clean(advice)}  ({clean(str(each.first.place))})")
    if len(trouble.explained) > EXPLAINED_SHOWN:
        yield Line(
            f"          and {len(trouble.explained) - EXPLAINED_SHOWN:,} more kinds, all of them in the JSON answer"
        )
    if trouble.unexplained:
        yield Line("")
        lines = plural(trouble.not_understood, "line")
        yield Line(f"warnings and errors that are not understood: {lines} of {trouble.lines:,}", Tone.HEADING)
    for other in trouble.unexplained[:UNEXPLAINED_SHOWN]:
        text = f"{other.level} {other.logger}: {other.text}"
        yield Line(f"  {other.count:6,}  {clean(text)}  (first at {clean(str(other.place))})", Tone.WARN)
    if len(trouble.unexplained) > UNEXPLAINED_SHOWN:
        more = len(trouble.unexplained) - UNEXPLAINED_SHOWN
        yield Line(f"          and {more:,} more kinds, all of them in the JSON answer", Tone.WARN)


def finding_lines(finding: TroubleFinding) -> Iterator[Line]:
    """A finding: its gravity and heading, what it says, what to do, and its first lines."""
    tone = Tone.BAD if finding.gravity <= Gravity.STUCK else Tone.WARN
    when = f", {_span(finding)}" if finding.begin is not None else ""
    reference = f" ({finding.reference})" if finding.reference else ""
    # A heading may name them already, as whole words: `T-1` is not named by `T-12`.
    others = [name for name in finding.partitions if not re.search(_named(name), finding.heading)]
    concerned = f", {clean(', '.join(others[:3]))}" + (", …" if len(others) > 3 else "") if others else ""
    yield Line(f"{finding.gravity.words}: {clean(finding.heading)}{concerned}{reference}{when}", tone)
    yield Line(f"   {clean(finding.text)}")
    if finding.advice:
        yield Line(f"   {clean(finding.advice)}")
    for record in finding.lines[:LINES_SHOWN]:
        yield Line(f"   {clean(str(record.place))}: {clean(record.message.partition(chr(10))[0])}", Tone.FAINT)


def _named(partition: str) -> str:
    return rf"(?<![\w.-]){re.escape(partition)}(?![\w#-])"


def identity_text(identity: ClusterIdentity) -> str:
    """Which Kafka it is, in one line; empty where nothing is known."""
    modes = {
        "zookeeper": "ZooKeeper mode",
        "kraft": "KRaft mode",
        "migration": "migrating to KRaft",
        "unsupported": "before 0.10",
    }
    parts = [", ".join(modes[mode] for mode in identity.modes)]
    parts += [f"version {', '.join(map(clean, identity.versions))}"] if identity.versions else []
    parts += [f"roles: {', '.join(identity.roles)}"] if identity.roles else []
    return "; ".join(part for part in parts if part)


def _span(finding: TroubleFinding) -> str:
    begin, end = finding.begin or 0, finding.end or 0
    # The clock shows seconds, so a shorter span would read as one time twice.
    return clock(begin) if end - begin < 1000 else f"{clock(begin)} to {clock(end)}"


def trouble_object(trouble: Trouble) -> dict[str, Any]:
    """All of it, for the JSON answer."""
    identity = trouble.identity
    return {
        "identity": {
            "modes": list(identity.modes),
            "roles": list(identity.roles),
            "versions": list(identity.versions),
            "evidence": [
                {"text": each.text, "because": each.because, **_place(each.place)} for each in identity.evidence
            ],
        },
        "findings": [_finding(each) for each in trouble.findings],
        "explained": [_explained(each) for each in trouble.explained],
        "not_understood": [_unexplained(each) for each in trouble.unexplained],
        "lines": trouble.lines,
        "lines_not_understood": trouble.not_understood,
    }


def _finding(finding: TroubleFinding) -> dict[str, Any]:
    return {
        "gravity": finding.gravity.words,
        "heading": finding.heading,
        "text": finding.text,
        "advice": finding.advice,
        "reference": finding.reference,
        "nodes": list(finding.nodes),
        "partitions": list(finding.partitions),
        "begin_ms": finding.begin,
        "end_ms": finding.end,
        "count": finding.count,
        "lost": [_lost(each) for each in finding.lost],
        "lines": [_line(each) for each in finding.lines],
    }


def _lost(lost: LostRange) -> dict[str, Any]:
    offsets = {"partition": lost.partition, "from": lost.begin, "to": lost.end}
    return {**offsets, "records": lost.records, "certain": lost.certain}


def _explained(lines: ExplainedLines) -> dict[str, Any]:
    own = {"name": lines.name, "level": lines.level, "text": lines.text, "advice": lines.advice, "count": lines.count}
    return {**own, "nodes": list(lines.nodes), "first": _line(lines.first)}


def _unexplained(lines: UnexplainedLines) -> dict[str, Any]:
    own = {"level": lines.level, "logger": lines.logger, "text": lines.text, "count": lines.count}
    return {**own, **_place(lines.place)}


def _line(record: LogRecord) -> dict[str, Any]:
    return {**_place(record.place), "time_ms": record.time, "level": record.level, "message": record.message}


def _place(place: LogPosition | None) -> dict[str, Any]:
    return {} if place is None else {"file": place.file, "line": place.line}
