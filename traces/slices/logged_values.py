"""What lines told of the shared state by each position of the timeline.

The timeline is one explanation of the shared lines. Of a place that no line wrote it says what was supposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Value
from assay.traces.slices.timeline.shared_timeline import Chain

if TYPE_CHECKING:
    # The solver, which windows need, loads slowly.
    from assay.traces.windows.timeline_window import LoggedValues, Place


def logged_values(
    chain: Chain, variables: Sequence[k.Variable], seen: Sequence[int], *, from_birth: bool
) -> tuple[LoggedValues, ...]:
    """What lines told of the variables that slices see, by position. ``from_birth``: the log has all lines."""
    told: dict[Place, Value] = {}
    if from_birth:
        first = chain.states[0]
        told = {place: value for at in seen for place, value in _places(variables[at], first[at])}
    found = [dict(told)]
    for position, (before, state) in enumerate(pairwise(chain.states), 1):
        for place, value in _changed(variables, seen, before, state):
            if position in chain.lines:
                told[place] = value
            else:
                told.pop(place, None)
        found.append(dict(told))
    return tuple(found)


def _changed(
    variables: Sequence[k.Variable], seen: Sequence[int], before: State, state: State
) -> Iterator[tuple[Place, Value]]:
    for at in seen:
        if before[at] is not state[at] and before[at] != state[at]:
            old = dict(_places(variables[at], before[at]))
            yield from (each for each in _places(variables[at], state[at]) if old[each[0]] != each[1])


def _places(variable: k.Variable, value: Value) -> Iterator[tuple[Place, Value]]:
    """The entries of a total map by elements, or the whole of another value."""
    match variable.type:
        case t.MapType(key=t.AtomType(), partial=False):
            yield from (((variable.name, key), each) for key, each in value.items())  # type: ignore[attr-defined]
        case _:
            yield (variable.name, None), value
