"""Windows of one slice: do some of its lines contradict each other, whatever was shared, and whatever else was written?

Between two lines anything may have happened, within the invariants, and within those transition properties that hold
over any number of steps. So no shared execution is needed, no line of other slices, and none of the lines that are
missing. What contradicts itself here is wrong in every log that holds these lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.checker.symbolic.sat.clause_blocks import TRUE, BlockFormula, UnansweredError
from assay.grammar import kernel as k
from assay.traces.windows.open_window import Allowance, OpenWindow, Order, Slot, Switch
from assay.traces.windows.recent_values import RecentValues
from assay.traces.windows.template import Template
from assay.traces.windows.window_model import LogPart, WindowModel, small_model

DEAR = 5_000
"""An invariant with more clauses than this is required of the state after all lines only. It speaks of what was
written, of which there is most in the end.
"""

Unit = tuple[int, ...]
"""The numbers of the lines of a window that tell of one moment: those of one version, or a single line."""


class SliceWindow(OpenWindow):
    """The lines of a slice from a free beginning, with everything open between them.

    ``order`` is that of the units. Without ``invariants`` only transition properties are required.
    """

    def __init__(
        self,
        template: Template,
        window: WindowModel,
        units: Sequence[Unit],
        order: Order,
        log: LogPart,
        conflicts: int,
        *,
        invariants: bool = True,
    ) -> None:
        self._units, self._invariants = units, invariants
        self._lasting = lasting(log)
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
    template: Template, log: LogPart, window: WindowModel, before: Sequence[Sequence[int]], conflicts: int
) -> list[Switch] | None:
    """The switches of what contradicts itself among the lines of a window, with everything open between them; None if
    some behaviour explains them. Raises ``UnansweredError``.

    Invariants do not count: they speak of elements that no line of such a window names.
    """
    units = [(number,) for number in range(len(window.items))]
    order = Order(tuple(map(tuple, before)))
    asked = SliceWindow(template, window, units, order, log, conflicts, invariants=False)
    try:
        return None if asked.is_explained() else asked.core()
    finally:
        asked.close()


_lasting = RecentValues[frozenset[str]](4)

ELEMENTS, LARGEST = 2, 3
"""How many elements and numbers the model has in which it is asked which properties last."""


def lasting(log: LogPart) -> frozenset[str]:
    """The transition properties that hold over any number of steps if they hold of each: over none, and over two.

    This is asked in a small model. The last few answers are kept.
    """
    return _lasting.get_or_make(log.loaded, log.plan.name, lambda: _found_lasting(log))


def _found_lasting(log: LogPart) -> frozenset[str]:
    kernel = small_model(log, ELEMENTS, LARGEST)
    template = Template(kernel)
    found = [each for each in kernel.properties if each.kind == "transition"]
    while len(kept := [each for each in found if _lasts(template, each, found)]) < len(found):
        found = kept
    return frozenset(each.name for each in found)


def _lasts(template: Template, wanted: k.Property, others: Sequence[k.Property]) -> bool:
    """Whether a property holds over two steps of which all of these hold, and over none."""
    formula = BlockFormula(CONFLICTS_OF_ONE)
    try:
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
        formula.add([-each for each in (*place((wanted,), 0, 0), *place((wanted,), 2, 0))])
        return not formula.solve([TRUE])
    except UnansweredError:
        return False
    finally:
        formula.close()


CONFLICTS_OF_ONE = 20_000
"""How many conflicts the solver may meet in the question whether a property lasts."""
