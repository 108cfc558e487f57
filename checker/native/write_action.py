"""An action as a function: every instance of it tried in the row, its successors handed on.

The body is walked as the reference evaluator walks it: a false ``when`` ends the instance; after a false ``bound`` the walk goes on in a copy
of the code in which the instance can only be cut; what is undefined makes the instance stuck, or cuts it in such a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from assay.checker.evaluate.traverse import locals_of
from assay.checker.layout.context import Slot
from assay.checker.layout.row import RowLayout
from assay.checker.native.code import FALSE, TRUE, Code, Scalar, word
from assay.checker.native.elements import LIST_LIMIT, listed, position_symbol, whole_type
from assay.checker.native.lowering import Lowering, State
from assay.checker.native.merge import bunch
from assay.checker.native.rank import is_small
from assay.checker.native.rows import Packer
from assay.checker.native.runtime import Runtime
from assay.checker.native.symbol import Bunch, Mask, Symbol
from assay.checker.native.unsupported import UnsupportedError
from assay.checker.native.updates import Write, apply, collect, first_exceeding, refuse_overlaps
from assay.grammar import kernel as k

UNROLLED_INSTANCES = 64
"""The most instances of an action that each get their own code; of more, the first parameters are run through by loops."""
UNROLLED_PICKS = 16
"""The most elements of a mask that are picked from by code of their own."""


@dataclass(slots=True)
class Labels:
    """Names that become positions in arrays, in the order in which they were first used."""

    positions: dict[str, int] = field(default_factory=dict)

    def position(self, name: str) -> int:
        """The position of a name."""
        return self.positions.setdefault(name, len(self.positions))


@dataclass(frozen=True, slots=True)
class Cut:
    """The walk follows an instance whose bound ``label`` was false; ``alone``: no other bound was since."""

    label: str
    alone: Scalar


class ActionWriter:
    """Writes the function of one action into ``code``."""

    def __init__(self, kernel: k.Kernel, layout: RowLayout, action: k.Action, hits: Labels, guards: Labels) -> None:
        self.kernel = kernel
        self.layout = layout
        self.action = action
        self.hits = hits
        self.guards = guards
        self.code = Code()
        self.runtime = Runtime(self.code)
        self._variables = {v.name: v for v in kernel.variables}
        self._types = {v.name: v.type for v in kernel.variables}
        self._prefix = next(
            (at for at, each in enumerate(action.body) if isinstance(each, k.Assign | k.If | k.For)), len(action.body)
        )
        row = self.runtime.load_row(layout.words)
        self.state = State(row, layout, kernel.variables)
        for variable in kernel.variables:
            self.state.read(variable.name)
        self.lowering = Lowering(self.code, self.state)

    def write(self, number: int) -> str:
        """The text of the function ``@action_<number>``."""
        self._parameters(number)
        self.code.do("ret void")
        body = "\n".join(self.code.lines)
        return f"define internal void @action_{number}(ptr %context, ptr %row) noinline {{\nentry:\n{body}\n}}\n"

    # ------------------------------------------------------------------------------------------- instances

    def _parameters(self, number: int) -> None:
        nothing = Lowering(self.code, None)
        domains = [_domain(parameter.domain, nothing) for parameter in self.action.parameters]
        looped, instances = 0, 1
        for domain in domains:
            instances *= max(1, domain.bits.bits if isinstance(domain, Mask) else len(domain.items))
        while instances > UNROLLED_INSTANCES and looped < len(domains) and isinstance(domains[looped], Mask):
            mask = domains[looped]
            assert isinstance(mask, Mask)
            instances //= max(1, mask.bits.bits)
            looped += 1
        if instances > LIST_LIMIT:
            raise UnsupportedError(f"an action with {instances:,} instances", self.action.span)
        self._loop_parameters(number, domains, 0, looped)

    def _loop_parameters(self, number: int, domains: Sequence[Mask | Bunch], at: int, looped: int) -> None:
        if at == looped:
            rest = [listed_items(self.code, domain) for domain in domains[at:]]
            for chosen in product(*rest):
                self._instance(number, at, chosen)
            return
        mask, name = domains[at], self.action.parameters[at].binder.name
        assert isinstance(mask, Mask)

        def body(position: Scalar) -> None:
            self.lowering.bound[name] = position_symbol(self.code, mask, position)
            self._loop_parameters(number, domains, at + 1, looped)

        self.runtime.each_bit(mask.bits, body)

    def _instance(self, number: int, at: int, chosen: Iterable[tuple[Scalar, Symbol]]) -> None:
        for parameter, (_, symbol) in zip(self.action.parameters[at:], chosen, strict=True):
            self.lowering.bound[parameter.binder.name] = symbol
        end = self.code.name("end")
        with self.code.scope():
            self._walk(number, 0, None, end)
        self.code.label(end)

    # ------------------------------------------------------------------------------------------------ walk

    def _walk(self, number: int, start: int, cut: Cut | None, end: str) -> None:
        """Walk the statements from ``start``; every way through the code ends in a jump to ``end``."""
        for at in range(start, self._prefix):
            each = self.action.body[at]
            if isinstance(each, k.Guard):
                value, undefined = self.lowering.apart(lambda each=each: self.lowering.flag(each.condition))  # type: ignore[misc]
                self._give_up(undefined, cut, at, end)
                if each.kind == "bound":
                    cut_here = self._bound(number, each, value, at, cut, end)
                    if cut_here is not None:
                        cut = cut_here
                    elif value.known == 0:
                        return
                elif not self._when(each, value, at, cut, end):
                    return
            elif isinstance(each, k.Let):
                symbol, undefined = self.lowering.apart(lambda each=each: self.lowering.lower(each.value))  # type: ignore[misc]
                self._give_up(undefined, cut, at, end)
                self.lowering.bound[each.binder.name] = symbol
            else:
                assert isinstance(each, k.Pick)
                self._pick(number, each, at, cut, end)
                return
        if cut is not None:
            self._hit(cut, end)
        else:
            self._update(number, end)

    def _give_up(self, undefined: Scalar, cut: Cut | None, at: int, end: str) -> None:
        """Go on only where what was just evaluated is defined."""
        if undefined.known == 0:
            return
        bad, good = self.code.name("undefined"), self.code.name("defined")
        self.code.branch(undefined, bad, good)
        self.code.label(bad)
        with self.code.scope():
            if cut is None:
                self.runtime.first(Slot.STUCK, self.runtime.get(Slot.CURRENT))
            else:
                self.runtime.count_hit(self.hits.position(cut.label))
                self._note_decisive(cut.label, at, cut.alone)
            self.runtime.put(Slot.ALIVE, word(1))
        self.code.jump(end)
        self.code.label(good)

    def _when(self, guard: k.Guard, value: Scalar, at: int, cut: Cut | None, end: str) -> bool:
        """Go on only where the guard holds; whether it may."""
        if value.known == 1:
            return True
        failed, held = self.code.name("failed"), self.code.name("held")
        self.code.branch(value, held, failed)
        self.code.label(failed)
        with self.code.scope():
            if cut is None:
                self._note_decisive(guard.label, at + 1)
        self.code.jump(end)
        self.code.label(held)
        return True

    def _bound(self, number: int, guard: k.Guard, value: Scalar, at: int, cut: Cut | None, end: str) -> Cut | None:
        if cut is not None:
            return Cut(cut.label, self.code.both(cut.alone, value))
        if value.known == 1:
            return None
        exceeded, inside = self.code.name("exceeded"), self.code.name("inside")
        self.code.branch(value, inside, exceeded)
        self.code.label(exceeded)
        with self.code.scope():
            self._walk(number, at + 1, Cut(guard.label, TRUE), end)
        self.code.label(inside)
        if value.known == 0:
            self.code.jump(end)
        return None

    def _hit(self, cut: Cut, end: str) -> None:
        self.runtime.count_hit(self.hits.position(cut.label))
        self.runtime.put(Slot.ALIVE, word(1))
        self.runtime.mark(self.guards.position(f"{self.action.name}\0{cut.label}"), cut.alone)
        self.code.jump(end)

    def _pick(self, number: int, pick: k.Pick, at: int, cut: Cut | None, end: str) -> None:
        domain, undefined = self.lowering.apart(lambda: _domain(pick.domain, self.lowering))
        self._give_up(undefined, cut, at, end)
        name = pick.binder.name

        def chosen(symbol: Symbol, after: str) -> None:
            self.lowering.bound[name] = symbol
            self._walk(number, at + 1, cut, after)

        if isinstance(domain, Mask) and domain.bits.bits > UNROLLED_PICKS:
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

    def _pick_looped(self, domain: Mask, chosen: Callable[[Symbol, str], None]) -> None:
        def body(position: Scalar) -> None:
            after = self.code.name("next")
            chosen(position_symbol(self.code, domain, position), after)
            self.code.label(after)

        self.runtime.each_bit(domain.bits, body)

    # -------------------------------------------------------------------------------------------- coverage

    def _note_decisive(self, label: str, start: int, alone: Scalar = TRUE) -> None:
        """Mark a false guard if nothing from ``start`` on is an obstacle; not asked again once it is marked."""
        position = self.guards.position(f"{self.action.name}\0{label}")
        ask, done = self.code.name("ask"), self.code.name("asked")
        self.code.branch(self.runtime.is_marked(position), done, ask)
        self.code.label(ask)
        with self.code.scope():
            self.runtime.mark(position, self.code.both(alone, self._rest_holds(start, {})))
        self.code.jump(done)
        self.code.label(done)

    def _rest_holds(self, start: int, lost: Mapping[str, Scalar]) -> Scalar:
        """As the reference's ``rest_holds``; ``lost`` says of the lets and picks that may lack a value when they do."""
        code, holds = self.code, TRUE
        for at in range(start, self._prefix):
            each = self.action.body[at]
            without = code.any_of([lost[name] for name in sorted(locals_of(each) & lost.keys())])
            if isinstance(each, k.Guard):
                holds = code.both(holds, self._no_obstacle(each, without))
            elif isinstance(each, k.Let):
                lost = {**lost, each.binder.name: self._lost_let(each, without)}
            else:
                assert isinstance(each, k.Pick)
                return code.both(holds, self._some_pick(each, at, without, lost))
            if holds.known == 0:
                break
        return holds

    def _no_obstacle(self, guard: k.Guard, without: Scalar) -> Scalar:
        if without.known == 1:
            return TRUE
        value, undefined = self.lowering.apart(lambda: self.lowering.flag(guard.condition))
        return self.code.any_of([without, undefined, value])

    def _lost_let(self, let: k.Let, without: Scalar) -> Scalar:
        if without.known == 1:
            return TRUE
        symbol, undefined = self.lowering.apart(lambda: self.lowering.lower(let.value))
        self.lowering.bound[let.binder.name] = symbol
        return self.code.either(without, undefined)

    def _some_pick(self, pick: k.Pick, at: int, without: Scalar, lost: Mapping[str, Scalar]) -> Scalar:
        name, found = pick.binder.name, FALSE
        if without.known != 1:
            items, undefined = self.lowering.apart(lambda: listed(pick.domain, self.lowering))
            without = self.code.either(without, undefined)
            for there, item in items.items:
                self.lowering.bound[name] = item
                found = self.code.either(found, self.code.both(there, self._rest_holds(at + 1, lost)))
        if without.known == 0:
            return found
        return self.code.choose(without, self._rest_holds(at + 1, {**lost, name: TRUE}), found)

    # --------------------------------------------------------------------------------------------- updates

    def _update(self, number: int, end: str) -> None:
        writes: list[Write] = []
        after: dict[str, Symbol] = {}

        def make() -> None:
            collect(self.action.body[self._prefix :], TRUE, self.lowering, writes)
            refuse_overlaps(writes, self.lowering)
            for write in writes:
                current = after.get(write.variable, self.state.read(write.variable))
                after[write.variable] = apply(write, current, self._types[write.variable], self.lowering)

        _, undefined = self.lowering.apart(make)
        self._give_up(undefined, None, self._prefix, end)
        before = {name: self.state.read(name) for name in after}
        for name, exceeded in first_exceeding(writes, after, before, self._types, self.lowering):
            self._capacity(name, exceeded, end)
        self.runtime.put(Slot.ALIVE, word(1))
        self._emit(number, after)
        self.code.jump(end)

    def _capacity(self, name: str, exceeded: Scalar, end: str) -> None:
        if exceeded.known == 0:
            return
        over, fits = self.code.name("over"), self.code.name("fits")
        self.code.branch(exceeded, over, fits)
        self.code.label(over)
        with self.code.scope():
            self.runtime.count_hit(self.hits.position(f"capacity of {name}"))
            self.runtime.put(Slot.ALIVE, word(1))
        self.code.jump(end)
        self.code.label(fits)

    def _emit(self, number: int, after: dict[str, Symbol]) -> None:
        packer = Packer(self.state.row, self.layout)
        for variable, place in zip(self.kernel.variables, self.layout.places, strict=True):
            if variable.name in after:
                packer.put(after[variable.name], self.state.read(variable.name), place.shape, place.shift)
        words = ", ".join(each.typed for each in packer.words())
        self.code.do(f"call void @emit(ptr %context, ptr %row, i64 {number}, {words})")


def _domain(domain: k.Expr, lowering: Lowering) -> Mask | Bunch:
    if isinstance(domain, k.TypeDomain) and is_small(domain.of):
        return whole_type(domain)
    if isinstance(domain, k.TypeDomain | k.Interval | k.Subsets):
        return listed(domain, lowering)
    symbol = lowering.lower(domain)
    assert isinstance(symbol, Mask | Bunch)
    return symbol


def listed_items(code: Code, domain: Mask | Bunch) -> tuple[tuple[Scalar, Symbol], ...]:
    """The possible elements of a set, those that cannot be there left out."""
    if isinstance(domain, Bunch):
        return tuple(item for item in domain.items if item[0].known != 0)
    return bunch(code, domain).items
