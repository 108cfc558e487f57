"""A refinement ready to be checked: the abstract image of a state, and whether a step is an abstract step.

The abstract side has no bounds, but its values must fit its types. A value outside a range that a size parameter gives,
or over a capacity, is beyond what was modelled, and the answer is unknown (``BeyondError``). A value outside any other
range is no abstract state (``OutsideError``).
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.frame import Frame, Meaning
from assay.checker.interpreter.values.show_types import show_type
from assay.checker.interpreter.values.type_check import Exceeds, Fits, capacity_check, range_check
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State, Step
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import is_sized
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


class OutsideError(Exception):
    """The mapping gives an abstract variable a value that it cannot have."""


class BeyondError(Exception):
    """The mapping gives an abstract variable a value for which the abstract model is too small."""


@dataclass(frozen=True, slots=True)
class _Variable:
    node: k.Variable
    value: Meaning
    fits: Fits | None
    exceeds: Exceeds | None

    def image(self, frame: Frame) -> Value:
        value: Value = self.value(frame)
        if self.fits is not None:
            try:
                self.fits(value)
            except Undefined as outside:
                what = f"the mapping gives `{self.node.name}` a value outside of its type: {outside.message}"
                # A range that a size parameter gives is a limit of the model; any other is part of what it claims.
                raise (BeyondError if is_sized(self.node.type) else OutsideError)(what) from None
        if self.exceeds is not None and self.exceeds(value):
            type_ = show_type(self.node.type)
            raise BeyondError(f"the mapping gives `{self.node.name}` more elements than {type_} can have")
        return value


@dataclass(frozen=True, slots=True)
class AbstractCall:
    """An abstract action with its arguments; an argument without a value stands for any value."""

    action: ActionMeaning
    arguments: tuple[Value, ...]
    given: tuple[bool, ...]

    def instances(self) -> list[Arguments]:
        """The instances that it stands for."""
        return self.action.matching(self.arguments, self.given)


@dataclass(frozen=True, slots=True)
class _Mapping:
    """The abstract actions of an action, with the meanings of their arguments (None: any value)."""

    node: k.ActionMapping
    names: tuple[str, ...]
    calls: tuple[tuple[ActionMeaning, tuple[Meaning | None, ...]], ...]

    def evaluated(self, state: State, arguments: Arguments) -> Iterator[AbstractCall]:
        """The abstract actions that an instance may be, with their arguments in a state."""
        for action, values in self.calls:
            frame = Frame(state, (), dict(zip(self.names, arguments, strict=True)))
            given = tuple(each is not None for each in values)
            yield AbstractCall(action, tuple(None if each is None else each(frame) for each in values), given)


class Refined:
    """A refinement of a model. The successors of an abstract state are computed once."""

    def __init__(self, model: Model, node: k.Refinement) -> None:
        self.node = node
        self.abstract = Model(node.abstract)
        self._variables = [
            _Variable(variable, model.meaning(value), range_check(variable.type), capacity_check(variable.type))
            for variable, value in zip(node.abstract.variables, node.values, strict=True)
        ]
        self._mappings = {name: self._mapping(model, node.mapping(name)) for name in model.kernel.next}
        self._initial: frozenset[State] | None = None
        self._anything: dict[State, frozenset[State]] = {}
        self._steps: dict[tuple[State, str, Arguments], frozenset[State]] = {}
        self._last: tuple[State, State] | None = None

    def _mapping(self, model: Model, node: k.ActionMapping) -> _Mapping:
        calls = [
            (self.abstract.actions[c.action], tuple(None if e is None else model.meaning(e) for e in c.arguments))
            for c in node.calls
        ]
        return _Mapping(node, tuple(each.name for each in node.parameters), tuple(calls))

    def image(self, state: State) -> State:
        """The abstract state of a state. Raises ``Undefined``, ``OutsideError`` or ``BeyondError``."""
        frame = Frame(state)
        return tuple(variable.image(frame) for variable in self._variables)

    def begins_well(self, state: State) -> bool:
        """Whether the image of an initial state is initial. Raises as ``image`` does, and ``SpecError`` if there are
        too many abstract initial states to list."""
        if self._initial is None:
            found = self.abstract.init.outcomes()
            self._initial = frozenset(each.state for each in found if isinstance(each, Successor))
        return self.image(state) in self._initial

    def goes_well(self, state: State, step: Step) -> bool:
        """Whether the image of a step is an abstract step. Raises as ``image`` does."""
        # Several steps of one state are asked about in a row, so one image is kept. Identity suffices: another object
        # is only computed again.
        if self._last is None or self._last[0] is not state:
            self._last = (state, self.image(state))
        arguments = tuple(value for _, value in step.arguments)
        return self.allows(step.action or "", state, arguments, self._last[1], self.image(step.state))

    def mapping(self, action: str) -> k.ActionMapping:
        """The abstract actions of an action."""
        return self._mappings[action].node

    def calls(self, action: str, state: State, arguments: Arguments) -> list[AbstractCall]:
        """The abstract actions that an instance may be, with their arguments. Raises ``Undefined`` if one is
        undefined."""
        return list(self._mappings[action].evaluated(state, arguments))

    def allows(self, action: str, state: State, arguments: Arguments, before: State, after: State) -> bool:
        """Whether a step from ``state`` is what its mapping says; ``before`` and ``after`` are images. Raises
        ``Undefined``."""
        mapping = self._mappings[action]
        # Before any arguments are evaluated: a step that changes nothing abstract needs none.
        if before == after and (mapping.node.stutters or mapping.node.anything):
            return True
        if mapping.node.anything and after in self._all_after(before):
            return True
        return any(
            after in self._after(before, call.action, instance)
            for call in mapping.evaluated(state, arguments)
            for instance in call.instances()
        )

    def _after(self, before: State, action: ActionMeaning, arguments: Arguments) -> frozenset[State]:
        # Many steps are one on the abstract side: of `kip320_refinement` r3l2m2e2 1,938,010 are of 1,905 kinds.
        key = (before, action.node.name, arguments)
        if key not in self._steps:
            found = action.outcomes(before, arguments)
            self._steps[key] = frozenset(each.state for each in found if isinstance(each, Successor))
        return self._steps[key]

    def _all_after(self, before: State) -> frozenset[State]:
        if before not in self._anything:
            found = outcomes(self.abstract, before)
            self._anything[before] = frozenset(each.state for _, _, each in found if isinstance(each, Successor))
        return self._anything[before]
