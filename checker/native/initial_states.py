"""Initial states in compiled code: each pick of ``init`` is a function that calls that of the next pick; the last emits
a state.

So code grows with the number of picks, not of states. The values picked so far are kept in rows, one per function. A
call that runs out of capacity or time notes the position of each pick, and the next call continues there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.checker.layout.call_frame import ContextSlot, Starts
from assay.checker.layout.numbered_types import is_small
from assay.checker.layout.row import WORD, RowLayout
from assay.checker.layout.shape import BitRange, NumberShape, Shape
from assay.checker.layout.shape_of_type import shape_of
from assay.checker.layout.value_numbering import universe
from assay.checker.lowering.expressions.binder_elements import (
    Choices,
    Powerset,
    RankedDomain,
    choice,
    choices_of,
    elements,
    positions,
    set_of,
)
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.loops import each, return_if_halted, search
from assay.checker.lowering.expressions.pack_unpack import Packer, RowWords
from assay.checker.lowering.expressions.updates import SymbolicWrite, Updates, collect
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, word
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols.merge import same
from assay.checker.lowering.symbols.ranking import literal, nothing
from assay.checker.lowering.symbols.symbol import Bunch, Mask, Number, Symbol
from assay.checker.native.decisive_guards import LabelPositions
from assay.checker.native.runtime import Runtime
from assay.checker.native.unroll_budget import Writing, written
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass

FEW = 512
"""So many initial states the reference evaluator lists as fast as code for them is compiled."""
# Positions are compared as signed words.
POSITION_BITS = 62


def initial_functions(
    kernel: k.Kernel, layout: RowLayout, hits: LabelPositions, strict: frozenset[str]
) -> tuple[str, Starts] | None:
    """The functions behind ``@begin``. None if there are few initial states, or one is made in a way that is not
    compiled."""
    found: list[_InitialWriter] = []

    def write(writing: Writing) -> str:
        found.append(_InitialWriter(kernel, layout, hits, writing))
        return found[-1].write()

    try:
        (text,) = written([write], strict)
    # No message: the reference evaluator lists the states then, as it does where they are few.
    except (UnsupportedError, SpecError):
        return None
    writer = found[-1]
    return (text, Starts(len(writer.picks), writer.words)) if writer.most > FEW else None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A pick that was made: its name, and where its value lies in the rows of picks."""

    name: str
    place: BitRange


class _InitialWriter:
    """Writes the functions. ``picks`` counts them, ``words`` is the size of their rows together, ``most`` the number of
    combinations of picks."""

    def __init__(self, kernel: k.Kernel, layout: RowLayout, hits: LabelPositions, writing: Writing) -> None:
        self.picks: list[_Kept] = []
        self.words = 0
        self.most = 1
        self._kernel, self._layout, self._hits, self._writing = kernel, layout, hits, writing
        self._types = {v.name: v.type for v in kernel.variables}
        self._bits = 0

    def write(self) -> str:
        """The text of the functions."""
        body, functions, start = self._kernel.init.body, list[str](), 0
        for at, statement in enumerate(body):
            if isinstance(statement, k.Pick):
                functions.append(self._pick(statement, body[:start], body[start:at]))
                start = at + 1
        functions.append(self._state(body))
        return "\n".join([*functions, _BEGIN])

    @property
    def _row_words(self) -> int:
        """The words of the row that the next function reads."""
        return max(1, -(-self._bits // WORD))

    def _begin(self) -> tuple[RowWords, Runtime, Lowering]:
        """The beginning of a function: it may have to pause, and reads what was picked."""
        code = self._writing.code()
        runtime = Runtime(code)
        # At each pick, so that a choice among very many states can be cancelled.
        return_if_halted(code)
        left, spent, on = runtime.get(ContextSlot.BUDGET), code.name("spent"), code.name("on")
        code.branch(code.compare("eq", left, word(0)), spent, on)
        code.label(spent)
        _pause(code, runtime)
        code.label(on)
        runtime.put(ContextSlot.BUDGET, code.fresh(64, f"sub {left.typed}, 1"))
        lowering = Lowering(code, None, unrolling=self._writing.unrolling, strict=self._writing.strict)
        row = runtime.load_row(self._row_words)
        self.words += self._row_words
        for kept in self.picks:
            lowering.bound[kept.name] = row.load(kept.place.shape, kept.place.shift)
        return row, runtime, lowering

    def _function(self, number: int, code: FunctionBuilder) -> str:
        body = "\n".join(code.lines)
        return f"define internal void @initial_{number}(ptr %context, ptr %row) noinline {{\nentry:\n{body}\n  ret void\n}}\n"

    # ------------------------------------------------------------------------------------------------ picks

    def _pick(self, pick: k.Pick, before: Sequence[k.Statement], segment: Sequence[k.Statement]) -> str:
        """The function of a pick. ``segment`` are the statements between the pick before and this one, which must have
        values too."""
        kept, words, most, bits = len(self.picks), self.words, self.most, self._bits
        try:
            return self._written(pick, before, segment, asks_first=False)
        except _MayBeUndefinedError:
            del self.picks[kept:]
            self.words, self.most, self._bits = words, most, bits
            return self._written(pick, before, segment, asks_first=True)

    def _written(
        self, pick: k.Pick, before: Sequence[k.Statement], segment: Sequence[k.Statement], *, asks_first: bool
    ) -> str:
        """The function of a pick; it asks first whether the filter has a value for every element, if that is not
        known."""
        number, words = len(self.picks), self._row_words
        row, runtime, lowering = self._begin()
        code = lowering.code
        # Names that a later domain may mention; assignments before are looked at when the state is made.
        lets = [each for each in before if isinstance(each, k.Let)]
        lowering.apart(lambda: collect(lets, TRUE, lowering, []))  # their values were looked at before
        _, undefined = lowering.apart(lambda: collect(segment, TRUE, lowering, []))
        _stuck_if(code, runtime, undefined)
        # A subset of a large type has no mask, but each of its elements can be asked.
        whole, keeps = _unfiltered(pick.domain)
        domain, undefined = lowering.apart(lambda: choices_of(whole, lowering))
        _stuck_if(code, runtime, undefined)
        domain = _in_order(code, domain, pick)
        shape = self._keep(pick, domain)
        address = code.fresh(64, f"getelementptr i64, ptr {runtime.array(ContextSlot.POSITIONS)}, i64 {number}").text
        start = code.fresh(64, f"load i64, ptr {address}")
        place = self.picks[-1].place
        blank = [word(0)] * (self._row_words - words)
        target = code.fresh(64, f"getelementptr i64, ptr %row, i64 {words}").text

        def go_on(item: Symbol, at: Scalar, after: str) -> None:
            _keep_if(lowering, keeps, item, after, is_defined=asks_first)
            packer = Packer(RowWords(code, [*row.words, *blank]), RowLayout(self._row_words, ()))
            packer.put(item, None, shape, place.shift)
            for offset, value in enumerate(packer.words()):
                to = code.fresh(64, f"getelementptr i64, ptr {target}, i64 {offset}")
                code.do(f"store {value.typed}, ptr {to.text}")
            code.do(f"call void @initial_{number + 1}(ptr %context, ptr {target})")
            _return_paused(code, runtime, address, at)
            code.jump(after)

        if keeps is not None and asks_first:
            _ask_all(lowering, runtime, keeps, domain, start)
        _run_through(code, domain, start, go_on)
        # This pick came to its end: for the next value of the pick before, it begins anew.
        code.do(f"store i64 0, ptr {address}")
        return self._function(number, code)

    def _keep(self, pick: k.Pick, domain: Choices) -> Shape:
        """A place for the value of a pick in the rows of later picks."""
        shape = _kept_shape(pick, domain)
        self.picks.append(_Kept(pick.binder.name, BitRange(self._bits, shape)))
        self._bits += shape.width
        self.most *= _size(domain)
        return shape

    # ------------------------------------------------------------------------------------------------ state

    def _state(self, body: Sequence[k.Statement]) -> str:
        """The function that makes a state of the picks, and emits it if it satisfies the conditions."""
        _, runtime, lowering = self._begin()
        code = lowering.code
        # Before anything is counted: a call that pauses comes here again with the same picks.
        self._need_room(code, runtime)
        blank = RowWords(code, [word(0)] * self._layout.words)
        state = _Unset(blank, self._layout, self._kernel.variables)
        updates = Updates([each for each in body if not isinstance(each, k.Pick)], state, self._types, lowering)
        _stuck_if(code, runtime, code.either(updates.undefined, self._missing(updates, lowering)))
        for name, exceeded in updates.exceeding():
            self._cut_if(code, runtime, exceeded, f"capacity of {name}")
        packer = Packer(blank, self._layout)
        for variable, place in zip(self._kernel.variables, self._layout.places, strict=True):
            # A variable without a value was refused above, so what stands for it is never emitted.
            packer.put(updates.after.get(variable.name, state.read(variable.name)), None, place.shape, place.shift)
        words = packer.words()
        lowering.now = StateSymbols(RowWords(code, words), self._layout, self._kernel.variables)
        for variable in self._kernel.variables:
            lowering.now.read(variable.name)
        self._conditions(code, runtime, lowering)
        code.do(f"call void @emit_initial(ptr %context, ptr null, i64 0, {', '.join(each.typed for each in words)})")
        return self._function(len(self.picks), code)

    def _need_room(self, code: FunctionBuilder, runtime: Runtime) -> None:
        full, room = code.name("full"), code.name("room")
        count, capacity = runtime.get(ContextSlot.COUNT), runtime.get(ContextSlot.CAPACITY)
        code.branch(code.fresh(1, f"icmp uge {count.typed}, {capacity.text}"), full, room)
        code.label(full)
        _pause(code, runtime)
        code.label(room)

    def _missing(self, updates: Updates, lowering: Lowering) -> Scalar:
        """Whether a variable, or an entry of one, got no value."""
        code, missing = lowering.code, FALSE
        for variable in self._kernel.variables:
            mine = [each for each in updates.writes if each.variable == variable.name]
            given = code.any_of([each.when for each in mine])
            # Written as a whole or by parts: both at once would overlap, which is undefined.
            if any(each.path for each in mine):
                given = _all_parts(variable.type, mine, lowering)
            missing = code.either(missing, code.invert(given))
        return missing

    def _conditions(self, code: FunctionBuilder, runtime: Runtime, lowering: Lowering) -> None:
        """Continue only with a state that satisfies every condition. A state that only bounds refuse is counted under
        the first of them."""
        refused: list[tuple[str, Scalar]] = []
        for guard in self._kernel.init.conditions:
            value, undefined = lowering.apart(lambda guard=guard: lowering.flag(guard.condition))  # type: ignore[misc]
            _stuck_if(code, runtime, undefined)
            if guard.kind == "bound":
                refused.append((guard.label, code.invert(value)))
            else:
                _return_if(code, code.invert(value), lambda: None)
        for label, when in refused:
            self._cut_if(code, runtime, when, label)

    def _cut_if(self, code: FunctionBuilder, runtime: Runtime, when: Scalar, label: str) -> None:
        _return_if(code, when, lambda: runtime.count_hit(self._hits.position(label)))


class _Unset(StateSymbols):
    """A state in which no variable has a value yet."""

    def __init__(self, row: RowWords, layout: RowLayout, variables: tuple[k.Variable, ...]) -> None:
        super().__init__(row, layout, variables)
        # Placeholders: `init` reads no state, but writes to parts need something to write into.
        self._known = {variable.name: nothing(variable.type) for variable in variables}


_BEGIN = f"""define void @begin(ptr %context) {{
entry:
  %place = getelementptr i64, ptr %context, i64 {int(ContextSlot.PICKS)}
  %row = load ptr, ptr %place
  %paused = getelementptr i64, ptr %context, i64 {int(ContextSlot.PAUSED)}
  store i64 0, ptr %paused
  call void @initial_0(ptr %context, ptr %row)
  ret void
}}
"""


def _pause(code: FunctionBuilder, runtime: Runtime) -> None:
    runtime.put(ContextSlot.PAUSED, word(1))
    code.do("ret void")


def _return_if(code: FunctionBuilder, when: Scalar, first: Callable[[], None]) -> None:
    """Return under a condition, after doing something."""
    if when.known == 0:
        return
    out, on = code.name("out"), code.name("on")
    code.branch(when, out, on)
    code.label(out)
    with code.scope():
        first()
    code.do("ret void")
    code.label(on)


def _stuck_if(code: FunctionBuilder, runtime: Runtime, undefined: Scalar) -> None:
    _return_if(code, undefined, lambda: runtime.first(ContextSlot.STUCK, word(0)))


def _return_paused(code: FunctionBuilder, runtime: Runtime, address: str, at: Scalar) -> None:
    """Return if the call did not come to its end; the next call then begins here."""
    paused = code.fresh(1, f"icmp ne {runtime.get(ContextSlot.PAUSED).typed}, 0")
    _return_if(code, paused, lambda: code.do(f"store {at.typed}, ptr {address}"))


def _run_through(
    code: FunctionBuilder, domain: Choices, start: Scalar, go_on: Callable[[Symbol, Scalar, str], None]
) -> None:
    """Visit every element from position ``start`` on."""

    def one(there: Scalar, item: Callable[[], Symbol], at: Scalar) -> None:
        inside, after = code.name("picked"), code.name("next")
        code.branch(code.both(there, code.compare("sle", start, at)), inside, after)
        code.label(inside)
        with code.scope():
            go_on(item(), at, after)
        code.label(after)

    if isinstance(domain, Bunch):
        for at, (there, item) in enumerate(domain.items):
            one(there, lambda item=item: item, word(at))  # type: ignore[misc]
        return
    # Loops of every kind visit positions in increasing order, so those below `start` were visited before the pause.
    each(code, positions(domain), lambda at: one(TRUE, lambda: choice(code, domain, at), code.resize(at, WORD)))


def _in_order(code: FunctionBuilder, domain: Choices, pick: k.Pick) -> Choices:
    """The elements in the order in which the reference evaluator takes them."""
    if isinstance(domain, Bunch) and not domain.ordered and len(domain.items) > 1:
        domain = set_of(code, list(domain.items), pick.binder.type)
        if isinstance(domain, Bunch):
            raise UnsupportedError("a choice of elements in no known order", pick.span)
    return domain


def _size(domain: Choices) -> int:
    match domain:
        case RankedDomain(_, size):
            return size
        case Bunch(items):
            return len(items)
        case Powerset(of):
            if of.bits.bits > POSITION_BITS:
                raise UnsupportedError("subsets of so large a set")
            return 1 << of.bits.bits
        case Mask():
            return elements(domain)
        case _:
            raise AssertionError("slots are read from a state")


def _kept_shape(pick: k.Pick, domain: Choices) -> Shape:
    """How the value of a pick is kept. It was not stored in a variable yet, so it need not be a value of the pick's
    type."""
    type_ = pick.binder.type
    if isinstance(type_, t.RangeType | t.IntType):
        low, high = _interval(domain)
        return NumberShape(max(1, (high - low).bit_length()), low, high)
    if not _has_stored_values(pick.domain) and not _is_kept(type_):
        raise UnsupportedError("a choice of such values", pick.span)
    return shape_of(type_, pick.span)


def _has_stored_values(domain: k.Expr) -> bool:
    """Whether all elements of a set are values of their type as a variable could store them."""
    match domain:
        case k.TypeDomain():
            return True
        case k.Filter(domain=operand) | k.Subsets(operand=operand):
            return _has_stored_values(operand)
        case _:
            return False


def _unfiltered(domain: k.Expr) -> tuple[k.Expr, k.Filter | None]:
    """A set to visit, and the filter for each element, where the set is too large to compute its subset first."""
    if isinstance(domain, k.Filter) and isinstance(domain.domain, k.TypeDomain) and not is_small(domain.domain.of):
        return domain.domain, domain
    return domain, None


class _MayBeUndefinedError(Exception):
    """A filter may have no value for an element, which leaves the whole set without one, whatever the others are."""


def _ask_all(lowering: Lowering, runtime: Runtime, keeps: k.Filter, domain: Choices, start: Scalar) -> None:
    """Return if the filter has no value for some element. A call that goes on after a pause has asked before."""
    if isinstance(domain, Bunch):
        raise UnsupportedError("a choice from so few elements that their filter is not asked for each", keeps.span)
    code = lowering.code
    begins, on = code.name("begins"), code.name("asked")

    def body(at: Scalar) -> tuple[Scalar, Scalar]:
        return_if_halted(code)
        lowering.bound[keeps.binder.name] = choice(code, domain, at)
        return FALSE, lowering.apart(lambda: lowering.flag(keeps.condition))[1]

    code.branch(code.compare("eq", start, word(0)), begins, on)
    code.label(begins)
    with code.scope():
        _, undefined = search(code, positions(domain), body)
        _stuck_if(code, runtime, undefined)
    code.jump(on)
    code.label(on)


def _keep_if(
    lowering: Lowering, keeps: k.Filter | None, item: Symbol, otherwise: str, *, is_defined: bool = False
) -> None:
    """Continue only with an element that the filter keeps."""
    if keeps is None:
        return
    lowering.bound[keeps.binder.name] = item
    value, undefined = lowering.apart(lambda: lowering.flag(keeps.condition))
    if undefined.known != 0 and not is_defined:
        raise _MayBeUndefinedError
    kept = lowering.code.name("kept")
    lowering.code.branch(value, kept, otherwise)
    lowering.code.label(kept)


def _interval(domain: Choices) -> tuple[int, int]:
    if isinstance(domain, Bunch):
        numbers = [item for _, item in domain.items if isinstance(item, Number)]
        return min((x.low for x in numbers), default=0), max((x.high for x in numbers), default=0)
    if isinstance(domain, RankedDomain):
        assert isinstance(domain.of, t.RangeType)
        return domain.of.low, domain.of.high
    assert isinstance(domain, Mask)
    return domain.base, domain.base + max(0, domain.bits.bits - 1)


def _is_kept(type_: t.Type) -> bool:
    """Whether every value used where one of the type is expected is one even before it is stored. Storing checks
    numbers and sizes."""
    match type_:
        case t.BoolType() | t.AtomType() | t.RangeType():
            return True
        case t.EnumType(_, variants):
            return all(_is_kept(field.type) for variant in variants for field in variant.fields)
        case t.RecordType(_, fields):
            return all(_is_kept(field.type) for field in fields)
        case t.OptionType(item):
            return _is_kept(item)
        case t.SetType(item, None):
            return isinstance(item, t.BoolType | t.AtomType)
        case _:
            return False


def _all_parts(type_: t.Type, writes: Sequence[SymbolicWrite], lowering: Lowering) -> Scalar:
    """Whether every entry of a map, or field of a record, is written, each of them whole."""
    code = lowering.code
    if any(len(each.path) != 1 for each in writes):
        raise UnsupportedError("an initial value that is made of parts of parts")
    match type_:
        case t.RecordType(_, fields):
            given = [[each.when for each in writes if each.path[0] == at] for at in range(len(fields))]
        case t.MapType(key, _, _, False) if is_small(key):
            keys = [literal(value, key) for value in universe(key).values]
            given = [[code.both(each.when, _is_at(code, each, x)) for each in writes] for x in keys]
        case _:
            raise UnsupportedError("an initial value that is made of such parts")
    return code.all_of([code.any_of(each) for each in given])


def _is_at(code: FunctionBuilder, write: SymbolicWrite, key: Symbol) -> Scalar:
    (head,) = write.path
    assert not isinstance(head, int)
    return same(code, head, key)
