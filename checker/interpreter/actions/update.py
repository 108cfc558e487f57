"""Updates: the writes of a body's statements, and the state that they make together.

Every right-hand side, index and condition reads the state before the step. Writes are collected first and applied
afterwards. Two writes of which one lies at or inside the place of the other have no defined result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, assert_never

from assay.checker.interpreter.expressions.access import entry, with_entry, with_field
from assay.checker.interpreter.expressions.enumerate_set import listing
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.values.type_check import CapacityExceeded, ExceedsAt, Fits, exceeds_along, range_check
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel.node_unions import statement
from assay.grammar.kernel.types import AtomType, MapType, RecordType, SeqType, Type
from assay.grammar.values import FrozenMap, RecordValue, Value


class Unset:
    """What a variable holds before the initial state gives it a value."""


UNSET = Unset()


class PendingWrite(NamedTuple):
    """A value for a place: a variable by position, and the keys, indices and field positions inside it."""

    variable: int
    path: tuple[Any, ...]
    value: Any
    assign: k.Assign


Writer = Callable[[Frame, list[PendingWrite]], None]


def writer(statements: Sequence[k.Statement], scope: EvaluationScope) -> Writer:
    """A function that appends the writes of these statements to a list."""
    parts = [_writer(each, scope) for each in statements]

    def write_all(frame: Frame, writes: list[PendingWrite]) -> None:
        for part in parts:
            part(frame, writes)

    return write_all


def _writer(each: k.Statement, scope: EvaluationScope) -> Writer:
    node = statement(each)
    match node:
        case k.Assign():
            return _assign(node, scope)
        case k.If():
            return _if(node, scope)
        case k.For():
            return _for(node, scope)
        case k.Let(binder, value):
            return _let(binder.name, scope.meaning(value))
        case k.Guard() | k.Pick():
            raise AssertionError(f"{node.span}: guards and picks precede the updates")
        case _:
            assert_never(node)


def _let(name: str, value: Meaning) -> Writer:
    def let(frame: Frame, _: list[PendingWrite]) -> None:
        frame.locals[name] = value(frame)

    return let


def _if(node: k.If, scope: EvaluationScope) -> Writer:
    test, then, otherwise = scope.meaning(node.condition), writer(node.then, scope), writer(node.otherwise, scope)

    def branch(frame: Frame, writes: list[PendingWrite]) -> None:
        (then if test(frame) else otherwise)(frame, writes)

    return branch


def _for(node: k.For, scope: EvaluationScope) -> Writer:
    elements, body, name = listing(node.domain, scope), writer(node.body, scope), node.binder.name

    def each(frame: Frame, writes: list[PendingWrite]) -> None:
        for value in elements(frame):
            frame.locals[name] = value
            body(frame, writes)

    return each


def _assign(node: k.Assign, scope: EvaluationScope) -> Writer:
    position, value, fits = scope.positions[node.variable], scope.meaning(node.value), range_check(node.type)
    path = [scope.meaning(part.key) if isinstance(part, k.AtKey) else _constant(part.index) for part in node.path]

    def assign(frame: Frame, writes: list[PendingWrite]) -> None:
        place = tuple([part(frame) for part in path]) if path else ()
        result = value(frame)
        if fits is not None:
            # Only the new value is looked at; the rest of the variable was checked when it was written.
            _fit(fits, result, node)
        writes.append(PendingWrite(position, place, result, node))

    return assign


def _constant(value: Any) -> Meaning:
    return lambda _: value


def _fit(fits: Fits, value: Any, node: k.Assign) -> None:
    try:
        fits(value)
    except Undefined as undefined:
        raise Undefined(f"{undefined.message} (assigned to `{node.variable}`)", node.span) from None


class Updater:
    """Applies writes to states of these variables."""

    __slots__ = ("_exceeds", "_names", "_types", "_whole")

    def __init__(self, variables: Sequence[k.Variable]) -> None:
        self._names = [variable.name for variable in variables]
        self._types = [variable.type for variable in variables]
        self._exceeds: IdentityMemo[k.Assign, tuple[ExceedsAt | None]] = IdentityMemo()
        # For initial states alone: a map that is built entry by entry may be incomplete.
        self._whole: list[Fits | None] = [range_check(variable.type) for variable in variables]

    def after(self, state: tuple[Value, ...], writes: list[PendingWrite]) -> tuple[Value, ...]:
        """The state after the writes. Raises ``Undefined``, or else ``CapacityExceeded`` with the name of
        the variable."""
        _refuse_overlaps(writes, self._names)
        values = list(state)
        for position, path, value, assign in writes:
            values[position] = value if not path else _put(values[position], self._types[position], path, value, assign)
        # After all writes: a capacity is one of the whole collection, and two writes may add and remove.
        self._refuse_excess(values, writes)
        return tuple(values)

    def initial(self, writes: list[PendingWrite]) -> tuple[Value, ...]:
        """The initial state that the writes make; a total map may be given entry by entry."""
        _refuse_overlaps(writes, self._names)
        values: list[Any] = [UNSET] * len(self._names)
        for position, path, value, assign in writes:
            of = self._types[position]
            values[position] = value if not path else _build(values[position], of, path, value, assign)
        for name, value, fits in zip(self._names, values, self._whole, strict=True):
            if _is_incomplete(value):
                raise Undefined(f"`{name}` has no initial value")
            # Writes were checked one by one; this adds that total maps have all their keys.
            if fits is not None:
                fits(value)
        self._refuse_excess(values, writes)
        return tuple(values)

    def _refuse_excess(self, values: list[Any], writes: list[PendingWrite]) -> None:
        """Check capacities where something was written; everything else was checked before."""
        for position, path, _, assign in writes:
            known = self._exceeds.get(assign)
            if known is None:
                check = exceeds_along(
                    self._types[position], [each.index if isinstance(each, k.AtField) else None for each in assign.path]
                )
                known = self._exceeds[assign] = (check,)
            (exceeds,) = known
            if exceeds is not None and exceeds(values[position], path):
                raise CapacityExceeded(self._names[position])


def _is_incomplete(value: Any) -> bool:
    match value:
        case Unset():
            return True
        case RecordValue(fields):
            return any(map(_is_incomplete, fields))
        case FrozenMap():
            return any(map(_is_incomplete, value.values()))
        case _:
            return False


def _refuse_overlaps(writes: list[PendingWrite], names: list[str]) -> None:
    # Most actions write each variable at most once.
    if len(writes) < 2 or len({write.variable for write in writes}) == len(writes):
        return
    # Sets of places, and of the places around them: pairs of many writes would take quadratic time.
    written: set[tuple[Any, ...]] = set()
    above: set[tuple[Any, ...]] = set()
    for later in writes:
        place = (later.variable, *later.path)
        around = [place[:length] for length in range(1, len(place))]
        if place in written or place in above or not written.isdisjoint(around):
            raise Undefined(f"two assignments to the same place of `{names[later.variable]}`", later.assign.span)
        written.add(place)
        above.update(around)


def _put(current: Any, of: Type, path: tuple[Any, ...], value: Any, assign: k.Assign) -> Any:
    head, rest = path[0], path[1:]
    match of:
        case RecordType(_, fields):
            inner = value if not rest else _put(current.fields[head], fields[head].type, rest, value, assign)
            return with_field(current, head, inner)
        # A partial map may gain a key by an assignment, but nothing can be assigned inside an entry that is absent.
        case MapType(key, image, _, _) if not rest:
            _fit_key(key, head, assign)
            return with_entry(current, head, value, of, assign.span, key)
        case MapType(key, image, _, _):
            inner = _put(entry(current, head, of, assign.span, key), image, rest, value, assign)
            return with_entry(current, head, inner, of, assign.span, key)
        case SeqType(item):
            old = entry(current, head, of, assign.span, item)
            inner = value if not rest else _put(old, item, rest, value, assign)
            return with_entry(current, head, inner, of, assign.span, item)
        case other:
            raise AssertionError(f"{assign.span}: {other} has no parts to assign to")


def _fit_key(of: Type, key: Any, assign: k.Assign) -> None:
    # Elements always fit; this is the commonest key, and making a check takes longer than the check.
    if isinstance(of, AtomType):
        return
    fits = range_check(of)
    if fits is not None:
        _fit(fits, key, assign)


def _build(current: Any, of: Type, path: tuple[Any, ...], value: Any, assign: k.Assign) -> Any:
    head, rest = path[0], path[1:]
    match of:
        # Total and partial alike: which keys are missing is asked when all writes are made.
        case MapType(key, image):
            _fit_key(key, head, assign)
            # Entry by entry: what is missing at the end is found by `_is_incomplete`.
            table = FrozenMap() if current is UNSET else current
            inner = _build(table.get(head, UNSET), image, rest, value, assign) if rest else value
            return table.changed(head, inner)
        case RecordType(_, fields):
            record = RecordValue((UNSET,) * len(fields)) if current is UNSET else current
            inner = _build(record.fields[head], fields[head].type, rest, value, assign) if rest else value
            return with_field(record, head, inner)
        case _ if current is UNSET:
            raise Undefined(f"`{assign.variable}` has no initial value to change", assign.span)
        case _:
            return _put(current, of, path, value, assign)
