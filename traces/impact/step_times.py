"""Puts an accepted execution on the time axis: from when on each state held, with bounds.

A step with a line happened before the line, and no earlier than the clause's ``commit before line within`` allows.
Hidden steps have no line of their own. The rules are in docs/design/step-times.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import merge
from math import inf

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, Value
from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event
from assay.traces.result import ExecutedStep, Execution
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import times


@dataclass(frozen=True, slots=True)
class TimedState:
    """The state from a step on: its time by the lines, and its earliest and latest time (milliseconds since the epoch);
    and the step's event.
    """

    at: float
    early: float
    late: float
    state: State
    event: Event | None = None


def spans(streams: Iterable[RunStream]) -> dict[str, tuple[float, float]]:
    """The times of the first and the last line of each process run."""
    found: dict[str, tuple[float, float]] = {}
    for stream in streams:
        own = times(stream.events)
        own = own[own != NEVER]
        if len(own):
            begin, end = float(own.min()), float(own.max())
            first, last = found.get(str(stream.run), (begin, end))
            found[str(stream.run)] = min(first, begin), max(last, end)
    return found


def timeline(run: Execution, ordering: k.Ordering, begin: float) -> list[TimedState]:
    """The states of an execution with their times. A hidden step has the time of the next step that has a line.

    A step happened before everything after it, so its time is at most that of the earliest line from it on.
    """
    before_line = (inf if ordering.commit_before_line is None else ordering.commit_before_line) + ordering.skew
    at, late = _latest(run.steps, ordering.skew)
    found = [TimedState(begin, begin, begin, run.initial)]
    early = -inf
    for step, time, last in zip(run.steps, at, late, strict=True):
        if step.event is not None and step.event.record.time is not None:
            lower = float(step.event.record.time) - before_line
            # A line far later (a log replayed at a start repeats old facts) gives no lower bound: earlier lines need the step.
            early = max(early, lower) if lower <= last else early
        # A step behind the last line has the time of the step before it.
        here = max(found[-1].at, time) if time < inf else found[-1].at
        found.append(TimedState(here, -inf if step.event is None else early, last, step.state, step.event))
    return found


def _latest(steps: Sequence[ExecutedStep], skew: int) -> tuple[list[float], list[float]]:
    """For each step the earliest time of a line from it on, and the latest time at which it can have happened by these
    lines.
    """
    at, late = inf, inf
    found: list[tuple[float, float]] = []
    # From the end, because a step happened before whatever any later line reports.
    for step in reversed(steps):
        if step.event is not None and step.event.record.time is not None:
            record, time = step.event.record, float(step.event.record.time)
            at, late = min(at, time), min(late, time + record.resolution - 1 + skew)
        found.append((at, late))
    return [time for time, _ in reversed(found)], [last for _, last in reversed(found)]


def changes(found: Iterable[TimedState], read: Sequence[int]) -> Iterator[TimedState]:
    """The states at which one of these variables changes."""
    before: list[Value] | None = None
    for moment in found:
        values = [moment.state[at] for at in read]
        if values != before:
            yield moment
        before = values


class Endings:
    """The last line of each process run, after which the run may have ended by an action without a line."""

    def __init__(self, meanings: Meanings, ends: Iterable[str], spans: Mapping[str, tuple[float, float]]) -> None:
        self.meanings = meanings
        self.runs = sorted((time, name, atom) for name in ends for time, atom in self._elements(name, spans))

    def _elements(self, action: str, spans: Mapping[str, tuple[float, float]]) -> Iterator[tuple[float, Atom]]:
        """The process runs that the action's first parameter can be, each with the time of its last line."""
        type_ = self.meanings.actions[action].node.parameters[0].binder.type
        if isinstance(type_, t.AtomType):
            for at, name in enumerate(type_.sort.elements):
                if name in spans:
                    yield spans[name][1], Atom(type_.sort.name, at, name)

    def early(self, found: Sequence[TimedState]) -> list[TimedState]:
        """The same states if each run had ended right after its last line."""
        # No line reports that a process was killed, so a state of its own begins at the last line of each run.
        ended = [replace(_before(found, time), at=time, early=time, event=None) for time, _, _ in self.runs]
        every = sorted([*found, *ended], key=lambda each: each.at)
        return [replace(each, state=self._ended(each)) for each in every]

    def _ended(self, moment: TimedState) -> State:
        state = moment.state
        # In the order of the ends: what one end leads to may decide what the next one does.
        for time, action, atom in self.runs:
            if time <= moment.at:
                state = self._taken(action, atom, state)
        return state

    def _taken(self, action: str, atom: Atom, state: State) -> State:
        """The state after the action, or the same state if the action is disabled."""
        outcomes = self.meanings.actions[action].outcomes(state, (atom,))
        return next((each.state for each in outcomes if isinstance(each, Successor)), state)


def _before(found: Sequence[TimedState], time: float) -> TimedState:
    """The last state at or before a time, or else the first one."""
    return found[max(0, bisect_right(found, time, key=lambda each: each.at) - 1)]


def merged(shared: Sequence[TimedState], own: Sequence[TimedState], variables: Sequence[int]) -> Iterator[TimedState]:
    """The shared and the slice execution as one, by time; ``variables`` are the positions of the slice's own
    variables.
    """
    common, values = shared[0].state, own[0].state
    parts = merge(
        ((each.at, 0, n, each) for n, each in enumerate(shared)), ((e.at, 1, n, e) for n, e in enumerate(own))
    )
    for _, is_own, _, each in parts:
        common, values = (common, each.state) if is_own else (each.state, values)
        state = list(common)
        for at in variables:
            state[at] = values[at]
        yield replace(each, state=tuple(state))
