"""What a window may do, as gates over one state: the instances of actions, the conditions of lines, and the invariants.

Each guard has a switch, an input that stands for "not asked". So the core of a refutation says which guards it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.checker.aig.bit_blaster import BitCode, input_row, owned_bits, spread
from assay.checker.aig.graph import FALSE, Gates
from assay.checker.interpreter.actions.action import ActionMeaning
from assay.checker.interpreter.compiled_model import Model
from assay.checker.layout.decode import decode
from assay.checker.layout.encode import encode
from assay.checker.layout.row import row_layout
from assay.checker.lowering.expressions.dispatch import StateSymbols
from assay.checker.lowering.llvm.function_builder import TRUE
from assay.checker.lowering.symbols.ranking import literal
from assay.checker.report import State
from assay.checker.symbolic.encode.ground_actions import GroundPath, GroundWriter, Outcomes
from assay.checker.symbolic.encode.memo_lowering import MemoLowering
from assay.checker.symbolic.encode.valid_rows import is_state
from assay.checker.symbolic.sat.clause_blocks import ClauseBlock, block_of
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

GuardName = tuple[str, str]
"""An action and the label of one of its guards."""

Arguments = tuple[Value | None, ...]
"""The arguments of an instance; None where any value may be taken."""


@dataclass(frozen=True, slots=True)
class ActionInstance:
    """One way in which an action may happen: when, and the literals of the bits after it.

    ``writes`` are the positions of bits that may change. ``free`` are the inputs of arguments that are left open.
    """

    action: str
    arguments: Arguments
    enabled: int
    after: tuple[int, ...]
    writes: frozenset[int]
    free: tuple[tuple[int, tuple[int, ...]], ...]


class _Writer(GroundWriter):
    """A walk over one instance, whose guards can be switched off."""

    switches: dict[GuardName, int]

    def write_one(self, arguments: Arguments, symbols: Sequence[object]) -> None:
        """Add the outcomes of one instance."""
        for parameter, symbol in zip(self.action.parameters, symbols, strict=True):
            self.lowering.bound[parameter.binder.name] = symbol  # type: ignore[assignment]  # a symbol of the lowering
        self._arguments = arguments
        self._walk(0, GroundPath(TRUE))

    def _guard(self, guard: k.Guard, way: GroundPath) -> GroundPath:
        # A bound limits a search of the spec, not a log.
        if guard.kind != "when":
            return way
        value, undefined = self.lowering.apart(lambda: self.lowering.flag(guard.condition))
        way = self._defined(way, undefined)
        key = self.action.name, guard.label
        # One switch for all instances of an action: a core names a rule, and not one case of it.
        if key not in self.switches:
            self.switches[key] = self.code.gates.input()
        off = self.code.condition(self.switches[key])
        return GroundPath(self.code.both(way.reached, self.code.either(value, off)), way.cuts)


class Template:
    """The gates of one kernel. Everything is made when it is first asked for, and then kept."""

    def __init__(self, kernel: k.Kernel) -> None:
        self.kernel = kernel
        self.layout = row_layout(kernel.variables)
        self.gates = Gates()
        self.code = BitCode(self.gates)
        owned = owned_bits(self.layout)
        self.width = len(owned)
        # Gates are made once, over the bits of one state and of the one before, and placed at any frame of a window.
        self.state = self.gates.inputs(self.width)
        self.old = self.gates.inputs(self.width)
        self._owned = owned
        self._now, self._before = self._symbols(self.state), self._symbols(self.old)
        self.switches: dict[GuardName, int] = {}
        self.meanings = Model(kernel, bounded=False)
        self._instances: dict[tuple[str, Arguments], tuple[ActionInstance, ...]] = {}
        self._lowering = MemoLowering(self.code, self._now)
        self._of_steps = MemoLowering(self.code, self._now, self._before)
        self._blocks: dict[object, ClauseBlock] = {}
        self.muxes: dict[object, object] = {}
        self.cuts = False
        at = {bit: position for position, bit in enumerate(owned)}
        self.bits_of = {
            variable.name: range(at[place.shift], at[place.shift] + place.shape.width)
            if place.shape.width
            else range(0)
            for variable, place in zip(kernel.variables, self.layout.places, strict=True)
        }

    def _symbols(self, bits: Sequence[int]) -> StateSymbols:
        row = input_row(self.code, self.layout, spread(self.layout, bits))
        return StateSymbols(row, self.layout, self.kernel.variables)

    # --------------------------------------------------------------------------------------------------- instances

    def instances(self, action: str, arguments: Arguments) -> tuple[ActionInstance, ...]:
        """The ways in which an action may happen with these arguments."""
        found = self._instances.get((action, arguments))
        if found is None:
            found = self._instances[action, arguments] = tuple(self._write(self.meanings.actions[action], arguments))
        return found

    def _write(self, meaning: ActionMeaning, arguments: Arguments) -> Iterator[ActionInstance]:
        outcomes = Outcomes()
        writer = _Writer(self._lowering, self.kernel, self.layout, meaning, outcomes)
        writer.switches = self.switches
        symbols: list[object] = []
        free: list[tuple[int, tuple[int, ...]]] = []
        valid: list[int] = []
        for at, (parameter, value) in enumerate(zip(meaning.node.parameters, arguments, strict=True)):
            if value is None:
                symbol, bits, ranged = self._open(parameter)
                symbols.append(symbol)
                free.append((at, bits))
                valid.append(ranged)
            else:
                symbols.append(literal(value, parameter.binder.type))
        writer.write_one(arguments, symbols)
        self.cuts = self.cuts or any(each != FALSE for every in outcomes.cuts.values() for each in every)
        for ground in outcomes.ground:
            after = tuple(ground.after[bit] for bit in self._owned)
            # The bits of an open argument have to stand for a value of its type.
            enabled = self.gates.all_of([ground.enabled, *valid])
            # By literals: a bit that keeps its gate keeps its value, whatever the assignment says.
            writes = frozenset(at for at, new in enumerate(after) if new != self.state[at])
            yield ActionInstance(ground.action, arguments, enabled, after, writes, tuple(free))

    def _open(self, parameter: k.Parameter) -> tuple[object, tuple[int, ...], int]:
        """An argument that is left open: its symbol, its inputs, and where these stand for a value."""
        variable = k.Variable(parameter.binder.name, parameter.binder.type, False)
        layout = row_layout((variable,))
        bits = tuple(self.gates.inputs(len(owned_bits(layout))))
        row = input_row(self.code, layout, spread(layout, bits))
        symbol = row.load(layout.places[0].shape, layout.places[0].shift)
        return symbol, bits, self.code.literal(is_state(self.code, layout, row))

    def parameters(self, action: str) -> Sequence[k.Parameter]:
        """The parameters of an action."""
        return self.meanings.actions[action].node.parameters

    def argument_bits(self, action: str, at: int, value: Value) -> list[bool]:
        """The bits of an open argument that has this value. Raises ``UnfitError`` if it cannot have it."""
        parameter = self.parameters(action)[at]
        layout = row_layout((k.Variable(parameter.binder.name, parameter.binder.type, False),))
        (place,) = layout.places
        word = encode(value, place.shape) << place.shift
        return [bool(word >> bit & 1) for bit in owned_bits(layout)]

    def argument(self, action: str, at: int, bits: Sequence[bool]) -> Value:
        """The value of an open argument."""
        parameter = self.meanings.actions[action].node.parameters[at]
        layout = row_layout((k.Variable(parameter.binder.name, parameter.binder.type, False),))
        (place,) = layout.places
        word = sum(1 << bit for bit, value in zip(owned_bits(layout), bits, strict=True) if value)
        return decode(word >> place.shift & ((1 << place.shape.width) - 1), place.shape)

    # -------------------------------------------------------------------------------------------------- conditions

    def is_state(self, names: frozenset[str]) -> int:
        """Where the bits of these variables are those of values."""
        pairs = zip(self.kernel.variables, self.layout.places, strict=True)
        parts = [replace(self.layout, places=(place,)) for variable, place in pairs if variable.name in names]
        return self.gates.all_of(self.code.literal(is_state(self.code, part, self._now.row)) for part in parts)

    def condition(self, expr: k.Expr) -> int:
        """Where a condition on a state, and in ``old`` on the one before, holds and is defined."""
        value, undefined = self._of_steps.apart(lambda: self._of_steps.flag(expr))
        # What has no value does not hold, as in the replay of a log.
        return self.gates.both(self.code.literal(value), self.code.literal(undefined) ^ 1)

    def property(self, prop: k.Property) -> int:
        """Where a property holds, of a state or of a step."""
        return self.gates.all_of(self.condition(each.condition) for each in prop.conjuncts)

    def block(self, roots: tuple[int, ...]) -> ClauseBlock:
        """The clauses of some literals."""
        found = self._blocks.get(roots)
        if found is None:
            found = self._blocks[roots] = block_of(self.gates, roots)
        return found

    def bits(self, state: State) -> list[bool]:
        """The bits of a state. Raises ``UnfitError`` if it is none of this kernel."""
        pairs = zip(state, self.layout.places, strict=True)
        code = sum(encode(value, place.shape) << place.shift for value, place in pairs)
        return [bool(code >> at & 1) for at in self._owned]

    def values(self, bits: Sequence[bool]) -> State:
        """The state with these bits."""
        code = sum(1 << at for at, bit in zip(self._owned, bits, strict=True) if bit)
        return tuple(
            decode(code >> place.shift & ((1 << place.shape.width) - 1), place.shape) for place in self.layout.places
        )
