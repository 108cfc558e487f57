"""What a proof leaves: for each property its answer, and the certificate that a person can read, keep and have checked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.checker.report import Outcome, PropertyResult, Report, State
from assay.checker.symbolic.certificate.from_cubes import Certificate
from assay.grammar.diagnostics.diagnostic import Span


@dataclass(frozen=True, slots=True)
class InductionStep:
    """A counterexample to induction: a state (None: before any) and one after it in which a statement fails.

    ``earlier`` are the states on the way to the first one, where more than one step was looked at.
    """

    failing: str
    before: State | None
    after: State
    earlier: tuple[State, ...] = ()


@dataclass(frozen=True, slots=True)
class Proofs:
    """The answer of ``prove``: a report like that of every engine, the certificates by property, and steps that show what is not inductive.

    ``assumptions`` are what the proofs take for granted beyond the model, such as bounds that were left out.
    """

    report: Report
    certificates: tuple[tuple[str, Certificate], ...] = ()
    steps: tuple[tuple[str, InductionStep], ...] = ()
    assumptions: tuple[str, ...] = ()


def assuming(labels: Sequence[str]) -> str:
    """What is said after a reason of the bounds that it takes for granted; nothing if there are none."""
    return f"; assumed: {', '.join(f'bound `{label}`' for label in labels)}" if labels else ""


def statements_said(count: int) -> str:
    """How many inductive statements a proof has."""
    return f"{count} inductive statement{'s' if count != 1 else ''}"


def proved(name: str, kind: str, span: Span, how: str, assumed: Sequence[str]) -> PropertyResult:
    """The answer about what was proved: it holds, or up to the bounds that are assumed."""
    outcome = Outcome.UP_TO_BOUND if assumed else Outcome.HOLDS
    return PropertyResult(name, kind, outcome, span, how + assuming(assumed))
