"""What the page asks: states, possible and refused steps in pages, expressions, scenarios. One stepper answers all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from threading import RLock
from typing import Any

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.report import Step, Trace
from assay.checker.saved_traces.saved_trace import trace_from_json, trace_to_json
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.checker.stepper.steps import PossibleStep, PropertyValue, RefusedStep
from assay.explorer.listing import MOST_LISTED, GrowingList
from assay.explorer.scenario_text import scenario_text
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.report.diagnostics import diagnostics_text
from assay.report.lines import clean
from assay.report.specs.changes import change_lines, initial_lines, shown_lines
from assay.report.specs.picture.drawing import groups_drawing, place_text, state_drawing, step_drawing, why_drawing
from assay.report.specs.text import model_lines

PAGE = 60
"""Steps in one answer."""
PATH_PAGE = 500
"""Moments of a run in one answer: of a longer run the end comes first, and the rest when it is looked at."""
MOST_LISTINGS = 50
"""So many lists of steps are kept."""


NOWHERE = -1
"""Before an initial state is chosen."""


class ExplorerError(Exception):
    """A question that cannot be answered; the message is shown on the page."""


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run whose moments have the numbers from ``first`` on."""

    first: int
    count: int
    note: str
    loop: int | None


@dataclass(frozen=True, slots=True)
class WalkNode:
    """A moment of the walk: its step, and the number of the moment before; -1 in an initial state."""

    step: Step
    parent: int


class ExplorerSession:
    """Moments that were visited, each with a number. Every question names one, so several tabs do not disturb each
    other.
    """

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self._nodes: list[WalkNode] = []
        self._listings: dict[tuple[int, str, str], GrowingList[Any]] = {}
        self._opened: OpenedRun | None = None
        self._lock = RLock()

    # --------------------------------------------------------------------------------------------- questions

    def answer(self, question: str, data: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question of the page, by its name. Raises ``ExplorerError``."""
        questions = {
            "start": self._start,
            "initial": self._initial,
            "begin": self._begin,
            "view": self._view,
            "steps": self._steps,
            "refused": self._refused,
            "take": self._take,
            "evaluate": self._evaluate,
            "scenario": self._scenario,
            "trace": self._trace,
            "open": self._open,
            "path": self._path,
        }
        if question not in questions:
            raise ExplorerError(f"there is no question `{clean(question)}`")
        # Each request has a thread, and all share one stepper, which stands on one moment at a time.
        with self._lock, deep_recursion(self.stepper.kernel):
            try:
                return questions[question](data)
            except NoSuchStepError as error:
                raise ExplorerError(str(error)) from error
            except SpecError as error:
                sources = getattr(error, "sources", None)
                raise ExplorerError(diagnostics_text(error.diagnostics, sources)) from error

    def opened(self, trace: Trace, note: str = "") -> None:
        """Show a run at the start: a counterexample, or the execution that explains a log."""
        self._opened = self._keep(trace, note)

    def _start(self, _: dict[str, Any]) -> dict[str, Any]:
        kernel = self.stepper.kernel
        return {
            "module": kernel.name,
            "about": [line.text.strip() for line in model_lines(kernel)],
            "groups": groups_drawing(kernel),
            "actions": list(kernel.next),
            "opened": None if self._opened is None else self._end_of(self._opened),
            **self._initial({}),
        }

    def _initial(self, data: dict[str, Any]) -> dict[str, Any]:
        """A page of the initial states; ``search`` is a part of a line such as `x = 3`, or words of the picks."""
        listing = self._listing(NOWHERE, "initial", data)
        offset = _number(data, "offset", 0)
        listing.grow()
        page = listing.found[offset : offset + PAGE]
        first = page[0][1].step.state if page else ()
        items = [
            {"number": number, "text": clean(each.text), "changes": _lines(self.stepper, first, each)}
            for number, each in page
        ]
        return {"initial": items, **_counts(listing, offset)}

    def _begin(self, data: dict[str, Any]) -> dict[str, Any]:
        first = next(islice(self.stepper.initial_states(), _number(data, "number", 0), None), None)
        if first is None:
            raise ExplorerError("the model has no such initial state")
        return self._drawn(self._add(first.step, NOWHERE))

    def _view(self, data: dict[str, Any]) -> dict[str, Any]:
        """Everything about a moment except its steps."""
        number = self._stand(data)
        node = self._nodes[number]
        before = self._nodes[node.parent].step.state if node.parent >= 0 else None
        kernel = self.stepper.kernel
        return {
            "cells": state_drawing(kernel, before, node.step.state),
            "shown": [clean(line) for line in shown_lines(kernel, node.step.state)],
            "properties": [property_drawing(each) for each in self.stepper.properties()],
        }

    def _steps(self, data: dict[str, Any]) -> dict[str, Any]:
        """A page of the possible steps, and how many are known; ``search`` is a call such as `elect(b1, _)`, or words.

        Where ``counted`` is false the list was not made to its end; the same question goes on with it.
        """
        listing = self._listing(self._stand(data), "possible", data)
        offset = _number(data, "offset", 0)
        listing.grow()
        page = listing.found[offset : offset + PAGE]
        return {"steps": [_possible(offset + at, each) for at, each in enumerate(page)], **_counts(listing, offset)}

    def _refused(self, data: dict[str, Any]) -> dict[str, Any]:
        """A page of the refused instances with their reasons."""
        listing = self._listing(self._stand(data), "refused", data)
        offset = _number(data, "offset", 0)
        # One more than a page: whether there is another page is known then.
        listing.grow(offset + PAGE + 1)
        page = listing.found[offset : offset + PAGE]
        more = len(listing.found) > offset + PAGE or not (listing.complete or len(listing.found) == MOST_LISTED)
        return {"refused": [refusal_drawing(each) for each in page], "more": more, "next": offset + len(page)}

    def _take(self, data: dict[str, Any]) -> dict[str, Any]:
        """Take a step by its number in the list with this search."""
        parent = self._stand(data)
        wanted = self._listing(parent, "possible", data).grow_to(_number(data, "number", NOWHERE))
        if wanted is None:
            raise ExplorerError("there is no such step here")
        return self._drawn(self._add(wanted.step, parent))

    def _evaluate(self, data: dict[str, Any]) -> dict[str, Any]:
        self._stand(data)
        value = self.stepper.evaluate(str(data.get("text", "")))
        return {"shown": clean(value.shown), "undefined": value.undefined is not None}

    def _scenario(self, data: dict[str, Any]) -> dict[str, Any]:
        name = str(data.get("name") or "walked")
        return {"text": scenario_text(self.stepper, self._trace_to(self._at(data)), name)}

    def _trace(self, data: dict[str, Any]) -> dict[str, Any]:
        trace = self._trace_to(self._at(data))
        stepper = self.stepper
        return trace_to_json(trace, stepper.kernel, stepper.spec, "", stepper.loaded.overrides)

    def _open(self, data: dict[str, Any]) -> dict[str, Any]:
        """Follow a saved trace that the user chose in the page."""
        if not isinstance(data.get("trace"), dict):
            raise ExplorerError("the file is no saved trace")
        stopped = self.stepper.follow_saved(trace_from_json(data["trace"]))
        return self._end_of(self._keep(self.stepper.trace, clean(stopped or "")))

    def _path(self, data: dict[str, Any]) -> dict[str, Any]:
        """Moments by their numbers, ``count`` from ``node`` on: a run is drawn as far as it is looked at."""
        first = self._at(data)
        last = min(first + min(_number(data, "count", 1), PATH_PAGE), len(self._nodes))
        return {"path": [self._drawn(each) for each in range(first, last)]}

    # ------------------------------------------------------------------------------------------------ the walk

    def _listing(self, node: int, kind: str, data: dict[str, Any]) -> GrowingList[Any]:
        """The list of a moment for a search, which may have been begun by an earlier question."""
        key = node, kind, str(data.get("search", "")).strip()
        if key not in self._listings:
            if len(self._listings) == MOST_LISTINGS:
                # The oldest: a dictionary keeps the order in which its keys came.
                del self._listings[next(iter(self._listings))]
            self._listings[key] = GrowingList(self._items(kind, key[2]))
        return self._listings[key]

    def _items(self, kind: str, search: str) -> Iterator[Any]:
        """The steps of the moment on which the stepper stands, or the initial states; None is a place to stop."""
        if kind == "initial":
            return (
                each if self._begins_so(search, each[1]) else None for each in enumerate(self.stepper.initial_states())
            )
        ask = self.stepper.possible_with_pauses if kind == "possible" else self.stepper.refused_with_pauses
        call = self._call(search)
        return (each if each and (call or _matches(search, each.text)) else None for each in ask(*(call or ())))

    def _begins_so(self, search: str, begin: PossibleStep) -> bool:
        if not search or _matches(search, begin.text):
            return True
        return any(search in line for line in initial_lines(self.stepper.kernel, begin.state))

    def _call(self, search: str) -> tuple[str, dict[str, Any]] | None:
        """A search that names an action, perhaps with arguments, is answered without listing all steps."""
        if search.partition("(")[0].strip() not in self.stepper.kernel.next:
            return None
        return self.stepper.read_call(search)

    def _at(self, data: dict[str, Any]) -> int:
        number = _number(data, "node", NOWHERE)
        if not 0 <= number < len(self._nodes):
            raise ExplorerError("this moment is of another session: load the page again")
        return number

    def _stand(self, data: dict[str, Any]) -> int:
        """Go to a moment: its state and the one before are all that anything depends on."""
        number = self._at(data)
        node = self._nodes[number]
        # Two steps suffice: `old(x)` and transitions look back by one. A long run need not be gone through for each
        # question.
        before = [self._nodes[node.parent].step] if node.parent >= 0 else []
        self.stepper.stand_on([*before, node.step])
        return number

    def _add(self, step: Step, parent: int) -> int:
        self._nodes.append(WalkNode(step, parent))
        return len(self._nodes) - 1

    def _keep(self, trace: Trace, note: str) -> OpenedRun:
        first = parent = len(self._nodes)
        self._add(trace.steps[0], NOWHERE)
        for step in trace.steps[1:]:
            parent = self._add(step, parent)
        return OpenedRun(first, len(trace.steps), note, trace.loop)

    def _end_of(self, run: OpenedRun) -> dict[str, Any]:
        """A run with its last moments drawn; the page asks for the others when they are looked at."""
        last = run.first + run.count
        path = [self._drawn(each) for each in range(max(run.first, last - PATH_PAGE), last)]
        return {"first": run.first, "count": run.count, "path": path, "note": run.note, "loop": run.loop}

    def _drawn(self, number: int) -> dict[str, Any]:
        node = self._nodes[number]
        before = self._nodes[node.parent].step.state if node.parent >= 0 else None
        return {"node": number, "parent": node.parent, **step_drawing(self.stepper.model, before, node.step)}

    def _trace_to(self, number: int) -> Trace:
        steps: list[Step] = []
        while number >= 0:
            steps.append(self._nodes[number].step)
            number = self._nodes[number].parent
        return Trace(tuple(reversed(steps)))


def _counts(listing: GrowingList[Any], offset: int) -> dict[str, Any]:
    """How many are known, whether these are all, and whether there are more pages."""
    known = len(listing.found)
    return {"count": known, "counted": listing.complete, "more": known > offset + PAGE}


def _number(data: dict[str, Any], name: str, otherwise: int) -> int:
    value = data.get(name, otherwise)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ExplorerError(f"`{name}` is no number")
    if value < 0:
        raise ExplorerError(f"`{name}` is missing or negative")
    # No list is longer, and `islice` refuses what is beyond.
    return min(value, sys.maxsize)


def _matches(search: str, text: str) -> bool:
    return all(word in text.lower() for word in search.lower().split())


def _lines(stepper: Stepper, first: tuple[Any, ...], each: PossibleStep) -> list[str]:
    """Where an initial state differs from the first one of the page."""
    return [clean(line) for line in change_lines(stepper.kernel, first, each.state)]


def _possible(number: int, step: PossibleStep) -> dict[str, Any]:
    changes = [f"{place}: {old} -> {new}" for place, old, new in step.changes]
    return {
        "number": number,
        "action": step.step.action,
        "text": clean(step.text),
        "changes": [clean(each) for each in changes],
    }


def refusal_drawing(step: RefusedStep) -> dict[str, Any]:
    """An instance that is not possible, with the lines that refuse it and their values."""
    guards = [
        {
            "kind": each.kind,
            "label": each.label,
            "text": clean(each.text),
            "place": place_text(each.span),
            "why": why_drawing(each.explanation) if each.explanation is not None else None,
        }
        for each in step.guards
    ]
    return {"action": step.action, "text": clean(step.text), "guards": guards}


def property_drawing(value: PropertyValue) -> dict[str, Any]:
    """Whether a property holds in a moment, and why not."""
    return {
        "name": value.name,
        "kind": value.kind,
        "holds": value.holds,
        "why": why_drawing(value.explanation) if value.explanation is not None else None,
    }
