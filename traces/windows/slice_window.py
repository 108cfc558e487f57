"""Windows with everything open between their lines, of one slice or of lines that lie far apart.

Of a slice: do some of its lines contradict each other, whatever was shared, and whatever else was written?

Between two lines anything may have happened, within the invariants, and within those transition properties that hold
over any number of steps. So no shared execution is needed, no line of other slices, and none of the lines that are
missing. What contradicts itself here is wrong in every log that holds these lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.domains import domain
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.symbolic.sat.clause_blocks import FALSE, TRUE, BlockFormula, UnansweredError
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.windows.births import begins_again
from assay.traces.windows.far_lines import related_lines
from assay.traces.windows.line_pairs import first_refuted, is_one_run
from assay.traces.windows.numbers import SizeProbe, constants_in, probe_of
from assay.traces.windows.open_window import Allowance, OpenWindow, Order, Slot, Switch
from assay.traces.windows.recent_values import RecentValues
from assay.traces.windows.template import Template
from assay.traces.windows.window_model import LogPart, WindowModel, count_named, small_model, window_model

DEAR = 5_000
"""An invariant with more clauses than this is required of the state after all lines only. It speaks of what was
written, of which there is most in the end.
"""

Unit = tuple[int, ...]
"""The numbers of the lines of a window that tell of one moment: those of one version, or a single line."""


class SliceWindow(OpenWindow):
    """The lines of a slice from a free beginning, with everything open between them.

    ``order`` is that of the units. ``kept`` are the transition properties that last. Without ``invariants`` only these
    are required.
    """

    def __init__(
        self,
        template: Template,
        window: WindowModel,
        units: Sequence[Unit],
        order: Order,
        kept: frozenset[str],
        conflicts: int,
        *,
        invariants: bool = True,
    ) -> None:
        self._units, self._invariants, self._lasting = units, invariants, kept
        super().__init__(template, window, order, Allowance(0, everything=True), conflicts)

    def _build(self) -> None:
        super()._build()
        self._open_frame()
        self._keep_properties(TRUE, frozenset(range(self.template.width)), dear=True)

    def _counts(self, prop: k.Property) -> bool:
        return prop.name in self._lasting if prop.kind == "transition" else self._invariants

    def _is_kept(self, prop: k.Property, root: int, *, dear: bool) -> bool:
        if prop.kind == "transition":
            return not dear
        return (sum(map(len, self.template.block((root,)).clauses)) > DEAR) == dear

    def _slot(self, here: dict[int, int]) -> None:
        if self.parts.slots:
            self._open_frame()
        begin = len(self.parts.frames) - 1
        self.parts.slots.append(Slot(begin, here))
        # A unit takes the steps of one of its lines. All its lines are held against the states around these steps.
        acting = {unit: number for unit in here if (number := actor(self._units[unit], self._steps)) is not None}
        steps = {number: here[unit] for unit, number in acting.items()}
        for at in range(max((len(self._steps[number]) for number in steps), default=0)):
            self._step_frame({n: each for n, each in steps.items() if at < len(self._steps[n])}, at)
        for unit, place in here.items():
            after = begin + (len(self._steps[acting[unit]]) if unit in acting else 0)
            for number in self._units[unit]:
                self._require(number, place, begin, after)


def actor(
    unit: Unit, steps: Sequence[Sequence[Sequence[object]]] | Mapping[int, Sequence[Sequence[object]]]
) -> int | None:
    """The line of a unit that says most of its step; the others are conditions on the same step. ``steps`` are the
    instances that each step of a line may be."""
    naming = [number for number in unit if steps[number]]
    return min(naming, key=lambda number: sum(map(len, steps[number])), default=None)


def contradiction_among(
    template: Template, kept: frozenset[str], window: WindowModel, before: Sequence[Sequence[int]], conflicts: int
) -> list[Switch] | None:
    """The switches of what contradicts itself among the lines of a window, with everything open between them; None if
    some behaviour explains them. Raises ``UnansweredError``.

    Invariants do not count: they speak of elements that no line of such a window names.
    """
    units = [(number,) for number in range(len(window.items))]
    order = Order(tuple(map(tuple, before)))
    # With invariants a healthy line about three live brokers was refuted (A9), as its window named two processes.
    asked = SliceWindow(template, window, units, order, kept, conflicts, invariants=False)
    try:
        return None if asked.is_explained() else asked.core()
    finally:
        asked.close()


_lasting = RecentValues[frozenset[str]](4)

ELEMENTS, LARGEST = 2, 3
"""How many elements and numbers the model has, at least, in which it is asked which properties last."""

MOST_LASTING = 16
"""A property that names a larger number is not taken to last: the model in which that is asked is small."""


def lasting(log: LogPart, *, one_run: bool = False) -> frozenset[str]:
    """The transition properties that hold over any number of steps if they hold of each: over none, and over two.

    A process run is one stretch: who runs before and after some steps ran between them. Where lines were not read, two
    runs may be taken for one, and that is not supposed, unless all happened in ``one_run``. This is asked in a small
    model. The last few answers are kept.
    """
    stretches = one_run or not (log.options.lossy or log.options.holes)
    key = log.plan.name, log.of_slice, stretches
    return _lasting.get_or_make(log.loaded, key, lambda: _found_lasting(log, stretches=stretches))


def _found_lasting(log: LogPart, *, stretches: bool) -> frozenset[str]:
    probe = probe_of(log.loaded, log.plan.name)
    named = {each.name: _largest_constant(each, probe) for each in probe.kernel.properties if each.kind == "transition"}
    # Two steps may go twice as far as one: `x <= old(x) + 5` lasts among numbers up to 5, and not up to 10.
    most = max((each for each in named.values() if each <= MOST_LASTING), default=0)
    kernel = small_model(log, ELEMENTS, max(LARGEST, 2 * most))
    template = Template(kernel)
    runs = list(_running(template, log.plan)) if stretches else []
    found = [each for each in kernel.properties if named.get(each.name, MOST_LASTING + 1) <= MOST_LASTING]
    # A greatest fixed point: what does not last is no assumption about the others either.
    while len(kept := [each for each in found if _lasts(template, each, found, runs)]) < len(found):
        found = kept
    return frozenset(each.name for each in found)


def _largest_constant(node: k.Property, probe: SizeProbe) -> int:
    numbers = (each for conjunct in node.conjuncts for each in constants_in(conjunct.condition))
    return max(probe.constants.intersection(numbers), default=0)


def _running(template: Template, plan: k.TracePlan) -> Iterator[int]:
    """Where each process runs: an action that ends it, by the clause, could happen."""
    for name in plan.ends:
        if name not in template.meanings.actions:
            continue
        first, *others = template.parameters(name)
        for each in domain(first.binder.type):
            ways = template.instances(name, (each, *(None for _ in others)))
            yield template.gates.any_of(way.enabled for way in ways)


def _lasts(template: Template, wanted: k.Property, others: Sequence[k.Property], runs: Sequence[int]) -> bool:
    """Whether a property that holds of each of two steps holds of both together, and of no step at all. All of
    ``others`` are assumed of each step. Each of ``runs`` is true in between if it is true before and after.
    """
    formula = BlockFormula(CONFLICTS_OF_ONE)
    try:
        # Three states in a row; all properties hold of both steps. Is `wanted` false of both together, or of no step?
        frames = [[formula.fresh() for _ in range(template.width)] for _ in range(3)]

        def place(properties: Sequence[k.Property], at: int, before: int) -> list[int]:
            given = {bit >> 1: mine for bit, mine in zip(template.state, frames[at], strict=True)}
            given |= {bit >> 1: mine for bit, mine in zip(template.old, frames[before], strict=True)}
            return formula.place(template.block(tuple(map(template.property, properties))), given)

        state = template.block((template.is_state(frozenset(template.bits_of)),))
        for frame in frames:
            given = {bit >> 1: mine for bit, mine in zip(template.state, frame, strict=True)}
            formula.add(formula.place(state, given))
        for literal in (*place(others, 1, 0), *place(others, 2, 1)):
            formula.add([literal])
        switches = {switch >> 1: FALSE for switch in template.switches.values()}
        for run in runs:
            before, between, after = (
                formula.place(
                    template.block((run,)),
                    switches | {bit >> 1: mine for bit, mine in zip(template.state, frame, strict=True)},
                )[0]
                for frame in frames
            )
            formula.add([-before, between, -after])
        formula.add([-each for each in (*place((wanted,), 0, 0), *place((wanted,), 2, 0))])
        return not formula.solve([TRUE])
    # Then it is not required between lines: less is refuted, nothing wrongly.
    except UnansweredError:
        return False
    finally:
        formula.close()


CONFLICTS_OF_ONE = 20_000
"""How many conflicts the solver may meet in the question whether a property lasts."""


@dataclass(frozen=True, slots=True)
class WindowRefuted:
    """No beginning explains these items: guards and properties are those that stand between them."""

    items: tuple[OrderedObservation, ...]
    guards: tuple[tuple[str, str], ...]
    properties: tuple[k.Property, ...]
    unless_lost: bool = False
    """Whether one line between them, if it was lost, would explain them."""

    @property
    def is_of_versions_alone(self) -> bool:
        """Whether the items state versions of a slice that fall, and no more stands between them."""
        return not (self.guards or self.properties)


def refuted_by(window: WindowModel, items: Sequence[OrderedObservation], core: Sequence[Switch]) -> WindowRefuted:
    """The items, guards and properties of a core."""
    left = {each.line for each in core if each.kind == "line"}
    names = {each.name for each in core if each.kind == "property"}
    return WindowRefuted(
        tuple(each for at, each in enumerate(items) if at in left),
        tuple(each.guard for each in core if each.kind == "guard"),
        tuple(each for each in window.kernel.properties if each.name in names),
    )


CONFLICTS = 40_000
"""How many conflicts the solver may meet in one question. Not a clock, so that answers are reproducible."""

FEW_CONFLICTS = 4_000
"""How many conflicts the solver may meet in a question where the lines may have any order that the clause allows: each
takes longer then."""

TWICE = 2

_templates = RecentValues[Template](4)


def template_of(kernel: k.Kernel) -> Template:
    """The template of a kernel; the last few are kept."""
    return _templates.get_or_make(kernel, None, lambda: Template(kernel))


def ask_related(
    log: LogPart, order: PartialOrder, items: Sequence[OrderedObservation], failed: OrderedObservation
) -> WindowRefuted | None:
    """The lines about the same slice as a failed one that contradict each other, whatever else happened. None if there
    are none, or no answer.
    """
    lines = related_lines(items, failed)
    try:
        return _contradiction_of(log, lines, before_of(order, lines))
    except (UnansweredError, SpecError, UnsupportedError):
        return None


def ask_pairs(
    log: LogPart, order: PartialOrder, items: Sequence[OrderedObservation], failed: OrderedObservation
) -> WindowRefuted | None:
    """Two lines of a log that contradict each other, whatever else happened, looked for near a failed line first; None
    if none were found."""
    found: list[WindowRefuted] = []
    named: list[dict[str, int]] = []

    def is_refuted(lines: Sequence[OrderedObservation], before: tuple[tuple[int, ...], ...]) -> bool:
        if not named:
            named.append(count_named(log, items))
        # A model that all pairs share is quick, but narrow. What it refutes is asked again with twice the room.
        if _contradiction_of(log, lines, before, 1, least=named[0]) is not None:
            found[:] = filter(None, [_contradiction_of(log, lines, before)])
        return bool(found)

    first_refuted(log, items, failed, lambda lines: before_of(order, lines), is_refuted)
    return found[0] if found else None


def _contradiction_of(
    log: LogPart,
    lines: Sequence[OrderedObservation],
    before: tuple[tuple[int, ...], ...],
    room: int = TWICE,
    least: Mapping[str, int] | None = None,
) -> WindowRefuted | None:
    """Those of some lines that contradict each other with anything between them. Raises ``UnansweredError``,
    ``SpecError`` or ``UnsupportedError``. With ``least`` the model is one for many questions."""
    with deep_recursion(log.loaded.kernel):
        window = window_model(log, lines, room, shared=least is not None, least=least or {})
        kept = lasting(log, one_run=is_one_run(lines))
        found = contradiction_among(template_of(window.kernel), kept, window, before, FEW_CONFLICTS)
    if found is None:
        return None
    refuted = refuted_by(window, lines, found)
    first = refuted.items[0].observation.event
    # One line alone is wrong by what its window has too little room for, so it is no contradiction among lines.
    several = any(each.observation.event is not first for each in refuted.items)
    return refuted if several and not begins_again(log, refuted.items) else None


def before_of(order: PartialOrder, items: Sequence[OrderedObservation]) -> tuple[tuple[int, ...], ...]:
    """For each item the others, by number, that certainly come before it."""
    return tuple(
        tuple(at for at, other in enumerate(items) if other is not item and order.comes_before(other, item))
        for item in items
    )
