"""Assay checks formal models of distributed systems, and checks recorded logs of running ones against the same models.

::

    import assay

    spec = assay.load("lease.assay", settings={"Client": {"a", "b"}})
    answer = assay.check(spec)
    assert answer.ok, str(answer)
    assert assay.validate("events.jsonl", spec).ok

Names are imported when they are first used, so that ``import assay`` takes no time. docs/python.md has examples.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.api.answers import CheckAnswer, SimulationAnswer, check, simulate
    from assay.api.explanation import explain
    from assay.api.following import FollowedAnswer, follow
    from assay.api.input_error import InputError
    from assay.api.log_answers import LogAnswer, validate
    from assay.api.proofs import ProofAnswer, prove
    from assay.api.spec import Spec, load
    from assay.checker.options import SearchOptions
    from assay.checker.report import Outcome
    from assay.checker.simulate.random_walks import Walks
    from assay.grammar.diagnostics.diagnostic import Diagnostic
    from assay.traces.options import Options as ValidationOptions
    from assay.traces.result import TraceVerdict
    from assay.traces.scoped_validate import AnswerScope

__version__ = "0.1.0"

_PLACES = {
    "AnswerScope": "traces.scoped_validate",
    "CheckAnswer": "api.answers",
    "Diagnostic": "grammar.diagnostics.diagnostic",
    "FollowedAnswer": "api.following",
    "InputError": "api.input_error",
    "LogAnswer": "api.log_answers",
    "Outcome": "checker.report",
    "ProofAnswer": "api.proofs",
    "SearchOptions": "checker.options",
    "SimulationAnswer": "api.answers",
    "Spec": "api.spec",
    "TraceVerdict": "traces.result",
    "ValidationOptions": "traces.options",
    "Walks": "checker.simulate.random_walks",
    "check": "api.answers",
    "explain": "api.explanation",
    "follow": "api.following",
    "load": "api.spec",
    "prove": "api.proofs",
    "simulate": "api.answers",
    "validate": "api.log_answers",
}
"""The module of each name below this package."""

_RENAMED = {"ValidationOptions": "Options"}

__all__ = [
    "AnswerScope",
    "CheckAnswer",
    "Diagnostic",
    "FollowedAnswer",
    "InputError",
    "LogAnswer",
    "Outcome",
    "ProofAnswer",
    "SearchOptions",
    "SimulationAnswer",
    "Spec",
    "TraceVerdict",
    "ValidationOptions",
    "Walks",
    "check",
    "explain",
    "follow",
    "load",
    "prove",
    "simulate",
    "validate",
]


if not TYPE_CHECKING:  # for type checkers only the names above exist

    def __getattr__(name: str) -> object:
        if name not in _PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found: object = getattr(import_module(f"{__name__}.{_PLACES[name]}"), _RENAMED.get(name, name))
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
