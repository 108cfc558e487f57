"""A run as a sequence diagram in text, for issues and chat: Mermaid (https://mermaid.js.org) or PlantUML.

Both languages give a meaning to some characters. In texts these are written so that nothing but text can come of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import Trace
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import clean
from assay.report.specs.changes import change_lines, step_name
from assay.report.specs.picture.participants import SHARED, StepRole, lane_groups, role_of

DiagramLanguage = Literal["mermaid", "plantuml"]
LONGEST = 100
"""Characters of a line of text in the diagram."""


@dataclass(frozen=True, slots=True)
class DiagramStep:
    """A step with who acts, its text, its changes, and the lanes from which its messages come."""

    lane: str
    text: str
    changes: tuple[str, ...]
    received: tuple[tuple[str, str], ...]


def sequence_diagram(model: Model, trace: Trace, language: DiagramLanguage, title: str) -> str:
    """The diagram: a participant for each lane, an arrow for each message, a note with the changes of each step."""
    roles = _roles(model, trace)
    steps = list(_steps(model, trace, roles))
    lanes = _lanes(model, roles)
    names = {lane: f"L{number}" for number, lane in enumerate(lanes)}
    lines = _mermaid(steps, names, title) if language == "mermaid" else _plantuml(steps, names, title)
    if trace.loop is not None:
        stays = trace.loop == len(trace) - 1
        text = (
            "it stays so for ever" if stays else f"the state is again that of step {trace.loop + 1}, and so on for ever"
        )
        lines = [*lines, _note(names, text, language)]
    return "\n".join([*lines, "@enduml"] if language == "plantuml" else lines) + "\n"


def _roles(model: Model, trace: Trace) -> list[StepRole]:
    befores = trace.steps[:-1]
    return [role_of(model, before.state, step) for before, step in zip(befores, trace.steps[1:], strict=True)]


def _lanes(model: Model, roles: list[StepRole]) -> list[str]:
    used = {(role.group, role.lane) for role in roles}
    groups = {group for group, _ in used if group}
    known = lane_groups(model.kernel)
    named = [name for group, names in known.items() if group in groups for name in names]
    # A step that changes nothing has the lane of its first argument, even if no variable has an entry for that.
    named += sorted(lane for group, lane in used if group and group not in known)
    # As on the page (`lanesOf` in picture.js): of many elements only those that act have a lane.
    found = [name for name in named if len(named) <= 8 or any(lane == name for _, lane in used)]
    return [*found, SHARED] if any(not group for group, _ in used) or not found else found


def _steps(model: Model, trace: Trace, roles: list[StepRole]) -> Iterator[DiagramStep]:
    senders: dict[tuple[str, str], str] = {}
    for before, step, role in zip(trace.steps, trace.steps[1:], roles, strict=False):
        text = step_name(model.kernel, step) if step.action is not None else "nothing happens"
        received = [
            (senders[copy.place, copy.text], copy.text)
            for copy in role.received
            # An arrow from a lane to itself says no more than the step does.
            if senders.get((copy.place, copy.text), role.lane) != role.lane
        ]
        changes = change_lines(model.kernel, before.state, step.state)
        yield DiagramStep(role.lane, text, tuple(changes), tuple(received))
        # Behind its own messages: a step does not receive what it sends.
        senders |= {(copy.place, copy.text): role.lane for copy in role.sent}


def _mermaid(steps: list[DiagramStep], names: dict[str, str], title: str) -> list[str]:
    lines = ["sequenceDiagram", f"  %% {re.sub(r'[^ -~]', ' ', title)}", "  autonumber"]
    lines += [f"  participant {name} as {_safe(lane, 'mermaid')}" for lane, name in names.items()]
    for step in steps:
        own = names[step.lane]
        lines += [f"  {names[source]}-->>{own}: {_safe(text, 'mermaid')}" for source, text in step.received]
        lines.append(f"  {own}->>{own}: {_safe(step.text, 'mermaid')}")
        if step.changes:
            lines.append(f"  Note right of {own}: {'<br/>'.join(_safe(each, 'mermaid') for each in step.changes)}")
    return lines


def _plantuml(steps: list[DiagramStep], names: dict[str, str], title: str) -> list[str]:
    lines = ["@startuml", f"title {_safe(title, 'plantuml')}", "autonumber"]
    lines += [f'participant "{_safe(lane, "plantuml")}" as {name}' for lane, name in names.items()]
    for step in steps:
        own = names[step.lane]
        lines += [f"{names[source]} --> {own} : {_safe(text, 'plantuml')}" for source, text in step.received]
        lines.append(f"{own} -> {own} : {_safe(step.text, 'plantuml')}")
        if step.changes:
            lines += [f"note right of {own}", *(f"  {_safe(each, 'plantuml')}" for each in step.changes), "end note"]
    return lines


def _note(names: dict[str, str], text: str, language: DiagramLanguage) -> str:
    # Twice, so that a single lane is the first and the last one.
    first, *_, last = (*names.values(), *names.values())
    over = first if first == last else f"{first},{last}"
    return f"  Note over {over}: {text}" if language == "mermaid" else f"note over {over} : {text}"


def _safe(text: str, language: DiagramLanguage) -> str:
    """The text with every character that either language may take for its own as a number."""
    shown = clean(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…").replace("->", "→")
    form = "#{};" if language == "mermaid" else "&#{};"
    return re.sub(r"[^\w (),.=→+\[\]{}|:…'/*-]", lambda match: form.format(ord(match[0])), shown)
