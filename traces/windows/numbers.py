"""Numbers and elements of a log as a window has them: few, named by position, in the same order and with the same small
distances.

A window of a few dozen lines states few numbers, and each element of a set parameter as one of few. A model that is
sized by the window, not by the log, has a state of a few hundred bits. Windows of one size share one kernel.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise

from assay.checker.interpreter.expressions.traverse import children, descendants
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import parts
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, log_kernel
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue
from assay.traces.observe.model_size import trace_plan
from assay.traces.observe.partial_order import files_tell_order
from assay.traces.windows.recent_values import RecentValues

PROBE = 1_009
"""The first of the distinct values that size parameters are given to see which of them limits a type."""

OTHER_PROBE = 5_003
"""The first value in another such probe, which is made where a number may be the spec's own or a parameter's."""

MOST_CONSTANT = PROBE // 4
"""Numbers up to this one that a spec names are its own: no size parameter has made them."""

MOST_ELEMENTS = 1_000
"""No window holds a collection of more: a larger number in a line is none of elements."""

Number = Callable[[str, int], int]
Element = Callable[[str, str], Atom]


@dataclass(frozen=True, slots=True)
class SizeProbe:
    """A spec whose size parameters have distinct values: so a type tells which of them limits it.

    ``parameters`` maps these values to names; ``constants`` are the numbers that the spec itself names,
    without their signs.
    ``distance`` is the largest of them that stands for a distance between two numbers. If it is ``exact``, numbers of
    the log are added or multiplied, and smaller ones cannot stand for them.
    """

    kernel: k.Kernel
    plan: k.TracePlan
    parameters: Mapping[int, str]
    constants: frozenset[int]
    distance: int = 0
    exact: bool = False
    grows: bool = False
    """Whether size parameters say how many elements collections may have."""

    def scale(self, numbers: Set[int], room: int) -> Scale:
        """The scale of some numbers, with as much room as the spec needs."""
        if not self.exact:
            return Scale.of(numbers, max(room, self.distance), self.constants)
        # A sum of two numbers that lines state may be one that none states.
        largest = max(map(abs, numbers), default=0)
        return Scale.of(numbers, max(room, self.distance, largest), {*self.constants, largest})


_probes = RecentValues[SizeProbe](4)


def probe_of(loaded: Loaded, clause: str) -> SizeProbe:
    """The probe of a spec and a clause; the last few are kept."""
    return _probes.get_or_make(loaded, clause, lambda: _probe(loaded, clause))


def _probe(loaded: Loaded, clause: str) -> SizeProbe:
    names = [each.name for each in loaded.kernel.parameters if each.size]
    sizes = {name: PROBE + 7 * at for at, name in enumerate(names)}
    kernel = log_kernel(loaded, {}, sizes)
    found = frozenset(_of_kernel(kernel))
    constants = frozenset(each for each in found if each <= MOST_CONSTANT)
    if found - constants - set(sizes.values()):
        # A larger number may be one that a size parameter makes, such as `Max + 1`: with other sizes it is another one.
        others = log_kernel(loaded, {}, {name: OTHER_PROBE + 11 * at for at, name in enumerate(names)})
        constants |= found.intersection(_of_kernel(others))
    distances = constants.intersection(each for node in _nodes(kernel) for each in _distances_in(node))
    parameters = {value: name for name, value in sizes.items()}
    every = [each for node in _nodes(kernel) for each in (node, *descendants(node))]
    plan = trace_plan(kernel, clause)
    # In logs of Kafka sums only compare distances, which a scale keeps in order; offsets would make its windows large.
    exact = files_tell_order(plan) and any(_computes(each) or _counts(each) for each in every)
    types = [*(each.type for each in kernel.variables), *(f.binder.type for rule in plan.rules for f in rule.fields)]
    return SizeProbe(kernel, plan, parameters, constants, max(distances, default=0), exact, _grow(types))


def _nodes(kernel: k.Kernel) -> list[k.Node]:
    """The actions of a kernel, and the conditions of its rules and properties."""
    rules = (rule for plan in kernel.traces for rule in plan.rules)
    conditions = [each for rule in rules for each in (rule.then, rule.observe, rule.condition) if each is not None]
    conditions += [each.condition for prop in kernel.properties for each in prop.conjuncts]
    return [*kernel.actions, *conditions]


def _of_kernel(kernel: k.Kernel) -> Iterator[int]:
    """The numbers that a kernel names, without their signs."""
    return (each for node in _nodes(kernel) for each in constants_in(node))


def _distances_in(node: k.Node) -> Iterator[int]:
    """The numbers that are added to others, or with which sums are compared: `y >= x + 10`, `y - x > 10`."""
    for each in (node, *descendants(node)):
        parts = tuple(children(each))
        if any(isinstance(part, k.Arithmetic | k.Interval) for part in (each, *parts)):
            yield from (abs(part.value) for part in parts if isinstance(part, k.Const) and type(part.value) is int)


def constants_in(node: k.Node) -> Iterator[int]:
    """The numbers in a node of a kernel, without their signs."""
    for each in descendants(node):
        if isinstance(each, k.Const) and type(each.value) is int:
            yield abs(each.value)


def _computes(node: k.Node) -> bool:
    """Whether numbers of the log are added, multiplied or summed up in a node: then each has to stand for itself."""
    match node:
        case k.Arithmetic(_, "+" | "-", left, right):
            return _is_number(left) and _is_number(right)
        case k.Arithmetic(_, _, left, right):
            return _is_number(left) or _is_number(right)
        case k.Aggregate(_, "sum"):
            return True
        case _:
            return False


def _counts(node: k.Node) -> bool:
    """Whether a number of the log is compared with one of elements, for which no smaller one can stand either."""
    match node:
        case k.Equal(_, left, right) | k.Compare(_, _, left, right):
            return any(_grows_in(one) and _is_number(other) for one, other in ((left, right), (right, left)))
        case _:
            return False


def _grows_in(expr: k.Expr) -> bool:
    """Whether the value is how many elements a collection has that may be as large as the log needs."""
    match expr:
        case k.Count(_, operand):
            return _grow([operand.type])
        case k.Arithmetic(_, _, left, right):
            return _grows_in(left) or _grows_in(right)
        case _:
            return False


def _grow(types: Iterable[t.Type]) -> bool:
    """Whether a size parameter says how many elements a collection may have."""
    return any((getattr(each, "capacity", None) or 0) > MOST_CONSTANT or _grow(parts(each)) for each in types)


def most_elements(stated: Iterable[Value], more: int) -> int:
    """How many elements a collection of a window may have: as many as lines state, and some more that they add."""
    most = max((n for value in stated for n in _extents(value) if n <= MOST_ELEMENTS), default=0)
    return (1 << (most + more).bit_length()) - 1


def _extents(value: object) -> Iterator[int]:
    """The sizes of the collections in a value, and its numbers, which may count elements."""
    match value:
        case int():
            yield abs(value)
        case FrozenMap():
            yield sum(each if type(each) is int else 1 for each in value.values())
            yield from (n for pair in value.items() for each in pair for n in _extents(each))
        case frozenset() | tuple():
            yield len(value)
            yield from (n for each in value for n in _extents(each))
        case _:
            return


def _is_number(expr: k.Expr) -> bool:
    """Whether the value is a number as large as the log has them, and no constant and no number of elements."""
    match expr:
        case k.Const() | k.Count() | k.Times():
            return False
        case k.Arithmetic(_, _, left, right):
            return _is_number(left) or _is_number(right)
        case k.Negate(_, operand) | k.Checked(_, operand):
            return _is_number(operand)
        case k.IfThenElse(_, _, then, otherwise):
            return _is_number(then) or _is_number(otherwise)
        case k.LetIn(_, _, _, body):
            return _is_number(body)
        case _:
            # A name of type `int` may stand for anything.
            return not isinstance(expr.type, t.RangeType) or expr.type.sized


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


def completed(value: Value, born: Value) -> Value:
    """A map with the entries at birth of the elements that it lacks."""
    if isinstance(value, FrozenMap) and isinstance(born, FrozenMap):
        return FrozenMap({**born, **{key: completed(each, born.get(key)) for key, each in value.items()}})
    return value


class NamedNumbers:
    """The numbers and the elements that some values name, by parameter."""

    def __init__(self, probe: SizeProbe) -> None:
        self.probe = probe
        self.numbers: dict[str, set[int]] = {name: set(probe.constants) for name in probe.parameters.values()}
        self.elements: dict[str, dict[str, None]] = {}
        # The rewritten values are of no use: what counts is what the two functions note on the way.
        self.walk = ValueMap(probe.parameters, self._number, self._element)

    def _number(self, parameter: str, number: int) -> int:
        # A number below zero is as far from it as its counterpart above: both sides have one scale.
        self.numbers[parameter].add(abs(number))
        return number

    def _element(self, sort: str, name: str) -> Atom:
        self.elements.setdefault(sort, {})[name] = None
        return Atom(sort, 0, name)


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers and the smaller ones that stand for them: order is kept, and each distance up to ``room``.

    Numbers up to ``kept``, the largest constant of the spec, stand for themselves: the spec compares others with it.
    Numbers below zero are as those above it, with the other sign.
    """

    numbers: tuple[int, ...]
    places: tuple[int, ...]
    room: int
    kept: int = 0

    @classmethod
    def of(cls, logged: Iterable[int], room: int, constants: Iterable[int] = ()) -> Scale:
        """The scale of the numbers that a window states, and of the constants of its spec."""
        kept = max(constants, default=0)
        numbers = tuple(sorted({0, kept, *map(abs, logged)}))
        places = [0]
        for before, number in pairwise(numbers):
            # Of numbers further apart than `room` only their order is kept.
            places.append(number if number <= kept else places[-1] + min(number - before, room + 1))
        return cls(numbers, tuple(places), room, kept)

    @property
    def size(self) -> int:
        """The largest number of the window, rounded up so that windows share a model."""
        return (1 << (self.places[-1] + self.room).bit_length()) - 1

    def place(self, number: int) -> int:
        """The number that stands for a stated one."""
        if abs(number) <= self.kept:
            return number
        if number < 0:
            return -self.place(-number)
        at = bisect_right(self.numbers, number) - 1
        return self.places[at] + min(number - self.numbers[at], self.room)

    def number(self, place: int) -> int:
        """A number that the given one may stand for: as far from the nearest stated one, of two from the later."""
        if abs(place) <= self.kept:
            return place
        if place < 0:
            return -self.number(-place)
        at = bisect_right(self.places, place) - 1
        after = place - self.places[at]
        if at + 1 < len(self.places) and (before := self.places[at + 1] - place) <= after:
            return self.numbers[at + 1] - before
        return self.numbers[at] + after
