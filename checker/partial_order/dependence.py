"""Which action instances depend on which, as sets of bits: instance ``i`` is bit ``i``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.traverse import descendants
from assay.checker.options import SearchOptions
from assay.checker.partial_order.footprints import DisablingCondition, InstanceFootprint, Place, footprint, places_read
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

NOT_REDUCIBLE = "E810"
MOST_INSTANCES = 2_048
"""With more instances the choice among them would cost more than it saves."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """For each instance: those that do not commute with it, and those that may change what becomes of it.

    ``instances`` are action numbers with arguments. ``conditions`` are those of all guards, each once. ``disabling``
    has for each instance the numbers of its conditions, with the instances that may make one true. ``visible`` are the
    instances that write what a checked property reads.
    """

    instances: tuple[tuple[int, tuple[Value, ...]], ...]
    dependent: tuple[int, ...]
    affecting: tuple[int, ...]
    conditions: tuple[k.Expr, ...]
    disabling: tuple[tuple[tuple[int, int], ...], ...]
    visible: int
    may_ignore: bool
    """Whether steps may be put off for ever on a cycle: no property sees any, and no bound or missing value can show."""


def dependence_of(model: Model, options: SearchOptions) -> Dependence | None:
    """The dependence of a model's instances, if the options ask for a reduction.

    Raises ``SpecError`` (E810) where a reduction would be unsound, or there are too many instances.
    """
    if not options.reduce:
        return None
    kernel = model.kernel
    refuse_unsound(kernel, options)
    instances = tuple((at, each) for at, action in enumerate(model.steps) for each in action.instances)
    if len(instances) > MOST_INSTANCES:
        what = f"{len(instances):,} action instances are more than {MOST_INSTANCES:,}"
        raise SpecError([Diagnostic(NOT_REDUCIBLE, kernel.span, what, (Note("search without `--reduce`"),))])
    prints = [footprint(kernel, model.steps[at].node, arguments) for at, arguments in instances]
    checked = [prop for prop in kernel.properties if options.selects(prop.name)]
    seen = places_read(kernel, (conjunct.condition for prop in checked for conjunct in prop.conjuncts))
    return _related(kernel, instances, prints, seen)


def refuse_unsound(kernel: k.Kernel, options: SearchOptions) -> None:
    """Raise ``SpecError`` (E810) for a property or an expression that tells the orders of independent steps apart."""
    found: list[tuple[str, Span]] = [
        (f"`{prop.name}` is a {prop.kind} property, which sees every step", prop.span)
        for prop in kernel.properties
        if options.selects(prop.name) and prop.kind not in {"invariant", "lemma", "reachable"}
    ]
    found += [
        ("`enabled` and `occurs` speak of other actions", expr.span)
        for name in kernel.next
        for expr in descendants(kernel.action(name))
        if isinstance(expr, k.ActionAtom)
    ]
    note = Note("search without `--reduce`, or check other properties with `--property`")
    if found:
        raise SpecError(
            Diagnostic(NOT_REDUCIBLE, at, f"no steps can be left out: {what}", (note,)) for what, at in found
        )


def _related(
    kernel: k.Kernel,
    instances: tuple[tuple[int, tuple[Value, ...]], ...],
    prints: Sequence[InstanceFootprint],
    seen: frozenset[Place],
) -> Dependence:
    readers = _PlaceIndex(prints, lambda each: each.reads)
    writers = _PlaceIndex(prints, lambda each: each.writes)
    adders = _PlaceIndex(prints, lambda each: each.adds)

    def changing(places: Iterable[Place]) -> int:
        return writers.near(places) | adders.near(places)

    # Two instances that only add to one set commute, so `adds` meets reads and writes here, and not the other's `adds`.
    dependent = tuple(
        changing(each.reads | each.writes) | readers.near(each.writes | each.adds) | writers.near(each.adds)
        for each in prints
    )
    numbers: dict[k.Expr, int] = {}
    enabling: dict[DisablingCondition, int] = {}

    def disabling(condition: DisablingCondition) -> tuple[int, int]:
        if condition not in enabling:
            near = changing(condition.reads)
            enabling[condition] = sum(1 << at for at in bits(near) if _may_enable(kernel, condition, prints[at]))
        return numbers.setdefault(condition.expr, len(numbers)), enabling[condition]

    # A condition that few instances may make true comes first: of those that are false it is the best.
    per_instance = tuple(
        tuple(sorted(map(disabling, each.conditions), key=lambda pair: pair[1].bit_count())) for each in prints
    )
    return Dependence(
        instances,
        dependent,
        tuple(changing(each.reads) for each in prints),
        tuple(numbers),
        per_instance,
        visible := changing(seen),
        not visible and all(each.total for each in prints),
    )


def _may_enable(kernel: k.Kernel, condition: DisablingCondition, writer: InstanceFootprint) -> bool:
    """Whether an instance that writes what a false condition reads may make it true."""
    # The condition reads several places: what one write makes of it depends on the others.
    if condition.only is None:
        return True
    place = condition.only[0]
    if writer.adds & {place, (place[0], None)}:
        return True
    near = [each for each in writer.writes if each[0] == place[0] and (place[1] is None or each[1] in (None, place[1]))]
    # A write of a value that is not known may make the condition true; one of a known value is tried out.
    return any(each not in writer.values or condition.allows(kernel, each, writer.values[each]) for each in near)


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _PlaceIndex:
    """The instances that have a place in one of their sets, by variable and key."""

    def __init__(
        self, prints: Sequence[InstanceFootprint], places: Callable[[InstanceFootprint], frozenset[Place]]
    ) -> None:
        self._by_place: dict[Place, int] = {}
        self._by_variable: dict[str, int] = {}
        for at, each in enumerate(prints):
            for place in places(each):
                self._by_place[place] = self._by_place.get(place, 0) | 1 << at
                self._by_variable[place[0]] = self._by_variable.get(place[0], 0) | 1 << at

    def near(self, places: Iterable[Place]) -> int:
        """The instances with a place that may be one of these."""
        found = 0
        for name, key in places:
            # The whole variable is meant, or a key that depends on the state, which may be any.
            if key is None:
                found |= self._by_variable.get(name, 0)
            else:
                found |= self._by_place.get((name, key), 0) | self._by_place.get((name, None), 0)
        return found
