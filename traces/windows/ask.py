"""Windows around a line without an explanation: explained from some beginning, refuted by a few lines, or not answered.

First the lines are asked about in the order of their times, with few hidden steps: most windows of healthy logs are
explained so. What contradicts itself there is asked again by itself, with all that may have been otherwise. They may
come in any order that the clause allows, with larger numbers, more sessions and processes, and unlogged writers. Hidden
steps are as many as the clause allows. The lines between may change anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.report import State
from assay.checker.symbolic.sat.clause_blocks import UnansweredError
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.observe.model_size import Needs
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder, by_time
from assay.traces.search.transition_system import TraceModel
from assay.traces.windows.births import FIRST_LINES, begins_again, shows_birth
from assay.traces.windows.numbers import NamedNumbers, completed
from assay.traces.windows.open_window import Allowance, OpenWindow, Order, Switch
from assay.traces.windows.recent_values import RecentValues
from assay.traces.windows.replayed import WindowRun, run_of
from assay.traces.windows.slice_window import (
    CONFLICTS,
    FEW_CONFLICTS,
    TWICE,
    WindowRefuted,
    ask_pairs,
    ask_related,
    before_of,
    refuted_by,
    template_of,
)
from assay.traces.windows.window_model import LogPart, WindowModel, elements_of, window_model, writer_of

BEFORE, AFTER = 24, 12
"""How many items before and after a failed one are asked about. A wrong line may contradict only a later one."""

FEW_HIDDEN = 3
"""With so many hidden steps before each line an explanation is looked for first: it takes a quarter of the time."""

CORES = 4
"""How many contradictions in the order of times are asked about by themselves, before any order is."""

LOST_TOGETHER = 3
"""How many lost lines between two others excuse a contradiction, where it is known that logs lack lines."""

NO_ANSWER = "the solver came to no answer about the lines around it"

# With the clause's bound alone one of 200 random healthy runs was refuted: an election, its end, and two more of each.
UNLOGGED = 2
"""How many steps more than a clause bounds nodes without logs may take between two lines."""


@dataclass(frozen=True, slots=True)
class WindowExplained:
    """A beginning explains the items; ``run`` is in terms of the window."""

    items: tuple[OrderedObservation, ...]
    window: WindowModel
    run: WindowRun
    whole: bool = False
    """Whether no line of the log comes before."""

    def beginnings(self) -> Iterator[WindowExplained]:
        """This one, and one from which the solver's first run goes on."""
        yield self
        if self.run.other is not None:
            yield replace(self, run=replace(self.run.other, forced=self.run.forced))

    def state(self) -> dict[str, Value]:
        """The beginning in terms of the log, by variable."""
        names = [each.name for each in self.window.kernel.variables]
        return {
            name: self.window.variable_as_logged(name, value)
            for name, value in zip(names, self.run.beginning, strict=True)
        }

    def state_in(self, model: TraceModel) -> State:
        """The beginning as a state of a model of the log; what the window does not have is as at birth."""
        reported, born = self.state(), model.states[model.initial[0]]
        rewrite = elements_of(model)
        types = {each.name: each.type for each in self.window.probe.kernel.variables}
        return tuple(
            completed(rewrite(reported[each.name], types[each.name]), value) if each.name in reported else value
            for each, value in zip(model.kernel.variables, born, strict=True)
        )

    def needs(self) -> Needs:
        """What the beginning needs of a model of the log."""
        logged = NamedNumbers(self.window.probe)
        types = {each.name: each.type for each in self.window.probe.kernel.variables}
        for name, value in self.state().items():
            logged.walk(value, types[name])
        named = frozenset((sort, name) for sort, names in logged.elements.items() for name in names)
        return named, max((number for numbers in logged.numbers.values() for number in numbers), default=0)

    def words(self) -> str:
        """From what the lines are explained: what they tell of the time before them."""
        since = "the log began" if self.whole else str(self.items[0].observation.event.record.place)
        reported = [self.window.words(each.variable, each.key, each.value) for each in self.run.forced]
        if not reported:
            return f"a state before {since} that was not the first one, and of which its lines tell no more"
        return f"before {since}: {', '.join(reported)}"


@dataclass(frozen=True, slots=True)
class WindowUnanswered:
    """There is no answer, and why; ``lost`` if the lines contradict each other unless one line was lost."""

    reason: str
    lost: bool = False


WindowAnswer = WindowExplained | WindowRefuted | WindowUnanswered


def ask_around(
    log: LogPart,
    order: PartialOrder,
    failed: OrderedObservation,
    doubted: Sequence[OrderedObservation] = (),
    culprit: Callable[[], OrderedObservation | None] = lambda: None,
    otherwise: Callable[[], bool] | None = None,
) -> WindowAnswer | None:
    """Whether some beginning explains the lines around a failed one, and those that speak of the same as the ``culprit``.
    That is the line that nothing explains once all before it were read. It is looked for only if needed.

    None where these lines are the log's first ones and show the birth of the cluster, because nothing came before them.
    Lines that contradict each other whatever came before are an exception. That a line was lost is said there, too.
    None, too, if something ``otherwise`` explains the line. That is asked once few lines alone do not contradict it. Of
    a log that fits in one window it is asked once the window is not refuted.
    ``doubted`` are lines that are not in the order because of an earlier finding: what they may write is open.
    """
    # The window has a beginning of its own, which stands for what was inferred.
    items = [each for each in (*order.items, *doubted) if not each.observation.event.is_inferred]
    items.sort(key=by_time)
    at = next((n for n, each in enumerate(items) if each.index == failed.index), None)
    if at is None:  # an inferred event, for which no line stands
        at = next((n for n, each in enumerate(items) if each.time >= failed.time), len(items) - 1)
    end = min(at + AFTER, len(items))
    first = 0 if end <= FIRST_LINES + AFTER else at - BEFORE
    asked = items[first:end]
    born = first == 0 and shows_birth(each.observation.event for each in asked)
    left = frozenset(n for n, each in enumerate(asked) if any(each is other for other in doubted))
    # Lines far away may speak of the same thing, and contradict the failed one however its neighbours are explained.
    believed = [each for each in items if not any(each is other for other in doubted)]
    few = ask_related(log, order, believed, failed) or ask_pairs(log, order, believed, failed)
    short = len(items) <= FIRST_LINES + AFTER
    # After a birth the reached state is sure, unless lines of the nodes with logs were not read.
    otherwise = None if born and not log.options.lossy else otherwise
    if few is None and not short and otherwise is not None and otherwise():
        return None
    answer: WindowAnswer = few or ask(log, order, asked, left, items[at])
    if short and not isinstance(answer, WindowRefuted) and otherwise is not None and otherwise():
        return None
    if not isinstance(answer, WindowRefuted):
        answer = _since_its_start(log, order, items, doubted, items[at]) or answer
    if not isinstance(answer, WindowRefuted):
        other = culprit()
        if other is not None and other.observation.event is not failed.observation.event:
            found = ask_related(log, order, believed, other)
            answer = found or _since_its_start(log, order, items, doubted, other) or answer
    is_lost = isinstance(answer, WindowUnanswered) and answer.lost
    if born and not doubted and not isinstance(answer, WindowRefuted) and not is_lost:
        return None
    return replace(answer, whole=first == 0 and not left) if isinstance(answer, WindowExplained) else answer


def _since_its_start(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    doubted: Sequence[OrderedObservation],
    failed: OrderedObservation,
) -> WindowRefuted | None:
    """The lines since the first one of the failed line's node, if these contradict each other. Where logs begin
    anywhere, a node may have done anything unseen in a window that its log does not cover; since then it did not."""
    writer = writer_of(failed.observation.event)
    start = next((n for n, each in enumerate(items) if writer_of(each.observation.event) == writer), 0)
    at = next((n for n, each in enumerate(items) if each.index == failed.index), start)
    if not log.plan.begins_anywhere or not 0 < start < at or at - start > FIRST_LINES:
        return None
    asked = items[start : at + AFTER]
    left = frozenset(n for n, each in enumerate(asked) if any(each is other for other in doubted))
    answer = ask(log, order, asked, left, failed)
    return answer if isinstance(answer, WindowRefuted) else None


def ask(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    doubted: frozenset[int] = frozenset(),
    failed: OrderedObservation | None = None,
) -> WindowAnswer:
    """Whether some beginning explains these items, which are all of a stretch of time; ``doubted`` are not asked for.
    ``failed`` is the one that a search does not explain."""
    if not items:
        return WindowUnanswered("no line of the log is near it")
    try:
        with deep_recursion(log.loaded.kernel):
            return _answer(log, order, items, doubted, failed)
    except UnansweredError:
        return WindowUnanswered(NO_ANSWER)
    except (SpecError, UnsupportedError) as error:
        what = error.diagnostics[0].message if isinstance(error, SpecError) else str(error)
        return WindowUnanswered(f"no window of the log was asked about: {what}")


def _answer(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    doubted: frozenset[int],
    failed: OrderedObservation | None,
) -> WindowAnswer:
    widened: list[list[OrderedObservation]] = []
    try:
        answer = _answer_in_turn(log, order, items, doubted, failed, widened)
    except UnansweredError:
        answer = WindowUnanswered(NO_ANSWER)
    if isinstance(answer, WindowUnanswered):
        # Before these lines more steps were supposed; that left others over. They may contradict each other all the same.
        for core in widened:
            confirmed = _confirmed(log, order, items, core, failed, doubted)
            if isinstance(confirmed, WindowRefuted):
                return confirmed
    return answer


def _answer_in_turn(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    doubted: frozenset[int],
    failed: OrderedObservation | None,
    widened: list[list[OrderedObservation]],
) -> WindowAnswer:
    """The answer about lines in the order of their times. Before those that contradict each other more hidden steps are
    supposed: that explains most of them, and takes less than to ask about them alone. They are added to ``widened``."""
    window = window_model(log, items)
    in_turn = tuple(tuple(range(at)) for at in range(len(items)))
    lost: list[str] = []
    wide, aside = frozenset[int](), frozenset[int]()
    asked = 0
    while asked < CORES:
        first = _question(window, Order(in_turn, doubted=doubted | aside), Allowance(wide=wide))
        if isinstance(first, WindowRun):
            if aside:
                break
            explained = WindowExplained(tuple(items), window, first)
            # An explanation of the remaining lines alone is none of the window.
            return WindowUnanswered("; ".join(lost), lost=True) if lost else explained
        lines = [each.line for each in first if each.kind == "line"]
        core = [items[each] for each in lines]
        if len(widened) < CORES and not wide.issuperset(lines):
            # In a healthy log without two nodes this explains the core in 5.5 CPU-seconds. Without it 55 gave no answer.
            wide = wide.union(lines)
            widened.append(core)
            continue
        asked += 1
        confirmed = _confirmed(log, order, items, core, failed, doubted)
        if isinstance(confirmed, WindowRefuted):
            return confirmed
        if confirmed is None:  # something else explains these, but not what other lines say of the failed one
            more = frozenset(each for each in lines if items[each] is not failed)
            if not more:
                break
            aside |= more
        else:
            # Lines that fit once another one is supposed lost are left open, and the rest is asked again: otherwise
            # one lost line would hide every contradiction near it.
            lost.append(confirmed)
            doubted = doubted.union(lines)
    return _in_any_order(log, order, items, doubted, failed)


def _in_any_order(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    doubted: frozenset[int],
    failed: OrderedObservation | None,
) -> WindowAnswer:
    """The answer where the lines contradict each other in the order of their times, and not by themselves."""
    # The last question: to solve a whole window in every order takes four times as long.
    window = window_model(log, items, TWICE)
    everything = Order(before_of(order, items), doubted=doubted)
    found = _question(window, everything, Allowance(TWICE, unlogged=True), FEW_CONFLICTS)
    if isinstance(found, WindowRun):
        return WindowExplained(tuple(items), window, found)
    core = [items[each.line] for each in found if each.kind == "line"]
    confirmed = _confirmed(log, order, items, core, failed, doubted)
    if isinstance(confirmed, WindowRefuted):
        return confirmed
    if confirmed is not None:
        return WindowUnanswered(confirmed, lost=True)
    return WindowUnanswered("the lines around it contradict each other only if nothing else happened")


def _confirmed(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    core: Sequence[OrderedObservation],
    failed: OrderedObservation | None,
    doubted: frozenset[int] = frozenset(),
) -> WindowRefuted | str | None:
    """Whether some lines contradict each other whatever else happened, and whichever line between them was lost. A text
    says that a line was lost; None is that something else happened.

    Where all of a log were read, a line is supposed to be lost only if another line misses it too.
    """
    lossy = log.options.lossy
    # First without a lost line: what something explains then needs no further question.
    refuted = _alone(log, order, items, core, lost=0, minimal=not lossy)
    if not isinstance(refuted, WindowRefuted):
        return None
    places = ", ".join(str(each.observation.event.record.place) for each in core)
    if begins_again(log, core):
        return f"{places} contradict each other unless another cluster began between them"
    more = [] if lossy else _witnesses(log, order, items, core, failed, doubted)
    if not (lossy or more):
        excused = _alone(log, order, items, core, lost=1, minimal=False)
        return replace(refuted, unless_lost=isinstance(excused, WindowRun))
    together = sorted([*core, *more], key=by_time)
    excused = _alone(log, order, items, together, lost=1, minimal=False)
    if lossy and log.options.partial and isinstance(excused, WindowRefuted):
        excused = _alone(log, order, items, together, lost=LOST_TOGETHER, minimal=True)
    if isinstance(excused, WindowRefuted):
        return excused if lossy else refuted
    lost = list(dict.fromkeys(f"`{each.action}`" for each in excused.steps if each.lost))
    what = f"a line about {lost[0]} was" if len(lost) == 1 else f"lines about {', '.join(lost)} were"
    return f"{places} contradict each other unless {what} lost" if lost else None


def _witnesses(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    core: Sequence[OrderedObservation],
    failed: OrderedObservation | None,
    doubted: frozenset[int],
) -> list[OrderedObservation]:
    """Lines that miss a line between those of a core, too. It is the failed one, if it is none of these; else those
    that contradict each other without it. After a start that was lost all lines of the process miss it.
    """
    if failed is None:
        return []
    event = failed.observation.event
    if not any(each.observation.event is event for each in core):
        return [failed]
    without = doubted | {at for at, each in enumerate(items) if each.observation.event is event}
    in_turn = tuple(tuple(range(at)) for at in range(len(items)))
    found = _question(window_model(log, items), Order(in_turn, doubted=without), Allowance())
    if isinstance(found, WindowRun):
        return []
    others = [items[each.line] for each in found if each.kind == "line"]
    contradict = isinstance(_alone(log, order, items, others, lost=0, minimal=False), WindowRefuted)
    return [each for each in others if not any(each is other for other in core)] if contradict else []


def _alone(
    log: LogPart,
    order: PartialOrder,
    items: Sequence[OrderedObservation],
    core: Sequence[OrderedObservation],
    *,
    lost: int,
    minimal: bool,
) -> WindowRun | WindowRefuted:
    """Whether some lines contradict each other whatever else happened, or if one line between them was ``lost``, too.
    Only a ``minimal`` refutation names what contradicts itself: to find that takes as long as the answer.

    After a finding the log is searched on, and the same lines are asked about again: the last answers are kept.
    """
    # Lines that certainly come before or after all of these cannot have changed anything between them.
    between = tuple(each for each in items if each not in core and not _is_outside(order, each, core))
    asked = (before_of(order, core), len(core), lost, minimal)
    events = tuple(each.observation.event for each in (*core, *between))
    answer = _answers.get_or_make(
        log, (asked, events), lambda: _found_alone(log, order, core, between, lost=lost, minimal=minimal)
    )
    if answer is None:
        raise UnansweredError
    return answer


_answers = RecentValues[WindowRun | WindowRefuted | None](9)


def _found_alone(
    log: LogPart,
    order: PartialOrder,
    core: Sequence[OrderedObservation],
    between: Sequence[OrderedObservation],
    *,
    lost: int,
    minimal: bool,
) -> WindowRun | WindowRefuted | None:
    """The answer of the solver about some lines; None if it came to none."""
    window = window_model(log, (*core, *between), TWICE)
    skipped = window.items[len(core) :]
    limit = window.model.plan.hidden_limit
    bounded = limit > 0
    if bounded and any(each.unlogged for each in window.hidden):
        limit += UNLOGGED  # the clause bounds what nodes with logs do unseen
    lines, in_order = window.of(window.items[: len(core)]), Order(before_of(order, core))
    allowed = Allowance(limit, unlogged=bounded, unbounded=not bounded, lost=lost, skipped=skipped)
    # What many hidden steps explain, mostly a lost line alone does, or few steps.
    less = Allowance(lost=lost, skipped=skipped) if lost else replace(allowed, hidden=min(limit, FEW_HIDDEN))
    answer: list[Switch] = []
    for each in (allowed,) if less == allowed else (less, allowed):
        try:
            found = _question(lines, in_order, each, forced=False, minimal=minimal and each is allowed)
        except UnansweredError:
            return None
        if isinstance(found, WindowRun):
            return found
        answer = found
    return refuted_by(window, core, answer)


def _question(
    window: WindowModel,
    order: Order,
    allowed: Allowance,
    conflicts: int = CONFLICTS,
    *,
    forced: bool = True,
    minimal: bool = True,
) -> WindowRun | list[Switch]:
    """A run that explains the lines, or the switches of what contradicts itself; none of these unless ``minimal``.

    With ``forced`` the run also says what the lines determine of the state before them.
    """
    asked = OpenWindow(template_of(window.kernel), window, order, allowed, conflicts)
    try:
        if asked.is_explained():
            return run_of(asked, forced=forced)
        return asked.core() if minimal else []
    finally:
        asked.close()


def _is_outside(order: PartialOrder, item: OrderedObservation, core: Sequence[OrderedObservation]) -> bool:
    """Whether an item certainly comes before all of some others, or after all of them."""
    return all(order.comes_before(item, each) for each in core) or all(order.comes_before(each, item) for each in core)
