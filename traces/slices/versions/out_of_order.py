"""Lines whose versions contradict the times at which they were written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from math import inf

from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.versions.version_history import is_prompt, number_of

Numbered = tuple[int, OrderedObservation]
"""A line with the version that it states."""


def out_of_order_lines(model: TraceModel, lines: Sequence[OrderedObservation], late: float) -> list[OrderedObservation]:
    """Lines with a version that was written before a lower one can have been made; the fewest whose removal leaves none.

    A line may be written ``late`` milliseconds after its fact.
    """
    numbered = [(number, line) for line in lines if (number := number_of(model, line)) is not None]
    removed: list[OrderedObservation] = []
    while True:
        left = [(n, line) for n, line in numbered if line not in removed]
        conflicts = _conflicts(model, left, late)
        if not conflicts:
            return removed
        company = Counter(n for n, _ in left)
        standing = {line: company[n] for n, line in left}
        removed.append(max(conflicts, key=lambda each: (len(conflicts[each]), standing[each], -each.index)))


def is_replayed(
    model: TraceModel,
    line: OrderedObservation,
    lines: Sequence[OrderedObservation],
    misplaced: Sequence[OrderedObservation],
) -> bool:
    """Whether a misplaced line repeats what was written before the first version that the others tell of.

    Then its process names the action, and has said nothing of a later version: it starts, and reads old writes again.
    """
    number = number_of(model, line)
    if number is None or not line.observation.names_action:
        return False
    run = line.observation.event.run
    placed = [number_of(model, each) for each in lines if each not in misplaced]
    said = (number_of(model, each) for each in lines if each.observation.event.run == run and each.index < line.index)
    return all(each is None or number < each for each in placed) and all(
        each is None or each <= number for each in said
    )


def _conflicts(model: TraceModel, numbered: Sequence[Numbered], late: float) -> dict[OrderedObservation, set[int]]:
    """For each line, the lines that contradict its version: lower ones that are certainly later, or higher ones
    certainly earlier.
    """
    first: dict[int, float] = {}
    lines: dict[int, list[OrderedObservation]] = {}
    for number, line in numbered:
        first[number] = min(first.get(number, line.time), line.time)
        lines.setdefault(number, []).append(line)
    slack = late + model.plan.ordering.skew
    prompt = {n for n in first if is_prompt(model, lines[n])}
    found: dict[OrderedObservation, set[int]] = {}
    ordered = sorted(first)
    # Of each version the latest first line up to it: by this one number most lines have no conflict.
    shown = accumulate((first[n] if n in prompt else -inf for n in ordered), max)
    latest = dict(zip(ordered, shown, strict=True))
    for number, line in numbered:
        if latest[number] - slack <= line.latest:
            continue
        for lower in (n for n in prompt if n < number and first[n] - slack > line.latest):
            for other in lines[lower]:
                found.setdefault(line, set()).add(other.index)
                found.setdefault(other, set()).add(line.index)
    return found
