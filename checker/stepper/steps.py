"""What the stepper answers with: possible steps, refused ones, and values of expressions."""

from __future__ import annotations

from assay.checker.explain import Change
from assay.checker.report import Explanation, State, Step
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class PossibleStep:
    """A step that the model allows in a state: ``text`` is ``elect(b1) with q = {b1}``, ``changes`` what it changes."""

    step: Step
    text: str
    changes: tuple[Change, ...]

    @property
    def state(self) -> State:
        """The state after the step."""
        return self.step.state


@dataclass(frozen=True, slots=True)
class RefusedGuard:
    """A line of an action that refuses an instance.

    ``kind`` is ``guard``, ``bound``, ``capacity``, ``pick`` (from an empty set) or ``undefined``. ``explanation`` has
    the values that make a guard false; other kinds have none.
    """

    kind: str
    label: str
    text: str
    span: Span
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class RefusedStep:
    """An instance of an action that the model does not allow in a state, with the lines that refuse it."""

    action: str
    arguments: tuple[tuple[str, Value], ...]
    text: str
    guards: tuple[RefusedGuard, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedExpression:
    """The value of an expression: ``shown`` is its text; ``undefined`` says why there is none."""

    type: Type
    # None may also be the value `none`: `undefined` tells the two apart.
    value: Value | None
    shown: str
    undefined: str | None = None


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """Whether an invariant holds in a state, or a transition property on a step; None if it has no value there."""

    name: str
    kind: str
    holds: bool | None
    explanation: Explanation | None = None
