"""The plausibility of an execution: how many lines were held against what other lines determine, and whether its
beginning is absurd.

An execution from a beginning that was supposed explains much. It says something about a log only where a condition
reads a place that an earlier line wrote or stated. Its states have to satisfy the lemmas of the model, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition
from assay.traces.properties.incremental_conditions import IncrementalCondition
from assay.traces.search.path import Move, SearchPath
from assay.traces.search.read_write_sets import Place, observed, read_write_sets
from assay.traces.search.transition_system import ANY, Taken, TraceModel


@dataclass(slots=True)
class _Touched:
    """The places that steps read in their conditions, and those that they write; each call is examined once."""

    model: TraceModel
    known: dict[tuple[object, ...], tuple[frozenset[Place], frozenset[Place]]] = field(default_factory=dict)

    def of_step(self, taken: Taken) -> tuple[frozenset[Place], frozenset[Place]]:
        """Of one step of an action."""
        key = taken.action, taken.arguments
        if key not in self.known:
            sets = read_write_sets(self.model, (taken.action, tuple(value for _, value in taken.arguments)))
            reads = frozenset[Place]().union(*(each.reads for each in sets.conditions))
            self.known[key] = reads, frozenset(each.place for each in sets.writes)
        return self.known[key]

    def of_line(self, move: Move) -> tuple[frozenset[Place], frozenset[Place]]:
        """Of the steps of a line, and of the condition that it states; what it states it determines, too."""
        reads, writes = frozenset[Place](), frozenset[Place]()
        for taken in move.taken:
            more, written = self.of_step(taken)
            reads, writes = reads | more, writes | written
        seen = move.item.observation if move.item is not None else None
        condition = None if seen is None else seen.rule.then if seen.rule.steps else seen.rule.observe
        if seen is not None and condition is not None:
            key = seen.rule.event, seen.rule.span, seen.values
            if key not in self.known:
                parts = observed(self.model, condition, seen.bound)
                self.known[key] = frozenset[Place]().union(*(each.reads for each in parts)), frozenset()
            logged = self.known[key][0]
            reads, writes = reads | logged, writes | logged
        return reads, writes


def held_lines(model: TraceModel, path: SearchPath) -> int:
    """How many lines of a path read, in a condition, what an earlier line wrote or stated.

    It takes as long as the replay of a log, and is asked only where something may have been supposed.
    """
    touched, held = _Touched(model), 0
    determined: dict[str, set[object]] = {}
    for move in path.moves():
        # An inferred event was made to fit, so it neither determines anything nor is held against it.
        if move.item is None or move.item.observation.event.is_inferred:
            continue
        reads, writes = touched.of_line(move)
        held += any(_is_determined(read, determined) for read in reads)
        for variable, element in writes:
            determined.setdefault(variable, set()).add(element)
    return held


def _is_determined(read: Place, determined: Mapping[str, set[object]]) -> bool:
    """Whether a place overlaps one that is determined: the elements of each variable are given."""
    variable, element = read
    elements = determined.get(variable)
    return elements is not None and (element is ANY or ANY in elements or element in elements)


def absurdity(model: TraceModel, path: SearchPath | None, *, supposed: bool) -> str | None:
    """Why an execution whose beginning or events were ``supposed`` explains nothing: no cluster comes to one of its
    states. None where nothing was supposed, or all states satisfy the lemmas."""
    if path is None:
        return None
    if not supposed and not any(
        each.item.observation.event.is_inferred for each in path.moves() if each.item is not None
    ):
        return None
    broken = broken_lemma(model, path)
    if broken is None:
        return None
    lemma, place = broken
    return f"what was supposed before {place} is no state of a cluster: {lemma.name} is false there"


def broken_lemma(model: TraceModel, path: SearchPath) -> tuple[k.Property, LogPosition] | None:
    """The first invariant or lemma that is false after a line of a path, and the line: then the beginning that was
    supposed is absurd."""
    lemmas = [
        (each, [IncrementalCondition(model, part.condition) for part in each.conjuncts])
        for each in model.kernel.properties
        if each.kind in ("invariant", "lemma")
    ]
    asked: set[int] = set()
    for state, place in _states(path):
        if state not in asked:
            asked.add(state)
            for lemma, conditions in lemmas:
                if not all(condition.holds(state, state) for condition in conditions):
                    return lemma, place
    return None


def _states(path: SearchPath) -> Iterator[tuple[int, LogPosition]]:
    """The state after each line, but for those that were supposed."""
    for each in list(path.backwards())[::-1]:
        item = None if each.move is None else each.move.item
        if item is not None and not item.observation.event.is_inferred:
            yield each.node.state, item.observation.event.record.place
