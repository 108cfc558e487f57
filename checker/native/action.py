"""An action as an LLVM function: every instance of it is tried in the row, and its successors are emitted.

The body is walked as the reference evaluator walks it. A false ``when`` ends the instance. After a false ``bound`` the
walk continues in a copy of the code in which the instance can only be cut. What is undefined makes the instance stuck,
or cuts it in such a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import prod
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import assignments, read_by
from assay.checker.layout.call_frame import ContextSlot
from assay.checker.layout.row import RowLayout
from assay.checker.lowering.expressions.binder_elements import (
    LIST_LIMIT,
    Choices,
    Powerset,
    RankedDomain,
    StoredSlots,
    choice,
    choices_of,
    listed_items,
    looped_slots,
    positions,
)
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.loops import each, is_looped
from assay.checker.lowering.expressions.pack_unpack import Packer
from assay.checker.lowering.expressions.updates import Updates
from assay.checker.lowering.llvm.function_builder import TRUE, Scalar, word
from assay.checker.lowering.llvm.unsupported import SMALLER, UnsupportedError
from assay.checker.lowering.symbols.symbol import Bunch, Mask, Symbol
from assay.checker.native.bitsliced_prefilter import MOST_INSTANCES
from assay.checker.native.decisive_guards import (
    DecisiveGuards,
    LabelPositions,
    has_obstacles,
    instance_layout,
    is_looped_pick,
    prefix_of,
)
from assay.checker.native.refinement_image import argument_words
from assay.checker.native.runtime import Runtime
from assay.checker.native.unroll_budget import Writing
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CutInstance:
    """The walk follows an instance whose bound ``label`` was false; ``alone`` is true if no other bound was false
    since."""

    label: str
    alone: Scalar


@dataclass(frozen=True, slots=True)
class InstanceFlags:
    """What is emitted about an instance of an action besides the row after it.

    With ``cuts_as`` an instance that is cut is emitted too: as a step to the same row, by an action of that number.
    ``arguments`` is the layout of the arguments in a word behind the row.
    """

    cuts_as: int | None = None
    arguments: RowLayout | None = None


class ActionWriter:
    """Writes the function of one action into ``code``; ``flags`` says what is emitted besides rows."""

    def __init__(
        self,
        kernel: k.Kernel,
        layout: RowLayout,
        action: k.Action,
        counted: tuple[LabelPositions, LabelPositions],
        flags: InstanceFlags,
        writing: Writing,
    ) -> None:
        self.kernel = kernel
        self.layout = layout
        self.action = action
        self.hits, self.guards = counted
        self._flags = flags
        self.unrolling = writing.unrolling
        self.code = writing.code()
        self.runtime = Runtime(self.code)
        self._variables = {v.name: v for v in kernel.variables}
        self._types = {v.name: v.type for v in kernel.variables}
        self._prefix = len(prefix_of(action))
        row = self.runtime.load_row(layout.words)
        self.state = StateSymbols(row, layout, kernel.variables)
        # Before any branch, for a register defined in one branch could not be used in another.
        for name in sorted(read_by(action.body).union(made.variable for made in assignments(action.body))):
            self.state.read(name)
        self.lowering = Lowering(self.code, self.state, unrolling=writing.unrolling, strict=writing.strict)
        self._sieved = False
        self._instances = instance_layout(action)
        # Whether to look for decisive guards behind the instance; without a second guard a false one is decisive.
        self._asks = self.code.reserve(1) if has_obstacles(action, 1) else ""

    def write(self, number: int) -> str:
        """The text of the function ``@action_<number>``. The bits of its last argument are the instances that the
        prefilter lets through."""
        self._parameters(number)
        self.code.do("ret void")
        body = "\n".join(self.code.lines)
        head = f"define internal void @action_{number}(ptr %context, ptr %row, i64 %hopeful) noinline"
        return f"{head} {{\nentry:\n{body}\n}}\n"

    # ------------------------------------------------------------------------------------------- instances

    def _parameters(self, number: int) -> None:
        # Domains of parameters read no state.
        nothing = Lowering(self.code, None, unrolling=self.unrolling)
        named = [(p.binder.name, choices_of(p.domain, nothing)) for p in self.action.parameters]
        # Domains that are unrolled multiply the code, one copy of the walk for each instance. The largest are visited
        # in loops instead.
        instances, looped = prod(max(1, _size(domain)) for _, domain in named), set[str]()
        for name, domain in named:
            if isinstance(domain, RankedDomain | Powerset) or (
                isinstance(domain, Mask) and is_looped(self.code, self.unrolling, "instances", instances)
            ):
                instances //= max(1, _size(domain))
                looped.add(name)
        if instances > LIST_LIMIT:
            what = f"the action `{self.action.name}` with {instances:,} instances, more than {LIST_LIMIT:,}"
            raise UnsupportedError(what, self.action.span, SMALLER)
        # The prefilter has a bit for each instance that is written out.
        self._sieved = not looped and instances <= MOST_INSTANCES
        # Loops go outside: what is unrolled inside is written once.
        named.sort(key=lambda each: each[0] not in looped)
        self._loop_parameters(number, named, len(looped))

    def _loop_parameters(self, number: int, named: Sequence[tuple[str, Choices]], looped: int) -> None:
        if not looped:
            listed = list(product(*(listed_items(self.code, domain) for _, domain in named)))
            begun = len(self.code.lines)
            for at, chosen in enumerate(listed):
                self._instance(number, [name for name, _ in named], chosen, at)
                # Instances are much alike, so the first ones tell how long all will be.
                self.code.refuse_foreseen(begun, at + 1, len(listed))
            return
        (name, domain), rest = named[0], named[1:]

        def body(symbol: Symbol) -> None:
            self.lowering.bound[name] = symbol
            self._loop_parameters(number, rest, looped - 1)

        self._each(domain, body)

    def _each(self, domain: Choices, body: Callable[[Symbol], None]) -> None:
        """Visit a domain in a loop."""
        assert not isinstance(domain, Bunch)
        each(self.code, positions(domain), lambda at: body(choice(self.code, domain, at)))

    def _instance(self, number: int, names: Iterable[str], chosen: Iterable[tuple[Scalar, Symbol]], at: int) -> None:
        for name, (_, symbol) in zip(names, chosen, strict=True):
            self.lowering.bound[name] = symbol
        end = self.code.name("end")
        # A loop comes here for each instance: what was asked of the one before must be forgotten.
        if self._asks:
            self.code.do(f"store i64 0, ptr {self._asks}")
        if self._sieved:
            # The bit of this instance in the answer of the prefilter.
            walk, bit = self.code.name("walk"), self.code.fresh(64, f"and i64 %hopeful, {1 << at}")
            self.code.branch(self.code.fresh(1, f"icmp ne {bit.typed}, 0"), walk, end)
            self.code.label(walk)
        with self.code.scope():
            self._walk(number, 0, None, end)
        self.code.label(end)
        if self._asks:
            self._find_decisive(number)

    # ------------------------------------------------------------------------------------------------ walk

    def _walk(self, number: int, start: int, cut: CutInstance | None, end: str) -> None:
        """Walk the statements from ``start``. Every path through the code ends in a jump to ``end``."""
        for at in range(start, self._prefix):
            each = self.action.body[at]
            if isinstance(each, k.Guard):
                # One branch per guard, and no attempt to evaluate several guards at once: early exits save more than
                # mispredicted branches cost (156 ns a state of r3l2m2e2 against 244).
                value, undefined = self.lowering.apart(lambda each=each: self.lowering.flag(each.condition))  # type: ignore[misc]
                # Before the value is looked at: where there is none, its code computed something.
                self._require_defined(undefined, cut, at, end)
                if each.kind == "bound":
                    cut_here = self._bound(number, each, value, at, cut, end)
                    if cut_here is not None:
                        cut = cut_here
                    elif value.known == 0:
                        return
                else:
                    self._when(each, value, at, cut, end)
            elif isinstance(each, k.Let):
                symbol, undefined = self.lowering.apart(lambda each=each: self.lowering.lower(each.value))  # type: ignore[misc]
                self._require_defined(undefined, cut, at, end)
                self.lowering.bound[each.binder.name] = symbol
            else:
                assert isinstance(each, k.Pick)
                self._pick(number, each, at, cut, end)
                return
        if cut is not None:
            # Updates are not made behind a false bound, as in the reference evaluator.
            self._hit(cut, end)
        else:
            self._update(number, end)

    def _require_defined(self, undefined: Scalar, cut: CutInstance | None, at: int, end: str) -> None:
        """Continue only where the value computed last is defined; otherwise the instance is stuck, or cut behind a
        false bound."""
        if undefined.known == 0:
            return
        bad, good = self.code.name("undefined"), self.code.name("defined")
        self.code.branch(undefined, bad, good)
        self.code.label(bad)
        with self.code.scope():
            if cut is None:
                # Only the row is noted. What is undefined there is found again by the reference evaluator.
                self.runtime.first(ContextSlot.STUCK, self.runtime.get(ContextSlot.CURRENT))
            else:
                self._count_cut(cut.label)
                self._note_decisive(cut.label, at, cut.alone)
            self.runtime.put(ContextSlot.ALIVE, word(1))
        self.code.jump(end)
        self.code.label(good)

    def _when(self, guard: k.Guard, value: Scalar, at: int, cut: CutInstance | None, end: str) -> None:
        """Continue only where the guard holds."""
        if value.known == 1:
            return
        failed, held = self.code.name("failed"), self.code.name("held")
        self.code.branch(value, held, failed)
        self.code.label(failed)
        with self.code.scope():
            # Behind a false bound this guard is not the only obstacle.
            if cut is None:
                self._note_decisive(guard.label, at + 1)
        self.code.jump(end)
        self.code.label(held)

    def _bound(
        self, number: int, guard: k.Guard, value: Scalar, at: int, cut: CutInstance | None, end: str
    ) -> CutInstance | None:
        if cut is not None:
            # Behind a false bound the walk goes on only to see whether that bound alone forbids the instance, or
            # another refuses it anyway.
            return CutInstance(cut.label, self.code.both(cut.alone, value))
        if value.known == 1:
            return None
        exceeded, inside = self.code.name("exceeded"), self.code.name("inside")
        self.code.branch(value, inside, exceeded)
        self.code.label(exceeded)
        with self.code.scope():
            # The rest of the walk is written twice, for cut instances and for others, so that the usual one carries no
            # flag.
            self._walk(number, at + 1, CutInstance(guard.label, TRUE), end)
        self.code.label(inside)
        if value.known == 0:
            self.code.jump(end)
        return None

    def _hit(self, cut: CutInstance, end: str) -> None:
        self._count_cut(cut.label)
        self.runtime.put(ContextSlot.ALIVE, word(1))
        self.runtime.mark(self.guards.position(f"{self.action.name}\0{cut.label}"), cut.alone)
        self.code.jump(end)

    def _count_cut(self, label: str) -> None:
        self.runtime.count_hit(self.hits.position(label))
        if self._flags.cuts_as is not None:
            # A run that only a bound stops is no fair run, so a search for fair runs has to see what was cut.
            self._hand_on(self._flags.cuts_as, self.state.row.words)

    def _pick(self, number: int, pick: k.Pick, at: int, cut: CutInstance | None, end: str) -> None:
        domain, undefined = self.lowering.apart(lambda: choices_of(pick.domain, self.lowering, self.unrolling))
        self._require_defined(undefined, cut, at, end)
        domain = looped_slots(self.code, domain, self.unrolling, "picks") or domain
        name = pick.binder.name

        def chosen(symbol: Symbol, after: str) -> None:
            self.lowering.bound[name] = symbol
            self._walk(number, at + 1, cut, after)

        if is_looped_pick(self.code, domain, self.unrolling):
            self._pick_looped(domain, chosen)
        else:
            for there, item in listed_items(self.code, domain):
                self._pick_one(there, item, chosen)
        self.code.jump(end)

    def _pick_one(self, there: Scalar, item: Symbol, chosen: Callable[[Symbol, str], None]) -> None:
        inside, after = self.code.name("picked"), self.code.name("next")
        self.code.branch(there, inside, after)
        self.code.label(inside)
        with self.code.scope():
            chosen(item, after)
        self.code.label(after)

    def _pick_looped(self, domain: Choices, chosen: Callable[[Symbol, str], None]) -> None:
        def body(symbol: Symbol) -> None:
            after = self.code.name("next")
            chosen(symbol, after)
            self.code.label(after)

        self._each(domain, body)

    # -------------------------------------------------------------------------------------------- coverage

    def _note_decisive(self, label: str, start: int, alone: Scalar = TRUE) -> None:
        """Have it looked at, when the instance has ended, which of its guards are decisive: unless ``label`` is known
        to be."""
        code = self.code
        # Nothing behind can refuse too, so the guard is decisive without a look.
        if not has_obstacles(self.action, start):
            self.runtime.mark(self.guards.position(f"{self.action.name}\0{label}"), alone)
            return
        known = self.runtime.is_marked(self.guards.position(f"{self.action.name}\0{label}"))
        before = code.fresh(64, f"load i64, ptr {self._asks}")
        asks = code.fresh(64, f"or {before.typed}, {code.resize(code.invert(known), 64).text}")
        code.do(f"store {asks.typed}, ptr {self._asks}")

    def _find_decisive(self, number: int) -> None:
        """Behind an instance: look at its guards if one was false of which it is not known that it is decisive."""
        code = self.code
        asked, done = code.name("ask"), code.name("asked")
        asks = code.fresh(64, f"load i64, ptr {self._asks}")
        code.branch(code.fresh(1, f"icmp ne {asks.typed}, 0"), asked, done)
        code.label(asked)
        with code.scope():
            # The arguments do not fit words, so the code stands here and not in a function of its own.
            if self._instances is None:
                DecisiveGuards(self.action, self.lowering, self.runtime, self.guards).mark()
            else:
                words = argument_words(code, self._instances, self.action, self.lowering.bound)
                more = "".join(f", {each.typed}" for each in words)
                code.do(f"call void @decisive_{number}(ptr %context, ptr %row{more})")
        code.jump(done)
        code.label(done)

    # --------------------------------------------------------------------------------------------- updates

    def _update(self, number: int, end: str) -> None:
        updates = Updates(self.action.body[self._prefix :], self.state, self._types, self.lowering)
        self._require_defined(updates.undefined, None, self._prefix, end)
        for name, exceeded in updates.exceeding():
            self._capacity(name, exceeded, end)
        # Also where there is no room for the successor: a state with a step is no deadlock.
        self.runtime.put(ContextSlot.ALIVE, word(1))
        self._emit(number, updates.after)
        self.code.jump(end)

    def _capacity(self, name: str, exceeded: Scalar, end: str) -> None:
        if exceeded.known == 0:
            return
        over, fits = self.code.name("over"), self.code.name("fits")
        self.code.branch(exceeded, over, fits)
        self.code.label(over)
        with self.code.scope():
            # A value that is too large is a bound of the model, as a `bound` is: the step is cut, and nothing is wrong.
            self._count_cut(f"capacity of {name}")
            self.runtime.put(ContextSlot.ALIVE, word(1))
        self.code.jump(end)
        self.code.label(fits)

    def _emit(self, number: int, after: dict[str, Symbol]) -> None:
        packer = Packer(self.state.row, self.layout)
        for variable, place in zip(self.kernel.variables, self.layout.places, strict=True):
            if variable.name in after:
                packer.put(after[variable.name], self.state.read(variable.name), place.shape, place.shift)
        self._hand_on(number, packer.words())

    def _hand_on(self, number: int, words: Sequence[Scalar]) -> None:
        handed_on = list(words)
        if self._flags.arguments is not None:
            handed_on += argument_words(self.code, self._flags.arguments, self.action, self.lowering.bound)
        typed = ", ".join(each.typed for each in handed_on)
        self.code.do(f"call void @emit(ptr %context, ptr %row, i64 {number}, {typed})")


def _size(domain: Choices) -> int:
    match domain:
        case RankedDomain(_, size):
            return size
        case Mask(bits):
            return bits.bits
        case Bunch(items):
            return len(items)
        case Powerset(of):
            return 1 << of.bits.bits
        case StoredSlots(of):
            return len(of.items)
        case _:
            assert_never(domain)
