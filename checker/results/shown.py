"""The expressions of ``show``, evaluated in a state of a trace."""

from __future__ import annotations

from assay.checker.interpreter.expressions.dispatch import evaluate
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State
from assay.grammar.kernel import Kernel
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class ShownValue:
    """An expression as written with its value; where it has none, ``undefined`` says why."""

    text: str
    type: Type
    value: Value = None
    undefined: str | None = None


def shown_values(kernel: Kernel, state: State) -> list[ShownValue]:
    """What ``show`` asks for, in its order."""
    found = []
    for shown in kernel.shows:
        try:
            value = evaluate(shown.value, kernel, state)
            found.append(ShownValue(shown.text, shown.value.type, value))
        except Undefined as reason:
            found.append(ShownValue(shown.text, shown.value.type, undefined=reason.message))
    return found
