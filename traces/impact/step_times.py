"""An accepted execution in time: what the state was from when on, as far as the lines tell.

docs/design/step-times.md: A line is written after what it reports. So a step of which a line tells happened at the line's time at the latest, and at most
as much earlier as the clause's ``commit before line within`` says. A hidden step has no line: in the execution found it stands as late as it can,
just before what needs it. That a process was killed is told by no line, and nothing may need it, since another process starts after it: where the
clause names such an action (``ends``), it may have happened as soon as a process run had written its last line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from math import inf

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Atom, Value
from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event
from assay.traces.result import ExecutedStep, Execution
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import times


@dataclass(frozen=True, slots=True)
class Moment:
    """The state from a step on: when by the lines, at the earliest and at the latest (milliseconds since the epoch); and the step's event."""

    at: float
    early: float
    late: float
    state: State
    event: Event | None = None


def spans(streams: Iterable[RunStream]) -> dict[str, tuple[float, float]]:
    """When each process run wrote its first line, and its last."""
    found: dict[str, tuple[float, float]] = {}
    for stream in streams:
        own = times(stream.events)
        own = own[own != NEVER]
        if len(own):
            begin, end = float(own.min()), float(own.max())
            first, last = found.get(str(stream.run), (begin, end))
            found[str(stream.run)] = min(first, begin), max(last, end)
    return found


def moments(run: Execution, ordering: k.Ordering, begin: float) -> list[Moment]:
    """The states of an execution that begins with the log; a hidden step is at the time of the next one that has a line.

    What happened before what a line tells of happened before that line: a step is at the time of the earliest line from it on.
    """
    before_line = (inf if ordering.commit_before_line is None else ordering.commit_before_line) + ordering.skew
    at, late = _latest(run.steps, ordering.skew)
    found = [Moment(begin, begin, begin, run.initial)]
    early = -inf
    for step, time, last in zip(run.steps, at, late, strict=True):
        if step.event is not None and step.event.record.time is not None:
            told = float(step.event.record.time) - before_line
            # A line from later on, such as one of a log that is replayed, does not say when: earlier lines rest on the step.
            early = max(early, told) if told <= last else early
        here = max(found[-1].at, time) if time < inf else found[-1].at
        found.append(Moment(here, -inf if step.event is None else early, last, step.state, step.event))
    return found


def _latest(steps: Sequence[ExecutedStep], skew: int) -> tuple[list[float], list[float]]:
    """For each step the earliest time of a line from it on, and when it had happened by what these lines say at the latest."""
    at, late = inf, inf
    found: list[tuple[float, float]] = []
    for step in reversed(steps):
        if step.event is not None and step.event.record.time is not None:
            record, time = step.event.record, float(step.event.record.time)
            at, late = min(at, time), min(late, time + record.resolution - 1 + skew)
        found.append((at, late))
    return [time for time, _ in reversed(found)], [last for _, last in reversed(found)]


def changes(found: Iterable[Moment], read: Sequence[int]) -> Iterator[Moment]:
    """The moments at which one of these variables has another value than before."""
    before: list[Value] | None = None
    for moment in found:
        values = [moment.state[at] for at in read]
        if values != before:
            yield moment
        before = values


class Endings:
    """The last line of each process run, after which the run may have ended by an action of which no line tells."""

    def __init__(self, meanings: Meanings, ends: Iterable[str], spans: Mapping[str, tuple[float, float]]) -> None:
        self.meanings = meanings
        self.runs = sorted((time, name, atom) for name in ends for time, atom in self._elements(name, spans))

    def _elements(self, action: str, spans: Mapping[str, tuple[float, float]]) -> Iterator[tuple[float, Atom]]:
        """The elements that the action's first parameter can be and that are process runs."""
        type_ = self.meanings.actions[action].node.parameters[0].binder.type
        if isinstance(type_, t.AtomType):
            for at, name in enumerate(type_.sort.elements):
                if name in spans:
                    yield spans[name][1], Atom(type_.sort.name, at, name)

    def early(self, found: Sequence[Moment]) -> list[Moment]:
        """The same moments if each run ended as soon as its last line was written."""
        ended = [replace(_before(found, time), at=time, early=time, event=None) for time, _, _ in self.runs]
        every = sorted([*found, *ended], key=lambda each: each.at)
        return [replace(each, state=self._ended(each)) for each in every]

    def _ended(self, moment: Moment) -> State:
        state = moment.state
        for time, action, atom in self.runs:
            if time <= moment.at:
                state = self._taken(action, atom, state)
        return state

    def _taken(self, action: str, atom: Atom, state: State) -> State:
        """The state after the action, or the same state where it is not possible."""
        outcomes = self.meanings.actions[action].outcomes(state, (atom,))
        return next((each.state for each in outcomes if isinstance(each, Successor)), state)


def _before(found: Sequence[Moment], time: float) -> Moment:
    """The last moment that is not after a time, or the first of all."""
    return found[max(0, bisect_right(found, time, key=lambda each: each.at) - 1)]


def woven(shared: Sequence[Moment], own: Sequence[Moment], variables: Sequence[int]) -> Iterator[Moment]:
    """What is shared and what a slice has of its own (``variables``, by position), as one execution in the order of the lines' times."""
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
