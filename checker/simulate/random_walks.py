"""Random walks from initial states; each step is chosen with equal probability among all that are possible.

Walkers move in waves, all walkers of a wave together. So one seed gives the same walks in every run with the same
options and engine, whatever the number of processes that make waves. The states of a walk are kept until its wave ends,
so that a violation is reported with the walk to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from itertools import islice
from typing import Generic

import numpy as np

from assay.checker.explicit.engine_search import EngineSearch
from assay.checker.explicit.expansion.cancellation import halting
from assay.checker.interpreter.actions.outcome import Cut, Outcome, Picks, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.options import SearchOptions
from assay.checker.report import EnginesDisagreeError, State, Step, Trace
from assay.checker.results.reorder_trace import taken_again
from assay.checker.search_interface.finding import DEADLOCK, PropertyFinding
from assay.checker.search_interface.link import Link
from assay.checker.search_interface.protocols import Stopped
from assay.checker.simulate.shorten import Ends, shortened
from assay.checker.simulate.walkers import B, Positions, WalkerNotice, Walkers
from assay.checker.simulate.wave_processes import Made, WaveCounts, made_by_copies, processes
from assay.grammar.lazy_dataclass import dataclass

MOST_INITIAL = 100_000
"""The most initial states that walks begin in; of more, the first ones."""
WAVE = 256
"""How many walkers move together."""
ROUND = 16
"""How many waves are made without knowing what the others exercise."""
MOST_SEEN = 1_000_000
"""The most states that are remembered to count distinct ones."""


@dataclass(frozen=True, slots=True)
class Walks:
    """The number of walks, the most states of each, and the seed of all choices.

    With a ``plateau`` walks are made until so many of them, one after the other, have exercised nothing new; ``number``
    does not count then. Steps of actions that were taken seldom are preferred.
    """

    number: int = 1_000
    depth: int = 100
    seed: int = 0
    plateau: int | None = None


@dataclass(frozen=True, slots=True)
class Past(Generic[B]):
    """The walkers of a wave at one depth: their numbers, in order, and their states."""

    walkers: Positions
    batch: B


class Visited:
    """The last states of walks with findings, in place of a state store."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.traces: list[Trace] = []

    def __len__(self) -> int:
        return len(self.states)

    def add_walk(self, trace: Trace) -> int:
        """Keep a walk and return the number of its last state."""
        self.states.append(trace.steps[-1].state)
        self.traces.append(trace)
        return len(self.states) - 1


class Simulation(EngineSearch, Generic[B]):
    """A simulation and its findings, in the form of a search whose states are those with findings.

    ``walks`` and ``moves`` are counters; ``longest`` is the number of states of the longest walk, ``ended`` how many
    walks reached a state without successor. ``distinct`` is the number of distinct states, a lower bound if
    ``more_states``.
    """

    refines = False

    def __init__(self, model: Model, options: SearchOptions, walks: Walks, engine_walkers: Walkers[B]) -> None:
        super().__init__(model, options)
        self.plan = walks
        self.engine_walkers = engine_walkers
        self.visited = Visited()
        self.walks = self.moves = self.longest = self.ended = 0
        self._waves = 0
        self._random = np.random.Generator(np.random.PCG64(walks.seed))
        self._known: Counter[str] = Counter()
        """How often each action was taken before the round began."""
        self._own: Counter[str] = Counter()
        """How often it was taken in this wave."""
        self._new: list[tuple[int, str]] = []
        self._starts: list[tuple[State, Picks]] = []
        self._seen: set[int] = set()
        self._past: list[Past[B]] = []
        self._most_covered = -1
        self._covered_at = 0
        self._initial: Positions = np.zeros(0, np.int64)

    @property
    def store(self) -> Visited:
        """The states in which something was found."""
        return self.visited

    @property
    def distinct(self) -> int:
        """How many different states were seen."""
        return len(self._seen)

    @property
    def more_states(self) -> bool:
        """Whether more states were seen than are remembered."""
        return len(self._seen) >= MOST_SEEN

    def trace(self, number: int, *more: Step) -> Trace:
        """The walk to a state with a finding."""
        return Trace((*self.visited.traces[number].steps, *more))

    def _explore(self) -> None:
        with self._halting():
            self._find_initial()
        self._walk_all()
        self._tell()

    def _halting(self) -> AbstractContextManager[None]:
        """Inside, a limit ends compiled code too. No process is copied inside: a copy has no watching thread."""
        machine = self.engine_walkers.machine
        return nullcontext() if machine is None else halting(machine, self._is_due, self._heed_limits)

    def _find_initial(self) -> None:
        # Not all of them: a model may have millions, and walks begin in few.
        found: list[Outcome] = list(islice(self.model.init.outcomes(), MOST_INITIAL))
        for outcome in found:
            match outcome:
                case Stuck():
                    self.watch.note_stuck_initial(outcome)
                case Cut(_, label):
                    self.bounds[label] += 1
                case Successor():
                    pass
        # Each initial state once, so that walks begin in all of them with equal probability.
        starts = {each.state: each.picks for each in found if isinstance(each, Successor)}
        self._starts = list(starts.items())
        self.initial = len(self._starts)

    def _walk_all(self) -> None:
        try:
            while self.initial and not self._is_enough():
                self._round()
                self._end_if_cut()
        finally:
            self.bounds.update({label: hits for label, hits in self.engine_walkers.bounds() if hits})
            self.engine_walkers.note_coverage()
        if self.initial:
            # Walks never show that a property holds, so each simulation is a search that was stopped.
            raise Stopped(self._what_was_done())

    def _end_if_cut(self) -> None:
        hit = Counter(dict(self.engine_walkers.bounds())) + self.bounds
        if not self.options.never_cut.isdisjoint(hit):
            raise Stopped("a set has too few slots")

    def _round(self) -> None:
        """Make waves side by side. The first round is one wave: most mistakes show in it, and most runs have no
        other."""
        # The same for all waves of the round, whichever process makes them.
        self._known = self.taken.copy()
        waves = range(self._waves, self._waves + (ROUND if self._waves else 1))
        # A round may not begin more waves than there are walks left to make.
        if self.plan.plateau is None:
            waves = waves[: -(-(self.plan.number - self.walks) // WAVE)]
        count = min(processes(self.options.threads), len(waves))
        with closing(made_by_copies(count, waves, self._counted, self._is_due)) as made:
            for wave, counts in zip(waves, made, strict=True):
                if counts is None:
                    with self._halting():
                        self._wave(wave)
                else:
                    self._add(counts)
                if self._is_enough():
                    return

    def _counted(self, wave: int, is_over: Callable[[], bool]) -> Made:
        """What a wave adds, in a copy of this process; None where it finds something."""
        # The first process alone prints and looks at the time.
        self.options = replace(self.options, interrupted=is_over, progress=lambda _: None)
        self._forget()
        found = len(self.watch.found), len(self.watch.undefined)
        # Engines count bounds over all that they did: what this wave adds is the difference.
        cuts = dict(self.engine_walkers.bounds())
        is_whole = True
        try:
            self._wave(wave)
        except Stopped:
            is_whole = False
        if found != (len(self.watch.found), len(self.watch.undefined)):
            return None
        self.engine_walkers.note_coverage()
        return WaveCounts(
            self.walks, self.moves, self.ended, self.longest, self.generated, self._own,
            Counter({label: hits - cuts.get(label, 0) for label, hits in self.engine_walkers.bounds()}),
            tuple((step.node.name, frozenset(step.decisive)) for step in self.model.steps),
            tuple(self._new), is_whole,
        )  # fmt: skip

    def _forget(self) -> None:
        """Count from zero, as a copy does for each wave."""
        self.walks = self.moves = self.ended = self.longest = self.generated = 0

    def _add(self, counts: WaveCounts) -> None:
        """Add what a copy has counted. Raises ``Stopped`` if a limit has ended it."""
        self._waves += 1
        self.walks += counts.walks
        self.moves += counts.moves
        self.ended += counts.ended
        self.depth = self.longest = max(self.longest, counts.longest)
        self.generated += counts.generated
        self.taken.update(counts.taken)
        self.bounds.update({label: hits for label, hits in counts.bounds.items() if hits})
        for name, labels in counts.decisive:
            self.model.actions[name].decisive.update(labels)
        for mark, name in counts.marks:
            self._see(mark, name)
        # A copy ends early when the time is over, which is then over here, too.
        if not counts.is_whole:
            self._heed_limits()

    def _is_enough(self) -> bool:
        if self.plan.plateau is None:
            return self.walks >= self.plan.number
        covered = self._covered()
        if covered > self._most_covered:
            self._most_covered, self._covered_at = covered, self.walks
        return self.walks - self._covered_at >= self.plan.plateau

    def _covered(self) -> int:
        """How many actions were taken, guards decisive, and bounds hit; and how many properties were decided."""
        self.engine_walkers.note_coverage()
        actions = sum(1 for step in self.model.steps if self.taken[step.node.name])
        guards = sum(len(step.decisive) for step in self.model.steps)
        cuts = {label for label, hits in self.engine_walkers.bounds() if hits} | self.bounds.keys()
        return actions + guards + len(cuts) + len(self.watch.found)

    def _what_was_done(self) -> str:
        walks = f"{self.walks:,} random {'walk was' if self.walks == 1 else 'walks were'} made"
        new = f", the last {self.plan.plateau:,} or more without anything new" if self._is_flat() else ""
        return f"only {walks}, of up to {self.plan.depth:,} states{new}"

    def _is_flat(self) -> bool:
        return self.plan.plateau is not None and self.walks - self._covered_at >= self.plan.plateau

    def _wave(self, number: int) -> None:
        """Move walkers until the last one has ended, or something is violated."""
        # By the number of the wave and not by the walks made so far: a copy does not know these.
        size = WAVE if self.plan.plateau else min(WAVE, self.plan.number - number * WAVE)
        self._waves = number + 1
        self._own, self._new = Counter(), []
        if number:  # the first wave goes on with the generator that chose nothing yet
            self._random = np.random.Generator(np.random.PCG64([self.plan.seed, number]))
        self._initial = self._random.integers(0, len(self._starts), size)
        batch = self.engine_walkers.place([self._starts[at][0] for at in self._initial.tolist()])
        walkers: Positions = np.arange(size)
        self._past = [Past(walkers, batch)]
        self.walks += size
        self._arrive(batch, None)
        for depth in range(1, self.plan.depth + 1):
            self.depth = self.longest = max(self.longest, depth)
            self._stop_if_violated()
            self._heed_limits()
            counts, actions, notices = self.engine_walkers.expand(batch)
            self._look(notices)
            # After `_look`: a violated step or a deadlock ends the wave at this depth.
            self._stop_if_violated()
            # Those that are left behind keep their place in `_past`, where `_walk` finds them.
            going = counts > 0
            self.ended += int((~going).sum())
            if depth == self.plan.depth or not going.any():
                return
            chosen = self._chosen(counts, actions)[going]
            walkers, batch = walkers[going], self.engine_walkers.move(chosen)
            self.moves += len(chosen)
            self._past.append(Past(walkers, batch))
            self._arrive(batch, actions[chosen])

    def _chosen(self, counts: Positions, actions: Positions) -> Positions:
        """For each walker the position of its step among all successors, any position where it has none."""
        if self.plan.plateau is None:
            # Successors of all walkers stand one behind the other. A walker's begin where those before it end.
            chosen: Positions = np.cumsum(counts) - counts + self._random.integers(0, np.maximum(counts, 1))
            return chosen
        # Weighted choice by the largest of u ** (1 / weight), here its logarithm (Efraimidis, Spirakis, 2006).
        names = [step.node.name for step in self.model.steps]
        rarely = 1 + np.array([self._known[name] + self._own[name] for name in names], np.float64)
        keys = np.log(1 - self._random.random(len(actions))) * (rarely[actions] if len(actions) else 1)
        # Sorted by walker, then by key: the last entry of each walker is its choice.
        order = np.lexsort((keys, np.repeat(np.arange(len(counts)), counts)))
        last = np.maximum(np.cumsum(counts) - 1, 0)
        found: Positions = order[last] if len(order) else np.zeros(len(counts), np.int64)
        return found

    def _stop_if_violated(self) -> None:
        if self.violated and not self.options.keep_going:
            raise Stopped(f"{self._what_was_done()}, the last of which violates something")

    def _arrive(self, batch: B, actions: Positions | None) -> None:
        """Count and inspect the states that walkers reached."""
        self.generated += len(self._past[-1].walkers)
        prints = self.engine_walkers.prints(batch)
        names = [step.node.name for step in self.model.steps]
        for at, mark in enumerate(prints):
            name = "" if actions is None else names[int(actions[at])]
            self.taken[name] += 1
            self._own[name] += 1
            self._see(mark, name)
        # After counting, so that a state with a violation is counted, too.
        self._look_at_states(self.engine_walkers.inspect(batch))

    def _see(self, mark: int, name: str) -> None:
        """Count a state to which an action led, if it is new."""
        if mark not in self._seen and not self.more_states:
            self._seen.add(mark)
            self._new.append((mark, name))
            self.fresh[name] += 1

    def _look_at_states(self, notices: list[WalkerNotice]) -> None:
        for notice in notices:
            before = len(self.watch.found), len(self.watch.undefined)
            number = len(self.visited)
            self.watch.confirm_state(number, self._state(notice))
            # A walk is replayed only for the first finding of each property.
            if before != (len(self.watch.found), len(self.watch.undefined)):
                self.visited.add_walk(self._walk(notice.walker))
            self._require(notice)

    def _require(self, notice: WalkerNotice) -> None:
        """Raise ``EnginesDisagreeError`` where the reference evaluator does not find what compiled code claims."""
        known = {*self.watch.found, *self.watch.undefined, None, *([] if self.asks_deadlock else [DEADLOCK])}
        if notice.claim not in known:
            raise EnginesDisagreeError(
                f"compiled code decides `{notice.claim}` where the reference evaluator does not: {self._state(notice)}"
            )

    def _state(self, notice: WalkerNotice) -> State:
        return self.engine_walkers.state(self._past[-1].batch, notice.walker)

    def _look(self, notices: list[WalkerNotice]) -> None:
        """Judge states without successor, states with an undefined instance, and steps."""
        for notice in notices:
            found = dict(self.watch.found), dict(self.watch.undefined)
            state, number = self._state(notice), len(self.visited)
            if notice.after is None:
                self._look_at_ways(number, state)
            else:
                self.watch.confirm_step(number, state, _first_step(self.model, state, notice.after))
            if found != (self.watch.found, self.watch.undefined):
                self.visited.add_walk(self._walk(notice.walker))
            self._require(notice)

    def _look_at_ways(self, number: int, state: State) -> None:
        alive = False
        for action, arguments, outcome in outcomes(self.model, state):
            alive = True
            if isinstance(outcome, Stuck):
                self.watch.note_stuck(number, action, arguments, outcome)
        if not alive and self.asks_deadlock and DEADLOCK not in self.watch.found:
            self.watch.confirm_deadlock(number, state)

    def shorten(self) -> None:
        """Replace the walks to what was found by shorter ones, where they are about a state or a step that has a
        value."""
        for name, finding in list(self.watch.found.items()):
            # What has no value may have none for another reason in another state.
            if finding.state < 0 or finding.undefined is not None or name in self.watch.undefined or self._is_due():
                continue
            walk = shortened(self.model, self.visited.traces[finding.state], self._shows(name, finding), self._is_due)
            number, state = len(self.visited), walk.steps[-1].state
            again = self._found_again(name, finding, number, state)
            if again is not None:
                self.visited.add_walk(walk)
                self.watch.found[name] = again

    def _shows(self, name: str, finding: PropertyFinding) -> Ends:
        return lambda state: self._found_again(name, finding, finding.state, state) is not None

    def _found_again(self, name: str, finding: PropertyFinding, number: int, state: State) -> PropertyFinding | None:
        """The same finding in another state."""
        if name == DEADLOCK:
            ends = not self.watch.is_terminal(number, state) and not any(True for _ in outcomes(self.model, state))
            return PropertyFinding(number) if ends else None
        if finding.step is None:
            return self.watch.decided_in(name, number, state)
        after = taken_again(self.model, state, finding.step)
        step = None if after is None else replace(finding.step, state=after)
        return None if step is None else self.watch.violation_on(name, number, state, step)

    def _walk(self, place: int) -> Trace:
        """The walk of a walker (by its place in the last batch), its steps replayed by the reference evaluator."""
        walker = int(self._past[-1].walkers[place])
        # Walkers that ended are not in later batches, so a place in a batch is not the walker's number.
        states = [
            self.engine_walkers.state(past.batch, int(np.searchsorted(past.walkers, walker))) for past in self._past
        ]
        steps = [Step(None, (), self._starts[int(self._initial[walker])][1], states[0])]
        for after in states[1:]:
            steps.append(_first_step(self.model, steps[-1].state, after))
        return Trace(tuple(steps))


def _first_step(model: Model, state: State, after: State) -> Step:
    for action, arguments, outcome in outcomes(model, state):
        if isinstance(outcome, Successor) and outcome.state == after:
            return Link(action, arguments, outcome.picks).step(after)
    raise AssertionError(f"a walker made a step that the reference evaluator does not: {state} to {after}")
