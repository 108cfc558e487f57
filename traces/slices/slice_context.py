"""What all slices of a log are checked against: the shared timeline, the split kernel and the clause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from math import inf
from typing import TYPE_CHECKING

from assay.checker.interpreter.expressions.traverse import assignments
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.observe.decomposition import Split, without_guards_on
from assay.traces.observe.model_size import clause_for_partial_logs
from assay.traces.observe.partial_order import files_tell_order
from assay.traces.options import Options
from assay.traces.search.path import UNLOGGED, SearchPath, unlogged_stretches
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.logged_values import logged_values
from assay.traces.slices.timeline.shared_past import SharedPast, shared_past
from assay.traces.slices.timeline.shared_timeline import Chain, chain
from assay.traces.slices.versions.first_update import FirstWrite
from assay.traces.slices.versions.version_history import (
    knows_gaps,
)
from assay.traces.table.event_selection import Selection
from assay.traces.windows.window_model import LogPart

if TYPE_CHECKING:
    from assay.traces.windows.timeline_window import LoggedValues


@dataclass(frozen=True, slots=True)
class Joint:
    """What the check of every slice needs: the split kernel, the clause, the shared timeline, and what is known of the
    log.

    * ``seen``: the shared variables that slices read.
    * ``assumed``: the hidden actions that change them, each with what it changes. Where slices are logs of their own,
      all hidden actions.
    * ``writer``: prints conditions in mismatches.
    * ``partial``: lines are known to be missing. ``begun``: the log begins late. ``late``: when its last file begins
      (milliseconds). ``stretches``: between which times unlogged steps were supposed.
    * ``outside``: where the kernel lacks guards, the full kernel, whose guards hold wherever nothing is uncertain.
    * ``supposes``: only the line of a first update may show that a slice began in the log.
    * ``log``: what windows of slices are made of, where a log may begin anywhere.
    * ``first``: the first slice with a mismatch ends the validation, without a repair.
    * ``past``: the shared steps, where slices may be logs of their own (docs/design/slice-search.md).
    """

    split: Split
    plan: k.TracePlan
    chain: Chain
    seen: tuple[int, ...]
    assumed: Mapping[str, frozenset[str]]
    writer: ConditionPrinter
    partial: bool = False
    begun: bool = False
    stretches: tuple[tuple[float, float], ...] = ()
    late: float = -inf
    outside: Split | None = None
    supposes: bool = False
    past: SharedPast = field(default_factory=SharedPast)
    log: LogPart | None = None
    first: bool = False

    @property
    def is_searched_by_itself(self) -> bool:
        """Whether slices may be searched as logs of their own: no line is known to be missing, and files order the
        lines.
        """
        # Files, not times: with clocks a millisecond apart, 58 of 490 healthy slices contradicted the order of times.
        return self._is_whole and self.outside is None and files_tell_order(self.plan)

    @property
    def _is_whole(self) -> bool:
        """No line is known to be missing."""
        return not (self.partial or self.begun or self.supposes or self.late > -inf)

    def logged_values(self) -> Sequence[LoggedValues]:
        """What lines told of the shared variables that slices see, by position of the timeline."""
        return logged_values(self.chain, self.split.kernel.variables, self.seen, from_birth=self._is_whole)

    def is_begun(self, events: Selection, first: FirstWrite) -> bool:
        """Whether the slice's beginning is in the log, given its first update.

        If the clause has no kind of event for it, a whole log has it, unless the clause can bridge gaps and no line has
        version 0.
        """
        since = self.split.slicing.since
        whole = not (self.partial or self.begun or (first.number != 0 and knows_gaps(self.plan)))
        reported = whole if since is None else bool(events.of_kind(since).any())
        return reported and not (self.supposes and first.is_hearsay)

    def asks_as(self, other: Joint) -> bool:
        """Whether another joint of the same kernel, on any shared execution, checks slices in the same way."""
        asked, others = ((each.plan, each.partial, each.begun, each.late, each.supposes) for each in (self, other))
        return asked == others

    def for_partial_logs(self) -> Joint:
        """The same, where any lines may be missing."""
        return replace(self, plan=clause_for_partial_logs(self.plan), partial=True, begun=False)

    def with_unknown_hidden_times(self) -> Joint:
        """The same, where slices may act whatever the hidden steps changed, as far as these may have come at another
        time.
        """
        names: frozenset[str] = frozenset().union(*self.assumed.values())
        # The guards that go are checked again outside of the kernel, where shared steps have positions on a timeline.
        outside = None if files_tell_order(self.plan) else self.split
        return replace(self, split=without_guards_on(self.split, names), assumed={}, outside=outside)


def joint(
    split: Split,
    plan: k.TracePlan,
    shared: TraceModel,
    path: SearchPath,
    writer: ConditionPrinter,
    options: Options,
    loaded: Loaded | None = None,
) -> Joint:
    """The joint of an accepted shared path. Without ``loaded`` no windows of slices are asked about."""
    seen = split.shared_reads(plan)
    partial = options.partial and not options.begun
    apart = files_tell_order(plan)
    hidden = shared.plan.hidden if apart else {taken.action for move in path.moves() for taken in move.hidden}
    assumed = _assumed(split, seen, hidden)
    found = Joint(split, plan, chain(shared, path, plan, seen), seen, assumed, writer, partial)
    # A slice that is a log of its own reads shared steps as lines; any other is placed on positions of the timeline.
    past = shared_past(shared, path, seen, plan.ordering) if apart else SharedPast()
    log = None if loaded is None or apart else LogPart(loaded, split.plan_of_slices(plan), options, of_slice=True)
    found = replace(
        found,
        stretches=unlogged_stretches(path),
        begun=options.begun,
        late=options.late,
        supposes=options.supposes,
        past=past,
        log=log,
    )
    return replace(found, first=options.first)


def _assumed(split: Split, variables: Sequence[int], hidden: Iterable[str]) -> dict[str, frozenset[str]]:
    visible = {split.kernel.variables[i].name for i in variables}
    written = {
        # In a stretch without lines anything that slices see may have changed.
        name: visible if name == UNLOGGED else {each.variable for each in assignments(split.kernel.action(name).body)}
        for name in hidden
    }
    seen = {name: visible & written[name] for name in sorted(written)}
    return {name: frozenset(written) for name, written in seen.items() if written}
