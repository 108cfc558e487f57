"""Turns a mismatch into a violation, and lets the search go on after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from assay.checker.report import EnginesDisagreeError
from assay.traces.explain.blame import Suspect, as_blame, suspects
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.explain.mismatch_findings import MismatchFindings
from assay.traces.explain.repair import (
    SECOND_NODES,
    WINDOW,
    ChosenRepair,
    best_repair,
    is_another_value,
    is_missed_by_others,
)
from assay.traces.explain.resumption import (
    Resumption,
    first_failed,
    is_known,
    leave_out,
    left_out,
    with_window,
    without_last,
)
from assay.traces.explain.unlogged_steps import UnloggedSteps
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder, action_of
from assay.traces.options import Options
from assay.traces.result import Blame, LogViolation, Repair
from assay.traces.search import driver
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.driver import Accepted, Rejected, Undecided
from assay.traces.search.path import SearchPath
from assay.traces.stop import StopRequest
from assay.traces.windows.window_model import LogPart

if TYPE_CHECKING:
    from assay.traces.windows.ask import WindowAnswer, WindowExplained, WindowUnanswered
    from assay.traces.windows.slice_window import WindowRefuted

BLAMES_KEPT = 5
"""How many lines are blamed for one mismatch at most."""

MOST_OF_PARTS = 5
"""How many mismatches are reported at most where lines are known to be missing: one missing line may cause many of
them.
"""

MOST_THAT_FOLLOW = 40
"""After so many lines that follow from earlier findings the search ends: it explains nothing any more."""

NO_REPAIR = "no small change of the log explains it; the line is left out"
NO_ORDER = "the lines from here on have no order that the clause allows"
"""The repair where nothing can come next."""

NO_STEP = "the clause has no step for this line in logs of this version"
NO_INITIAL_STATE = "the model has no initial state"


NOT_CHECKED = "what follows was not checked"
FIRST_ONLY = f"the first mismatch; {NOT_CHECKED} (--first)"
NOT_ASKED = "none was looked for (--first)"


def explain_and_continue(
    search: TraceSearch, writer: ConditionPrinter, options: Options, log: LogPart | None = None
) -> MismatchFindings:
    """Search, and go on after every mismatch, until the end, a limit, a stop, or the most mismatches that are
    reported.

    With a ``log`` a mismatch is reported only if no beginning explains the lines around it (docs/design/windows.md).
    """
    findings = MismatchFindings()
    try:
        _explain_all(search, writer, options, log, findings)
    except StopRequest as stop:
        findings.reason = f"{stop}; {NOT_CHECKED}"
    return findings


def _explain_all(
    search: TraceSearch, writer: ConditionPrinter, options: Options, log: LogPart | None, findings: MismatchFindings
) -> None:
    most = min(options.mismatches, MOST_OF_PARTS) if options.partial else options.mismatches
    start = search.begin(search.frontier.start)
    if not start:
        findings.reason = NO_INITIAL_STATE
    doubted: list[OrderedObservation] = []
    lost: list[LogViolation] = []
    while start and len(doubted) < MOST_THAT_FOLLOW:
        # Each round explains one mismatch, changes the log so that it is gone, and searches on from where it stopped.
        conclusion = driver.run(search, start, options)
        if isinstance(conclusion, Accepted):
            findings.path = conclusion.path
            break
        # The verdict alone was asked for.
        if not most and isinstance(conclusion, Rejected):
            findings.add(without_candidate(search, conclusion), NOT_CHECKED)
            break
        from assay.traces.windows.slice_window import WindowRefuted  # noqa: PLC0415 - the solver loads slowly, and few need it

        found = list[tuple[TraceSearch, SearchPath]]()
        answer = None
        if log is not None and most:
            goes_on = partial(_goes_on, search, conclusion, log, findings.unlogged, found)
            answer = _asked(search, conclusion, log, doubted, goes_on if options.partial else None)
        # Before a limit counts: the search goes on from another state, where it may not hit the limit again.
        if found:
            search, start = found[0][0], [found[0][1]]
            continue
        if isinstance(conclusion, Undecided):
            _at_limit(findings, search, start, conclusion, answer, writer)
            break
        failed = first_failed(search, conclusion)
        if failed is not None and _follows(answer, doubted, findings.violations):
            # What follows from an earlier finding is no finding: the line is left out, too.
            doubted.append(failed)
            search, start = leave_out(search, failed), [conclusion.deepest[0]]
            continue
        onward: Resumption | None
        if answer is not None and not isinstance(answer, WindowRefuted):
            onward = _with_another_value(search, conclusion, writer, options)
            if onward is None:
                _stop(findings, search, conclusion, answer)
                break
        else:
            onward = _onward(search, conclusion, start, writer, options, log if _may_be_lost(answer) else None)
        # What a lost line explains is no contradiction, so the lines of the window are not blamed then.
        if isinstance(answer, WindowRefuted) and not (onward is not None and onward.is_lost):
            onward = with_window(search, start, conclusion, answer, onward, writer)
            doubted += left_out(search, onward)
        if onward is None:
            findings.add(without_candidate(search, conclusion), NOT_CHECKED)
        is_last = onward is None or (
            _is_enough(findings, onward.violation, lost, options)
            if onward.is_lost
            else _is_last(findings, onward.violation, options, most)
        )
        if onward is None or is_last:
            break
        search, start = onward.search, list(onward.start)
    else:
        if start:
            findings.add_reason(f"{len(doubted)} lines follow from what was found; {NOT_CHECKED}")


def _goes_on(
    search: TraceSearch,
    ended: Rejected | Undecided,
    log: LogPart,
    unlogged: UnloggedSteps,
    found: list[tuple[TraceSearch, SearchPath]],
) -> bool:
    """Whether the search can go on from another state; it and the path are added to what was ``found``."""
    from assay.traces.windows.reopening import reopened  # noqa: PLC0415 - as above

    ends: Sequence[SearchPath] = ended.deepest
    if isinstance(ended, Rejected):  # a search that prunes stops before the line that is wrong
        ends = _beyond_dead_ends(search, ends, search.model.plan.hidden_limit)
    # The deepest path may have gone astray: it read what comes much later, and no state after it explains what is next.
    deepest = max(ends, key=lambda each: each.read)
    for path in (deepest,) if ended.latest is None else (ended.latest, deepest):
        failed = first_failed(search, Rejected((path,)))
        onward = reopened(search, path, log) if failed is not None and unlogged.may_follow(path.read) else None
        # From the same state and with the same lines a search ends as before, but for one that spent its limit elsewhere.
        is_new = onward is not None and (onward.places or onward.search is not search or isinstance(ended, Undecided))
        if failed is not None and onward is not None and is_new:
            unlogged.add(path.read, failed.observation.event.record.place, onward.places)
            found.append((onward.search, onward.path))
            return True
    return False


def _may_be_lost(answer: WindowRefuted | None) -> bool:
    """Whether a line that was lost may explain what a window says of a line."""
    return answer is None or answer.unless_lost


def _onward(
    search: TraceSearch,
    rejected: Rejected,
    start: list[SearchPath],
    writer: ConditionPrinter,
    options: Options,
    log: LogPart | None,
) -> Resumption | None:
    """The violation and how to go on. In a ``log`` a line may be lost that several lines miss."""
    may_be_lost = log is not None and log.begins_in_mid_life
    # Where a line may be lost, the resumption has to be looked for: it says whether one was.
    if options.first and not may_be_lost:
        return first_mismatch(search, rejected, writer)
    onward = resume(search, rejected, start, writer, may_be_lost=may_be_lost)
    is_lost = onward is not None and onward.is_lost
    return first_mismatch(search, rejected, writer) if options.first and not is_lost else onward


def _with_another_value(
    search: TraceSearch, rejected: Rejected, writer: ConditionPrinter, options: Options
) -> Resumption | None:
    """The violation at a line that is explained with the lines around it, but not with all since the birth of the
    system. Another value in it explains all of the log, and no lost line does. None where that is not so: then it may
    be lines that are wanting.
    """
    from assay.traces.windows.births import begins_at_birth  # noqa: PLC0415 - as above

    # Where lines may be missing anywhere, one of these may be what explains the line, and not a wrong value.
    whole = not (options.partial or options.lossy or options.holes) and search.initial == search.model.initial
    if not whole or rejected.conflict or not begins_at_birth(search.frontier.order.items):
        return None
    try:
        onward = explain_mismatch(search, rejected.deepest, writer, may_be_wrong=True)
    except (StopRequest, EnginesDisagreeError):
        raise
    except Exception:  # noqa: BLE001 - without a repair the answer stays open
        return None
    if onward is None or not onward.is_another_value:
        return None
    # Only if all of the log fits with the other value: what leaves a later line over is no proof of a wrong one.
    return onward if isinstance(driver.run(onward.search, list(onward.start), options), Accepted) else None


def _is_enough(
    findings: MismatchFindings, unexplained: LogViolation, lost: list[LogViolation], options: Options
) -> bool:
    """Note lines that a lost one explains; whether the search ends with them. They are no finding."""
    lost.append(unexplained)
    places = ", ".join(str(each.place) for each in unexplained.blame)
    findings.add_reason(f"of {places} no single one is wrong; {unexplained.repair.text}")
    if findings.stuck is None:
        findings.stuck = unexplained.event.record.time
    return options.first or len(lost) >= MOST_OF_PARTS


def _is_last(findings: MismatchFindings, violation: LogViolation, options: Options, most: int) -> bool:
    """Add a violation; whether the search ends with it."""
    findings.violations.append(violation)
    if findings.stuck is None:
        # The first one counts: what comes after it is checked under a repair, and proves less.
        findings.stuck = violation.event.record.time
    if options.first:
        findings.reason = FIRST_ONLY
    elif len(findings.violations) >= most:
        findings.reason = f"{most} mismatches; {NOT_CHECKED}"
    return options.first or len(findings.violations) >= most


def _at_limit(
    findings: MismatchFindings,
    search: TraceSearch,
    start: Sequence[SearchPath],
    undecided: Undecided,
    answer: WindowAnswer | None,
    writer: ConditionPrinter,
) -> None:
    """A limit ends the search here: one that goes on would hit it again. Lines that contradict each other are a finding
    all the same; else an answer may be found from the beginning that a window proposes."""
    from assay.traces.windows.ask import WindowExplained  # noqa: PLC0415 - as above
    from assay.traces.windows.slice_window import WindowRefuted  # noqa: PLC0415 - as above

    if isinstance(answer, WindowRefuted) and not is_known(answer, findings.violations):
        violation = with_window(search, start, undecided, answer, None, writer).violation
        findings.add(violation, f"{undecided.reason}; {NOT_CHECKED}")
        return
    findings.reason = undecided.reason
    findings.stuck = _last_time(undecided.deepest) if findings.stuck is None else findings.stuck
    findings.beginning = answer if isinstance(answer, WindowExplained) and answer.whole else None


def _follows(answer: WindowAnswer | None, doubted: Sequence[OrderedObservation], found: Sequence[LogViolation]) -> bool:
    """Whether a line is unexplained only because of an earlier finding: without it the lines are explained, or they
    contradict each other as that says."""
    from assay.traces.windows.ask import WindowExplained  # noqa: PLC0415 - as above
    from assay.traces.windows.slice_window import WindowRefuted  # noqa: PLC0415 - as above

    if isinstance(answer, WindowRefuted):
        return is_known(answer, found)
    # Without an earlier finding there is nothing that it could follow from.
    return bool(doubted) and isinstance(answer, WindowExplained)


def _asked(
    search: TraceSearch,
    ended: Rejected | Undecided,
    log: LogPart,
    doubted: Sequence[OrderedObservation],
    otherwise: Callable[[], bool] | None,
) -> WindowAnswer | None:
    """What a window says of the first line that is not explained; None where the log begins with the run. Where these
    lines begin with the birth of the cluster, nothing came before: only a refutation counts, for it says more."""
    failed = first_failed(search, ended)
    if failed is None or not log.begins_in_mid_life:
        return None

    def culprit() -> OrderedObservation | None:
        if isinstance(ended, Undecided):
            return failed
        # The pruned search stops before the line that is wrong: it knows that a later one can never be read.
        beyond = _beyond_dead_ends(search, ended.deepest, search.model.plan.hidden_limit)
        return first_failed(search, Rejected(tuple(beyond)))

    from assay.traces.windows.ask import ask_around  # noqa: PLC0415 - as above

    return ask_around(log, search.frontier.order, failed, doubted, culprit, otherwise)


def _stop(
    findings: MismatchFindings, search: TraceSearch, rejected: Rejected, answer: WindowExplained | WindowUnanswered
) -> None:
    """The search ends here: it is not the log that is to blame, as far as is known."""
    from assay.traces.windows.ask import WindowUnanswered  # noqa: PLC0415 - as above

    failed = first_failed(search, rejected)
    place = "" if failed is None else str(failed.observation.event.record.place)
    if failed is not None and findings.stuck is None:
        findings.stuck = failed.observation.event.record.time
    if isinstance(answer, WindowUnanswered):
        findings.add_reason(f"{place} has no explanation together with all before it; {answer.reason}")
        return
    findings.add_reason(f"the lines around {place} are explained by {answer.words()}")
    findings.beginning = answer if answer.whole else None


def _last_time(deepest: Sequence[SearchPath]) -> float | None:
    """The time of the last line that one of these paths explains."""
    nodes = (path.move for deep in deepest for path in deep.backwards() if path.move is not None)
    return max((move.item.time for move in nodes if move.item is not None), default=None)


def resume(
    search: TraceSearch,
    rejected: Rejected,
    start: list[SearchPath],
    writer: ConditionPrinter,
    *,
    may_be_lost: bool = False,
) -> Resumption | None:
    """The violation of a failed search, and how to go on; None if there is no suspect at all. Whether several lines
    miss a lost one is asked only where a line ``may_be_lost``.
    """
    if rejected.conflict:
        return without_last(search, rejected.conflict, start)
    try:
        return explain_mismatch(search, rejected.deepest, writer, may_be_lost=may_be_lost)
    except (StopRequest, EnginesDisagreeError):
        raise
    except Exception as error:  # noqa: BLE001 - the verdict stands, whatever its explanation runs into
        return _unexplained(search, rejected, error)


def first_mismatch(search: TraceSearch, rejected: Rejected, writer: ConditionPrinter) -> Resumption:
    """The violation of a failed search with its likeliest lines, without a repair. The search does not go on."""
    ranked = [] if rejected.conflict else suspects(search, rejected.deepest, search.model.plan.hidden_limit)
    found = without_candidate(search, rejected)
    if ranked:
        blames = _ranked_blames(None, ranked, writer)
        found = replace(found, event=blames[0].event, action=blames[0].action, blame=tuple(blames[:BLAMES_KEPT]))
    elif rejected.conflict:
        found = without_last(search, rejected.conflict, ()).violation
    return Resumption(replace(found, repair=Repair("none", NOT_ASKED, found.event)), search, ())


def _unexplained(search: TraceSearch, rejected: Rejected, error: Exception) -> Resumption:
    """The violation at the line that is next where the search ended, if explaining it failed."""
    found = without_candidate(search, rejected)
    first = next(item for item in search.frontier.order.items if item.observation.event is found.event)
    text = f"explaining this line failed, by a mistake of the program ({type(error).__name__}: {error}); it is left out"
    violation = replace(found, repair=Repair("drop", text, found.event))
    return Resumption(violation, leave_out(search, first), rejected.deepest[:1])


def without_candidate(search: TraceSearch, rejected: Rejected) -> LogViolation:
    """The violation where no line is next: each must come after another, or the clause has no step for it."""
    cursors = rejected.deepest[0].node.cursors
    due = search.frontier.heads(cursors).items
    # Nothing is due where each next line waits for another one, in a circle of what the clause orders.
    first = min(due or search.frontier.next_in_streams(cursors), key=lambda item: (item.time, item.index))
    event, action = first.observation.event, action_of(first)
    repair = Repair("none", NO_STEP if due else NO_ORDER, event)
    return LogViolation(event, action, (Blame(event, action, ()),), repair)


def explain_mismatch(
    search: TraceSearch,
    deepest: Sequence[SearchPath],
    writer: ConditionPrinter,
    *,
    may_be_lost: bool = False,
    may_be_wrong: bool = False,
) -> Resumption | None:
    """The blame for a search that ended at these paths, and how to go on; None if there is no suspect at all. Only
    where it is asked for, the answer says whether a line was lost, or whether one has another value.
    """
    budget = search.model.plan.hidden_limit
    deepest = _beyond_dead_ends(search, deepest, budget)
    ranked = suspects(search, deepest, budget)
    if not ranked:
        return None
    chosen = best_repair(search, deepest, ranked, budget)
    if chosen is None:
        return _without_repair(search, ranked, writer)
    candidate = chosen.candidate
    blames = _ranked_blames(candidate.item, ranked, writer, candidate.repair.field)
    repair, excess = candidate.repair, 0.0
    if repair.kind == "clock":
        repair, excess = _with_times(chosen, search.frontier.order)
    violation = LogViolation(blames[0].event, blames[0].action, tuple(blames[:BLAMES_KEPT]), repair)
    is_lost = may_be_lost and is_missed_by_others(chosen, search, deepest, ranked, budget)
    is_wrong = may_be_wrong and is_another_value(chosen, search, deepest, ranked, budget)
    return Resumption(violation, candidate.search, candidate.start, excess <= driver.REACH, is_lost, is_wrong)


def _beyond_dead_ends(search: TraceSearch, deepest: Sequence[SearchPath], budget: int) -> Sequence[SearchPath]:
    """The paths extended as far as lines can be read at all.

    The search stops where some later line has become impossible. What is wrong with that line is seen only after the
    lines before it, which have nothing to do with it.
    """
    limits = Limits(budget, SECOND_NODES, reduced=False, window=WINDOW)
    further = search.run(list(deepest), limits).deepest
    return further if further and further[0].read > deepest[0].read else deepest


def _ranked_blames(
    item: OrderedObservation | None, ranked: Sequence[Suspect], writer: ConditionPrinter, field: str | None = None
) -> list[Blame]:
    """The line that the repair changes, with what contradicts the changed field; then the suspects by rank, each
    once.
    """
    blames = [as_blame(suspect, writer) for suspect in ranked]
    if item is not None:
        place = item.observation.event.record.place
        doubted = dict(item.observation.values).get(field) if field is not None else None
        own = [suspect for suspect in ranked if suspect.item.observation.event.record.place == place]
        # Suspects of the same line that name the doubted value come first: they show what contradicts it.
        own.sort(key=lambda suspect: field is not None and not suspect.mentions(doubted))
        blames = [as_blame(own[0], writer) if own else _as_source(item, blames[0]), *blames]
    first: dict[str, Blame] = {}
    for blame in blames:
        # By place: one line may be a suspect for several actions, and the likeliest comes first.
        first.setdefault(str(blame.place), blame)
    return list(first.values())


def _as_source(item: OrderedObservation, noticed: Blame) -> Blame:
    """A line read earlier whose value makes a later line impossible."""
    return Blame(item.observation.event, action_of(item), noticed.parts)


def _without_repair(search: TraceSearch, ranked: Sequence[Suspect], writer: ConditionPrinter) -> Resumption:
    """No small repair helps: the likeliest line is left out."""
    worst = ranked[0]
    item = worst.item
    blames = _ranked_blames(item, ranked, writer)
    repair = Repair("none", NO_REPAIR, item.observation.event)
    violation = LogViolation(blames[0].event, blames[0].action, tuple(blames[:BLAMES_KEPT]), repair)
    return Resumption(violation, leave_out(search, item), (worst.path,))


def _with_times(chosen: ChosenRepair, order: PartialOrder) -> tuple[Repair, float]:
    """The repair that doubts the clocks, with the two lines that are furthest out of order, and by how much."""
    repair = chosen.candidate.repair
    worst = max(_inversions(chosen.path, order), key=lambda found: found[0], default=None)
    if worst is None:
        return repair, inf
    excess, first, second = worst
    places = f"{first.observation.event.record.place} happened before {second.observation.event.record.place}"
    text = f"{places}, which takes {excess:.0f} ms more than the clause's order allows"
    return replace(repair, text=text, event=second.observation.event), excess


def _inversions(
    path: SearchPath | None, order: PartialOrder
) -> Iterator[tuple[float, OrderedObservation, OrderedObservation]]:
    """The pairs of items that a path reads against their certain order, with the milliseconds by which they violate
    it.
    """
    read: list[OrderedObservation] = []
    last = -inf
    for move in path.moves() if path is not None else ():
        if move.item is None:
            continue
        # Most items may have happened after all that were read, so that no pair has to be looked at.
        for earlier in read if last - move.item.latest > min(0, order.skew) else ():
            if order.precedes(move.item, earlier):
                yield order.excess(move.item, earlier), earlier, move.item
        read.append(move.item)
        last = max(last, move.item.earliest)
