"""The outcomes of an instance of an action in a state."""

from __future__ import annotations

from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

Picks = tuple[tuple[str, Value], ...]
"""The picks of an instance by name, in the order in which they were made."""


@dataclass(frozen=True, slots=True)
class Successor:
    """The instance is enabled and leads to ``state``, perhaps the same one."""

    picks: Picks
    state: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Only a limit of the model disables the instance: ``label`` is the first false ``bound``, or ``capacity of x``."""

    picks: Picks
    label: str


@dataclass(frozen=True, slots=True)
class Stuck:
    """A guard or an update of the instance has no value."""

    picks: Picks
    message: str
    span: Span


Outcome = Successor | Cut | Stuck
