"""The report that every engine returns. Verdicts are values with their reason; exit codes are derived from them in one
place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum, IntEnum
from pathlib import Path
from typing import Literal

from assay.checker.symmetry_group import Group
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

State = tuple[Value, ...]
"""The values of ``Kernel.variables``, in their order."""


class Outcome(Enum):
    """The answer about one property, or about a whole run."""

    HOLDS = "holds"
    UP_TO_BOUND = "holds up to bounds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"


class ExitCode(IntEnum):
    """Process exit codes, documented in docs/cli.md."""

    OK = 0
    VIOLATED = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    VACUOUS = 4
    UP_TO_BOUND = 5
    INTERNAL = 70
    OUTPUT_LOST = 74
    INTERRUPTED = 130


PRECEDENCE = (
    # Whatever keeps an answer from being whole comes first: a script must not take a part for the whole.
    ExitCode.INTERRUPTED,
    ExitCode.INTERNAL,
    ExitCode.OUTPUT_LOST,
    ExitCode.BAD_INPUT,
    ExitCode.VIOLATED,
    ExitCode.INCONCLUSIVE,
    ExitCode.VACUOUS,
    ExitCode.UP_TO_BOUND,
    ExitCode.OK,
)
"""Of several exit codes, the first in this list wins."""


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The exit code that wins among several; OK of none."""
    found = set(codes)
    return next((code for code in PRECEDENCE if code in found), ExitCode.OK)


class EnginesDisagreeError(Exception):
    """Two computations, one of them the reference evaluator's, disagree: one of them is wrong."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a trace. The first one has no action: it is the initial state. A later one without action changes
    nothing."""

    action: str | None
    arguments: tuple[tuple[str, Value], ...]
    picks: tuple[tuple[str, Value], ...]
    state: State


@dataclass(frozen=True, slots=True)
class Trace:
    """An execution: the initial state and the steps after it. Its length is the number of states, as TLC counts.

    With a ``loop`` it is infinite: its last state is that of the step at place ``loop``, from which everything repeats.
    If that is the last step itself, the last state is kept for ever. Such a run may have steps without action, which
    change nothing.
    """

    steps: tuple[Step, ...]
    loop: int | None = None

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Atomic:
    """One part of a failed condition: its text as written, its place, and the values that make it true or false."""

    text: str
    span: Span
    holds: bool
    values: tuple[tuple[str, str], ...]
    """Sub-expressions as written with their values as printed, outermost first."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a condition is false (or undefined): its failing conjunct and the parts of it that decide."""

    label: str
    span: Span
    witnesses: tuple[tuple[str, str], ...]
    """Quantified variables with the values that make the condition false."""
    parts: tuple[Atomic, ...]
    undefined: str | None = None
    """What was undefined, if that is the reason."""


@dataclass(frozen=True, slots=True)
class BlockedAction:
    """An action in a deadlocked state, with the guards (label, text, place) that are false in the instance closest to
    enabled."""

    action: str
    arguments: tuple[tuple[str, Value], ...]
    guards: tuple[tuple[str, str, Span], ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An abstract instance that a step might have been, and why it was not: false guards (label, text, place), or what
    it would change otherwise.

    ``differs`` names variables with the value that the instance would give them; ``why`` is another reason.
    """

    instance: str
    guards: tuple[tuple[str, str, Span], ...] = ()
    differs: tuple[tuple[str, str], ...] = ()
    why: str | None = None


@dataclass(frozen=True, slots=True)
class AbstractSide:
    """A step without counterpart in an abstract module, as seen from that module.

    ``before`` is None for an initial state. A state is None, with the reason in ``outside``, where the mapping gives no
    abstract state. ``expected`` is the mapping of the action, as written.
    """

    abstract: Kernel
    before: State | None
    after: State | None
    expected: str
    place: Span
    outside: str | None = None
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """A further run that violates a property, and why."""

    trace: Trace | None
    reason: str | None = None
    explanation: Explanation | None = None
    blocked: tuple[BlockedAction, ...] = ()
    abstract: AbstractSide | None = None


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """The answer about one property. ``kind`` is the kernel's, or ``scenario``, ``deadlock``, ``defined``, ``assume``.

    ``others`` are violations besides the one of ``trace``, if more than one was asked for; ``remarks`` are sentences
    about the trace.
    """

    name: str
    kind: str
    outcome: Outcome
    span: Span
    reason: str | None = None
    trace: Trace | None = None
    explanation: Explanation | None = None
    blocked: tuple[BlockedAction, ...] = ()
    others: tuple[Violation, ...] = ()
    remarks: tuple[str, ...] = ()
    abstract: AbstractSide | None = None


@dataclass(frozen=True, slots=True)
class GuardCoverage:
    """A guard, and whether it was ever the only one that was false."""

    action: str
    label: str
    span: Span
    decisive: bool


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """How often an action fired, and how many of its firings reached a new state."""

    action: str
    span: Span
    taken: int
    new_states: int


@dataclass(frozen=True, slots=True)
class EmptyQuantifier:
    """A quantifier of an invariant whose domain was empty in every state."""

    property: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the search exercised; only meaningful with the number of states it covered."""

    actions: tuple[ActionCoverage, ...] = ()
    guards: tuple[GuardCoverage, ...] = ()
    empty_quantifiers: tuple[EmptyQuantifier, ...] = ()


@dataclass(frozen=True, slots=True)
class DiskEffort:
    """What a visited set on disk took: sorted runs, their bytes, merges with them, and levels in which there were some."""

    runs: int
    bytes: int
    merges: int
    levels: int


@dataclass(frozen=True, slots=True)
class Effort:
    """The cost of a search: ``seconds`` from the first expansion to the last insertion, ``cpu`` seconds of all
    processors, and sizes in bytes.

    ``memory`` is the maximal memory of the process, without files. ``table`` is the size of the state table at the end,
    and ``load`` the used share of its slots. ``disk`` is what was written into level files. ``visited`` tells of the
    visited set where it went to disk.
    """

    seconds: float
    cpu: float
    memory: int
    table: int
    load: float
    disk: int
    visited: DiskEffort | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sizes of a search. ``depth`` counts levels, the initial states being level 1; ``generated`` counts every
    successor and initial state.

    ``collision`` bounds the probability that two states were taken for one (0: whole states were compared).
    """

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    seconds: float = 0.0
    collision: float = 0.0
    # Two searches that found the same are equal, however long they took: engines are compared by their statistics.
    effort: Effort | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Report:
    """The report of an engine about a kernel.

    ``stopped`` is the reason why the search ended early, if it did; ``up_to_depth`` the number of levels that were
    asked for and all searched. ``checkpoint`` is the folder (or its URI) from which a stopped search can be resumed, if
    there is one. Under a ``group`` of permutations the statistics, bounds and coverage count orbits, each by its
    representative. In depth-first ``order`` the depth is the number of states of the longest run that was made, and
    traces need not be shortest. Under partial-order reduction ``reduced`` states were expanded in part. States
    that differ in the variables ``hidden`` alone count as one: the ``view`` of the spec leaves these out.
    """

    kernel: Kernel
    engine: str
    properties: tuple[PropertyResult, ...]
    statistics: Statistics
    bounds: Mapping[str, int] = field(default_factory=dict)
    coverage: Coverage = Coverage()
    stopped: str | None = None
    interrupted: bool = False
    up_to_depth: int | None = None
    checkpoint: Path | str | None = None
    group: Group | None = None
    order: Literal["bfs", "dfs"] = "bfs"
    reduced: int | None = None
    hidden: tuple[str, ...] = ()

    @property
    def unaccepted_bounds(self) -> dict[str, int]:
        """The bounds that were hit and that the model does not accept."""
        return {label: hits for label, hits in self.bounds.items() if hits and label not in self.kernel.accepted_bounds}

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of this answer alone."""
        return worst([*map(_code, self.properties), *self._overall()])

    def _overall(self) -> Iterable[ExitCode]:
        if self.interrupted:
            yield ExitCode.INTERRUPTED
        if self.stopped:
            yield ExitCode.INCONCLUSIVE
        # Of no property at all this is true as well: then nothing was asked, and nothing holds.
        if all(result.outcome is Outcome.VACUOUS for result in self.properties):
            yield ExitCode.VACUOUS

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole run."""
        match self.exit_code:
            case ExitCode.VIOLATED:
                return Outcome.VIOLATED
            case ExitCode.OK:
                return Outcome.HOLDS
            case ExitCode.UP_TO_BOUND:
                return Outcome.UP_TO_BOUND
            case ExitCode.VACUOUS:
                return Outcome.VACUOUS
            case _:
                return Outcome.UNKNOWN


def _code(result: PropertyResult) -> ExitCode:
    match result.outcome:
        # One vacuous property weakens no others. Only if all are is the run itself vacuous (`_overall`).
        case Outcome.HOLDS | Outcome.VACUOUS:
            return ExitCode.OK
        case Outcome.UP_TO_BOUND:
            return ExitCode.UP_TO_BOUND
        case Outcome.VIOLATED:
            return ExitCode.VIOLATED
        case Outcome.UNKNOWN:
            return ExitCode.INCONCLUSIVE
