"""Finds a line with a wrong version: its consequences look like mistakes of other lines, and vanish with the right
version.

An update whose line has another version is missing, and the update of that version has one line too many. Which line is
wrong cannot be seen from either; but one version makes everything fit, and its line alone is blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from assay.grammar.identity_memo import IdentitySet
from assay.traces.observe.observation import with_field
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.versions.findings import SliceFindings
from assay.traces.slices.versions.version_check import SliceCheck
from assay.traces.slices.versions.version_history import at_field, number_of, with_number

MOVES_TRIED = 8
"""How often a slice is checked again to find the right version of a line."""

Make = Callable[[Sequence[OrderedObservation]], SliceCheck]


def check_slice(make: Make, quick: Make, lines: Sequence[OrderedObservation], model: TraceModel) -> SliceFindings:
    """The findings about a slice; if one changed version explains all mismatches, its line alone is blamed.

    A ``quick`` check stops at the first mismatch and explains nothing.
    """
    found = make(lines).run()
    filled = _with_a_gap_filled(make, lines, found)
    if filled is not None:
        return filled
    # A single broken rule on which all lines agree is not tried: no wrong version explains that.
    if found.odd or len(found.violations) > 1:
        for line, number in islice(_moves(lines, found, model), MOVES_TRIED):
            check = quick(_renumbered(lines, line, number))
            again = check.run()
            # A move that only leaves another version without a line explains nothing.
            explained = not again.violations and len(again.missing) <= len(found.missing)
            wrong = check.misnumbered(line, number) if explained else None
            if wrong is not None:
                again.violations.append(wrong)
                return again
    return found


def _with_a_gap_filled(make: Make, lines: Sequence[OrderedObservation], found: SliceFindings) -> SliceFindings | None:
    """The findings if a disagreeing line has the one missing version."""
    if len(found.missing) * len(found.odd) > MOVES_TRIED:
        return None
    for number in tuple(found.missing):
        for odd in found.odd:
            moved = with_number(odd.line, number)
            if moved is None:
                continue
            check = make([moved if line is odd.line else line for line in lines])
            again = check.run()
            if len(again.missing) < len(found.missing) and len(again.violations) < len(found.violations):
                again.violations.append(check.misnumbered(odd.line, number) or odd.violation)
                return again
    return None


def _moves(
    lines: Sequence[OrderedObservation], found: SliceFindings, model: TraceModel
) -> Iterator[tuple[OrderedObservation, int]]:
    """Lines with the versions that they might have instead: for a missing version the nearest lines in time, then the
    blamed lines.

    A blamed line may belong to the update that another line reports at its time, or to the one before or after its own
    version.
    """
    numbered = [(number, line) for line in lines if (number := number_of(model, line)) is not None]
    logged = {number for number, _ in numbered}
    for vacant in (n for n in range(min(logged, default=0), max(logged, default=0)) if n not in logged):
        later = [line for number, line in numbered if number == vacant + 1]
        earlier = [line for number, line in numbered if number == vacant - 1]
        yield from ((line, vacant) for line in sorted(later, key=_time)[:1])
        yield from ((line, vacant) for line in sorted(earlier, key=_time)[-1:])
    blamed = IdentitySet(violation.event for violation in found.violations)
    for number, line in numbered:
        if line.observation.event in blamed:
            others = [each for each in numbered if each[0] != number]
            beside = min(others, key=lambda each: abs(each[1].time - line.time), default=(number, line))[0]
            likely = dict.fromkeys((beside, number + 1, number - 1))
            yield from ((line, other) for other in likely if other in logged and other != number)


def _time(line: OrderedObservation) -> tuple[float, int]:
    return line.time, line.index


def _renumbered(
    lines: Sequence[OrderedObservation], moved: OrderedObservation, number: int
) -> list[OrderedObservation]:
    """The lines, with another version in one of them, for every rule that reads it."""
    name = at_field(moved.observation.rule)
    event = moved.observation.event
    return [_read_with(line, name, number) if line.observation.event is event else line for line in lines]


def _read_with(line: OrderedObservation, name: str | None, number: int) -> OrderedObservation:
    if name is None or all(field.field != name for field in line.observation.rule.fields):
        return line
    return replace(line, observation=with_field(line.observation, name, number, number))
