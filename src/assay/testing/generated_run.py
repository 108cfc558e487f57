"""Runs that ``assay generate tests`` wrote, performed by real code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.api.spec import SpecLike, load
from assay.testing.model_run import ModelRun

REFUSAL = " is refused"


def follow(spec: SpecLike, driver: Callable[[], Any], calls: Sequence[str]) -> str | None:
    """Perform the calls of a run, such as ``acquire(a)`` or ``acquire(b) is refused by free``, with what ``driver`` makes
    (``ModelRun`` says what it has). Raises ``DepartureError`` where the code departs from the model.

    Returns None, or why the run could not be followed to its end. Either the driver has no method for an action, or the
    code chose another step that the model allows too. Refusals are only tried for what the driver ``refuses``.
    """
    run = ModelRun(load(spec).stepper(), driver())
    try:
        for number, text in enumerate(calls, 1):
            written, refused, _ = text.partition(REFUSAL)
            # What a step picks is chosen by the code, so that the call is looked for without it.
            name = written.partition(" with ")[0]
            # Code that does not refuse would do it, and the run would go on from another state than the model's.
            if refused and name.partition("(")[0] not in getattr(run.driver, "refuses", ()):
                continue
            call = run.call(name, refused=bool(refused))
            if call is None:
                return f"step {number}, {text}: {_why_not(run, name.partition('(')[0])}"
            run.perform(call)
    finally:
        run.close()
    return None


def _why_not(run: ModelRun, action: str) -> str:
    if action in run.coverage.undriven:
        return "the driver has no method for it"
    return "it is not possible here, because the code did something else before that the model allows too"
