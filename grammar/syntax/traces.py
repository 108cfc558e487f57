"""Trace clauses, and the module as a whole."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax.declarations import Declaration, Field
from assay.grammar.syntax.expressions import DottedName, Expr, Name, Node, TypeExpr


@dataclass(frozen=True, slots=True)
class TraceLine(Node):
    """A line of a trace block."""


@dataclass(frozen=True, slots=True)
class SourceItem(Node):
    """A part of a ``from`` block."""


@dataclass(frozen=True, slots=True)
class SourceKey(SourceItem):
    """``time = "ts" in ns``: the key of a line that holds its event, node, time, …. ``form`` is the unit or format of a
    time, or lists the words or events that the key is about.
    """

    name: Name
    path: str
    form: str | None = None


@dataclass(frozen=True, slots=True)
class SourceDefault(Node):
    """``else none``: the value of a field in lines that lack its key; a tuple is the empty list."""

    value: int | str | bool | tuple[()] | None


@dataclass(frozen=True, slots=True)
class SourceField(SourceItem):
    """``field cents = "price" * 100 rounded as Cents else 0``: the key of a line that holds a field, and how its number
    is scaled. ``rounding`` is "nearest", "up" or "down"."""

    name: Name
    path: str
    # Two integers and no fraction: a number such as 0.1 is scaled without an error of rounding.
    times: int = 1
    divided: int = 1
    rounding: str | None = None
    type: TypeExpr | None = None
    default: SourceDefault | None = None


@dataclass(frozen=True, slots=True)
class From(TraceLine):
    """``from kafka``, or ``from events:`` with a block that says how an event is read; ``from text "FILE"`` names the
    file of its patterns."""

    catalogue: DottedName
    items: tuple[SourceItem, ...] = ()
    patterns: str | None = None


@dataclass(frozen=True, slots=True)
class TypeOfSource(TypeExpr):
    """The type of an event field that is written without one: that of the ``from`` block."""


@dataclass(frozen=True, slots=True)
class On(TraceLine):
    """``on Event, Event(fields) at version if cond: alternatives; … then e``; an observation has no steps, and
    ``observe`` is set."""

    events: tuple[Name, ...]
    fields: tuple[Field, ...]
    at: Expr | None
    condition: Expr | None
    steps: tuple[tuple[Expr, ...], ...]  # a sequence of alternatives
    then: Expr | None
    observe: Expr | None


@dataclass(frozen=True, slots=True)
class CallLine(TraceLine):
    """``call Event(fields) returns (fields) fails from start to end if cond: alternatives; … then e``: the step happened
    at a moment between the beginning and the end of the call.

    ``returned`` are fields that are known only when the call ends. ``fails``: the line is about calls that failed.
    ``times`` are the keys of both times where one line reports the whole call.
    """

    events: tuple[Name, ...]
    fields: tuple[Field, ...]
    returned: tuple[Field, ...]
    fails: bool
    times: tuple[Name, Name] | None
    condition: Expr | None
    steps: tuple[tuple[Expr, ...], ...]
    then: Expr | None
    observe: Expr | None


@dataclass(frozen=True, slots=True)
class Ignore(TraceLine):
    """``ignore Event, Event "reason"``."""

    events: tuple[Name, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Hidden(TraceLine):
    """``hidden a, b; at most n between two pinned events``."""

    actions: tuple[DottedName, ...]
    limit: Expr


@dataclass(frozen=True, slots=True)
class Slice(TraceLine):
    """``slice Partition by topic, partition since PartitionCreated``: one element of the set for each value of the
    fields.

    ``renewed`` means that ``since`` is a field, each value of which is another incarnation of the slice: ``since new
    topic_id``.
    """

    set: Name
    fields: tuple[Name, ...]
    since: Name | None
    renewed: bool = False


@dataclass(frozen=True, slots=True)
class Numbered(TraceLine):
    """``numbered a, b``: the actions that an update may be if its lines only report the outcome."""

    actions: tuple[DottedName, ...]


@dataclass(frozen=True, slots=True)
class ThreadLine(TraceLine):
    """``thread Event, Event "reason"``: one thread of a process writes the lines of these events, in any files."""

    events: tuple[Name, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ReportLine(TraceLine):
    """``report action as risk since "2.7" before "3.3" "text"``: occurrences of the action are reported; it can occur
    in these versions."""

    action: DottedName
    severity: Name
    since: str | None
    before: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Ends(TraceLine):
    """``ends a, b``: after these actions the node that is their first argument writes no line until it starts again."""

    actions: tuple[DottedName, ...]


@dataclass(frozen=True, slots=True)
class Begins(TraceLine):
    """``begins anywhere``: the log may begin in mid-life, and lack the logs of some nodes."""


@dataclass(frozen=True, slots=True)
class Measure(TraceLine):
    """``measure name(fields) "text": e``: the time for which e held is reported. A field is the value that lines of the
    slice last gave."""

    name: Name
    fields: tuple[Field, ...]
    text: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class Noted(TraceLine):
    """``note Event(fields) as risk "text": e``: the event is reported if it comes while e holds."""

    event: Name
    fields: tuple[Field, ...]
    severity: Name
    text: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class OrderLine(TraceLine):
    """``order: file; commit before line within 50 ms; skew 5 ms``; times are milliseconds."""

    # `lines` and `sequence` are orders in which the reader puts lines; for the kernel they are then those of one file.
    unit: Literal["file", "thread", "lines", "sequence", "causal"]
    commit_before_line: int | None
    skew: int | None


@dataclass(frozen=True, slots=True)
class TraceClause(Declaration):
    """``trace name extends module.clause: …``."""

    name: Name
    base: DottedName | None
    lines: tuple[TraceLine, ...]


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its place; ``own_line`` means that only blanks precede it."""

    text: str
    line: int
    own_line: bool
    column: int


@dataclass(frozen=True, slots=True)
class Module(Node):
    """A file. ``name`` is None where there is no ``module`` line."""

    doc: str | None
    name: DottedName | None
    declarations: tuple[Declaration, ...]
    # Beside the tree and no part of it: the formatter puts each where its place falls among the printed lines.
    comments: tuple[Comment, ...] = field(default=(), compare=False)
