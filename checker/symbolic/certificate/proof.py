"""The result of a proof: an answer for each property, and a certificate that a person can read, keep and have checked
again."""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.report import Outcome, PropertyResult, Report, State
from assay.checker.symbolic.certificate.from_cubes import Certificate
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class InductionStep:
    """A counterexample to induction: a state (None: before any) and a successor in which a statement fails.

    ``earlier`` are the states on the path to the first one, for k-induction.
    """

    failing: str
    before: State | None
    after: State
    earlier: tuple[State, ...] = ()


@dataclass(frozen=True, slots=True)
class Proofs:
    """The answer of ``prove``: a report as of every engine, certificates by property, and steps that show what is not
    inductive.

    ``assumptions`` are what the proofs assume beyond the model, such as bounds that were dropped.
    """

    report: Report
    certificates: tuple[tuple[str, Certificate], ...] = ()
    steps: tuple[tuple[str, InductionStep], ...] = ()
    assumptions: tuple[str, ...] = ()


def assuming(labels: Sequence[str]) -> str:
    """A phrase that names the bounds that a result assumes; empty if there are none."""
    return f"; assumed: {', '.join(f'bound `{label}`' for label in labels)}" if labels else ""


def statement_count(count: int) -> str:
    """A phrase for the number of inductive statements."""
    return f"{count} inductive statement{'s' if count != 1 else ''}"


def proved(name: str, kind: str, span: Span, how: str, assumed: Sequence[str]) -> PropertyResult:
    """The answer about a proved property: it holds, or it holds up to the bounds that are assumed."""
    outcome = Outcome.UP_TO_BOUND if assumed else Outcome.HOLDS
    return PropertyResult(name, kind, outcome, span, how + assuming(assumed))
