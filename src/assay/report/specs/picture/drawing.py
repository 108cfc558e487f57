"""A run as the objects that the pages' scripts draw: lanes, steps, cells; and reasons with their values."""

from __future__ import annotations

from typing import Any

from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import Explanation, State, Step, Trace
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import Kernel
from assay.report.lines import clean
from assay.report.specs.changes import change_lines, shown_lines, step_name
from assay.report.specs.picture.cells import CellPath, changed_cells, state_cells
from assay.report.specs.picture.participants import lane_groups, role_of


def step_drawing(model: Model, before: State | None, step: Step) -> dict[str, Any]:
    """A step: its text, its lane, what is sent and received, and what it changes as lines of text."""
    kernel = model.kernel
    if before is None or step.action is None:
        text = step_name(kernel, step) if before is None else "nothing happens"
        return {"text": clean(text), "lane": "", "changes": []}
    role = role_of(model, before, step)
    return {
        "text": clean(step_name(kernel, step)),
        "action": step.action,
        "place": place_text(kernel.action(step.action).span),
        "lane": role.lane,
        "group": role.group,
        "sent": [[copy.place, clean(copy.text)] for copy in role.sent],
        "received": [[copy.place, clean(copy.text)] for copy in role.received],
        "others": list(role.others),
        "changes": [clean(line) for line in change_lines(kernel, before, step.state)],
    }


def trace_drawing(model: Model, trace: Trace) -> dict[str, Any]:
    """A whole run: the groups of lanes, its steps, and its states as the cells of the first one with what changes."""
    kernel = model.kernel
    numbers: dict[CellPath, int] = {}
    steps: list[dict[str, Any]] = []
    before: Step | None = None
    cells: dict[CellPath, str] = {}
    for step in trace.steps:
        now = state_cells(kernel, step.state)
        drawn = step_drawing(model, None if before is None else before.state, step)
        # What differs from the state before, by the number of its place: whole states make a page of many MB.
        drawn["cells"] = [
            [numbers.setdefault(path, len(numbers)), None if value is None else clean(value)]
            for path, value in changed_cells(cells, now)
        ]
        if shown := shown_lines(kernel, step.state):
            drawn["shown"] = [clean(line) for line in shown]
        steps.append(drawn)
        before, cells = step, now
    places = [[clean(part) for part in path] for path in numbers]
    return {"groups": groups_drawing(kernel), "places": places, "steps": steps, "loop": trace.loop}


def groups_drawing(kernel: Kernel) -> dict[str, list[str]]:
    """The elements that can have lanes, by their set."""
    return {name: list(elements) for name, elements in lane_groups(kernel).items()}


def state_drawing(kernel: Kernel, before: State | None, state: State) -> list[list[Any]]:
    """Each cell of a state as ``[path, value, old value]``; the old value is absent where nothing changed, and null
    where the cell is new. A cell that is gone has the value null.
    """
    old = None if before is None else state_cells(kernel, before)
    now = state_cells(kernel, state)
    drawn: list[list[Any]] = []
    for path, value in now.items():
        # Absent where nothing changed, so that null can say that the cell is new.
        changed = [] if old is None or old.get(path) == value else [_clean(old.get(path))]
        drawn.append([_path(path), clean(value), *changed])
    if old is not None:
        drawn += [[_path(path), None, clean(value)] for path, value in old.items() if path not in now]
    return drawn


def _path(path: CellPath) -> list[str]:
    return [clean(part) for part in path]


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def why_drawing(explanation: Explanation) -> dict[str, Any]:
    """Why a condition is false: its conjunct, the values of quantified variables, and the parts that decide."""
    parts = [
        {"text": part.text, "place": place_text(part.span), "holds": part.holds, "values": _values(part.values)}
        for part in dict.fromkeys(explanation.parts)
    ]
    return {
        "label": explanation.label,
        "place": place_text(explanation.span),
        "with": _values(explanation.witnesses),
        "parts": parts,
        "undefined": explanation.undefined,
    }


def _values(pairs: tuple[tuple[str, str], ...]) -> list[list[str]]:
    return [[clean(text), clean(value)] for text, value in pairs if text != value]


def place_text(span: Span) -> str:
    """``two_phase.assay:58``; empty for what is built in."""
    return f"{span.file.rpartition('/')[2]}:{span.line}" if span.file else ""
