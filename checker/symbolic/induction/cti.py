"""A counterexample to (k-)induction as a path, with what is false at its end as written."""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import EnginesDisagreeError, State
from assay.checker.search_interface.finding import DEFINED
from assay.checker.symbolic.certificate.proof import InductionStep
from assay.checker.symbolic.encode.transition_system import SymbolicQuestion
from assay.grammar import kernel as k


def step_shown(model: Model, question: SymbolicQuestion, states: Sequence[State], sources: Sources) -> InductionStep:
    """The last step of a path of at least two states, in whose last state (or on whose last step) the question's
    property fails.

    Raises ``EnginesDisagreeError`` if the reference evaluator finds that it holds.
    """
    *earlier, before, after = states
    frame = Frame(after, before)
    return InductionStep(_failing(model, question, frame, sources), before, after, tuple(earlier))


def _failing(model: Model, question: SymbolicQuestion, frame: Frame, sources: Sources) -> str:
    prop = next((p for p in model.kernel.properties if p.name == question.name), None)
    if prop is None:
        return "everything has a value" if question.kind == DEFINED else "some action is enabled"
    if question.kind == "reachable":
        return f"not {question.name}"
    return expression_text(_first_false(model, prop, frame).condition, sources)


def _first_false(model: Model, prop: k.Property, frame: Frame) -> k.Conjunct:
    for conjunct in prop.conjuncts:
        try:
            if not model.meaning(conjunct.condition)(frame):
                return conjunct
        except Undefined:
            return conjunct
    raise EnginesDisagreeError(
        f"the gates say that `{prop.name}` fails in {frame.now}, the reference says that it holds"
    )
