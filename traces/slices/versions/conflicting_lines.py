"""Lines of one version that contradict each other, whatever came before: no update can agree with both.

All lines of a version report one outcome (docs/design/update-outcomes.md). Where two of them give one place of the
slice two different values, one of the two is wrong. No shared order and no hidden step makes both true. This is decided
from the lines' conditions alone, without search.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from typing import NamedTuple

from assay.checker.interpreter.expressions.traverse import descendants, free_locals, variables_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.values import Value
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.versions.version_history import number_of

_Place = tuple[k.Expr, frozenset[tuple[str, Value]]]
"""An expression over the slice's variables, with the values of its local names."""


def contradicted(
    model: TraceModel, lines: Iterable[OrderedObservation], own: Set[str]
) -> dict[int, list[OrderedObservation]]:
    """The versions with lines that contradict each other on the slice's ``own`` variables, each with all its lines."""
    demanded: dict[tuple[int, _Place], Value] = {}
    found: set[int] = set()
    demands = _Demands(model, own)
    of_version: dict[int, list[OrderedObservation]] = defaultdict(list)
    for line in lines:
        number = number_of(model, line)
        if number is None:
            continue
        of_version[number].append(line)
        # One contradiction is enough for a version, and evaluating demands is what costs here.
        for place, value in demands.of(line) if number not in found else ():
            if demanded.setdefault((number, place), value) != value:
                found.add(number)
    return {number: of_version[number] for number in found}


PAUSE = 10_000.0
"""In fewer milliseconds no slice is deleted everywhere, and another of its name created and written to."""


def are_of_two(model: TraceModel, same: Iterable[OrderedObservation], own: Set[str]) -> bool:
    """Whether lines of one version that contradict each other may be of two slices of one name, one after the other.

    So it is if the version is one of a slice's first, and those before a pause agree, and those after it.
    """
    ordered = sorted(same, key=by_time)
    # A new slice begins at version 0. That two lives both came to a higher version is not supposed.
    if any((number_of(model, each) or 0) > 1 for each in ordered):
        return False
    pauses = (at for at in range(1, len(ordered)) if ordered[at].time - ordered[at - 1].time > PAUSE)
    return any(
        not contradicted(model, part[0], own) and not contradicted(model, part[1], own)
        for part in ((ordered[:at], ordered[at:]) for at in pauses)
    )


def have_restarted(model: TraceModel, lines: Iterable[OrderedObservation]) -> bool:
    """Whether the last of some lines states another list (the replicas, say) than one before it, and a lower version.

    A list changes with a version of its own. So these are lines of two slices of one name.
    """
    *before, last = sorted(lines, key=by_time)
    # For example version 7 with replicas 1,2,3, and later version 2 with replicas 2,3,4.
    number = number_of(model, last)
    lists = {(name, value) for name, value in last.observation.values if isinstance(value, tuple)}
    return any(
        number is not None and (other := number_of(model, each)) is not None and other > number
        for each in before
        for name, value in each.observation.values
        if isinstance(value, tuple) and any(name == own and value != stated for own, stated in lists)
    )


class _Reads(NamedTuple):
    """The state variables and local names that an expression reads, and whether it reads the state before. Cached by
    rule.
    """

    variables: frozenset[str]
    names: frozenset[str]
    old: bool

    @staticmethod
    def of(expr: k.Expr) -> _Reads:
        """What an expression reads."""
        old = any(isinstance(each, k.Old) for each in (expr, *descendants(expr)))
        return _Reads(variables_of(expr), free_locals(expr), old)


class _Demands:
    """The values that lines require at places of a slice."""

    def __init__(self, model: TraceModel, own: Set[str]) -> None:
        self._model, self._own = model, own
        self._known: IdentityMemo[k.Expr, _Reads] = IdentityMemo()

    def of(self, line: OrderedObservation) -> Iterator[tuple[_Place, Value]]:
        """The places that a line requires to have a value after its update, with the value."""
        seen = line.observation
        # Of a line that reports a step it is `then` that speaks of the state after it.
        condition = seen.rule.then if seen.rule.steps else seen.rule.observe
        for part, bound in () if condition is None else self._all_of(condition, seen.bound):
            if isinstance(part, k.Equal) and not part.negated:
                for place, logged in ((part.left, part.right), (part.right, part.left)):
                    if self._is_place(place, bound) and self._is_known(logged, bound):
                        names = frozenset((name, bound[name]) for name in self._reads(place).names)
                        # What has no value demands nothing here; the check of the slice reports it.
                        with suppress(Undefined):
                            yield (place, names), self._model.value(logged, bound)

    def _reads(self, expr: k.Expr) -> _Reads:
        return self._known.get_or_make(expr, _Reads.of)

    def _is_known(self, expr: k.Expr, bound: Mapping[str, Value]) -> bool:
        """Whether an expression reads no state and only known names."""
        read = self._reads(expr)
        return not read.variables and read.names <= bound.keys()

    def _is_place(self, expr: k.Expr, bound: Mapping[str, Value]) -> bool:
        """Whether an expression reads nothing but the slice's state after the update."""
        read = self._reads(expr)
        return bool(read.variables) and read.variables <= self._own and read.names <= bound.keys() and not read.old

    def _all_of(self, condition: k.Expr, bound: Mapping[str, Value]) -> Iterator[tuple[k.Expr, Mapping[str, Value]]]:
        """The conjuncts of a condition with the known names; a name for a value of the state is unknown."""
        match condition:
            case k.Logic(op="and", parts=parts):
                for part in parts:
                    yield from self._all_of(part, bound)
            case k.LetIn(binder=binder, value=value, body=body):
                # A name whose value reads the state is unknown, even where a field outside has the same name.
                inner = {name: known for name, known in bound.items() if name != binder.name}
                if self._is_known(value, bound):
                    with suppress(Undefined):
                        inner[binder.name] = self._model.value(value, bound)
                yield from self._all_of(body, inner)
            case _:
                yield condition, bound
