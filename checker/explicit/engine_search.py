"""What the engines' searches have in common: their counts, how they end, and what a report asks of them.

It satisfies ``EndedSearch`` as the reference search does, and shares no code with it
(docs/design/oracle-and-engines.md). An engine adds the way in which it explores, and its store of states.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator

from assay.checker.explicit.confirmed_findings import ConfirmedFindings
from assay.checker.explicit.further_violations import violations_after
from assay.checker.explicit.limits import DepthReached, ExplicitLimits
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import Progress, SearchOptions
from assay.checker.report import Step, Trace
from assay.checker.search_interface.finding import DEADLOCK, DEFINED, PropertyFinding
from assay.checker.search_interface.protocols import ExploredStates, Stopped
from assay.checker.symmetry.reduction import Reduction


class EngineSearch(ABC):
    """A search of an engine and all that it found; after ``run`` its attributes are whole, also after an interruption.

    ``bounds``, ``taken`` and ``fresh`` count as ``EndedSearch`` says. ``stopped`` is why it ended early, if it did.
    """

    refines = True
    """Whether steps are followed on the abstract side of refinements."""

    def __init__(self, model: Model, options: SearchOptions, reduction: Reduction | None = None) -> None:
        self.model = model
        self.options = options
        self.reduction = reduction
        self.watch = ConfirmedFindings(model, options)
        self.limits = ExplicitLimits(options)
        self.generated = self.depth = self.initial = 0
        self.bounds: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.fresh: Counter[str] = Counter()
        self.stopped: str | None = None
        self.up_to_depth: int | None = None
        self.interrupted = False
        self.asks_deadlock = options.check_deadlock and options.selects(DEADLOCK) and bool(model.steps)
        """Whether it looks for states in which the system must stop and may not."""

    @property
    @abstractmethod
    def store(self) -> ExploredStates:
        """The states that were found."""

    @abstractmethod
    def trace(self, number: int, *more: Step) -> Trace:
        """A run to a state, and further steps after it."""

    @abstractmethod
    def _explore(self) -> None:
        """Search; ``Stopped`` ends it before all is seen."""

    def offenders(self, name: str, first: int) -> Iterator[PropertyFinding]:
        """Where else a violated property is violated: states with a number above ``first``, in their order, one finding
        for each."""
        return violations_after(self.model, self.watch, self.store, name, first)

    # -------------------------------------------------------------------------------------------------- the end

    def run(self) -> None:
        """Search until everything is seen, something is violated, or a limit is reached."""
        self._until_ended(self._explore)

    def _until_ended(self, explore: Callable[[], None]) -> None:
        """Explore, and keep why that ended."""
        try:
            explore()
        # Before `Stopped`, of which it is a kind: all that was asked for was seen.
        except DepthReached:
            self.up_to_depth = self.depth
        except Stopped as reason:
            self.stopped = str(reason)
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopped = f"interrupted {self._here}"

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return self.limits.seconds

    @property
    def violated(self) -> set[str]:
        """The names of what was found to be violated."""
        return self.watch.violated

    @property
    def _here(self) -> str:
        """How far the search has come, for people."""
        return f"in level {self.depth}"

    def _tell(self) -> None:
        """Say how far the search has come."""
        self.options.progress(Progress(self.depth, len(self.store), self.generated, 0, seconds=self.seconds))

    def _is_due(self) -> bool:
        """Whether the search is to end now; asked from another thread while compiled code runs."""
        return self.limits.is_due

    def _heed_limits(self) -> None:
        """Raise ``Stopped`` if the user wants the search to end, or its time is over."""
        if self.options.interrupted():
            self.interrupted = True
            raise Stopped(f"interrupted {self._here}")
        if self.limits.is_late:
            raise Stopped(self.limits.time_is_over(self._here))

    def _end_between_levels(self) -> None:
        """Raise ``Stopped`` where the search ends with the last finished level: after a violation, or at a limit of its
        size."""
        self._refuse_undefined()
        self._end_if_violated()
        self.limits.heed_size(self.depth, len(self.store), self._here)

    def _end_if_violated(self) -> None:
        """Raise ``Stopped`` after a violation, unless it is to search on."""
        # What was to be reached and was is no violation (`violated`), and ends nothing.
        if self.options.keep_going or not self.violated:
            return
        # Sorted, so that the sentence does not depend on which thread found what first.
        *others, last = (f"`{name}`" for name in sorted(self.violated))
        subject = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        raise Stopped(f"the search ended {self._here}, where {subject} violated")

    def _refuse_undefined(self) -> None:
        """Raise ``Stopped`` if one state cannot stand for others because something is undefined.

        The argument is in docs/design/symmetry-reduction.md.
        """
        if self.reduction is not None and DEFINED in self.watch.found:
            raise Stopped(
                "something is undefined, and then a state does not stand for others (search without `--symmetry`)"
            )

    # ------------------------------------------------------------------------------------------- initial states

    def _list_instances(self) -> None:
        """List the instances of all actions, so that a domain which is too large is refused before the search."""
        for action in self.model.steps:
            _ = action.instances

    def _evaluate_initial(self) -> Iterator[Successor]:
        """The initial states as the reference evaluator makes them, some perhaps twice; cuts and what has no value are
        noted."""
        for outcome in self.model.init.outcomes():
            self._heed_limits()
            match outcome:
                case Successor():
                    self.generated += 1
                    yield outcome
                case Cut(_, label):
                    self.bounds[label] += 1
                case Stuck():
                    self.watch.note_stuck_initial(outcome)
