"""What runs can cover, and the runs that do."""

from __future__ import annotations

from assay.checker.report import State, Step
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

KINDS = ("actions", "guards", "pairs")


@dataclass(frozen=True, slots=True, order=True)
class CoverItem:
    """Something to cover: an action that is taken, a guard that alone refuses one, or two actions in a row. ``names``
    are the action and the guard, or the two actions.
    """

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return {"actions": "", "guards": ".", "pairs": " then "}[self.kind].join(self.names)


@dataclass(frozen=True, slots=True)
class GuardRefusal:
    """An instance that the guard ``label`` alone refuses. ``tells``: with other arguments the action is possible in
    that state. Code that forgets the guard, or has a weaker one, then does something that can be noticed.
    """

    action: str
    arguments: tuple[Value, ...]
    label: str
    tells: bool


@dataclass(frozen=True, slots=True)
class RunStep:
    """A step of a run, or a refusal that is met in the state before it."""

    text: str
    content: Step | GuardRefusal


@dataclass(frozen=True, slots=True)
class CoveringRun:
    """A run from an initial state, counted from 0 in the model's order; ``covers`` is what no run before it does."""

    initial: int
    state: State
    steps: tuple[RunStep, ...]
    covers: tuple[CoverItem, ...]


@dataclass(frozen=True, slots=True)
class NeverCovered:
    """What no run covers, as a search of all ``states`` says."""

    items: frozenset[CoverItem] = frozenset()
    states: int = 0


@dataclass(frozen=True, slots=True)
class CoveringRuns:
    """The runs, and how much of the model there is.

    ``missed`` is what the runs do not cover, and ``never`` the part of it that no run can. All states were looked at
    then, ``whole`` of them, by this search or by an engine. If ``stopped`` is None, this search looked at all; else it
    is the reason why it looked at no more than ``states``.
    """

    kernel: Kernel
    runs: tuple[CoveringRun, ...]
    items: tuple[CoverItem, ...]
    missed: tuple[CoverItem, ...]
    states: int
    depth: int
    stopped: str | None = None
    never: frozenset[CoverItem] = frozenset()
    whole: int = 0

    @property
    def not_reached(self) -> tuple[CoverItem, ...]:
        """What a longer search might cover."""
        return tuple(each for each in self.missed if each not in self.never)
