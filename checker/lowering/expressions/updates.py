"""Updates: the writes of a body, each under a condition, and the symbols of the variables after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Several
from typing import assert_never

from assay.checker.lowering.expressions.access import entry, with_entry, with_field
from assay.checker.lowering.expressions.binder_elements import listed
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.expressions.range_check import exceeds, fit
from assay.checker.lowering.llvm.function_builder import TRUE, Scalar
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols.merge import choose, same
from assay.checker.lowering.symbols.symbol import Number, RecordSymbol, Symbol
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import statement
from assay.grammar.lazy_dataclass import dataclass

Path = tuple[Symbol | int, ...]


@dataclass(frozen=True, slots=True)
class SymbolicWrite:
    """A value for a place in a variable, written under a condition."""

    when: Scalar
    variable: str
    path: Path
    value: Symbol
    node: k.Assign


class Updates:
    """The updates at the end of a body. ``after`` are the symbols of the written variables; ``undefined`` is when one
    has no value."""

    def __init__(
        self, body: Several[k.Statement], state: StateSymbols, types: Mapping[str, t.Type], lowering: Lowering
    ) -> None:
        self.after: dict[str, Symbol] = {}
        self.writes: list[SymbolicWrite] = []
        self._state, self._types, self._lowering = state, types, lowering
        _, self.undefined = lowering.apart(lambda: self._make(body))

    def _make(self, body: Several[k.Statement]) -> None:
        # All values are lowered before any write is applied, so they read the state before the step.
        # Places that overlap are undefined, so the order in which writes are applied does not matter.
        collect(body, TRUE, self._lowering, self.writes)
        _refuse_overlaps(self.writes, self._lowering)
        for each in self.writes:
            current = self.after.get(each.variable, self._state.read(each.variable))
            self.after[each.variable] = _apply(each, current, self._types[each.variable], self._lowering)

    def exceeding(self) -> list[tuple[str, Scalar]]:
        """For each written variable, in the order of the writes, the condition that it exceeds its capacity."""
        code = self._lowering.code
        # Once a variable, not once a write: a variable may be written thousands of times.
        exceeding = {
            name: exceeds(code, after, self._types[name], self._state.read(name)) for name, after in self.after.items()
        }
        return [(each.variable, code.both(each.when, exceeding[each.variable])) for each in self.writes]


def collect(body: Several[k.Statement], when: Scalar, lowering: Lowering, writes: list[SymbolicWrite]) -> None:
    """Append the writes of these statements; what is undefined under ``when`` is recorded."""
    code = lowering.code
    for each in body:
        node = statement(each)
        match node:
            case k.Assign():
                writes.append(lowering.under(when, lambda node=node: _assign(node, when, lowering)))  # type: ignore[misc]
            case k.Let(binder, value):
                lowering.bound[binder.name] = lowering.under(when, lambda value=value: lowering.lower(value))  # type: ignore[misc]
            case k.If(condition, then, otherwise):
                test = lowering.under(when, lambda condition=condition: lowering.flag(condition))  # type: ignore[misc]
                _branch(then, code.both(when, test), lowering, writes)
                _branch(otherwise, code.both(when, code.invert(test)), lowering, writes)
            case k.For():
                _for(node, when, lowering, writes)
            case k.Guard() | k.Pick():
                raise AssertionError(f"{node.span}: guards and picks precede the updates")
            case _:
                assert_never(node)


def _branch(body: Several[k.Statement], when: Scalar, lowering: Lowering, writes: list[SymbolicWrite]) -> None:
    # A branch that is never taken is not translated.
    if when.known != 0:
        collect(body, when, lowering, writes)


def _for(node: k.For, when: Scalar, lowering: Lowering, writes: list[SymbolicWrite]) -> None:
    items = lowering.under(when, lambda: listed(node.domain, lowering))
    for there, item in items.items:
        lowering.bound[node.binder.name] = item
        _branch(node.body, lowering.code.both(when, there), lowering, writes)


def _assign(node: k.Assign, when: Scalar, lowering: Lowering) -> SymbolicWrite:
    path: Path = tuple(lowering.lower(part.key) if isinstance(part, k.AtKey) else part.index for part in node.path)
    try:
        fits, value = fit(lowering.code, lowering.lower(node.value), node.type)
    except UnsupportedError as error:
        raise error.at(node.span) from None
    lowering.fail_if(lowering.code.invert(fits))
    return SymbolicWrite(when, node.variable, path, value, node)


def _refuse_overlaps(writes: list[SymbolicWrite], lowering: Lowering) -> None:
    """Record as undefined that two writes overlap: that the place of one lies at or inside the place of the other."""
    code = lowering.code
    for earlier, later in _pairs_that_may_overlap(writes):
        both = code.both(earlier.when, later.when)
        if both.known != 0:
            lowering.fail_if(code.all_of([both, *_equal_parts(earlier.path, later.path, lowering)]))


def _pairs_that_may_overlap(writes: list[SymbolicWrite]) -> Iterator[tuple[SymbolicWrite, SymbolicWrite]]:
    """The pairs of writes to one variable, without those whose first keys are different constants.

    A loop that is unrolled writes an entry for each constant: all pairs of these would be very many.
    """
    known: dict[str, dict[int | None, list[SymbolicWrite]]] = {}
    for later in writes:
        by_key, key = known.setdefault(later.variable, {}), _first_constant(later.path)
        groups = [*by_key.values()] if key is None else [by_key.get(key, []), by_key.get(None, [])]
        for group in groups:
            for earlier in group:
                yield earlier, later
        by_key.setdefault(key, []).append(later)


def _first_constant(path: Path) -> int | None:
    head = path[0] if path else None
    return head.value.known if isinstance(head, Number) else head if isinstance(head, int) else None


def _equal_parts(one: Path, other: Path, lowering: Lowering) -> list[Scalar]:
    parts = []
    # Of two paths the shorter may be a prefix of the other: its place then contains the other's.
    for a, b in zip(one, other, strict=False):
        if isinstance(a, int) or isinstance(b, int):
            parts.append(TRUE if a == b else lowering.code.invert(TRUE))
        else:
            parts.append(same(lowering.code, a, b))
    return parts


def _apply(write: SymbolicWrite, current: Symbol, of: t.Type, lowering: Lowering) -> Symbol:
    """The variable after a write."""
    if not write.path:
        return choose(lowering.code, write.when, write.value, current)
    return lowering.under(write.when, lambda: _put(current, of, write.path, write, lowering))


def _put(current: Symbol, of: t.Type, path: Path, write: SymbolicWrite, lowering: Lowering) -> Symbol:
    head, rest = path[0], path[1:]
    code = lowering.code
    if isinstance(of, t.RecordType):
        assert isinstance(head, int)
        assert isinstance(current, RecordSymbol)
        old, part = current.fields[head], of.fields[head].type
        new = _put(old, part, rest, write, lowering) if rest else choose(code, write.when, write.value, old)
        return with_field(current, head, new)
    assert isinstance(of, t.MapType | t.SeqType)
    assert not isinstance(head, int)
    inner_type = of.value if isinstance(of, t.MapType) else of.item
    if rest:
        inner = _put(entry(current, head, of, lowering), inner_type, rest, write, lowering)
    else:
        # Only here: on the way to an inner place the key must be there already, so it is in range.
        head, inner = _key(head, of, lowering), write.value
    return with_entry(current, head, inner, of, lowering, write.when)


def _key(head: Symbol, of: t.MapType | t.SeqType, lowering: Lowering) -> Symbol:
    if isinstance(of, t.SeqType):
        return head
    fits, fitted = fit(lowering.code, head, of.key)
    lowering.fail_if(lowering.code.invert(fits))
    return fitted
