"""The result of a validation: everything that a report, a table or a program may want to show, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from assay.checker.report import Explanation, State
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.event import Event, LogPosition, Notice, Remark
from assay.traces.observe.binding_tally import BindingTally, Unread
from assay.traces.trouble.finding import NO_TROUBLE, Trouble


class TraceVerdict(Enum):
    """Whether some execution of the model explains the log, and keeps the model's properties.

    ``VIOLATED``: an execution explains it, and a property is false on the one that was found.
    """

    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    VACUOUS = "vacuous"


@dataclass(frozen=True, slots=True)
class FailedPart:
    """A condition that is false: a guard of an action, or a part of ``then`` or ``observe``.

    ``log`` and ``model`` are the values that the log and the model have, as pairs of an expression as written and its
    value as printed.
    """

    kind: str
    label: str
    text: str
    spec: Span
    log: tuple[tuple[str, str], ...]
    model: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Blame:
    """An event that cannot be explained, the action that comes closest to explaining it, and the
    conditions that fail.
    """

    event: Event
    action: str
    parts: tuple[FailedPart, ...]

    @property
    def place(self) -> LogPosition:
        """The position of the event's line."""
        return self.event.record.place


@dataclass(frozen=True, slots=True)
class Repair:
    """A smallest change of the log after which more of it can be explained.

    ``kind``: change, swap, clock, drop, add, none.
    """

    kind: str
    text: str
    event: Event | None
    field: str | None = None
    old: str | None = None
    new: str | None = None


@dataclass(frozen=True, slots=True)
class LineContradiction:
    """Lines that no beginning of the log explains together, whatever else happened; ``text`` says it in one sentence.

    ``rules`` are the guards and the invariants that stand between them, in words. ``calls``: of calls, where each begins
    and ends, and what it says.
    """

    events: tuple[Event, ...]
    text: str
    rules: tuple[str, ...]
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogViolation:
    """A line at which no execution of the model continues. ``blame`` is ranked, the likeliest culprit first."""

    event: Event
    action: str
    blame: tuple[Blame, ...]
    repair: Repair
    contradiction: LineContradiction | None = None
    certain: bool = False
    """Whether lines alone show it, so that nothing that came before or that is missing explains it."""

    @property
    def place(self) -> LogPosition:
        """The position of the line that is blamed."""
        return self.event.record.place


@dataclass(frozen=True, slots=True)
class BrokenProperty:
    """A property of the model that is false in a state, or on a step, of the execution that explains the log."""

    name: str
    kind: str
    span: Span
    event: Event | None
    """The event at whose step the property became false, or the next event after a hidden step; None in the initial
    state.
    """
    labels: tuple[str, ...]
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class ExecutedStep:
    """A step of the execution that explains the log.

    ``event`` is None for a hidden step; a mere observation has no action.
    """

    event: Event | None
    action: str | None
    arguments: tuple[tuple[str, Value], ...]
    state: State


# Its subclasses (`PackedExecution`, `LazyExecution`) make both fields when they are read: they are properties there.
@dataclass(frozen=True, slots=True)
class Execution:
    """The accepted execution: an initial state and the steps after it."""

    initial: State
    steps: tuple[ExecutedStep, ...]


@dataclass(frozen=True, slots=True)
class EventCounts:
    """How many events were read, explained (``used``), ignored by the clause, and unknown to it; ``fields`` counts the
    field values that were checked.
    """

    read: int
    used: int
    ignored: int
    unmapped: int
    fields: int

    @classmethod
    def of(cls, tally: BindingTally, read: int) -> EventCounts:
        """The counts in total over what is shared and all slices."""
        ignored = sum(unread.count for unread in tally.ignored)
        unmapped = sum(unread.count for unread in tally.unmapped)
        return cls(max(read, tally.used + ignored + unmapped), tally.used, ignored, unmapped, tally.fields)


@dataclass(frozen=True, slots=True)
class KillRate:
    """The mutation score of a log: of ``mutants`` copies with one field changed, how many were rejected.

    ``survivors`` are those that were not.
    """

    mutants: int
    rejected: int
    inconclusive: int
    survivors: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class EventMeaning:
    """What a line means in the model, in an operator's words."""

    event: Event
    text: str


@dataclass(frozen=True, slots=True)
class SliceResult:
    """The result for one slice of a log, as :class:`Validation` is for the whole; ``used`` counts events."""

    name: str
    verdict: TraceVerdict
    reason: str | None
    used: int
    violations: tuple[LogViolation, ...]
    properties: tuple[BrokenProperty, ...]
    hidden: Mapping[str, int]
    execution: Execution | None
    remarks: tuple[Remark, ...]
    lacking: bool = False
    """Whether lines of the slice are missing, so that no search can decide it."""
    reordered: bool = False
    """Whether it is undecided for this reason only: it is explained if what all slices share happened in another order
    than assumed.
    """
    rests_on: str | None = None
    """What its explanation rests on of which no line tells."""
    unexplained: tuple[Event, ...] = ()
    """The lines that nothing explains, whether they are mismatches or not."""
    absurd: Event | None = None
    """The first line after which a lemma is false, though something explains it: what was supposed before it cannot
    be."""
    open_lines: bool = False
    """Whether it is undecided because of these lines alone."""
    of_shared: tuple[Event, ...] = ()
    """Those of these lines that are held against what all slices share."""


@dataclass(frozen=True, slots=True)
class ProductAnswer:
    """The result of the search over all slices together: the first mismatch, and the properties that its execution
    breaks.

    ``reason`` says why nothing was searched, or why it is undecided. ``guards`` (action and label) read across slices,
    and only this search checks them. ``lines`` counts the lines that were searched together, ``visited`` the states.
    """

    verdict: TraceVerdict
    reason: str | None = None
    violations: tuple[LogViolation, ...] = ()
    properties: tuple[BrokenProperty, ...] = ()
    guards: tuple[tuple[str, str], ...] = ()
    lines: int = 0
    visited: int = 0


@dataclass(frozen=True, slots=True)
class Spell:
    """An interval in which a measured condition held, in milliseconds since the epoch by the lines' times.

    It lasted between ``at_least`` and ``at_most`` milliseconds, whatever the lines leave open; ``at_most`` is None
    where no line reports when it began. ``begun`` and ``ended`` are the events of the steps that began and ended it, if
    lines report them. ``lasting``: the log ends before the interval does.
    """

    begin: float
    end: float
    at_least: float
    at_most: float | None
    begun: Event | None
    ended: Event | None
    lasting: bool


@dataclass(frozen=True, slots=True)
class Impact:
    """For how long a condition held that the clause measures: in a slice, or (None) in what all slices share.

    ``unstated`` are fields that neither a line nor a setting gives; without them nothing can be measured.
    """

    measure: str
    text: str
    slice: str | None
    spells: tuple[Spell, ...]
    unstated: tuple[str, ...] = ()

    @property
    def at_least(self) -> float:
        """The least total duration, in milliseconds."""
        return sum(each.at_least for each in self.spells)

    @property
    def at_most(self) -> float | None:
        """The greatest total duration, in milliseconds; None where no line reports when one of the intervals began."""
        known = [each.at_most for each in self.spells if each.at_most is not None]
        return sum(known) if len(known) == len(self.spells) else None


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of a validation.

    ``reason`` says why it is inconclusive or vacuous. ``reordering`` is the most, in milliseconds, by which the
    execution departs from the order of the lines' times.
    """

    verdict: TraceVerdict
    reason: str | None
    kernel: Kernel
    clause: str
    counts: EventCounts
    ignored: tuple[Unread, ...]
    unmapped: tuple[Unread, ...]
    hidden: Mapping[str, int]
    reordering: float
    violations: tuple[LogViolation, ...]
    properties: tuple[BrokenProperty, ...]
    notices: tuple[Notice, ...]
    explanations: tuple[EventMeaning, ...]
    execution: Execution | None
    kill_rate: KillRate | None
    visited: int
    seconds: float
    slices: tuple[SliceResult, ...] = ()
    relaxed: tuple[tuple[str, str], ...] = ()
    """Guards, as action and label, that were left out because they read across slices."""
    impact: tuple[Impact, ...] = ()
    remarks: tuple[Remark, ...] = ()
    """Remarks about what all slices share; a slice has its own."""
    whole: ProductAnswer | None = None
    """The result of the search over all slices together, if it was made."""
    trouble: Trouble = NO_TROUBLE
    """What the logs' own lines of trouble tell, and which Kafka wrote them."""
    rests_on: tuple[str, ...] = ()
    """What the explanation rests on of which no line tells: what came before the logs, and who wrote none."""
    held: int = 0
    """How many of the lines that were used were held against what other lines determine."""
