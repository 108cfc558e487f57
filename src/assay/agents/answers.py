"""The answers to an agent's questions, as objects: a short part, and the whole where there is more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from assay.api import answers as api
from assay.api import log_answers, proofs
from assay.api.explanation import explain
from assay.api.spec import Spec, load
from assay.checker.options import SearchOptions
from assay.checker.report import PropertyResult
from assay.checker.simulate.random_walks import Walks
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.checker.stepper.steps import RefusedStep
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.report.diagnostics import diagnostic_object, diagnostics_text
from assay.report.lines import Line, clean
from assay.report.specs.changes import initial_lines
from assay.report.specs.proof import certificate_lines, step_lines
from assay.report.specs.text import property_lines
from assay.traces.options import DEFAULT_OPTIONS

Question = Mapping[str, Any]
Answer = dict[str, Any]
"""``short`` for the agent, ``whole`` to be read by reference; or ``short`` alone."""

MOST_STEPS = 40
MOST_LINES = 60
"""Lines of text in a short answer."""
MOST_MISMATCHES = 5


def check(question: Question) -> Answer:
    """All properties of a spec, searched, simulated, or proved; or whether some of them are inductive as they stand."""
    spec = _spec(question)
    if question["how"] == "inductive" and not question["properties"]:
        # Without names the whole proof would run, which is another question with another answer.
        raise NoSuchStepError("`inductive` asks about the invariants and lemmas that `properties` names: name some")
    options = SearchOptions(
        properties=frozenset(question["properties"]) or None,
        timeout=question["timeout"],
        keep_going=bool(question["keep_going"]),
        threads=question.get("threads"),
    )
    answer: api.SpecAnswer
    if question["how"] in ("prove", "inductive"):
        asked = question["properties"] if question["how"] == "inductive" else ()
        answer = proofs.prove(spec, inductive=asked, options=options)
    elif question["how"] == "simulate":
        answer = api.simulate(spec, walks=Walks(), options=options)
    else:
        answer = api.check(spec, options=options)
    report = answer.report
    return {
        "short": {
            "verdict": report.outcome.value,
            "exit_code": int(answer.exit_code),
            "states": report.statistics.distinct,
            "properties": [_property(each) for each in report.properties],
            "bounds": dict(report.unaccepted_bounds),
            "stopped": report.stopped,
            "found": _some([line for each in report.properties for line in property_lines(report.kernel, each)]),
            "not_exercised": [each.action for each in report.coverage.actions if not each.taken],
            "warnings": _diagnostics(spec.warnings),
            **(_proved(answer) if isinstance(answer, proofs.ProofAnswer) else {}),
        },
        "whole": answer.to_object(),
    }


def _proved(answer: proofs.ProofAnswer) -> dict[str, str]:
    """The lemmas that a proof found, to keep in the spec, and the steps that show what is not inductive."""
    found = answer.proofs
    lemmas = [line for name, each in found.certificates if each.conjuncts for line in certificate_lines(name, each)]
    steps = [line for name, step in found.steps for line in step_lines(found.report.kernel, name, step)]
    return {"lemmas": _some(lemmas), "not_inductive": _some(steps)}


def _property(result: PropertyResult) -> dict[str, Any]:
    found = {"name": result.name, "kind": result.kind, "verdict": result.outcome.value}
    return found | ({"reason": clean(result.reason)} if result.reason else {})


def _some(lines: list[Line]) -> str:
    cut = [line.text for line in lines[:MOST_LINES]]
    return "\n".join([*cut, f"… {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else cut)


def validate(question: Question) -> Answer:
    """Logs against a spec."""
    spec = _spec(question) if question["spec"] else None
    answer = log_answers.validate(question["logs"], spec, options=DEFAULT_OPTIONS)
    return {
        "short": {
            "verdict": answer.verdict.value,
            "reason": answer.reason,
            "exit_code": int(answer.exit_code),
            "spec": answer.spec.name,
            "mismatches": [str(each.place) for each in answer.mismatches[:MOST_MISMATCHES]],
            # An agent pays for every word it reads: the whole answer is there by reference.
            "first_screen": _some(answer.lines(details=False, width=120)),
        },
        "whole": answer.to_object(),
    }


def walk(question: Question) -> Answer:
    """The state after some steps: what is possible there, why a step is refused, values of expressions."""
    spec = _spec(question)
    stepper = spec.stepper()
    stepper.begin(question["initial"])
    taken = []
    for text in question["steps"]:
        step = stepper.find_call(text)
        stepper.take(step)
        taken.append({"step": clean(step.text), "changes": [f"{a}: {b} -> {c}" for a, b, c in step.changes]})
    # One more than is shown tells that there are more, without listing a thousand instances.
    possible = list(islice(stepper.possible(), MOST_STEPS + 1))
    return {
        "short": {
            "steps": taken,
            "state": [clean(line) for line in initial_lines(stepper.kernel, stepper.state)],
            "possible": [clean(each.text) for each in possible[:MOST_STEPS]],
            "more_possible": len(possible) > MOST_STEPS,
            "false_properties": [each.name for each in stepper.properties() if each.holds is not True],
            "values": {text: clean(stepper.evaluate(text).shown) for text in question["expressions"]},
            "refused": _refusals(stepper, question["why"]),
        }
    }


def _refusals(stepper: Stepper, asked: str) -> list[dict[str, Any]]:
    if not asked:
        return []
    action, wanted = stepper.read_call(asked)
    return [_refusal(each) for each in islice(stepper.refused(action, wanted), MOST_STEPS)]


def _refusal(step: RefusedStep) -> dict[str, Any]:
    guards = []
    for guard in step.guards:
        parts = guard.explanation.parts if guard.explanation is not None else ()
        # A constant is its own value, and says nothing.
        values = {text: value for part in parts for text, value in part.values if text != value}
        guards.append({"label": guard.label, "text": guard.text, "place": str(guard.span), "values": values})
    return {"step": clean(step.text), "guards": guards}


def explain_code(question: Question) -> Answer:
    """What a diagnostic code means."""
    found = explain(question["code"])
    return {"short": {"code": question["code"].upper(), "title": found.title, "text": found.explanation}}


ANSWERS: dict[str, Callable[[Question], Answer]] = {
    "check": check,
    "validate": validate,
    "walk": walk,
    "explain": explain_code,
}


def answer_to(kind: str, question: Question) -> Answer:
    """The answer to a question; a mistake in it, or in a spec, is an answer with diagnostics."""
    try:
        return ANSWERS[kind](question)
    except NoSuchStepError as error:
        return {"short": {"verdict": "error", "message": str(error)}}
    except SpecError as error:
        text = diagnostics_text(error.diagnostics, getattr(error, "sources", None))
        return {"short": {"verdict": "error", "diagnostics": _diagnostics(error.diagnostics), "text": text}}


def _diagnostics(found: Any) -> list[dict[str, Any]]:
    return [diagnostic_object(each) for each in found]


def _spec(question: Question) -> Spec:
    spec = load(question["spec"], model=question["model"], settings=question["settings"])
    unknown = [name for name in question.get("properties", ()) if name not in _checkable(spec)]
    if unknown:
        guess = did_you_mean(unknown[0], _checkable(spec))
        raise NoSuchStepError(f"the spec has no property `{unknown[0]}`{f'; did you mean `{guess}`?' if guess else ''}")
    return spec


def _checkable(spec: Spec) -> list[str]:
    return [*spec.properties, "deadlock", "defined", *(each.name for each in spec.kernel.scenarios)]


def is_inside(folder: Path, path: Path) -> bool:
    """Whether a path, links followed, is in a folder."""
    return path.resolve().is_relative_to(folder.resolve())
