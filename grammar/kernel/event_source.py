"""How the lines of a file become events: the ``from`` block of a trace clause."""

from __future__ import annotations

from typing import Literal

from assay.grammar.kernel.expressions import Node
from assay.grammar.lazy_dataclass import dataclass

DEFAULT_KEYS = {key: key for key in ("event", "time", "node", "run", "thread", "message", "level")}
"""The keys of a line where the clause names no others."""

# Integers in both directions, so that no time is converted by a fraction.
TIME_UNITS = {"ns": 1_000_000, "us": 1_000, "ms": 1, "s": -1_000}
"""How many of a unit are a millisecond; of a negative one, minus how many milliseconds it is."""

PHASES = ("invoke", "ok", "fail", "info")
"""What ``phase`` says of a line: a call begins; it ended, and took effect; it had no effect; its outcome is unknown."""

EventOrder = Literal["file", "thread", "lines", "sequence", "causal"]
"""What the order of lines means, see ``docs/events.md``."""

Rounding = Literal["nearest", "up", "down"]


@dataclass(frozen=True, slots=True)
class FieldSource(Node):
    """The key of a line that holds a field of its event, with dots between the keys of nested objects.

    A number is multiplied by ``times``, divided by ``divided``, and rounded if ``rounding`` says how. A line without
    the key has no such field, or ``default`` if ``optional``. A tuple as default is the empty list.
    """

    name: str
    path: str
    times: int = 1
    divided: int = 1
    rounding: Rounding | None = None
    optional: bool = False
    default: int | str | bool | tuple[()] | None = None


@dataclass(frozen=True, slots=True)
class EventSource(Node):
    """Which key of a line holds what, and what the order of lines means.

    ``keys`` are the paths of ``event``, ``time``, ``node``, ``run``, ``thread``, ``message``, ``level`` and perhaps
    ``sequence``, ``clock``, ``sends``, ``receives``, ``phase`` and ``process``. The last two are fields, too.
    ``phases`` are the words for ``PHASES``. ``logged`` are those among them that the clause itself names. ``time_form``
    is a unit of ``TIME_UNITS``, ``iso``, or a format of ``strptime``; None is milliseconds for a number and ISO 8601
    for a text. ``zone`` is that of times without one. ``order``: see ``docs/events.md``.
    """

    keys: tuple[tuple[str, str], ...] = tuple(DEFAULT_KEYS.items())
    logged: frozenset[str] = frozenset()
    time_form: str | None = None
    zone: str | None = None
    fields: tuple[FieldSource, ...] = ()
    phases: tuple[str, ...] = PHASES
    order: EventOrder = "file"
    senders: tuple[str, ...] = ()
    """The events whose lines send a message; empty: every line that has the key."""
    receivers: tuple[str, ...] = ()
    """The events whose lines receive a message; empty: every line that has the key."""
    observed: frozenset[str] = frozenset()
    """The events that rules of the clause are about."""
    needed: frozenset[str] = frozenset()
    """The fields that the clause names: only of these it matters what they hold."""
    catalogue: str = ""
    """``events``, or ``text`` if patterns describe the lines; empty where no clause says it."""
    patterns: tuple[str, ...] = ()
    """The pattern files that the clause names, as paths."""

    def path(self, key: str) -> str | None:
        """The path of a key; None if lines do not have it."""
        return dict(self.keys).get(key)


DEFAULT_SOURCE = EventSource()
