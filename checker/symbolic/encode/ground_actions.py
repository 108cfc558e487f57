"""Ground actions: each instance of an action with each combination of picks, as conditions and a next row over the bits
of a state.

The walk follows ``interpreter.actions.action``, with a condition for each path that it can take. An instance is
enabled, or cut by the first false bound (or by a capacity), or stuck where something is undefined, or disabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from assay.checker.aig.bit_blaster import BitCode
from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.layout.row import RowLayout
from assay.checker.lowering.expressions.binder_elements import LIST_LIMIT, listed
from assay.checker.lowering.expressions.dispatch import Lowering
from assay.checker.lowering.expressions.pack_unpack import Packer
from assay.checker.lowering.expressions.updates import Updates
from assay.checker.lowering.llvm.function_builder import TRUE, Scalar
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols.ranking import literal
from assay.checker.lowering.symbols.symbol import Number, Symbol
from assay.grammar import kernel as k
from assay.grammar.current_work import doing
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass

MOST_GROUND_ACTIONS = 20_000
"""More ground actions than this are refused."""


@dataclass(frozen=True, slots=True)
class Ground:
    """One ground action: when it happens, and the literals of the row after it.

    ``uses`` are the elements of set parameters that its arguments and picks name, in this order: the sort and the
    position of the element. It is None where that depends on the state, or one value names several.
    """

    action: str
    arguments: Arguments
    enabled: int
    after: tuple[int, ...]
    uses: tuple[tuple[str, int | None], ...]


@dataclass(slots=True)
class Outcomes:
    """What all actions can do in a state: the ground actions, when some instance is stuck, and when each bound cuts
    one."""

    ground: list[Ground] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    cuts: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroundPath:
    """A path of the walk so far: ``reached`` is its condition, with the labels under which the instance was
    cut on it."""

    reached: Scalar
    cuts: tuple[tuple[str, Scalar], ...] = ()


class GroundWriter:
    """Walks one action in the state that ``lowering`` reads, a row of ``layout``."""

    def __init__(
        self, lowering: Lowering, kernel: k.Kernel, layout: RowLayout, meaning: ActionMeaning, outcomes: Outcomes
    ) -> None:
        assert isinstance(lowering.code, BitCode)
        assert lowering.now is not None
        self.code = lowering.code
        self.layout = layout
        self.kernel = kernel
        self.meaning = meaning
        self.action = meaning.node
        self.outcomes = outcomes
        self.state = lowering.now
        self.lowering = lowering
        self._binders: list[k.Local] = [each.binder for each in self.action.parameters]
        self._arguments: Arguments = ()
        self._types = {v.name: v.type for v in kernel.variables}
        # Guards, `let` and `pick` stand before all updates, so that a walk decides first and writes at its end.
        updates = (at for at, each in enumerate(self.action.body) if isinstance(each, k.Assign | k.If | k.For))
        self._prefix = next(updates, len(self.action.body))

    def write(self) -> None:
        """Add the outcomes of every instance. Raises ``UnsupportedError``."""
        for arguments in self.meaning.instances:
            for parameter, value in zip(self.action.parameters, arguments, strict=True):
                self.lowering.bound[parameter.binder.name] = literal(value, parameter.binder.type)
            self._arguments = arguments
            self._walk(0, GroundPath(TRUE))

    def _walk(self, start: int, way: GroundPath) -> None:
        for at in range(start, self._prefix):
            # A path that no state takes is not followed: most picks of most instances end early.
            if way.reached.known == 0:
                return
            each = self.action.body[at]
            match each:
                case k.Guard():
                    way = self._guard(each, way)
                case k.Let():
                    way = self._let(each, way)
                case k.Pick():
                    self._pick(each, at, way)
                    return
                case _:
                    raise AssertionError(f"{each.span}: an update among the guards")
        self._note_cuts(way, way.reached)
        # Bounds come last: guards behind a false bound still disable the instance, which is no cut then.
        uncut = self.code.both(way.reached, self.code.invert(self._cut(way)))
        if uncut.known != 0:
            self._update(uncut)

    def _cut(self, way: GroundPath) -> Scalar:
        return self.code.any_of([when for _, when in way.cuts])

    def _note_cuts(self, way: GroundPath, reached: Scalar) -> None:
        for label, when in way.cuts:
            literal = self.code.literal(self.code.both(reached, when))
            self.outcomes.cuts.setdefault(label, []).append(literal)

    def _defined(self, way: GroundPath, undefined: Scalar) -> GroundPath:
        """Continue only where the last expression is defined. Where it is not, an instance that was cut stays cut, and
        any other is stuck."""
        if undefined.known == 0:
            return way
        here = self.code.both(way.reached, undefined)
        self._note_cuts(way, here)
        self.outcomes.stuck.append(self.code.literal(self.code.both(here, self.code.invert(self._cut(way)))))
        return GroundPath(self.code.both(way.reached, self.code.invert(undefined)), way.cuts)

    def _guard(self, guard: k.Guard, way: GroundPath) -> GroundPath:
        value, undefined = self.lowering.apart(lambda: self.lowering.flag(guard.condition))
        way = self._defined(way, undefined)
        if guard.kind == "when":
            return GroundPath(self.code.both(way.reached, value), way.cuts)
        # An instance is cut by its first false bound, and counts under that label alone.
        first = self.code.both(self.code.invert(value), self.code.invert(self._cut(way)))
        return GroundPath(way.reached, way.cuts if first.known == 0 else (*way.cuts, (guard.label, first)))

    def _let(self, let: k.Let, way: GroundPath) -> GroundPath:
        symbol, undefined = self.lowering.apart(lambda: self.lowering.lower(let.value))
        self.lowering.bound[let.binder.name] = symbol
        return self._defined(way, undefined)

    def _pick(self, pick: k.Pick, at: int, way: GroundPath) -> None:
        items, undefined = self.lowering.apart(lambda: listed(pick.domain, self.lowering))
        way = self._defined(way, undefined)
        if len(items.items) > LIST_LIMIT:
            raise UnsupportedError("a choice from so many values", pick.span)
        self._binders.append(pick.binder)
        for there, item in items.items:
            self.lowering.bound[pick.binder.name] = item
            self._walk(at + 1, GroundPath(self.code.both(way.reached, there), way.cuts))
        # The walks behind this pick have used the name; a pick before it goes on without.
        self._binders.pop()

    def _update(self, uncut: Scalar) -> None:
        updates = Updates(self.action.body[self._prefix :], self.state, self._types, self.lowering)
        reached = self._defined(GroundPath(uncut), updates.undefined).reached
        for name, exceeded in updates.exceeding():
            # A capacity cuts only what no bound has cut: `reached` has none of those paths.
            self._note_cuts(GroundPath(reached, ((f"capacity of {name}", exceeded),)), reached)
            reached = self.code.both(reached, self.code.invert(exceeded))
        if reached.known != 0:
            enabled, uses = self.code.literal(reached), tuple(self._uses())
            self.outcomes.ground.append(
                Ground(self.action.name, self._arguments, enabled, self._pack(updates.after), uses)
            )
        if len(self.outcomes.ground) > MOST_GROUND_ACTIONS:
            raise UnsupportedError(f"more than {MOST_GROUND_ACTIONS:,} ground actions", self.action.span)

    def _uses(self) -> Iterator[tuple[str, int | None]]:
        for binder in self._binders:
            symbol = self.lowering.bound[binder.name]
            if isinstance(binder.type, t.AtomType):
                assert isinstance(symbol, Number)
                yield binder.type.sort.name, symbol.value.known
            else:
                yield from ((sort.name, None) for sort in self.kernel.sorts if mentions(binder.type, [sort.name]))

    def _pack(self, after: dict[str, Symbol]) -> tuple[int, ...]:
        packer = Packer(self.state.row, self.layout)
        for variable, place in zip(self.kernel.variables, self.layout.places, strict=True):
            if variable.name in after:
                packer.put(after[variable.name], self.state.read(variable.name), place.shape, place.shift)
        return tuple(literal for each in packer.words() for literal in self.code.all_bits(each))


def all_outcomes(
    kernel: k.Kernel, layout: RowLayout, lowering: Callable[[], Lowering], actions: Iterable[ActionMeaning]
) -> Outcomes:
    """The outcomes of some actions, each translated by a lowering of its own. Raises ``UnsupportedError``
    with a place."""
    outcomes = Outcomes()
    for meaning in actions:
        doing(f"the action `{meaning.node.name}` was encoded")
        try:
            GroundWriter(lowering(), kernel, layout, meaning, outcomes).write()
        except UnsupportedError as error:
            # The place of the action, if nothing inside of it has said a nearer one.
            raise error.at(meaning.node.span) from None
    return outcomes
