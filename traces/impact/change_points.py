"""Finds the times at which a condition about a slice can change, without evaluating it in every shared state.

Its truth can change only where a value changes that its last evaluation consulted (docs/design/change-points.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.quantifier_memo import (
    ValueMemo,
    WatchedMembership,
    consulted,
    read_directly,
)
from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.impact.step_times import TimedState, changes

UNDEFINED = object()


class SharedChanges:
    """The shared states by time, and where in them the values change that conditions consult. Shared by all slices."""

    def __init__(self, moments: Sequence[TimedState]) -> None:
        self.moments = moments
        self._changes: dict[object, list[int]] = {}

    @cached_property
    def times(self) -> list[float]:
        """The time of each shared state."""
        return [moment.at for moment in self.moments]

    def of_variable(self, at: int) -> list[int]:
        """The indexes at which a variable changes."""
        return self._of(at, lambda state: state[at])

    def of_value(self, value: ValueMemo | WatchedMembership, given: tuple[Value, ...]) -> list[int]:
        """The indexes at which a remembered value changes, for given values of its locals."""

        def now(state: State) -> object:
            try:
                return value(Frame(state, (), dict(zip(value.names, given, strict=True))))
            except Undefined:
                return UNDEFINED

        return self._of((value, given), now)

    def _of(self, key: object, value: Callable[[State], object]) -> list[int]:
        found = self._changes.get(key)
        # Once for all slices: conditions of different slices consult the same shared values.
        if found is None:
            values = [value(moment.state) for moment in self.moments]
            found = [
                at for at in range(1, len(values)) if values[at] is not values[at - 1] and values[at] != values[at - 1]
            ]
            self._changes[key] = found
        return found


# Evaluated at every shared state, a measure took 38 ms a slice, and more the longer the log.
class ConditionChanges:
    """The times at which a condition can change; ``own`` are the positions of the slice's variables in a state."""

    def __init__(self, condition: k.Expr, places: dict[str, int], own: Sequence[int]) -> None:
        self._own = own
        self._read = sorted(places[name] for name in variables_of(condition) if places[name] in own)
        self._direct = sorted(places[name] for name in read_directly(condition) if places[name] not in own)

    def of(
        self, timeline: SharedChanges, own: Sequence[TimedState], truth: Callable[[TimedState], bool]
    ) -> Iterator[tuple[TimedState, bool]]:
        """The states of shared and slice execution together at which the condition can change, in order, with its
        truth.
        """
        # The first state is always among them, so there is one even where nothing that is read ever changes.
        own = list(changes(own, self._read))
        bounds = [bisect_right(timeline.times, moment.at) for moment in own]
        # First the shared states before anything of the slice has a time.
        if bounds[0] > 0:
            yield from self._while_slice_stays(timeline, timeline.moments[0], own[0].state, 0, bounds[0], truth)
        for number, (moment, begin) in enumerate(zip(own, bounds, strict=True)):
            end = bounds[number + 1] if number + 1 < len(bounds) else len(timeline.moments)
            # `begin - 1` is the shared state that held when the slice changed.
            yield from self._while_slice_stays(timeline, moment, moment.state, max(0, begin - 1), end, truth)

    def _while_slice_stays(
        self,
        timeline: SharedChanges,
        first: TimedState,
        own: State,
        at: int,
        end: int,
        truth: Callable[[TimedState], bool],
    ) -> Iterator[tuple[TimedState, bool]]:
        """The change points from ``at`` to ``end`` while the slice's own values stay the same."""
        moment = replace(first, state=self._state(timeline.moments[at].state, own))
        while True:
            # Which values were consulted depends on the state (short-circuit), so it is recorded at each evaluation.
            with consulted() as values:
                holds = truth(moment)
            yield moment, holds
            turns = [timeline.of_variable(place) for place in self._direct]
            turns += [timeline.of_value(value, given) for value, given in values]
            at = min((each[next_] for each in turns if (next_ := bisect_right(each, at)) < len(each)), default=end)
            if at >= end:
                return
            shared = timeline.moments[at]
            moment = replace(shared, state=self._state(shared.state, own))

    def _state(self, shared: State, own: State) -> State:
        state = list(shared)
        for at in self._own:
            state[at] = own[at]
        return tuple(state)
