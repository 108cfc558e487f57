"""Breadth-first search: every reachable state once, level by level, so that every counterexample is as short as can be.

A round expands all states of a level. It takes every step from them, checks transitions, deadlock and definedness on
the way, and checks the state properties of new states. A round is always completed before a violation ends the search,
so that verdicts, counts and traces do not depend on which violation came first. Answers are the same in every run.

This is the oracle. When it ends and what it counts as a finding is written here and in ``property_monitor``. No engine
imports or inherits any of it (docs/design/oracle-and-engines.md).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.cancellation import heeding
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.options import Progress, SearchOptions
from assay.checker.reference.property_monitor import Watch
from assay.checker.reference.state_store import StateStore
from assay.checker.report import State, Step, Trace
from assay.checker.results.show_instance import show_initial, show_instance
from assay.checker.results.undo_symmetry import replayed
from assay.checker.search_interface.finding import DEADLOCK, DEFINED, PropertyFinding
from assay.checker.search_interface.link import Link
from assay.checker.symmetry.reduction import Reduction

TELL_EVERY = 256


class _Ended(Exception):  # noqa: N818 - a decision, not a mistake
    """The search ends inside a level; says why. It never leaves ``run``."""


class _DepthReached(_Ended):
    """All states up to the depth that was asked for were seen."""


class Search:
    """A search and all that it found. After ``run`` the attributes say what happened; they are whole after an
    interruption too.

    ``stopped`` says why the search did not see every reachable state, if it did not. If it was to see the first levels
    only, and did, ``up_to_depth`` is their number. ``bounds`` counts cut instances by label over all distinct states
    that were expanded. ``taken`` and ``fresh`` count by action the steps and those that found a new state. With a
    ``reduction`` the store holds representatives, and the model is one whose quantifiers are strict
    (docs/design/symmetry-reduction.md).
    """

    refines = True
    """Whether steps are followed on the abstract side of refinements."""

    def __init__(self, model: Model, options: SearchOptions, reduction: Reduction | None = None) -> None:
        self.model = model
        self.reduction = reduction
        self.options = options
        self.watch = Watch(model, options)
        self.store = StateStore()
        self.generated = 0
        self.depth = 0
        self.initial = 0
        self.bounds: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.fresh: Counter[str] = Counter()
        self.stopped: str | None = None
        self.up_to_depth: int | None = None
        self.interrupted = False
        self._start = time.monotonic()
        self._frontier = 0
        self._deadlock = options.check_deadlock and options.selects(DEADLOCK) and bool(model.steps)

    @property
    def _here(self) -> str:
        """How far the search has come, for people."""
        return f"in level {self.depth}"

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.monotonic() - self._start

    def run(self) -> None:
        """Search until everything is seen, something is violated, or a limit is reached."""
        try:
            self._explore()
        except _DepthReached:
            self.up_to_depth = self.depth
        except _Ended as reason:
            self.stopped = str(reason)
        # It may come at any line. The store writes a state's number last, so that half a state does not count.
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopped = f"interrupted {self._here}"

    def _explore(self) -> None:
        self._find_initial()
        self._levels()
        self._tell()
        self._refuse_undefined()

    def _find_initial(self) -> None:
        # Parameters with too many values to list raise here, before the search has begun.
        for action in self.model.steps:
            _ = action.instances
        with heeding(self._heed_limits):
            self._list_initial()
        self.initial = len(self.store)
        self.depth = 1 if self.initial else 0

    def _list_initial(self) -> None:
        for outcome in self.model.init.outcomes():
            self._heed_limits()
            match outcome:
                case Successor(picks, state):
                    self.generated += 1
                    representative = self.canonical(state)
                    if representative not in self.store:
                        self._see(representative, -1, picks)
                case Cut(_, label):
                    self.bounds[label] += 1
                case Stuck():
                    self._stuck_initial(outcome)

    def _stuck_initial(self, stuck: Stuck) -> None:
        subject = f"the {show_initial(self.model.kernel.init, stuck.picks)}"
        finding = PropertyFinding(-1, undefined=stuck.message, span=stuck.span, subject=subject)
        self.watch.note_undefined(finding)

    def _see(self, state: State, parent: int, link: Link | tuple[tuple[str, object], ...]) -> None:
        # Into the store first: a finding names the number of its state.
        number = self.store.add(state, parent, link)
        self.watch.see_state(number, state)
        if parent < 0:
            self.watch.see_initial(number, state)

    def _levels(self) -> None:
        first, end = 0, len(self.store)
        while first < end:
            self._decide_to_stop()
            for number in range(first, end):
                self._frontier = end - number
                self._heed_limits()
                with heeding(self._heed_limits):
                    self._expand(number)
            first, end = end, len(self.store)
            if first < end:
                self.depth += 1
            self._tell()

    def _refuse_undefined(self) -> None:
        if self.reduction is not None and DEFINED in self.watch.found:
            raise _Ended(
                "something is undefined, and then a state does not stand for others (search without `--symmetry`)"
            )

    def _decide_to_stop(self) -> None:
        self._refuse_undefined()
        # Between levels alone, so that every violation of this level is found whichever came first.
        if self.violated and not self.options.keep_going:
            raise _Ended(self._violation())
        most_levels, most_states = self.options.max_depth, self.options.max_states
        if most_levels is not None and self.depth >= most_levels:
            raise _DepthReached
        if most_states is not None and len(self.store) >= most_states:
            raise _Ended(f"the limit of {most_states:,} states was reached {self._here}")

    @property
    def violated(self) -> set[str]:
        """The names of what was found to be violated: everything that was decided, but for what was to be reached."""
        return self.watch.found.keys() - {watched.node.name for watched in self.watch.reachables}

    def _violation(self) -> str:
        names = sorted(self.violated)
        return f"the search ended {self._here}, where {_enumerate(names)} {'is' if len(names) == 1 else 'are'} violated"

    def _is_late(self) -> bool:
        over = self.options.over_at(self._start)
        return over is not None and time.monotonic() >= over

    def _is_due(self) -> bool:
        """Whether the search is to end now."""
        return self._is_late() or self.options.interrupted()

    def _heed_limits(self) -> None:
        if self.options.interrupted():
            self.interrupted = True
            raise _Ended(f"interrupted {self._here}")
        if self._is_late():
            raise _Ended(f"the time limit of {self.options.timeout or 0:g} s was reached {self._here}")
        if self._frontier % TELL_EVERY == 1:
            self._tell()

    def _tell(self) -> None:
        sizes = (self.depth, len(self.store), self.generated, self._frontier)
        self.options.progress(Progress(*sizes, seconds=self.seconds))

    def _expand(self, number: int) -> None:
        state = self.store.states[number]
        alive = False
        for action, arguments, outcome in outcomes(self.model, state):
            alive = True
            match outcome:
                case Successor(picks, after):
                    self._step(number, state, Link(action, arguments, picks), after)
                case Cut(_, label):
                    self.bounds[label] += 1
                case Stuck():
                    self._stuck(number, action, arguments, outcome)
        if not alive and self._deadlock:
            self._dead(number, state)

    def _step(self, number: int, state: State, link: Link, after: State) -> None:
        name = link.action.node.name
        self.generated += 1
        self.taken[name] += 1
        # Before the store is asked: a step to a state that is known may still violate a property of steps.
        if self.watch.transitions:
            self.watch.see_step(number, state, link.step(after))
        if self.watch.refinements:
            self.watch.see_refined(number, state, link.step(after))
        representative = self.canonical(after)
        if representative not in self.store:
            self.fresh[name] += 1
            self._see(representative, number, link)

    def canonical(self, state: State) -> State:
        """The state that stands for a state in the store."""
        return state if self.reduction is None else self.reduction.canonical(state)

    def trace(self, number: int, *more: Step) -> Trace:
        """A run to a state, and further steps after it."""
        if self.reduction is None:
            return self.store.trace(number, *more)
        return replayed(self, self.reduction, self.store.path(number), more)

    def _stuck(self, number: int, action: ActionMeaning, arguments: Arguments, stuck: Stuck) -> None:
        subject = f"the action `{show_instance(action.node, arguments, stuck.picks)}`"
        self.watch.note_undefined(PropertyFinding(number, undefined=stuck.message, span=stuck.span, subject=subject))

    def _dead(self, number: int, state: State) -> None:
        if not self.watch.is_terminal(number, state):
            self.watch.note_deadlock(number)

    def offenders(self, name: str, first: int) -> Iterator[PropertyFinding]:
        """Where else a violated property is violated: states with a number above ``first``, in their order, one finding
        for each."""
        for number in range(first + 1, len(self.store)):
            finding = self.offence(name, number, self.store.states[number])
            if finding is not None:
                yield finding

    def offence(self, name: str, number: int, state: State) -> PropertyFinding | None:
        """How a state, or a step from it, violates a property; None if it does not."""
        if name == DEADLOCK:
            dead = next(outcomes(self.model, state), None) is None and not self.watch.is_terminal(number, state)
            return PropertyFinding(number) if dead else None
        if name not in self.watch.refinements and not self.watch.is_of_steps(name):
            return self.watch.again(name, PropertyFinding(number), Frame(state))
        for action, arguments, outcome in outcomes(self.model, state):
            if isinstance(outcome, Successor):
                finding = self._step_offence(
                    name, number, state, Link(action, arguments, outcome.picks).step(outcome.state)
                )
                if finding is not None:
                    return finding
        return None

    def _step_offence(self, name: str, number: int, state: State, step: Step) -> PropertyFinding | None:
        place = PropertyFinding(number, step)
        if name in self.watch.refinements:
            return self.watch.refines_badly(name, place, state)
        return self.watch.again(name, place, Frame(step.state, state))


def _enumerate(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
