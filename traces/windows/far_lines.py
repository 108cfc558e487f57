"""Lines that contradict each other although many others lie between them: those that speak of the same as a failed line.

Between two of them anything may have happened, within the transition properties that last. A session that two processes
were given, or a number that fell, is wrong in every log that holds both lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.observe.partial_order import by_time

if TYPE_CHECKING:
    from assay.traces.event import Event
    from assay.traces.observe.partial_order import OrderedObservation

LINES = 5
"""How many lines are asked about beside the failed one."""

OF_ITS_KIND = 0.5
"""What it counts that a line is of the same kind as the failed one. A value that only these two
name counts as much: one divided by how many lines name it.
"""


def related_lines(items: Sequence[OrderedObservation], failed: OrderedObservation) -> list[OrderedObservation]:
    """A failed line and those that share most with it, in the order of their times: rare values count more."""
    of_line: IdentityMemo[Event, list[OrderedObservation]] = IdentityMemo()
    for each in items:
        of_line.get_or_make(each.observation.event, lambda _: []).append(each)
    named = Counter(value for own in of_line.values() for value in {v for each in own for v in _values(each)})
    wanted = {
        value for each in of_line.get_or_make(failed.observation.event, lambda _: [failed]) for value in _values(each)
    }

    def share(own: Sequence[OrderedObservation]) -> tuple[float, float]:
        shared = wanted.intersection(value for each in own for value in _values(each))
        alike = OF_ITS_KIND * (own[0].observation.event.kind == failed.observation.event.kind)
        # What a thousand lines name, as the id of a broker, counts next to nothing.
        return alike + sum(1 / named[value] for value in shared), -abs(own[0].time - failed.time)

    others = [own for own in of_line.values() if own[0].observation.event is not failed.observation.event]
    chosen = sorted(others, key=share, reverse=True)[:LINES]
    own = [each for each in items if each.observation.event is failed.observation.event]
    return sorted((*own, *(each for line in chosen for each in line)), key=by_time)


def _values(line: OrderedObservation) -> Iterator[Hashable]:
    """What a line names; a number is one of its field."""
    for name, value in line.observation.values:
        yield (name, value) if isinstance(value, int) else value
