"""Numbers and elements of a log as a window has them: few, named by position, in the same order and with the same small
distances.

A window of a few dozen lines states few numbers, and each element of a set parameter as one of few. A model that is
sized by the window, not by the log, has a state of a few hundred bits. Windows of one size share one kernel.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from assay.checker.interpreter.expressions.traverse import descendants
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, log_kernel
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue
from assay.traces.observe.model_size import trace_plan
from assay.traces.windows.recent_values import RecentValues

PROBE = 1_009
"""The first of the distinct values that size parameters are given to see which of them limits a type."""

MOST_CONSTANT = 16
"""Numbers up to this one that a spec names keep their place; larger ones are limits of types."""

Number = Callable[[str, int], int]
Element = Callable[[str, str], Atom]


@dataclass(frozen=True, slots=True)
class SizeProbe:
    """A spec whose size parameters have distinct values: so a type tells which of them limits it.

    ``parameters`` maps these values to names; ``constants`` are the numbers that the spec itself names.
    """

    kernel: k.Kernel
    plan: k.TracePlan
    parameters: Mapping[int, str]
    constants: frozenset[int]


_probes = RecentValues[SizeProbe](4)


def probe_of(loaded: Loaded, clause: str) -> SizeProbe:
    """The probe of a spec and a clause; the last few are kept."""
    return _probes.get_or_make(loaded, clause, lambda: _probe(loaded, clause))


def _probe(loaded: Loaded, clause: str) -> SizeProbe:
    names = [each.name for each in loaded.kernel.parameters if each.size]
    sizes = {name: PROBE + 7 * at for at, name in enumerate(names)}
    kernel = log_kernel(loaded, {}, sizes)
    return SizeProbe(
        kernel, trace_plan(kernel, clause), {v: n for n, v in sizes.items()}, frozenset(_constants(kernel))
    )


def _constants(kernel: k.Kernel) -> Iterator[int]:
    """The small numbers in the actions and rules of a kernel."""
    plans = (
        each for plan in kernel.traces for rule in plan.rules for each in (rule.then, rule.observe, rule.condition)
    )
    nodes: list[k.Node] = [*kernel.actions, *(each for each in plans if each is not None)]
    nodes += [each.condition for prop in kernel.properties for each in prop.conjuncts]
    for node in (each for every in nodes for each in descendants(every)):
        if isinstance(node, k.Const) and type(node.value) is int and 0 <= node.value <= MOST_CONSTANT:
            yield node.value


class ValueMap:
    """Rewrites the numbers and elements of values; the types are those of a probe."""

    def __init__(self, parameters: Mapping[int, str], number: Number, element: Element) -> None:
        self._parameters, self._number, self._element = parameters, number, element

    def __call__(self, value: Value, type_: t.Type) -> Value:
        """The value with other numbers and elements."""
        match type_:
            # In a probe the upper end of a sized range tells which parameter limits it.
            case t.RangeType(_, high, True) if high in self._parameters:
                return self._number(self._parameters[high], value)  # type: ignore[arg-type]  # a number, by its type
            case t.AtomType(sort):
                return self._element(sort.name, value.name)  # type: ignore[attr-defined]
            case t.OptionType(item):
                return Some(self(value.value, item)) if isinstance(value, Some) else None
            case t.SetType(item):
                return frozenset(self(each, item) for each in value)  # type: ignore[attr-defined]
            case t.SeqType(item):
                return tuple(self(each, item) for each in value)  # type: ignore[attr-defined]
            case t.BagType(item):
                return FrozenMap((self(each, item), n) for each, n in value.items())  # type: ignore[attr-defined]
            case t.MapType(key, item):
                return FrozenMap((self(a, key), self(b, item)) for a, b in value.items())  # type: ignore[attr-defined]
            case t.RecordType(_, fields):
                parts = zip(value.fields, fields, strict=True)  # type: ignore[attr-defined]
                return RecordValue(tuple(self(each, field.type) for each, field in parts))
            case t.EnumType(_, variants):
                return self._variant(value, variants)  # type: ignore[arg-type]
            case _:
                return value

    def _variant(self, value: VariantValue, variants: Sequence[t.VariantType]) -> VariantValue:
        fields = next(each.fields for each in variants if each.name == value.variant)
        parts = zip(value.payload, fields, strict=True)
        return VariantValue(value.variant, tuple(self(each, field.type) for each, field in parts))


class NamedNumbers:
    """The numbers and the elements that some values name, by parameter."""

    def __init__(self, probe: SizeProbe) -> None:
        self.numbers: dict[str, set[int]] = {name: set(probe.constants) for name in probe.parameters.values()}
        self.elements: dict[str, dict[str, None]] = {}
        # The rewritten values are of no use: what counts is what the two functions note on the way.
        self.walk = ValueMap(probe.parameters, self._number, self._element)

    def _number(self, parameter: str, number: int) -> int:
        self.numbers[parameter].add(number)
        return number

    def _element(self, sort: str, name: str) -> Atom:
        self.elements.setdefault(sort, {})[name] = None
        return Atom(sort, 0, name)


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers and the smaller ones that stand for them: order is kept, and each distance up to ``room``."""

    numbers: tuple[int, ...]
    places: tuple[int, ...]
    room: int

    @classmethod
    def of(cls, logged: Iterable[int], room: int) -> Scale:
        """The scale of the numbers that a window states."""
        numbers = tuple(sorted({0, *(each for each in logged if each >= 0)}))
        places = [0]
        for before, number in pairwise(numbers):
            # Of numbers further apart than `room` only their order is kept.
            places.append(places[-1] + min(number - before, room + 1))
        return cls(numbers, tuple(places), room)

    @property
    def size(self) -> int:
        """The largest number of the window, rounded up so that windows share a model."""
        return (1 << (self.places[-1] + self.room).bit_length()) - 1

    def place(self, number: int) -> int:
        """The number that stands for a stated one."""
        at = bisect_right(self.numbers, number) - 1
        return self.places[at] + min(number - self.numbers[at], self.room)

    def number(self, place: int) -> int:
        """A number that the given one may stand for: as far from the nearest stated one, of two from the later."""
        at = bisect_right(self.places, place) - 1
        after = place - self.places[at]
        if at + 1 < len(self.places) and (before := self.places[at + 1] - place) <= after:
            return self.numbers[at + 1] - before
        return self.numbers[at] + after
