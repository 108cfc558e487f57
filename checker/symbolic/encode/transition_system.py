"""A kernel as gates: a total function from a state and a choice to the next state, and the conditions of properties.

A step fires the ground action with the chosen number. If it is not enabled, or no action has that number, the state
stays. So every state has a successor for every choice, and what is reachable in at most k steps is reachable in exactly
k.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.checker.aig.bit_blaster import BitCode, input_row, owned_bits, spread
from assay.checker.aig.graph import FALSE, TRUE, Gates
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.layout.row import WORD, RowLayout, row_layout
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.llvm.function_builder import FALSE as NO
from assay.checker.lowering.llvm.function_builder import TRUE as YES
from assay.checker.lowering.llvm.function_builder import Scalar
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.report import State as Values
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.checker.symbolic.encode.ground_actions import Ground, Outcomes, all_outcomes
from assay.checker.symbolic.encode.memo_lowering import MemoLowering
from assay.checker.symbolic.encode.valid_rows import is_state
from assay.grammar import kernel as k
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass

UNSUPPORTED = "E824"


@dataclass(frozen=True, slots=True)
class SymbolicQuestion:
    """What a search looks for: a state (or, for a transition property, a state and a choice) that decides a property.

    ``wanted`` is the literal that is true there: for a ``reachable`` where it holds, for everything else where it fails
    or is undefined.
    """

    name: str
    kind: str
    wanted: int


@dataclass(frozen=True, slots=True)
class System:
    """The gates of a kernel.

    ``state`` and ``choice`` are inputs; ``after`` are the literals of the next state, bit for bit. ``fires`` says for
    each ground action whether it happens. ``canonical`` is true for all rows of states. ``cuts`` gives for each bound
    when it cuts an instance.
    """

    kernel: k.Kernel
    layout: RowLayout
    gates: Gates
    state: tuple[int, ...]
    choice: tuple[int, ...]
    after: tuple[int, ...]
    canonical: int
    ground: tuple[Ground, ...]
    fires: tuple[int, ...]
    questions: tuple[SymbolicQuestion, ...]
    cuts: dict[str, int]

    def question(self, name: str) -> SymbolicQuestion:
        """The question about the property of that name. Raises ``KeyError``."""
        for each in self.questions:
            if each.name == name:
                return each
        raise KeyError(name)

    def row(self, state: Values) -> tuple[int, ...]:
        """The bits of a state, as 0 and 1 for each of ``state``."""
        words = self.layout.pack(state).tolist()
        bits = [word >> at & 1 for word in words for at in range(WORD)]
        return tuple(bits[at] for at in owned_bits(self.layout))

    def values(self, bits: Sequence[int | bool]) -> Values:
        """The state whose bits these are; the inverse of ``row``."""
        code = sum(1 << at for at, bit in zip(owned_bits(self.layout), bits, strict=True) if bit)
        return tuple(_decode(code, self.layout))

    def holds(self, condition: k.Expr, old: Sequence[int]) -> int:
        """The literal that a condition is defined and true in a state; in ``old`` it reads a state with these bits.

        Raises ``UnsupportedError`` for a construct without an encoding.
        """
        code = BitCode(self.gates)
        lowering = Lowering(code, self._read(code, self.state), self._read(code, old))
        value, without = lowering.apart(lambda: lowering.flag(condition))
        return self.gates.both(code.literal(value), code.literal(without) ^ 1)

    def lowering(self) -> Lowering:
        """A lowering of expressions about a state to gates of this system."""
        code = BitCode(self.gates)
        return Lowering(code, self._read(code, self.state))

    def condition(self, expr: k.Expr) -> tuple[int, int]:
        """The literals that a condition holds in a state, and that it is undefined there. Raises
        ``UnsupportedError``."""
        code = BitCode(self.gates)
        lowering = Lowering(code, self._read(code, self.state))
        value, without = lowering.apart(lambda: lowering.flag(expr))
        return code.literal(value), code.literal(without)

    def _read(self, code: BitCode, bits: Sequence[int]) -> StateSymbols:
        return StateSymbols(input_row(code, self.layout, spread(self.layout, bits)), self.layout, self.kernel.variables)

    def cone(self, wanted: int) -> tuple[int, ...]:
        """The cone of influence of a literal: the positions of the state bits that it depends on, now or through any
        number of earlier steps."""
        positions = {literal >> 1: at for at, literal in enumerate(self.state)}
        known: set[int] = set()
        roots = [wanted]
        while roots:
            found = {positions[node] for node in self.gates.cone(roots) if node in positions} - known
            known |= found
            roots = [self.after[at] for at in sorted(found)]
        return tuple(sorted(known))


def _decode(code: int, layout: RowLayout) -> Iterable[object]:
    from assay.checker.layout.decode import decode  # noqa: PLC0415 - its name would hide this one

    for place in layout.places:
        yield decode(code >> place.shift & ((1 << place.shape.width) - 1), place.shape)


def encode_kernel(
    kernel: k.Kernel,
    selected: frozenset[str] | None = None,
    strict: frozenset[str] = frozenset(),
    *,
    deadlock: bool = True,
) -> System:
    """The gates of a kernel with the questions about the selected properties (None: all); ``strict`` names sorts as in
    ``EvaluationScope``.

    Without a question about ``deadlock``, ``terminal`` is not encoded, and need not be defined. Raises ``SpecError``
    for the first construct without an encoding, or if a variable does not fit a row.
    """
    try:
        with deep_recursion(kernel):
            return _Encoder(kernel, strict, deadlock=deadlock).system(selected)
    except UnsupportedError as error:
        raise no_encoding(error) from None


def no_encoding(error: UnsupportedError) -> SpecError:
    """The diagnostic about a construct without an encoding."""
    return SpecError([Diagnostic(UNSUPPORTED, error.span, f"the symbolic engines do not support {error.what}")])


Step = tuple[Sequence[int], int]
"""The literals of the state after a step, and whether a ground action happens in it."""


class _Encoder:
    """The translation of one kernel."""

    def __init__(self, kernel: k.Kernel, strict: frozenset[str], *, deadlock: bool) -> None:
        self.kernel = kernel
        self.deadlock = deadlock
        self.strict = strict
        self.layout = row_layout(kernel.variables)
        self.gates = Gates()
        self.code = BitCode(self.gates)
        self.owned = owned_bits(self.layout)
        self.inputs = self.gates.inputs(len(self.owned))
        self.row = input_row(self.code, self.layout, spread(self.layout, self.inputs))
        self.state = StateSymbols(self.row, self.layout, kernel.variables)

    def _lowering(self) -> Lowering:
        return MemoLowering(self.code, self.state, strict=self.strict)

    def system(self, selected: frozenset[str] | None) -> System:
        """Encode the whole kernel."""
        outcomes = all_outcomes(self.kernel, self.layout, self._lowering, Model(self.kernel).steps)
        ground = tuple(replace(g, after=tuple(g.after[at] for at in self.owned)) for g in outcomes.ground)
        # Binary, not one-hot: a one-hot selector took about as long (docs/proving.md) and needs more inputs. One number
        # at least belongs to no action, so that a state can stay.
        choice = self.gates.inputs(len(ground).bit_length())
        fires = [self.gates.both(g.enabled, self._is_chosen(number, choice)) for number, g in enumerate(ground)]
        after = self._after(ground, fires)
        canonical = self.code.literal(is_state(self.code, self.layout, self.row))
        cuts = {label: self.gates.any_of(when) for label, when in outcomes.cuts.items()}
        questions = tuple(self._questions(selected, outcomes, cuts, (after, self.gates.any_of(fires))))
        return System(
            self.kernel, self.layout, self.gates, tuple(self.inputs), tuple(choice), tuple(after), canonical, ground,
            tuple(fires), questions, {label: literal for label, literal in cuts.items() if literal != FALSE},
        )  # fmt: skip

    def _after(self, ground: tuple[Ground, ...], fires: Sequence[int]) -> list[int]:
        gates, after = self.gates, []
        for at, literal in enumerate(self.inputs):
            # Most actions leave a bit as it is. The others are listed by the value that they write, of which there are
            # few.
            writers: dict[int, list[int]] = {}
            for fire, g in zip(fires, ground, strict=True):
                if g.after[at] != literal:
                    writers.setdefault(g.after[at], []).append(fire)
            written = {value: gates.any_of(those) for value, those in writers.items()}
            kept = gates.both(literal, gates.any_of(written.values()) ^ 1)
            after.append(gates.either(kept, gates.any_of(gates.both(v, w) for v, w in written.items())))
        return after

    def _is_chosen(self, number: int, choice: Sequence[int]) -> int:
        result = TRUE
        for at in reversed(range(len(choice))):  # from the top, so that neighbours share gates
            result = self.gates.both(result, choice[at] ^ (number >> at & 1 ^ 1))
        return result

    # ------------------------------------------------------------------------------------------- questions

    def _questions(
        self, selected: frozenset[str] | None, outcomes: Outcomes, cuts: dict[str, int], step: Step
    ) -> Iterable[SymbolicQuestion]:
        gates = self.gates
        undefined = [gates.any_of(outcomes.stuck)]
        found: list[SymbolicQuestion] = []
        lowering = self._lowering()
        for prop in self.kernel.properties:
            if selected is not None and prop.name not in selected:
                continue
            doing(f"the {prop.kind} `{prop.name}` was encoded")
            if prop.kind in {"invariant", "lemma", "reachable"}:
                value, no_value = self._holds(prop, lowering)
                undefined.append(no_value)
                wanted = value if prop.kind == "reachable" else gates.either(value ^ 1, no_value)
                found.append(SymbolicQuestion(prop.name, prop.kind, wanted))
            elif prop.kind == "transition":
                value, no_value = self._holds(prop, self._lowering_of(step))
                undefined.append(gates.both(step[1], no_value))
                # Where no action fires there is no step that could violate it. `value` is false where the property is
                # undefined.
                found.append(SymbolicQuestion(prop.name, prop.kind, gates.both(step[1], value ^ 1)))
        alive = gates.any_of([*(g.enabled for g in outcomes.ground), *outcomes.stuck, *cuts.values()])
        if self.deadlock:
            dead, no_terminal = self._dead(alive, lowering)
            undefined.append(no_terminal)
            found.insert(0, SymbolicQuestion(DEADLOCK, DEADLOCK, dead))
        yield SymbolicQuestion(DEFINED, DEFINED, gates.any_of(undefined))
        yield from found

    def _holds(self, prop: k.Property, lowering: Lowering) -> tuple[int, int]:
        holds, undefined = YES, NO
        for conjunct in prop.conjuncts:
            value, without = lowering.apart(lambda conjunct=conjunct: lowering.flag(conjunct.condition))  # type: ignore[misc]
            undefined = self.code.either(undefined, self.code.both(holds, without))
            holds = self.code.all_of([holds, value, self.code.invert(without)])
        return self.code.literal(holds), self.code.literal(undefined)

    def _lowering_of(self, step: Step) -> Lowering:
        row = input_row(self.code, self.layout, spread(self.layout, step[0]))
        return MemoLowering(self.code, StateSymbols(row, self.layout, self.kernel.variables), self.state, self.strict)

    def _dead(self, alive: int, lowering: Lowering) -> tuple[int, int]:
        """When the system has stopped where it must not, and when a ``terminal`` that matters is undefined."""
        gates, going, troubled = self.gates, alive ^ 1, FALSE
        # In their order: one that holds protects those after it from being undefined.
        for each in self.kernel.terminal:
            value, without = lowering.apart(lambda each=each: lowering.flag(each.condition))  # type: ignore[misc]
            holds, no_value = self._literal(value), self._literal(without)
            troubled = gates.either(troubled, gates.both(going, no_value))
            going = gates.both(going, gates.both(holds, no_value ^ 1) ^ 1)
        return going, troubled

    def _literal(self, scalar: Scalar) -> int:
        return self.code.literal(scalar)
