"""All answers about a small model in advance, for a page that needs no server. Texts and reasons stand once in tables."""

from __future__ import annotations

import json
from typing import Any

from assay.checker.report import State, Step
from assay.checker.stepper.stepper import Stepper
from assay.explorer.session import property_drawing, refusal_drawing
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.report.lines import clean
from assay.report.specs.changes import change_lines, shown_lines
from assay.report.specs.picture.cells import state_cells
from assay.report.specs.picture.drawing import groups_drawing, step_drawing
from assay.report.specs.text import model_lines

MOST_STATES = 2000


class _Table:
    """Objects that are written once, each with a number."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, item: Any) -> int:
        key = json.dumps(item, sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.items)
            self.items.append(item)
        return self._numbers[key]


class _GraphBuilder:
    """Goes through all states, breadth first."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.texts, self.places, self.guards, self.verdicts, self.roles = (_Table() for _ in range(5))
        self.found: list[State] = []
        self._numbers: dict[State, int] = {}

    def number(self, state: State) -> int:
        """The number of a state. Raises ``SpecError`` if the states become too many."""
        if state not in self._numbers:
            if len(self.found) == MOST_STATES:
                advice = Note("leave `--html` out: a page that is served walks models of any size")
                what = f"the model has more than {MOST_STATES:,} states, which is too many for one page"
                raise SpecError([Diagnostic("E901", NOWHERE, what, (advice,))])
            self._numbers[state] = len(self.found)
            self.found.append(state)
        return self._numbers[state]

    def state(self, state: State) -> dict[str, Any]:
        """Everything about a state."""
        stepper, here = self.stepper, Step(None, (), (), state)
        stepper.stand_on([here])
        properties = [self.verdicts(property_drawing(each)) for each in stepper.properties()]
        refused = [refusal_drawing(each) for each in stepper.refused()]
        possible = list(stepper.possible())
        return {
            "cells": [
                [self.places([clean(part) for part in path]), self.texts(clean(value))]
                for path, value in state_cells(stepper.kernel, state).items()
            ],
            "shown": [clean(line) for line in shown_lines(stepper.kernel, state)],
            "properties": properties,
            "steps": [self._step(here, each.step) for each in possible],
            "refused": [
                [self.texts(each["text"]), [self.guards(guard) for guard in each["guards"]]] for each in refused
            ],
        }

    def _step(self, here: Step, step: Step) -> dict[str, Any]:
        self.stepper.stand_on([here, step])
        transitions = [each for each in self.stepper.properties() if each.kind == "transition"]
        return {
            "role": self.roles(step_drawing(self.stepper.model, here.state, step)),
            "target": self.number(step.state),
            "properties": [self.verdicts(property_drawing(each)) for each in transitions],
        }


def complete_graph(stepper: Stepper) -> dict[str, Any]:
    """The graph of a model as the page's script reads it. Raises ``SpecError`` if it has too many states."""
    builder = _GraphBuilder(stepper)
    kernel = stepper.kernel
    initial: list[dict[str, Any]] = []
    first: State | None = None
    for number, each in enumerate(stepper.initial_states()):
        first = each.state if first is None else first
        changes = [clean(line) for line in change_lines(kernel, first, each.state)]
        initial.append(
            {"number": number, "text": clean(each.text), "changes": changes, "state": builder.number(each.state)}
        )
    states: list[dict[str, Any]] = []
    # Each state may bring further ones, which get the next numbers: breadth first.
    while len(states) < len(builder.found):
        states.append(builder.state(builder.found[len(states)]))
    return {
        "module": kernel.name,
        "about": [line.text.strip() for line in model_lines(kernel)],
        "groups": groups_drawing(kernel),
        "actions": list(kernel.next),
        "initial": initial,
        "states": states,
        "texts": builder.texts.items,
        "places": builder.places.items,
        "guards": builder.guards.items,
        "verdicts": builder.verdicts.items,
        "roles": builder.roles.items,
    }
