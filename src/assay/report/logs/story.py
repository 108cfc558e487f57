"""The history of one slice in words: what each line reported, who wrote it, and what it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line, Tone, clean
from assay.report.logs.history import CellChange, HistoryStep, histories
from assay.report.logs.impact import clock, duration
from assay.traces.event import Event
from assay.traces.result import Impact, Validation

WIDTH = 100
LONGEST_VALUE = 60
"""Values that print longer than this are not shown: what they contain was shown when it was put there."""

Explain = Callable[[Event], str]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A step of a slice: the time of its line, the line's event, the action, and the changes."""

    time: int | None
    event: Event | None
    action: str | None
    changes: tuple[CellChange, ...]


def chapters(validation: Validation, name: str) -> list[Chapter] | None:
    """The steps that changed something in a slice; None if there is no such slice, or no execution of it was found."""
    # The history without a name is that of what all slices share, which has no verdict of its own.
    past = next((each for each in histories(validation) if each.slice == name), None) if name else None
    if past is None:
        return None
    found = (_chapter(step) for step in past.steps)
    return [each for each in found if each.changes]


def _chapter(step: HistoryStep) -> Chapter:
    details = tuple(each for each in step.changes if max(len(each.before), len(each.after)) <= LONGEST_VALUE)
    return Chapter(None if step.event is None else step.event.record.time, step.event, step.action, details)


def story_lines(validation: Validation, name: str, explain: Explain) -> Iterator[Line]:
    """The history of a slice as text, with the times of measured conditions between its steps."""
    found = chapters(validation, name)
    if found is None:
        return
    yield Line("")
    yield Line(f"the story of {clean(name)}", Tone.HEADING)
    verdict = next(each for each in validation.slices if each.name == name)
    yield Line(f"  {verdict.verdict.value}" + (f": {clean(verdict.reason)}" if verdict.reason else ""))
    # What was measured earlier belongs to the time before this story.
    begin = next((each.time for each in found if each.time is not None), 0)
    marks = sorted((mark for mark in _marks(validation.impact, name) if mark[0] >= begin), key=lambda mark: mark[0])
    for chapter in found:
        while marks and chapter.time is not None and marks[0][0] <= chapter.time:
            yield marks.pop(0)[1]
        yield from _chapter_lines(chapter, explain)
    yield from (line for _, line in marks)


def _chapter_lines(chapter: Chapter, explain: Explain) -> Iterator[Line]:
    event, action = chapter.event, clean(chapter.action or "")
    when = clock(chapter.time) if chapter.time is not None else " " * len(clock(0))
    if event is None:
        yield Line(f"  {when}  no line tells of it, but it must have happened: {action}", Tone.FAINT)
    else:
        yield Line(f"  {when}  {clean(str(event.run))}: {clean(explain(event))}")
        yield Line(f"  {'':12}    {action or 'read'}, {clean(str(event.record.place))}", Tone.FAINT)
    news = ", ".join(f"{_short(each)} {clean(each.before)} → {clean(each.after)}" for each in chapter.changes)
    yield from (Line(f"  {'':12}    {text}") for text in wrap(news, WIDTH))


def _short(change: CellChange) -> str:
    """The name of what changed, without its modules."""
    return change.cell.field or change.cell.variable.rpartition(".")[2]


def _marks(impacts: Sequence[Impact], name: str) -> Iterator[tuple[float, Line]]:
    for impact in impacts:
        if impact.slice in (name, None):
            for spell in impact.spells:
                lasted = duration(spell.at_least, spell.at_most)
                text = f"  {clock(spell.begin)}  {impact.measure} begins: {clean(impact.text)}, for {lasted}"
                yield spell.begin, Line(text, Tone.WARN)
                ending = f"  {clock(spell.end)}  {impact.measure} " + (
                    "goes on: the log ends" if spell.lasting else "ends"
                )
                yield spell.end, Line(ending, Tone.WARN)


def story_object(validation: Validation, name: str, explain: Explain) -> dict[str, Any]:
    """The same as JSON."""
    return {"slice": name, "steps": [_step(each, explain) for each in chapters(validation, name) or []]}


def _step(chapter: Chapter, explain: Explain) -> dict[str, Any]:
    event = chapter.event
    at = {} if event is None else {"file": event.record.place.file, "line": event.record.place.line}
    details = {} if event is None else {"node": str(event.run), "text": explain(event)}
    changes = [{"cell": c.cell.text, "before": c.before, "after": c.after} for c in chapter.changes]
    return {"time_ms": chapter.time, **at, **details, "action": chapter.action, "changes": changes}
