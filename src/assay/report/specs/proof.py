"""Proofs as text and as JSON: the report, the certificates as fragments of a spec, and what is not inductive."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from assay.checker.report import State
from assay.checker.saved_traces.json_values import to_json
from assay.checker.symbolic.certificate.from_cubes import Certificate
from assay.checker.symbolic.certificate.proof import InductionStep, Proofs
from assay.grammar.kernel import Kernel
from assay.report.lines import Line, Tone
from assay.report.specs.changes import change_lines, initial_lines
from assay.report.specs.check_object import report_object
from assay.report.specs.text import report_lines


def proof_lines(proofs: Proofs) -> list[Line]:
    """The whole answer."""
    lines = list(report_lines(proofs.report))
    if proofs.assumptions:
        lines += [Line(""), Line("assumed", Tone.HEADING), *(Line(f"  {each}") for each in proofs.assumptions)]
    for name, step in proofs.steps:
        lines += [Line(""), *step_lines(proofs.report.kernel, name, step)]
    for name, certificate in proofs.certificates:
        lines += [Line(""), *certificate_lines(name, certificate)]
    return lines


def lemma_name(name: str) -> str:
    """The name of the lemma that is the certificate of a property."""
    return f"{name.rpartition('.')[2]}_is_inductive"


def certificate_lines(name: str, certificate: Certificate) -> Iterator[Line]:
    """A certificate as a fragment of a spec."""
    # There is no lemma to keep: the types of the variables are enough.
    if not certificate.conjuncts:
        yield Line(f"certificate of {name}: it holds in every state of the right types", Tone.HEADING)
        return
    yield Line(f"certificate of {name}, to keep in the spec", Tone.HEADING)
    yield Line(f"lemma {lemma_name(name)}:")
    yield from (Line(f"    {text}") for text in certificate.lines)


def step_lines(kernel: Kernel, name: str, step: InductionStep) -> Iterator[Line]:
    """A state and a step that show why a property is not inductive."""
    yield Line(f"{name} is not inductive: `{step.failing}` fails", Tone.HEADING)
    if step.before is None:
        yield Line("  in this initial state:")
        yield from (Line(f"      {text}") for text in initial_lines(kernel, step.after))
        return
    states = (*step.earlier, step.before, step.after)
    yield Line("  a state in which everything holds (it need not be reachable):")
    yield from (Line(f"      {text}") for text in initial_lines(kernel, states[0]))
    for at, (before, after) in enumerate(pairwise(states)):
        # Of k-induction there are several steps, and the property is false behind the last one.
        yield Line("  a step from it changes:" if at == 0 else "  the next step changes:")
        yield from (Line(f"      {text}") for text in change_lines(kernel, before, after))


def proof_object(proofs: Proofs) -> dict[str, Any]:
    """The whole answer as JSON."""
    kernel = proofs.report.kernel
    return report_object(proofs.report) | {
        "certificates": {name: list(certificate.lines) for name, certificate in proofs.certificates},
        "assumptions": list(proofs.assumptions),
        "steps": [
            {
                "property": name,
                "failing": step.failing,
                "earlier": [_state_object(kernel, each) for each in step.earlier],
                "before": None if step.before is None else _state_object(kernel, step.before),
                "after": _state_object(kernel, step.after),
            }
            for name, step in proofs.steps
        ],
    }


def _state_object(kernel: Kernel, state: State) -> dict[str, Any]:
    return {v.name: to_json(value, v.type) for v, value in zip(kernel.variables, state, strict=True)}
