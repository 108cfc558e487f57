"""An explanation of a window as a run: read off the solver's model, and followed by the reference evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.domains import domain
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.layout.shape import AtomShape, NumberShape, TableShape
from assay.checker.report import EnginesDisagreeError, State
from assay.checker.symbolic.sat.clause_blocks import UnansweredError
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.windows.open_window import Chosen, OpenWindow
from assay.traces.windows.template import Template


@dataclass(frozen=True, slots=True)
class WindowStep:
    """A step of a run: the action, its arguments, and the state after it, all in the window's terms. ``line`` is the
    number of the line that tells of it, None if no line does. ``lost`` is whether a line of it was lost."""

    action: str
    arguments: tuple[Value, ...]
    line: int | None
    state: State
    lost: bool = False


@dataclass(frozen=True, slots=True)
class ForcedPlace:
    """A place of the beginning that has the same value in every explanation: a variable, or its entry for an element."""

    variable: str
    key: Value | None
    value: Value


@dataclass(frozen=True, slots=True)
class WindowRun:
    """A run that explains a window, in the window's terms: the state before it, and its steps."""

    beginning: State
    steps: tuple[WindowStep, ...]
    forced: tuple[ForcedPlace, ...] = ()
    other: WindowRun | None = None
    """Another run, whose beginning the solver chose by chance."""

    @property
    def end(self) -> State:
        """The state after the last step."""
        return self.steps[-1].state if self.steps else self.beginning


def run_of(asked: OpenWindow, *, forced: bool = True) -> WindowRun:
    """The run of the last model, each step and each condition of which the reference evaluator confirms. If ``forced``
    places are looked for, its beginning is as near birth as the lines allow, and that model's run is the ``other``.
    Raises ``EnginesDisagreeError``: a guess here would hide a bug.
    """
    if not forced:
        return _confirmed_run(asked)
    first = _confirmed_run(asked)
    _begin_near_birth(asked)
    near = _confirmed_run(asked)
    other = None if near.beginning == first.beginning else first
    return replace(near, forced=tuple(_forced(asked, near.beginning)), other=other)


def _confirmed_run(asked: OpenWindow) -> WindowRun:
    template, parts, formula = asked.template, asked.parts, asked.formula
    states = [template.values(formula.values(frame)) for frame in parts.frames]
    fired = [_fired(asked, each) for each in parts.steps]
    lines = dict(_lines(asked))
    opened, lost = set(_opened(asked)), frozenset(parts.lost)
    with deep_recursion(template.kernel):
        steps = [
            WindowStep(each[0], each[1], lines.get(at), states[at + 1], at in lost)
            for at, each in enumerate(fired)
            if each is not None and _confirmed(template, states[at], each, states[at + 1])
        ]
        for at, (before, after) in enumerate(pairwise(states)):
            # Only where something skipped or doubted may have written, a state may change without a step.
            if fired[at] is None and before != after and at not in opened:
                raise EnginesDisagreeError(f"the gates change a state without a step: {before} to {after}")
        _confirm_lines(asked, states)
        _confirm_invariants(asked, states[0])
    return WindowRun(states[0], tuple(steps))


def _begin_near_birth(asked: OpenWindow) -> None:
    """Look for a model with a beginning as at the birth of the system wherever the lines allow it.

    What they leave open the solver chooses by chance: processes that run, sessions that nobody names. A search from
    such a beginning tries what these may do, and what comes later in the log contradicts it.
    """
    # From a beginning that the solver chose, the search of A9 took longer than from birth, and that of C2 failed.
    wanted = [same for _, same in same_as(asked, _birth(asked))]
    try:
        # The lines alone are explained, so every core has a place to give up, and the loop ends.
        while not asked.formula.solve([*asked.asked, *wanted]):
            core = asked.formula.core()
            # All of a core go at once. To try which of them may stay would be a question for each.
            wanted = [place for place in wanted if place not in core]
    except UnansweredError:
        return  # the model that is known will do


def same_as(asked: OpenWindow, state: State) -> list[tuple[ForcedPlace, int]]:
    """The places of a state, each with a literal of the solver that says that the beginning is the same there."""
    frame, bits = asked.parts.frames[0], asked.template.bits(state)
    found: list[tuple[ForcedPlace, int]] = []
    for place, own in places_of(asked, state):
        same = asked.formula.fresh()
        found.append((place, same))
        for at in own:
            asked.formula.add([-same, frame[at] if bits[at] else -frame[at]])
    return found


def places_of(asked: OpenWindow, state: State) -> Iterator[tuple[ForcedPlace, range]]:
    """The places of a state with their bits: an element's entry in a map, or a variable that is no such map."""
    template = asked.template
    for variable, layout, value in zip(template.kernel.variables, template.layout.places, state, strict=True):
        bits, shape = template.bits_of[variable.name], layout.shape
        # An entry is something that a reader can be told of; a whole map is not.
        if isinstance(shape, TableShape) and isinstance(shape.key, t.AtomType) and not shape.partial:
            for at, key in enumerate(domain(shape.key)):
                own = bits[at * shape.stride : at * shape.stride + shape.value.width]
                yield ForcedPlace(variable.name, key, value[key]), own  # type: ignore[index]  # a map, by its shape
        else:
            yield ForcedPlace(variable.name, None, value), bits


MOST_PLACES = 24
"""Of so many places of a beginning is asked whether the lines leave a choice."""


def _forced(asked: OpenWindow, beginning: State) -> Iterator[ForcedPlace]:
    """The places that the lines determine, of those that are not as at the birth of the system."""
    of = {
        each.name: layout.shape
        for each, layout in zip(asked.template.kernel.variables, asked.template.layout.places, strict=True)
    }
    pairs = zip(places_of(asked, beginning), places_of(asked, _birth(asked)), strict=True)
    named = (found for found, born in pairs if found != born)
    places = [
        each for each in named if each[0].key is not None or isinstance(of[each[0].variable], NumberShape | AtomShape)
    ]
    values = asked.formula.values(asked.parts.frames[0])
    for place, bits in places[:MOST_PLACES]:
        other = asked.formula.fresh()
        now = [(asked.parts.frames[0][bit], values[bit]) for bit in bits]
        # `other` says that some bit of the place is otherwise. Where nothing explains that, the lines determine it.
        asked.formula.add([-other, *(-literal if value else literal for literal, value in now)])
        if not asked.formula.solve([*asked.asked, other]):
            yield place


def _birth(asked: OpenWindow) -> State:
    birth = asked.window.birth()
    return tuple(birth[each.name] for each in asked.template.kernel.variables)


def _fired(asked: OpenWindow, chosen: Chosen) -> tuple[str, tuple[Value, ...]] | None:
    happens = asked.formula.values([literal for _, literal, _ in chosen.steps])
    for (instance, _, open_), happened in zip(chosen.steps, happens, strict=True):
        # At most one step happens in a frame, so that the first is the only one.
        if happened:
            arguments = list(instance.arguments)
            for at, literals in open_:
                arguments[at] = asked.template.argument(instance.action, at, asked.formula.values(literals))
            return instance.action, tuple(arguments)
    return None


def _lines(asked: OpenWindow) -> Iterator[tuple[int, int]]:
    """The step frames that lines tell of, with the number of the line."""
    for slot, number in present_lines(asked):
        for at in range(len(asked.window.items[number].rule.steps)):
            yield asked.parts.slots[slot].begin + at, number


def _opened(asked: OpenWindow) -> Iterator[int]:
    """The frames after which bits are open: those of skipped lines, and of lines that are not believed."""
    for at, chosen in enumerate(asked.parts.steps):
        if not chosen.steps:
            yield at
    for at, number in _lines(asked):
        if not asked.believes(number):
            yield at


def present_lines(asked: OpenWindow) -> Iterator[tuple[int, int]]:
    """The places in the order, each with the line that is there, for those that are in the window."""
    for at, slot in enumerate(asked.parts.slots):
        here = asked.formula.values(list(slot.here.values()))
        number = next(number for number, is_here in zip(slot.here, here, strict=True) if is_here)
        if asked.formula.values([asked.present[number]])[0]:
            yield at, number


def _confirmed(template: Template, before: State, step: tuple[str, tuple[Value, ...]], after: State) -> bool:
    action, arguments = step
    for outcome in template.meanings.actions[action].outcomes(before, arguments):
        if isinstance(outcome, Successor) and outcome.state == after:
            return True
    raise EnginesDisagreeError(f"the gates make a step that the reference evaluator does not: {action}{arguments}")


def _confirm_lines(asked: OpenWindow, states: list[State]) -> None:
    for at, number in present_lines(asked):
        item, begin = asked.window.items[number], asked.parts.slots[at].begin
        if item.condition is None or not asked.believes(number):
            continue
        frame = Frame(states[begin + len(item.rule.steps)], states[begin], dict(item.observation.bound))
        if not _holds(asked.template, item.condition, frame):
            raise EnginesDisagreeError(f"the gates explain {item.item.observation.event.record.place}")


def _confirm_invariants(asked: OpenWindow, state: State) -> None:
    for prop in asked.window.kernel.properties:
        if prop.kind in {"invariant", "lemma"}:
            for each in prop.conjuncts:
                if not _holds(asked.template, each.condition, Frame(state, state, {})):
                    raise EnginesDisagreeError(f"the gates begin where {prop.name} is false")


def _holds(template: Template, condition: object, frame: Frame) -> bool:
    try:
        return template.meanings.meaning(condition)(frame) is True  # type: ignore[arg-type]
    except Undefined:
        return False
