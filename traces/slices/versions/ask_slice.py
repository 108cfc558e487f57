"""Whether lines of one slice contradict each other, whatever else is in the log, or missing from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from itertools import combinations, groupby, permutations
from math import inf

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.layout.encode import UnfitError
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.symbolic.sat.clause_blocks import UnansweredError
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.traces.event import Event
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.slices.timeline.shared_timeline import Chain
from assay.traces.slices.versions.version_history import VersionedUpdate, number_of, stated_number
from assay.traces.windows.line_pairs import is_one_run
from assay.traces.windows.open_window import Order
from assay.traces.windows.slice_chain import chain_of
from assay.traces.windows.slice_window import CONFLICTS, TWICE, SliceWindow, Unit, WindowRefuted, lasting, template_of
from assay.traces.windows.timeline_window import LoggedValues, Span, TimelineWindow, told_between
from assay.traces.windows.window_model import LogPart, WindowModel, window_model

FEW_LINES = 6
"""So few lines of a slice are asked about in every order at once: another question takes longer to write than to
answer."""

LINES = 20
"""How many lines are asked about at once."""

SUSPECTS = 14
"""How many of them may be lines that nothing explains: the last ones, for the first may tell of what came before."""

LINES_ON_TIMELINE, SUSPECTS_ON_TIMELINE = 8, 4
"""The same on a timeline, where a window has to know everything that is shared."""

MOST_WINDOWS, MOST_ON_TIMELINE = 8, 4
"""How many windows of a slice are asked about, and how many on a timeline."""

EXPLAINED, UNANSWERED = "explained", "no answer"
SliceWindowAnswer = WindowRefuted | str
"""Lines that contradict each other; or ``EXPLAINED``, or ``UNANSWERED``."""

LATE = 10_000.0
"""By how many milliseconds a fact may be older than its line, where the clause sets no bound."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The shared timeline: what lines told of it by each position, and the positions that an update may have."""

    chain: Chain
    told: Sequence[LoggedValues]
    window: Callable[[VersionedUpdate], Span]

    def span(self, lines: Sequence[OrderedObservation], late: float) -> Span:
        """The positions at which some lines of one moment may have happened, if lines may be ``late`` milliseconds."""
        low, high = self.window(VersionedUpdate(0, tuple(lines)))
        prompt = [each.time for each in lines if each.observation.names_action]
        # The line of a position may be late, too.
        first = self.chain.latest_at(min(prompt) - 2 * late) if prompt else 0
        return min(max(low, first), high), high


def contradictory_lines(
    log: LogPart,
    lines: Sequence[OrderedObservation],
    unexplained: Iterable[Event],
    timeline: Timeline | None = None,
) -> SliceWindowAnswer:
    """Lines of one slice that contradict each other, looked for around those that nothing explains. Else whether
    something explains all of these, as many at a time as are asked about at once.

    On a ``timeline`` nothing is refuted, for it is one of several that explain what is shared.
    """
    places = {each.record.place for each in unexplained}
    suspects = [each for each in sorted(lines, key=by_time) if each.observation.event.record.place in places]
    if not suspects:
        return UNANSWERED
    for each in suspects:
        if (fallen := _fallen(log, each, lines)) is not None:
            return fallen
    few, many = (SUSPECTS, LINES) if timeline is None else (SUSPECTS_ON_TIMELINE, LINES_ON_TIMELINE)
    if timeline is not None and len(suspects) > few * MOST_ON_TIMELINE:
        return UNANSWERED
    answer: SliceWindowAnswer = EXPLAINED
    # From the end, because later lines have more before them that could contradict them.
    for end in range(len(suspects), 0, -few)[:MOST_WINDOWS]:
        asked = _about(suspects[max(0, end - few) : end], lines, many)
        found = ask_slice(log, asked) if timeline is None else ask_on(timeline, log, asked)
        if isinstance(found, WindowRefuted) or (timeline is not None and found != EXPLAINED):
            return found
        # One window without an answer leaves the whole without one, unless a later one refutes.
        answer = answer if found == EXPLAINED else found
    # The first suspects were then in no window, so nothing is known of them.
    return answer if len(suspects) <= few * MOST_WINDOWS else UNANSWERED


def _fallen(log: LogPart, line: OrderedObservation, lines: Iterable[OrderedObservation]) -> WindowRefuted | None:
    """A line and another one that one process wrote into one file. The later one tells of a write of a lower version,
    and soon after the other."""
    for other in lines:
        pair = tuple(sorted((line, other), key=by_time))
        # After a start that no line tells of, a process tells of old writes again.
        may_begin = log.options.lossy or log.options.holes
        of_one_log = line.observation.event.log == other.observation.event.log
        if of_one_log and _falls(log, *pair) and (not may_begin or is_one_run(pair)):
            return WindowRefuted(pair, (), ())
    return None


def _falls(log: LogPart, first: OrderedObservation, last: OrderedObservation) -> bool:
    """Whether a line tells of a write that was made after one of a higher version was told."""
    before, after = stated_number(first), stated_number(last)
    is_lower = before is not None and after is not None and before > after
    return is_lower and last.observation.names_action and first.latest < last.time - _lateness(log)


def _lateness(log: LogPart) -> float:
    """By how many milliseconds a fact may be older than its line."""
    bound = log.plan.ordering.commit_before_line
    return (LATE if bound is None else float(bound)) + log.plan.ordering.skew


def _about(
    suspects: Sequence[OrderedObservation], lines: Sequence[OrderedObservation], many: int
) -> list[OrderedObservation]:
    """Lines with those that say most about what they speak of: first those with most of their numbers, then the
    nearest."""
    own = Counter(number for each in suspects for number in set(_numbers(each)))

    def distance(line: OrderedObservation) -> tuple[int, float]:
        shared = max((own[number] for number in _numbers(line)), default=0)
        return -shared, min(abs(line.time - each.time) for each in suspects)

    # Of lines that state one write in the same words the first says most of its time.
    first = IdentityTupleMemo[OrderedObservation]()
    others: list[OrderedObservation] = []
    for each in sorted(lines, key=by_time):
        seen = each.observation
        if seen.rule.at is not None and first.setdefault((seen.rule,), tuple(seen.bound.items()), each) is not each:
            continue
        others += [] if each in suspects else [each]
    return [*suspects, *sorted(others, key=distance)[: many - len(suspects)]]


def _numbers(line: OrderedObservation) -> Iterator[tuple[str, int]]:
    return ((name, value) for name, value in line.observation.values if type(value) is int)


def ask_slice(log: LogPart, lines: Sequence[OrderedObservation]) -> SliceWindowAnswer:
    """Those of some lines of one slice that contradict each other, with the guards and properties between them. Else
    whether some beginning and some behaviour explain them all, or that there is no answer.

    Many lines are asked about first in one order that they may have had. Those in a row that only observe count as
    lines of one moment. What contradicts itself there is asked again by itself, as few lines are at once. Every order
    is tried, with twice the room for numbers and twice the spare elements.
    """
    try:
        with deep_recursion(log.loaded.kernel):
            if len(lines) <= FEW_LINES:
                return refuted_lines(log, lines, TWICE) or EXPLAINED
            # Most slices of healthy logs are answered here, by clauses that all slices share.
            if is_explained_in_turn(log, lines):
                return EXPLAINED
            for together, late in ((True, 0.0), (True, LATE), (False, 0.0)):
                # What one order refutes is a suspicion. Only the question in every order, with more room, counts.
                first = refuted_lines(log, lines, 1, in_turn=True, together=together, late=late)
                if first is None:
                    return EXPLAINED
                # All that the same lines state is asked, for in another order something else of it may contradict itself.
                places = {each.observation.event.record.place for each in first.items}
                whole = [each for each in lines if each.observation.event.record.place in places]
                if (found := refuted_lines(log, whole, TWICE)) is not None:
                    return found
            return UNANSWERED
    except (UnansweredError, SpecError, UnsupportedError):
        return UNANSWERED


def ask_on(timeline: Timeline, log: LogPart, lines: Sequence[OrderedObservation]) -> SliceWindowAnswer:
    """Whether something explains some lines on a timeline, in one order."""
    items, late = sorted(lines, key=by_time), _lateness(log)
    if any(_falls(log, first, last) for first, last in combinations(items, 2)):
        return UNANSWERED
    try:
        with deep_recursion(log.loaded.kernel):
            told = told_between(timeline.told, [timeline.span([each], late) for each in items])
            window = window_model(log, items, shared=True, told=told)
            units, before = _ordered(log, window, items)
            units = _units_in_turn(items, units, before)
            spans = [timeline.span([items[n] for n in unit], late) for unit in units]
            order = Order(tuple(tuple(range(at)) for at in range(len(units))))
            template, kept = template_of(window.kernel), lasting(log)
            asked = TimelineWindow(template, window, units, order, kept, timeline.told, spans)
            try:
                return EXPLAINED if asked.is_explained() else UNANSWERED
            finally:
                asked.close()
    except (UnansweredError, UnfitError, SpecError, UnsupportedError):
        return UNANSWERED


def is_explained_in_turn(log: LogPart, lines: Sequence[OrderedObservation]) -> bool:
    """Whether something explains some lines in one order, asked of the chain that slices share; if not, it may be that
    there is no answer."""
    items = sorted(lines, key=by_time)
    # One model for many slices: to write its clauses takes longer than to answer with them.
    window = window_model(log, items, shared=True)
    units, before = _ordered(log, window, items)
    units = list(_merged(window, _units_in_turn(items, units, before)))
    try:
        return chain_of(template_of(window.kernel), log, CONFLICTS).is_explained(window, units)
    except UnansweredError:
        return False


def refuted_lines(
    log: LogPart,
    lines: Sequence[OrderedObservation],
    room: int,
    *,
    in_turn: bool = False,
    together: bool = False,
    late: float = 0.0,
) -> WindowRefuted | None:
    """Those of some lines that contradict each other, by a window of their own; None if something explains them.

    They are taken in the order of their times (``in_turn``) or in any that is allowed. In the order of times all writes
    were by so many milliseconds earlier than their first lines (``late``). Lines in a row that only observe may be taken
    as of one moment (``together``). Raises ``UnansweredError``.
    """
    items = sorted(lines, key=by_time)
    window = window_model(log, items, room)
    units, before = _ordered(log, window, items)
    if in_turn:
        units = _units_in_turn(items, units, before, late)
        units = list(_merged(window, units)) if together else units
        before = tuple(tuple(range(at)) for at in range(len(units)))
    asked = SliceWindow(template_of(window.kernel), window, units, Order(before), lasting(log), CONFLICTS)
    try:
        if asked.is_explained():
            return None
        core = asked.core()
    finally:
        asked.close()
    names = {each.name for each in core if each.kind == "property"}
    return WindowRefuted(
        tuple(items[each.line] for each in core if each.kind == "line"),
        tuple(each.guard for each in core if each.kind == "guard"),
        tuple(each for each in window.kernel.properties if each.name in names),
    )


def _units_in_turn(
    items: Sequence[OrderedObservation], units: Sequence[Unit], before: Sequence[Sequence[int]], late: float = 0.0
) -> list[Unit]:
    times = [min(items[n].time - (0 if items[n].observation.rule.at is None else late) for n in unit) for unit in units]
    return [units[at] for at in _in_turn(before, times)]


def _ordered(
    log: LogPart, window: WindowModel, items: Sequence[OrderedObservation]
) -> tuple[list[Unit], tuple[tuple[int, ...], ...]]:
    """The lines of each version together, each other line alone, and which of these certainly come before each. Writes
    are in the order of their versions, and what a process did is in the order of its lines. What lies further apart
    than lines may be late is ordered too."""
    numbers = [number_of(window.model, each) for each in window.items]  # type: ignore[arg-type]  # it has an observation
    logged = sorted({each for each in numbers if each is not None})
    units = [tuple(n for n, each in enumerate(numbers) if each == number) for number in logged]
    units += [(n,) for n, each in enumerate(numbers) if each is None]
    moments = [_Moment.of([items[n] for n in unit], numbers[unit[0]], _lateness(log)) for unit in units]
    pairs = [(x, y) for x, y in permutations(range(len(units)), 2) if moments[x].is_before(moments[y])]
    if not _is_acyclic(pairs):  # versions contradict the clocks: then only the lines of one process are in order
        pairs = [(x, y) for x, y in pairs if moments[x].is_reported_before(moments[y])]
    return units, tuple(tuple(x for x, other in pairs if other == y) for y in range(len(units)))


def _in_turn(before: Sequence[Sequence[int]], times: Sequence[float]) -> Iterator[int]:
    """An order of units that is allowed, as near to their times as can be."""
    # Ready units are taken by their times, so that the order is that of the clocks wherever it may be.
    sorter = TopologicalSorter(dict(enumerate(before)))
    sorter.prepare()
    ready = [(times[at], at) for at in sorter.get_ready()]
    heapify(ready)
    while ready:
        _, at = heappop(ready)
        yield at
        sorter.done(at)
        for each in sorter.get_ready():
            heappush(ready, (times[each], each))


def _merged(window: WindowModel, units: Sequence[Unit]) -> Iterator[Unit]:
    """The units, with those in a row that do nothing and state no version as one."""

    def observes(unit: Unit) -> bool:
        return all(not window.items[n].rule.steps and window.items[n].rule.at is None for n in unit)

    for alike, group in groupby(units, observes):
        if alike:
            yield tuple(n for unit in group for n in unit)
        else:
            yield from group


def _is_acyclic(pairs: Iterable[tuple[int, int]]) -> bool:
    before: dict[int, set[int]] = {}
    for x, y in pairs:
        before.setdefault(y, set()).add(x)
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Moment:
    """When the lines of a unit say that it was: the version, and from when to when (milliseconds)."""

    version: int | None
    earliest: float
    latest: float
    line: OrderedObservation

    @staticmethod
    def of(lines: Sequence[OrderedObservation], version: int | None, late: float) -> _Moment:
        """The moment of some lines. Lines of a write may be written long after it: a process that starts reads it again,
        and its first lines may be missing."""
        earliest = -inf if version is not None else min(each.time for each in lines) - late
        return _Moment(version, earliest, min(each.latest for each in lines), lines[0])

    def is_before(self, other: _Moment) -> bool:
        """Whether this was certainly first."""
        if self.version is not None and other.version is not None:
            return self.version < other.version
        return self.is_reported_before(other) or self.latest < other.earliest

    def is_reported_before(self, other: _Moment) -> bool:
        """Whether one process did both, and wrote so in this order."""
        one, two = self.line.observation, other.line.observation
        same = one.event.log == two.event.log
        unversioned_lines = self.version is None and other.version is None and one.names_action and two.names_action
        return same and unversioned_lines and self.line.index < other.line.index
