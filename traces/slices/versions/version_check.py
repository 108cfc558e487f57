"""Checks one slice along its versions: observation by observation, and on after each mismatch, which is explained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.grammar import kernel as k
from assay.traces.observe.binding import observe
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import LogViolation
from assay.traces.search.read_write_sets import contradicts_itself
from assay.traces.slices.versions.findings import Gap, Odd, SliceFindings, SliceQuery
from assay.traces.slices.versions.out_of_order import is_replayed, out_of_order_lines
from assay.traces.slices.versions.unlogged_state import UnloggedStates
from assay.traces.slices.versions.version_blame import NO_STRAIN, BlameCandidate, Blamer, Strain, disagreeing, odd_lines
from assay.traces.slices.versions.version_history import (
    Entry,
    Frontier,
    UnversionedLine,
    VersionedUpdate,
    VersionHistory,
    VersionNode,
    announcing,
    entries,
    knows_gaps,
    number_of,
    states_number_alone,
    with_number,
)

ATTEMPTS_TRIED = 6
"""How many explanations of a mismatch are tried on what follows."""

AHEAD = 6
"""How many observations after a mismatch decide between its explanations."""

_ONE_LINE = 1, 1, NO_STRAIN
_SEVERAL_OBSTACLES = 2, 0, NO_STRAIN
"""Ranks of explanations.

Below the first are updates that broke a rule while all their lines agree: no explanation that blames the update before
ranks below that. Where the actions that the lines name have one obstacle, no other action is tried.
"""

MISSING_TRIED = 3
"""How many versions without a line, in a row, may be what another line reports."""

LATE = 10_000.0
"""By how many milliseconds a fact may be older than its line, where the clause sets no bound."""


class SliceCheck:
    """The check of one slice."""

    def __init__(
        self, history: VersionHistory, blamer: Blamer, lines: Sequence[OrderedObservation], asked: SliceQuery
    ) -> None:
        bound = history.model.plan.ordering.commit_before_line
        self.history = history
        self.blamer = blamer
        self.started = asked.started
        self.partial = asked.partial
        self.one_is_enough = asked.one_is_enough
        self.explained = asked.explained
        self.late = LATE if bound is None else float(bound)
        self.lines = tuple(lines)
        self.logged = {number_of(history.model, line) for line in lines}
        self.frontier: Frontier = history.begin
        self.last: int | None = None
        self.waiting: list[UnversionedLine] = []
        self.held: dict[int, tuple[int, Frontier]] = {}
        """For each line that had to wait, the version expected then and the frontier, by the line's number."""
        self.gaps: list[Gap] = []
        self.before_last: Frontier = ()
        self.latest: VersionedUpdate | None = None
        self.found = SliceFindings(history.begin[0])
        self.unlogged = UnloggedStates(history, self.lines, asked.is_possible)

    def run(self) -> SliceFindings:
        """Check all observations."""
        # Before anything is searched: one line in a wrong place would make all behind it mismatches.
        misplaced = out_of_order_lines(self.history.model, self.lines, self.late)
        kept = [line for line in self.lines if line not in misplaced]
        todo = entries(self.history.model, kept, self.late)
        for at, entry in enumerate(todo):
            if self.one_is_enough and (self.found.violations or (misplaced and not self.partial)):
                break
            self.take(entry, todo[at + 1 :])
        return self.finish(misplaced)

    def take(self, entry: Entry, ahead: Sequence[Entry]) -> None:
        """Check the next observation; ``ahead`` are those that follow."""
        match entry:
            case UnversionedLine():
                self._take_unversioned(entry)
            case VersionedUpdate():
                gap = self._note_gap(entry)
                # What waits behind a gap gets another try once the update is taken, because one of the missing versions
                # may be what it reports. Without a gap it is over.
                if not gap:
                    self._expire_waiting(entry.number)
                self._take_version(entry, ahead)
                self._try_again()
                if gap:
                    self._expire_waiting(entry.number)

    def finish(self, misplaced: Sequence[OrderedObservation]) -> SliceFindings:
        """The findings after all observations."""
        self._expire_waiting(None)
        self.found.node = min(self.frontier, key=lambda node: node.reported)
        self._find_places(misplaced)
        return self.found

    # ------------------------------------------------------------------------------------ unversioned observations

    def _take_unversioned(self, unversioned: UnversionedLine) -> None:
        onward = self.history.extend(self.frontier, unversioned, allowed=self._hides_no_logged)
        if onward:
            self.frontier = onward
        else:
            self.waiting.append(unversioned)
            self.held.setdefault(unversioned.line.index, (self._expected, self.frontier))

    def _hides_no_logged(self, node: VersionNode) -> bool:
        """Whether no line states a version that hidden steps before an unversioned observation are taken for.

        Such a line may only be written later than one about what follows: the observation waits for it.
        """
        hidden = range(0) if self.last is None else range(self.last + 1, self.last + 1 + self._shown(node))
        return not any(number in self.logged for number in hidden)

    def _try_again(self) -> None:
        waiting, self.waiting = self.waiting, []
        for unversioned in waiting:
            self._take_unversioned(unversioned)

    def _expire_waiting(self, number: int | None) -> None:
        """Report waiting observations that can no longer come as mismatches."""
        over = [d for d in self.waiting if number is None or (d.before is not None and d.before <= number)]
        self.waiting = [unversioned for unversioned in self.waiting if unversioned not in over]
        for unversioned in over:
            if contradicts_itself(self.history.model, unversioned.line.observation):
                self.found.violations.append(self.blamer.unversioned(self.history, self.frontier, unversioned))
                continue
            if self._is_before_beginning(unversioned):
                self.found.begun = self.found.begun or unversioned.line
                self.found.passed_over.append(unversioned.line)
                continue
            if self.partial and self.gaps:
                self.found.passed_over.append(unversioned.line)
                continue
            unlogged = self._explained_by_missing(unversioned)
            self.found.missing += (each for each in unlogged if each not in self.found.missing)
            if unlogged:
                continue
            if self.partial and self.unlogged.at(self.frontier, unversioned, self._expected):
                self.found.passed_over.append(unversioned.line)
            else:
                self.found.violations.append(self.blamer.unversioned(self.history, self.frontier, unversioned))

    def _is_before_beginning(self, unversioned: UnversionedLine) -> bool:
        """Whether a line may report updates before the first known one, where the slice's beginning was not logged."""
        plan, rule, begun = self.history.model.plan, unversioned.line.observation.rule, self.found.begun
        late = LATE if self.partial else plan.ordering.skew
        known = self.last is not None and begun is not None and unversioned.line.time > begun.time + late
        if self.started or not (plan.numbered or knows_gaps(plan)) or known:
            return False
        own = {self.history.model.kernel.variables[at].name for at in self.history.split.own}
        return rule.observe is None or not own.isdisjoint(variables_of(rule.observe))

    def _note_gap(self, write: VersionedUpdate) -> bool:
        """Record the versions without a line before an update; whether there are any. What waits may belong to them and
        is retried.
        """
        known = self.last is not None or self.started
        gap = known and write.number > self._expected
        if gap:
            self.gaps.append(Gap(range(self._expected, write.number), self.frontier))
        return gap

    @property
    def _expected(self) -> int:
        """The version that comes next if no line is missing."""
        return 0 if self.last is None else self.last + 1

    def _explained_by_missing(self, unversioned: UnversionedLine) -> range:
        """The missing versions of which one, as an update that the model allows there, would explain the line.

        For logs with missing parts, versions after the last one count too.
        """
        held = self.held.get(unversioned.line.index)
        for gap in self.gaps:
            # Lines that came later may have moved the frontier on, past where the missing updates belong.
            early = [held[1]] if held is not None and held[0] == gap.numbers.start else []
            if any(self._reached(unversioned, Gap(gap.numbers, before)) for before in (gap.before, *early)):
                return gap.numbers
        if self.partial and self.last is not None:
            return self._reached(unversioned, Gap(range(self.last + 1, self.last + 1 + MISSING_TRIED), self.frontier))
        return range(0)

    def _reached(self, unversioned: UnversionedLine, gap: Gap) -> range:
        """The first missing versions of a gap, as many as it takes to explain a line."""
        frontier = gap.before
        for number in gap.numbers[:MISSING_TRIED]:
            frontier = self.history.extend_ignoring_lines(frontier, VersionedUpdate(number, (unversioned.line,)))
            if self.history.extend(frontier, unversioned):
                return range(gap.numbers.start, number + 1)
        return range(0)

    # ----------------------------------------------------------------------------------------------------- updates

    def _take_version(self, write: VersionedUpdate, ahead: Sequence[Entry]) -> None:
        expected = self._expected
        unknown = self.last is None and not self.started and write.number > 0
        before = self.frontier
        # Versions are missing before this update: hidden updates may be in their place, or the state is read off the
        # update itself.
        if unknown or write.number > expected:
            self.found.begun = write.lines[0] if unknown else self.found.begun
            last = not any(isinstance(entry, VersionedUpdate) for entry in ahead)
            seen = () if unknown else self._fill_gap(expected, write)
            if not (unknown or seen or self.partial) and last and self._is_restated(write):
                return
            onward = seen or self._resync_from_line(write)
            if not onward and self.partial:
                onward = self.unlogged.before(before, write)
            if not onward:
                self._skip_version(write)
                return
            if not (unknown or seen):
                reported = {*self.found.missing, *(each.number for each in self.found.unplaced)}
                self.found.missing += (n for n in range(expected, write.number) if n not in reported)
        else:
            onward = self.history.extend(before, write)
            if not onward and self.last is None and (self.partial or not self.started):
                # The logs may begin in the middle of the slice, so the blank first state proves nothing against its
                # first update.
                onward = self._resync_from_line(write)  # its lines may be a much later repetition
                self.found.begun = write.lines[0]
            if not onward and self._may_lack_a_line(write):
                self._skip_version(write)
                return
            onward = onward or self._explain(write, ahead)
        self.frontier, self.before_last = onward, before
        self.last, self.latest = write.number, write

    def _skip_version(self, write: VersionedUpdate) -> None:
        """Go on after an update of which too little is known."""
        self.found.unplaced.append(write)
        if self.last is not None:
            self.gaps.append(Gap(range(self.last + 1, write.number + 1), self.frontier))

    def _may_lack_a_line(self, write: VersionedUpdate) -> bool:
        """Whether the line that names the action, or the action before, may be among the missing lines."""
        lacking = self.partial or (self.last is None and not self.started)
        return lacking and (bool(self.gaps) or not any(line.observation.names_action for line in write.lines))

    def _fill_gap(self, first: int, write: VersionedUpdate) -> Frontier:
        """The frontier after an update if the missing versions before it are hidden updates; other lines may have shown
        some of these.
        """
        if write.number - first > self.history.model.plan.hidden_limit:
            return ()
        shown = [(first + self._shown(node), node) for node in self.frontier]
        frontier: Frontier = ()
        for number in range(first, write.number + 1):
            frontier = (*frontier, *(node for reached, node in shown if reached == number))
            if number < write.number:
                frontier = self.history.extend_with_unlogged(frontier, number)
        return self.history.extend(frontier, write)

    def _shown(self, node: VersionNode) -> int:
        """How many hidden updates other lines required since the last update."""
        since = takewhile(lambda each: not isinstance(each.entry, VersionedUpdate), node.backwards())
        return sum(taken.action in self.history.model.plan.numbered for each in since for taken in each.hidden)

    def _is_restated(self, write: VersionedUpdate) -> bool:
        """Whether a single line after the last update belongs to that update except for its version; it is recorded as
        a mismatch then.

        A line with nothing but a version may belong to any update.
        """
        (node, *_), (line, *more) = self.frontier, write.lines
        after = self.history.state_id(node.own, node.position)
        if (
            more
            or states_number_alone(line.observation.rule)
            or len(disagreeing(self.history, line, after, after)) != 1
        ):
            return False
        violation = self.blamer.disagreement(self.history, line, after, after, "observe")
        self.found.violations.append(violation)
        return True

    def _resync_from_line(self, write: VersionedUpdate) -> Frontier:
        """The frontier with the state after an update that its lines give in full; what came before is unknown."""
        best = self._adopted(write)
        if best is None:
            return ()
        if self.partial and best.odd:  # missing lines may have reported what no full state holds, such as an assignment
            self.found.unplaced.append(write)
        else:
            self._note_odd(best.odd, best.node)
        return (best.node,)

    def _adopted(self, write: VersionedUpdate) -> BlameCandidate | None:
        """The state after an update that most of its lines give, and the lines that disagree."""
        best: BlameCandidate | None = None
        for node in self.frontier:
            position, start = next(iter(self.history.places(node, write)))
            for item in self._as_gap(write):
                for after, taken in self.history.model.consume(item, start):
                    odd = odd_lines(self.history, write, start, after)
                    # The first of equally good candidates stays: the order is that of the frontier, so answers can be
                    # reproduced.
                    if best is None or len(odd) < len(best.odd):
                        onward = VersionNode(self.history.slice_values(after), position, node, write, start, (), taken)
                        best = BlameCandidate(onward, onward, 0, odd)
        return best

    def _as_gap(self, write: VersionedUpdate) -> Iterable[OrderedObservation]:
        """The lines of an update as the clause's rules for gaps read them."""
        for rule in self.history.model.plan.rules:
            if rule.event == k.GAP:
                for line in write.lines:
                    seen = observe(replace(line.observation.event, kind=k.GAP), rule, lambda _, __: True)
                    if isinstance(seen, Observation):
                        yield replace(line, observation=seen)

    def _note_odd(self, odd: Iterable[OrderedObservation], node: VersionNode) -> None:
        after = self.history.state_id(node.own, node.position)
        for line in odd:
            violation = self._disagreement(line, node)
            self.found.odd.append(Odd(line, node.start, after, violation))
            self.found.violations.append(violation)

    def _disagreement(self, line: OrderedObservation, node: VersionNode) -> LogViolation:
        """The violation for a line against the update at the end of a path."""
        action = node.taken[-1].action if node.taken else "observe"
        after = self.history.state_id(node.own, node.position)
        return self.blamer.disagreement(self.history, line, node.start, after, action)

    def _explain(self, write: VersionedUpdate, ahead: Sequence[Entry]) -> Frontier:
        """The frontier after a mismatch, which is recorded: by the explanation with the fewest obstacles here and in
        what follows.

        An update that broke a rule is one obstacle, however many guards it violates; so is each line that disagrees. If
        all lines agree on an update that no rule allows, what follows agrees with it too, and the rule is blamed;
        otherwise the odd line is. Where several lines agree on a state that no action leads to, the first of them is
        blamed, and the check goes on from that state.
        """
        if not self.explained:
            self.found.violations.append(self.blamer.violation(write.lines[0], "observe", ()))
            return self.frontier
        without_one = self._without_one(write)
        # One wrong line is the likeliest mistake. If leaving it out explains this update and what follows, nothing
        # dearer is tried.
        alone = next((each for each in without_one if not self._failures(each.node, ahead[:AHEAD])), None)
        if alone is not None:
            self._note_odd(alone.odd, alone.noticed)
            return (alone.node,)
        best = self._likeliest(write, ahead, without_one)
        if best is None:
            self.found.violations.append(self.blamer.violation(write.lines[0], "observe", ()))
            return self._resync_from_line(write) or self.frontier
        self.found.violations += self.blamer.broken_guards(self.history, best, write)
        # Several lines against one action: the lines may be right about the state, and the action is what is missing or
        # wrong.
        logged = self._adopted(write) if len(best.odd) > 1 else None
        if logged is None or self._rank(logged, ahead) >= self._rank(best, ahead):
            self._note_odd(best.odd, best.noticed)
            return (best.node,)
        first = next((line for line in announcing(write.lines) if line in best.odd), best.odd[0])
        self.found.violations.append(self._disagreement(first, best.noticed))
        self._note_odd(logged.odd, logged.node)
        return (logged.node,)

    def _likeliest(
        self, write: VersionedUpdate, ahead: Sequence[Entry], without_one: Sequence[BlameCandidate]
    ) -> BlameCandidate | None:
        """The explanation of an update that assumes least; None if there is none."""
        ranked = [(self._rank(each, ahead), each) for each in (*without_one, *self._attempts(write, named=True))]
        least = min((rank for rank, _ in ranked), default=_SEVERAL_OBSTACLES)
        # From here on each attempt costs a trial of many actions, so it is made only if no cheaper explanation can rank
        # lower.
        if least >= _ONE_LINE:
            ranked += [(self._rank(each, ahead), each) for each in self._without_latest(write)]
        if least >= _SEVERAL_OBSTACLES:
            ranked += [(self._rank(each, ahead), each) for each in self._attempts(write, named=False)]
        return min(ranked, key=lambda each: each[0])[1] if ranked else None

    def _attempts(self, write: VersionedUpdate, *, named: bool) -> list[BlameCandidate]:
        return self.blamer.attempts(self.history, self.frontier, write, ATTEMPTS_TRIED, named=named)

    def _rank(self, attempt: BlameCandidate, ahead: Sequence[Entry]) -> tuple[int, int, Strain]:
        """How much an explanation assumes: in all, disagreeing lines, and false guards."""
        return attempt.cost + self._failures(attempt.node, ahead[:AHEAD]), len(attempt.odd), attempt.strain

    def _failures(self, node: VersionNode, ahead: Sequence[Entry]) -> int:
        """How many of the following observations cannot be taken; none is tried after an update that cannot."""
        frontier: Frontier = (node,)
        failed = 0
        for entry in ahead:
            onward = self.history.extend(frontier, entry, 0)
            frontier = onward or frontier
            failed += not onward
            if not onward and isinstance(entry, VersionedUpdate):
                break
        return failed

    def _without_one(self, write: VersionedUpdate) -> list[BlameCandidate]:
        """The outcomes without one of several lines: without one that bounds its time, the update may have been at
        another time.

        Where no line is left that names the action, every action is tried, but only shortly before the first line. Each
        earlier time would cost a trial of all actions.
        """
        found: list[BlameCandidate] = []
        for line in announcing(write.lines) if len(write.lines) > 1 else ():
            others = VersionedUpdate(write.number, tuple(other for other in write.lines if other is not line))
            frontier = self.frontier
            if not any(other.observation.names_action for other in others.lines):
                frontier = self.history.not_before(frontier, write.lines[0].time - 2 * self.late)
            found += [BlameCandidate(node, node, 0, (line,)) for node in self.history.extend(frontier, others)]
        return found

    def _without_latest(self, write: VersionedUpdate) -> list[BlameCandidate]:
        """The frontier if the update before was another than its lines report: a mistake is often noticed one update
        late.
        """
        if self.latest is None or len(self.latest.lines) >= len(write.lines):
            return []
        free = self.history.extend_ignoring_lines(self.before_last, self.latest)
        for hidden in range(self.history.views.tried + 1):
            for middle in free:
                after = self.history.state_id(middle.own, middle.position)
                odd = odd_lines(self.history, self.latest, middle.start, after)
                for node in self.history.extend((middle,), write, hidden) if odd else ():
                    return [BlameCandidate(node, middle, 0, odd)]
        return []

    # ---------------------------------------------------------------------------------- lines with a wrong version

    def _find_places(self, misplaced: Sequence[OrderedObservation]) -> None:
        """Find the version that an odd or misplaced line belongs to."""
        for line in misplaced:
            if self.partial:  # it may repeat a write that was made before the logs begin
                self.found.begun = self.found.begun or line
                if not is_replayed(self.history.model, line, self.lines, misplaced):
                    self.found.passed_over.append(line)
                continue
            start, after, _ = self._closest(line)
            violation = self.blamer.disagreement(self.history, line, start, after, "observe")
            self.found.violations.append(violation)
            self.found.odd.append(Odd(line, start, after, violation))
        for odd in tuple(self.found.odd):
            if odd.line not in misplaced:
                own = len(disagreeing(self.history, odd.line, odd.start, odd.after))
                start, after, wrong = self._same_step(odd) or self._closest(odd.line)
                if (
                    wrong < own and wrong != 0
                ):  # wrong == 0: only the version differs, and there would be nothing to show
                    again = self.blamer.disagreement(self.history, odd.line, start, after, odd.violation.action)
                    self.found.violations[self.found.violations.index(odd.violation)] = again
        # Places are found at the end, so violations were added out of order.
        self.found.violations.sort(key=lambda violation: violation.event.record.time or 0)

    def _same_step(self, odd: Odd) -> tuple[int, int, int] | None:
        """The update that a line fits in every point but its version."""
        for node in self.found.node.backwards() if odd.line.observation.names_action else ():
            if isinstance(node.entry, VersionedUpdate):
                moved = with_number(odd.line, node.entry.number)
                after = self.history.state_id(node.own, node.position)
                if moved is not None and self.history.is_compatible(moved, node.start, after):
                    return node.start, after, -1
        return None

    def misnumbered(self, line: OrderedObservation, number: int) -> LogViolation | None:
        """The violation for a line that fits an update with another version."""
        for node in self.found.node.backwards():
            if isinstance(node.entry, VersionedUpdate) and node.entry.number == number:
                after = self.history.state_id(node.own, node.position)
                return self.blamer.disagreement(self.history, line, node.start, after, "observe")
        return None

    def _closest(self, line: OrderedObservation) -> tuple[int, int, int]:
        """The update of the slice that a line fits best, and the number of points that differ."""
        best = (self.history.state_id(self.found.node.own, self.found.node.position),) * 2
        least = len(disagreeing(self.history, line, *best)) or 1
        for node in self.found.node.backwards():
            if isinstance(node.entry, VersionedUpdate):
                after = self.history.state_id(node.own, node.position)
                wrong = len(disagreeing(self.history, line, node.start, after))
                if wrong < least:
                    best, least = (node.start, after), wrong
        return (*best, least)
