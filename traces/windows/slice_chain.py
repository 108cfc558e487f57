"""A chain of open states on which lines of many slices are asked about, one slice after the other, by one solver.

The states, their invariants and what lasts between them are written once for a size of window. What a line says at a
place is written once, too, with a literal that asks for it. So a question is a set of literals, and slices that saw
alike share most of them. It decides what :class:`SliceWindow` decides where the order of the lines is known: whether
something explains them. A refutation has no core here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from assay.checker.layout.encode import UnfitError
from assay.checker.symbolic.sat.clause_blocks import FALSE, TRUE, BlockFormula
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.search.submodel import steps_of
from assay.traces.search.transition_system import AnyValue, Wanted
from assay.traces.windows.open_window import Frame, condition_of, step_mux
from assay.traces.windows.slice_window import DEAR, Unit, actor, lasting
from assay.traces.windows.template import Template
from assay.traces.windows.window_model import LogPart, WindowModel

MOST_CLAUSES = 4_000_000
"""A chain with more clauses than this is made anew."""


Calls = tuple[tuple[str, Wanted], ...]
"""The calls of which one is a step of a line."""

Arguments = tuple[tuple[int, tuple[int, ...]], ...]
"""The arguments of an instance by position, with the literals of their bits."""


@dataclass(frozen=True, slots=True)
class _Taken:
    """A step at a place. Of each action there are the instances with the literals that choose them, and what is
    required of the chosen one. Then there is the state after it.
    """

    fires: dict[str, list[tuple[int, Arguments]]]
    allowed: list[int]
    after: Frame


class SliceChain:
    """Open states in a row, each before and after the steps of one place. They are counted from the last place on,
    because a chain grows at its beginning.
    """

    def __init__(self, template: Template, log: LogPart, conflicts: int) -> None:
        self.template, self._log = template, log
        self._conflicts = conflicts
        self.formula = BlockFormula(conflicts)
        self._lasting = lasting(log)
        kinds = ("invariant", "lemma")
        own = [each for each in template.kernel.properties if each.kind in kinds]
        roots = [(each, template.property(each)) for each in own]
        # Required of each state they would be most of the clauses, and say little between two lines.
        dear = {each.name for each, root in roots if sum(map(len, template.block((root,)).clauses)) > DEAR}
        self._kept = tuple(root for each, root in roots if each.name not in dear)
        self._dear = tuple(root for each, root in roots if each.name in dear)
        self._between = [
            template.property(each)
            for each in template.kernel.properties
            if each.kind == "transition" and each.name in self._lasting
        ]
        self._end = self._open_frame()
        for literal in self._at(self._dear, self._end):
            self.formula.add([literal])
        self._places: list[tuple[Frame, Frame]] = []
        self._known: dict[object, int] = {}
        self._steps: dict[object, _Taken] = {}
        self._explained: set[frozenset[int]] = set()

    def close(self) -> None:
        """Free the solver."""
        self.formula.close()

    @property
    def is_full(self) -> bool:
        """Whether so much was asked of it that another one is better."""
        return self.formula.clauses > MOST_CLAUSES

    def is_explained(self, window: WindowModel, units: Sequence[Unit]) -> bool:
        """Whether something explains the lines of a window, whose units happened in this order. Raises
        ``UnansweredError``."""
        while len(self._places) < len(units):
            self._grow()
        wanted = {TRUE}
        for at, unit in enumerate(reversed(units)):
            wanted.update(self._asked(at, window, unit))
        if FALSE in wanted:
            return False
        key = frozenset(wanted)
        # Slices that saw alike ask the same, and the answer does not change: the chain only grows.
        if key not in self._explained:
            self.formula.renew(self._conflicts)
            # In one order: the solver's way, and so whether the budget suffices, must not depend on the order of a set.
            if not self.formula.solve(sorted(wanted, key=abs)):
                return False
            self._explained.add(key)
        return True

    # --------------------------------------------------------------------------------------------------- the states

    def _open_frame(self) -> Frame:
        """A state of which only the invariants are known."""
        frame = [self.formula.fresh() for _ in range(self.template.width)]
        for literal in self._at((self.template.is_state(frozenset(self.template.bits_of)), *self._kept), frame):
            self.formula.add([literal])
        return frame

    def _grow(self) -> None:
        """Another place at the beginning."""
        # Places that a question does not use exclude nothing: what lasts holds of no step, so all may be one state.
        before, after = self._open_frame(), [self.formula.fresh() for _ in range(self.template.width)]
        # It grows at its beginning, because the end is fixed: only there the dear invariants are required.
        then = self._places[-1][0] if self._places else self._end
        for root in self._between:
            (literal,) = self._at((root,), then, after)
            self.formula.add([literal])
        self._places.append((before, after))

    def _at(self, roots: tuple[int, ...], frame: Frame, before: Frame | None = None) -> list[int]:
        """Literals of the template, read at a state."""
        given = self._given(frame)
        if before is not None:
            given |= {bit >> 1: mine for bit, mine in zip(self.template.old, before, strict=True)}
        return self.formula.place(self.template.block(roots), given)

    def _given(self, frame: Frame) -> dict[int, int]:
        """The literals that stand for a state, with no guard switched off."""
        given = {switch >> 1: FALSE for switch in self.template.switches.values()}
        return given | {bit >> 1: mine for bit, mine in zip(self.template.state, frame, strict=True)}

    # ---------------------------------------------------------------------------------------------------- the lines

    def _asked(self, at: int, window: WindowModel, unit: Unit) -> Iterator[int]:
        """The literals that ask for the lines of a unit at a place."""
        before, after = self._places[at]
        steps = {n: list(map(tuple, steps_of(window.model, window.items[n]))) for n in unit}  # type: ignore[arg-type]  # it has an observation, which is all that is read
        acting = actor(unit, steps)
        yield self._step(at, () if acting is None else tuple(steps[acting]))
        for number in unit:
            condition = condition_of(self.template, window.items[number])
            if condition is not None:
                key = at, condition
                if key not in self._known:
                    (self._known[key],) = self._at((condition,), after, before)
                yield self._known[key]

    def _step(self, at: int, steps: tuple[Calls, ...]) -> int:
        """The literal that says that these steps, or none, lead from the state before a place to that after it."""
        known = self._known.get((at, steps))
        if known is None:
            before, after = self._places[at]
            # A literal of its own for the step: in another question this place has another step, or none.
            known = self._known[at, steps] = self.formula.fresh()
            reached, actions = before, list[tuple[str, ...]]()
            for calls in steps:
                actions.append(tuple(dict.fromkeys(action for action, _ in calls)))
                taken = self._taken(at, tuple(actions), reached)
                self._choose(known, calls, taken)
                reached = taken.after
            for bit, other in zip(after, reached, strict=True):
                self.formula.add([-known, -bit, other])
                self.formula.add([-known, bit, -other])
        return known

    def _choose(self, wanted: int, calls: Calls, taken: _Taken) -> None:
        """Require one of some calls where it is wanted: its action, and those of its arguments that have a value."""
        for literal in taken.allowed:
            self.formula.add([-wanted, literal])
        chosen = [self.formula.fresh() for _ in calls]
        self.formula.add([-wanted, *chosen])
        for literal, (action, values) in zip(chosen, calls, strict=True):
            self.formula.add([-literal, *(fire for fire, _ in taken.fires[action])])
            for fire, arguments in taken.fires[action]:
                for each in self._equal(action, values, arguments):
                    self.formula.add([-literal, -fire, each])

    def _equal(self, action: str, values: Wanted, arguments: Arguments) -> Iterator[int]:
        """The literals that say that open arguments have these values."""
        for at, bits in arguments:
            value = values[at]
            if not isinstance(value, AnyValue):
                try:
                    wanted = self.template.argument_bits(action, at, value)
                except UnfitError:
                    yield FALSE
                else:
                    yield from (bit if own else -bit for bit, own in zip(bits, wanted, strict=True))

    def _taken(self, at: int, actions: tuple[tuple[str, ...], ...], frame: Frame) -> _Taken:
        """A step by one of the last of these actions, with any arguments, from a state that those before lead to."""
        known = self._steps.get((at, actions))
        if known is None:
            group = tuple(
                each
                for action in actions[-1]
                for each in self.template.instances(action, (None,) * len(self.template.parameters(action)))
            )
            mux = step_mux(self.template, (group,))
            fires = [self.formula.fresh() for _ in group]
            # One step at a time, as in a run: two at once could write what no single one does.
            for one, other in combinations(fires, 2):
                self.formula.add([-one, -other])
            given = self._given(frame)
            given |= {node >> 1: literal for node, literal in zip(mux.fires, fires, strict=True)}
            given |= {node >> 1: FALSE for node in mux.reopened}
            by_action: dict[str, list[tuple[int, Arguments]]] = {action: [] for action in actions[-1]}
            for each, fire in zip(group, fires, strict=True):
                own = tuple((at, tuple(self.formula.fresh() for _ in bits)) for at, bits in each.free)
                by_action[each.action].append((fire, own))
                for (_, bits), (_, literals) in zip(each.free, own, strict=True):
                    given |= {node >> 1: literal for node, literal in zip(bits, literals, strict=True)}
            found = self.formula.place(mux.block, given)
            width = self.template.width
            known = self._steps[at, actions] = _Taken(by_action, found[width:], found[:width])
        return known


_chains: list[SliceChain] = []

CHAINS = 3
"""How many chains are kept: one for each size of window."""


def chain_of(template: Template, log: LogPart, conflicts: int) -> SliceChain:
    """The chain of a template; the last few are kept."""
    for each in _chains:
        if each.template is template and not each.is_full:
            return each
    kept = [each for each in _chains if each.template is not template][: CHAINS - 1]
    for each in _chains:
        if each not in kept:
            each.close()
    _chains[:] = [SliceChain(template, log, conflicts), *kept]
    return _chains[0]
