"""The bit-sliced prefilter: which instances of actions cannot do anything, asked of 64 states at once.

The conditions are lowered to gates on the bits of a row; on transposed rows a gate is one instruction for 64 of them
(docs/design/bit-sliced-guards.md). Guards that are expensive as code for one row become cheap, because they read few
bits: the 69 instances of ``kafka/replication/kip320`` are 1,117 gates. The remaining instances are walked by code that
evaluates everything again. So the prefilter may let anything pass, and it does so where a condition needs too many
gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from assay.checker.aig.bit_blaster import BitCode, Bits, input_row, owned_bits, spread
from assay.checker.aig.graph import FALSE, TRUE, Gates
from assay.checker.layout.row import RowLayout
from assay.checker.lowering.expressions.binder_elements import Powerset, RankedDomain, choices_of, listed_items
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.loops import LEVELS
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar
from assay.checker.lowering.llvm.unsupported import TooLongError, UnsupportedError
from assay.checker.lowering.symbols.symbol import Symbol
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

MOST_INSTANCES = 64
"""An action with more is not prefiltered: its instances have one bit each of one word."""
MOST_STEPS = 80_000
"""The most expressions translated and scalars made for the gates of a kernel: about 0.2 s of work."""
MOST_GATES = 12_000
"""The most gates of a kernel: LLVM takes half a second for so many."""


class _Steps(BitCode):
    """A builder of gates with a budget. Raises ``TooLongError`` beyond it, and where a loop would be written."""

    def __init__(self, gates: Gates) -> None:
        super().__init__(gates)
        self._left = MOST_STEPS
        # Gates of inputs are there already and do not count.
        self._most = len(gates) + MOST_GATES

    def visit(self) -> None:
        self._step()

    def scalar(self, bits: int, literals: Bits) -> Scalar:
        self._step()
        return super().scalar(bits, literals)

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0 or len(self.gates) > self._most:
            raise TooLongError("conditions of many gates")

    def label(self, name: str) -> None:
        # Gates have no control flow; code for one row takes such a condition.
        raise TooLongError(f"a loop ({name}) where gates are wanted")


@dataclass(frozen=True, slots=True)
class _Asked:
    """The literals of a guard: whether it holds, whether it is undefined, and for a ``when`` the input "already known
    to be decisive"."""

    value: int
    undefined: int
    mark: int | None


@dataclass(frozen=True, slots=True)
class Prefilter:
    """Gates on the bits of a row. ``positions`` maps each input, by its node, to the position of its bit in the row's
    words.

    ``actions`` has for each action one literal per instance, in the order in which they are walked. A literal is true
    where the instance may do something. An action that is not prefiltered has None. ``marks`` are inputs that say that
    a guard, named as in ``Program.guards``, is known to be decisive. ``decided`` has two literals per property of
    states: it is decided, and it has no value; None if there are too many gates.
    """

    gates: Gates
    positions: dict[int, int]
    actions: list[list[int] | None]
    marks: dict[str, int]
    decided: list[int] | None


class PrefilterWriter:
    """Makes the prefilter of a kernel; ``strict`` as in ``Lowering``."""

    def __init__(self, kernel: k.Kernel, layout: RowLayout, strict: frozenset[str]) -> None:
        self._kernel = kernel
        self._gates = Gates()
        owned = owned_bits(layout)
        inputs = self._gates.inputs(len(owned))
        self._positions = {literal >> 1: position for literal, position in zip(inputs, owned, strict=True)}
        self._code = _Steps(self._gates)
        row = input_row(self._code, layout, spread(layout, inputs))
        self._lowering = Lowering(self._code, StateSymbols(row, layout, kernel.variables), strict=strict)
        self._marks: dict[str, int] = {}

    def sieve(self, properties: Sequence[k.Property]) -> Prefilter:
        """The prefilter, with these properties of states."""
        actions = [self._action(self._kernel.action(name)) for name in self._kernel.next]
        return Prefilter(self._gates, self._positions, actions, self._marks, self._decided(properties))

    def _action(self, action: k.Action) -> list[int] | None:
        try:
            hopeful = [self._hopeful(action, each) for each in _instances(action)]
        except UnsupportedError:
            return None
        # An answer that is always "perhaps" costs gates and saves nothing.
        return None if all(literal == TRUE for literal in hopeful) else hopeful

    def _hopeful(self, action: k.Action, arguments: Sequence[Symbol]) -> int:
        """Where the walk of an instance may have an effect.

        It has none where it ends at a guard that is already known to be decisive, or where another guard is false too.
        (Walking an instance also records decisive guards, so ending at a guard is not enough.)
        """
        lowering, reached, hopeless = self._lowering, TRUE, FALSE
        for parameter, symbol in zip(action.parameters, arguments, strict=True):
            lowering.bound[parameter.binder.name] = symbol
        run: list[_Asked] = []
        for each in (*action.body, None):
            if isinstance(each, k.Guard):
                run.append(self._asked(action, each))
                continue
            # A run of guards ends at a let: without a value, that ends the walk itself.
            reached, hopeless = self._after(run, reached, hopeless)
            run.clear()
            # A `pick` or an update: the instance may do something from here on.
            if not isinstance(each, k.Let) or reached == FALSE:
                break
            symbol, undefined = lowering.apart(lambda each=each: lowering.lower(each.value))  # type: ignore[misc]
            lowering.bound[each.binder.name] = symbol
            reached = self._gates.both(reached, self._code.literal(undefined) ^ 1)
        return hopeless ^ 1

    def _asked(self, action: k.Action, guard: k.Guard) -> _Asked:
        value, undefined = self._condition(guard.condition)
        if guard.kind == "bound":
            return _Asked(value, undefined, None)
        name = f"{action.name}\0{guard.label}"
        # One input for all instances: a guard is decisive once it was for any of them.
        if name not in self._marks:
            self._marks[name] = self._gates.input()
        return _Asked(value, undefined, self._marks[name])

    def _condition(self, condition: k.Expr) -> tuple[int, int]:
        value, undefined = self._lowering.apart(lambda: self._lowering.flag(condition))
        return self._code.literal(value), self._code.literal(undefined)

    def _after(self, run: Sequence[_Asked], reached: int, hopeless: int) -> tuple[int, int]:
        """What is reached behind a run of guards, and where the walk ends without effect at one of them or before."""
        gates = self._gates
        for at, asked in enumerate(run):
            reached = gates.both(reached, asked.undefined ^ 1)
            if asked.mark is not None:
                # Guards are decisive if they alone refuse. If another one of the run is false too, this one need not be
                # recorded.
                others = [gates.both(other.value ^ 1, other.undefined ^ 1) for other in run[at + 1 :]]
                excused = gates.any_of([asked.mark, *others])
                hopeless = gates.either(hopeless, gates.all_of([reached, asked.value ^ 1, excused]))
            reached = gates.both(reached, asked.value)
        return reached, hopeless

    def _decided(self, properties: Sequence[k.Property]) -> list[int] | None:
        decided: list[int] = []
        try:
            for each in properties:
                value, undefined = self._condition(condition_of(each)) if each.conjuncts else (TRUE, FALSE)
                # A reachable is decided where it is true, everything else where it is false.
                where = value if each.kind == "reachable" else value ^ 1
                decided += [self._gates.both(where, undefined ^ 1), undefined]
        except UnsupportedError:
            return None
        return decided


def condition_of(prop: k.Property) -> k.Expr:
    """The conjuncts of a property as one condition; there must be some."""
    return k.Logic(prop.conjuncts[0].condition.type, "and", tuple(each.condition for each in prop.conjuncts))


def _instances(action: k.Action) -> list[tuple[Symbol, ...]]:
    """The arguments of the instances, in the order in which they are walked. Raises ``UnsupportedError`` where a loop
    walks them."""
    nothing = Lowering(FunctionBuilder(), None, unrolling=LEVELS[0])
    domains = [choices_of(each.domain, nothing) for each in action.parameters]
    listed = [() if isinstance(each, RankedDomain | Powerset) else listed_items(nothing.code, each) for each in domains]
    looped = any(isinstance(each, RankedDomain | Powerset) for each in domains)
    # A domain that needed code is no constant, though a parameter's should be.
    if looped or nothing.code.lines or prod(map(len, listed)) > MOST_INSTANCES:
        raise UnsupportedError("instances in a loop")
    return [tuple(symbol for _, symbol in chosen) for chosen in product(*listed)]
