"""What a search hands to a report about one property: the place that decides it."""

from __future__ import annotations

from assay.checker.report import Step
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.lazy_dataclass import dataclass

DEFINED = "defined"
"""The name of the property that nothing which is evaluated is without value."""
DEADLOCK = "deadlock"
"""The name of the property that every state is terminal or has a step."""


@dataclass(frozen=True, slots=True)
class PropertyFinding:
    """What decides a property: the number of a state (-1: before any), a step from it if it is about a step, and the
    conjunct.

    ``undefined`` is the message about an undefined expression, ``subject`` the action instance or property that it is
    in.
    """

    state: int
    step: Step | None = None
    conjunct: k.Conjunct | None = None
    undefined: str | None = None
    span: Span | None = None
    subject: str | None = None
