"""Runs that cover a model: as JSON, as a file of pytest, and in a few lines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment

from assay.checker.covering.runs import CoveringRun, CoveringRuns, RunStep
from assay.checker.report import ExitCode, Step
from assay.checker.saved_traces.json_values import to_json
from assay.checker.saved_traces.saved_trace import state_to_json, step_to_json
from assay.report.lines import Line, Tone, plural
from assay.report.specs.check_object import VERSION

MOST_NAMED = 12
"""Of what is not covered, so many are named in a line."""

TEMPLATE = '''"""{{ head }}"""

from pathlib import Path

import pytest
from {{ module }} import {{ driver }}

import assay
from assay.testing import follow

SPEC = assay.load({{ spec }}, model={{ model }}, settings={{ settings }})

RUNS = {
{%- for run in runs %}
    {{ run.name }}: [
    {%- for step in run.steps %}
        {{ step }},
    {%- endfor %}
    ],
{%- endfor %}
}


@pytest.mark.parametrize("name", RUNS)
def test_the_code_does_what_the_model_does(name: str) -> None:
    stopped = follow(SPEC, {{ driver }}, RUNS[name])
    if stopped is not None:
        pytest.skip(stopped)
'''


def exit_code_of(found: CoveringRuns) -> ExitCode:
    """130 if it was interrupted, 3 if states are missing and with them something to cover, 4 if there is nothing."""
    if found.stopped == "interrupted":
        return ExitCode.INTERRUPTED
    if not found.items or not found.states:
        return ExitCode.VACUOUS
    return ExitCode.INCONCLUSIVE if found.not_reached else ExitCode.OK


def coverage_lines(found: CoveringRuns) -> list[Line]:
    """How much is covered, what is not, and whether it can be."""
    steps = sum(len(run.steps) for run in found.runs)
    lines = [Line(f"{plural(len(found.runs), 'run')}, {plural(steps, 'step')}", Tone.HEADING)]
    for kind in dict.fromkeys(item.kind for item in found.items):
        missed = [item for item in found.missed if item.kind == kind]
        number = sum(1 for item in found.items if item.kind == kind)
        lines.append(Line(f"{kind}: {number - len(missed)} of {number}", Tone.WARN if missed else Tone.GOOD))
        never = [str(item) for item in missed if item in found.never]
        if never:
            all_states = f"all {plural(found.whole, 'state')} were looked at"
            lines.append(Line(f"  no run of the model covers these ({all_states}): {_named(never)}"))
        not_reached = [str(item) for item in missed if item not in found.never]
        if not_reached:
            limit = f"{found.stopped}, {plural(found.depth, 'step')} deep"
            lines.append(Line(f"  not reached ({limit}): {_named(not_reached)}"))
    return lines


def _named(items: list[str]) -> str:
    more = f", and {len(items) - MOST_NAMED} more" if len(items) > MOST_NAMED else ""
    return ", ".join(items[:MOST_NAMED]) + more


def runs_object(found: CoveringRuns, spec: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """The runs with their states, for tests in any language."""
    items = {kind: [i for i in found.items if i.kind == kind] for kind in dict.fromkeys(i.kind for i in found.items)}
    covered = {
        kind: {
            "of": len(of),
            "missed": [list(item.names) for item in found.missed if item.kind == kind],
            "never": [list(item.names) for item in found.missed if item.kind == kind and item in found.never],
        }
        for kind, of in items.items()
    }
    return {
        "assay": VERSION,
        "spec": spec,
        "model": found.kernel.model,
        "set": dict(settings),
        "coverage": covered,
        "states": found.states,
        "stopped": found.stopped,
        "runs": [_run_object(found, run) for run in found.runs],
    }


def _run_object(found: CoveringRuns, run: CoveringRun) -> dict[str, Any]:
    return {
        "covers": [{"kind": item.kind, "names": list(item.names)} for item in run.covers],
        "initial": {"number": run.initial, "state": state_to_json(run.state, found.kernel)},
        "steps": [_step_object(found, each) for each in run.steps],
    }


def _step_object(found: CoveringRuns, each: RunStep) -> dict[str, Any]:
    if isinstance(each.content, Step):
        return step_to_json(each.content, found.kernel)
    refusal = each.content
    parameters = found.kernel.action(refusal.action).parameters
    given = {p.binder.name: to_json(x, p.binder.type) for p, x in zip(parameters, refusal.arguments, strict=True)}
    return {"action": refusal.action, "arguments": given, "refused": refusal.label}


def pytest_text(found: CoveringRuns, spec: str, settings: Mapping[str, str], driver: tuple[str, str], out: Path) -> str:
    """A file of tests, one for each run, that call the ``driver`` (module, class); ``out`` is where it will lie."""
    covered = "\n".join(line.text for line in coverage_lines(found))
    head = f"Runs that cover {spec}, written by `assay generate tests`.\n\n{covered}\n"
    # Relative to the file of tests: both are kept in one repository, wherever that lies.
    path = os.path.relpath(spec, out.parent)
    # The first item that a run covers is covered by no run before it: no two tests have one name.
    runs = [
        {"name": _quoted(str(run.covers[0])), "steps": [_quoted(each.text) for each in run.steps]} for run in found.runs
    ]
    # Python source and no page: `_quoted` makes a literal of each text.
    return Environment(autoescape=False).from_string(TEMPLATE).render(
        head=head.replace("\\", "/").replace('"""', ""),
        module=driver[0],
        driver=driver[1],
        spec=f"Path(__file__).parent / {_quoted(path)}" if Path(spec).is_file() else _quoted(spec),
        model=repr(found.kernel.model) if found.kernel.model is None else _quoted(found.kernel.model),
        settings="{" + ", ".join(f"{_quoted(name)}: {_quoted(value)}" for name, value in settings.items()) + "}",
        runs=runs,
    )  # fmt: skip


def _quoted(text: str) -> str:
    """The text as a literal in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
