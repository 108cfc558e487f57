"""``assay prove --inductive NAME``: are these invariants and lemmas inductive together, as written?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import Outcome, PropertyResult, Report, Statistics
from assay.checker.symbolic.certificate.proof import InductionStep, Proofs, proved
from assay.checker.symbolic.encode.initial import initial_states
from assay.checker.symbolic.induction.inductive_check import Induction, InductionFailure
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.checker.symbolic.smt.recheck import SecondOpinion
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, SpecError

NOT_A_STATE_PROPERTY = "E825"


def ask_inductive(
    kernel: k.Kernel, names: Sequence[str], options: SearchOptions | None = None, sources: Sources | None = None
) -> Proofs:
    """Whether the named invariants and lemmas hold initially and are preserved together by every step.

    If they are not, the answer is ``unknown``, because the state that shows it need not be reachable. But an initial
    state that fails violates the property. Raises ``SpecError`` for a name that is no invariant or lemma.
    """
    chosen, begun = options or SearchOptions(), time.monotonic()
    properties = [_property(kernel, name) for name in names]
    conjuncts = [(prop, each) for prop in properties for each in prop.conjuncts]

    def expired() -> bool:
        over = chosen.over_at(begun)
        return over is not None and time.monotonic() >= over

    with deep_recursion(kernel):
        states, cuts, _ = initial_states(Model(kernel))
        induction = Induction(kernel, [each.condition for _, each in conjuncts], list(states), expired)
        failure, why, helpers = _over_gates(induction, [prop.name for prop, _ in conjuncts])
        if failure is None and why is None:
            doubt = SecondOpinion(kernel).inductive([each.condition for _, each in conjuncts])
            why = None if doubt is None else f"it is over the gates, but the second encoding has doubts ({doubt})"
    # A bound may cut initial states as well as steps.
    assumed = sorted((induction.system.cuts.keys() | {cut.label for cut in cuts}) - kernel.accepted_bounds)
    failing = None if failure is None else conjuncts[failure.failing]
    if failure is None and why is None:
        results = tuple(_inductive(prop, helpers.get(prop.name, ()), assumed) for prop in properties)
    else:
        results = tuple(_not_inductive(prop, failing, failure, why) for prop in properties)
    report = Report(kernel, "prove", results, Statistics(seconds=time.monotonic() - begun))
    if failure is None or failing is None:
        return Proofs(report)
    text = expression_text(failing[1].condition, sources or {})
    return Proofs(report, steps=((failing[0].name, InductionStep(text, failure.before, failure.after)),))


def _over_gates(
    induction: Induction, owners: Sequence[str]
) -> tuple[InductionFailure | None, str | None, dict[str, list[str]]]:
    """Which statement fails over the gates, or why there is no answer, or what each property relies on. The solver is
    closed.
    """
    helpers: dict[str, list[str]] = {}
    try:
        failure = induction.failure(range(len(owners)))
        if failure is None:
            with suppress(OutOfBudgetError):  # the property is inductive even if its helpers stay unknown
                helpers = _helpers(induction, owners)
    except OutOfBudgetError as error:
        return None, str(error), {}
    finally:
        induction.close()
    return failure, None, helpers


def _helpers(induction: Induction, owners: Sequence[str]) -> dict[str, list[str]]:
    """For each property the others that its statements rely on; ``owners`` are the properties of the statements."""
    found: dict[str, dict[str, None]] = {name: {} for name in owners}
    for at, name in enumerate(owners):
        found[name] |= dict.fromkeys(owners[each] for each in induction.helpers(at))
    return {name: [each for each in others if each != name] for name, others in found.items()}


def _property(kernel: k.Kernel, name: str) -> k.Property:
    known = [p for p in kernel.properties if p.kind in {"invariant", "lemma"}]
    for prop in known:
        if prop.name == name:
            return prop
    note = Note(f"its invariants and lemmas are: {', '.join(p.name for p in known) or 'none'}")
    what = f"`{name}` is not an invariant or lemma of `{kernel.name}`"
    raise SpecError([Diagnostic(NOT_A_STATE_PROPERTY, kernel.span, what, (note,))])


def _inductive(prop: k.Property, helpers: Sequence[str], assumed: Sequence[str]) -> PropertyResult:
    """The answer about a property that is preserved, with the others that it relies on."""
    with_help = f" with {', '.join(f'`{name}`' for name in helpers)}" if helpers else ""
    return proved(prop.name, prop.kind, prop.span, f"inductive{with_help}, confirmed by a second encoding", assumed)


def _not_inductive(
    prop: k.Property, failing: tuple[k.Property, k.Conjunct] | None, failure: InductionFailure | None, why: str | None
) -> PropertyResult:
    if failing is None or failure is None:
        return PropertyResult(prop.name, prop.kind, Outcome.UNKNOWN, prop.span, why)
    if failing[0] is not prop:
        reason = f"not inductive together: `{failing[0].name}` fails first"
        return PropertyResult(prop.name, prop.kind, Outcome.UNKNOWN, prop.span, reason)
    if failure.before is None:
        return PropertyResult(prop.name, prop.kind, Outcome.VIOLATED, prop.span, "it fails in an initial state")
    return PropertyResult(prop.name, prop.kind, Outcome.UNKNOWN, prop.span, "not inductive: see the step below")
