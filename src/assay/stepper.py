"""Walking a model by hand, from Python.

::

    from assay.stepper import open_spec

    stepper = open_spec("controller.assay", model="small")
    stepper.begin()
    for step in stepper.possible():
        print(step.text, step.changes)
    stepper.take(stepper.find_call("elect(b1)"))
    print(stepper.evaluate("controller_epoch").shown)
    for refused in stepper.refused("elect"):
        print(refused.text, [guard.label for guard in refused.guards])
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.api.spec import Setting, load
from assay.checker.stepper.split_call import NoSuchStepError
from assay.checker.stepper.stepper import Stepper
from assay.checker.stepper.steps import EvaluatedExpression, PossibleStep, PropertyValue, RefusedGuard, RefusedStep

__all__ = [
    "EvaluatedExpression",
    "NoSuchStepError",
    "PossibleStep",
    "PropertyValue",
    "RefusedGuard",
    "RefusedStep",
    "Stepper",
    "open_spec",
]


def open_spec(spec: str, model: str | None = None, settings: Mapping[str, Setting] | None = None) -> Stepper:
    """A stepper for a file, or for a bundled spec such as ``kafka.controller``. Raises ``InputError``."""
    return load(spec, model=model, settings=settings).stepper()
