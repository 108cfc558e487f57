"""What a report, the scenarios and the temporal properties ask of a search that has ended, whoever ran it.

The reference searches and the engines satisfy these protocols, each with code of its own. Nothing here decides when a
search ends or what counts as a finding. That must be written twice, or the oracle would agree with an engine's mistake
(docs/design/oracle-and-engines.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.refinement.mapping import Refined
from assay.checker.report import State, Step, Trace
from assay.checker.search_interface.finding import PropertyFinding
from assay.checker.symmetry.reduction import Reduction


class Stopped(Exception):  # noqa: N818 - a decision, not a mistake
    """A search, or what is computed on its states, ends here; the message says why."""


class StatesByNumber(Protocol):
    """States, numbered in the order in which a search found them."""

    def __getitem__(self, number: int, /) -> State:
        """The state of a number."""


class ExploredStates(Protocol):
    """The store of a search, as far as a report reads it: how many states were found, and each by its number."""

    def __len__(self) -> int:
        """How many distinct states were found."""

    @property
    def states(self) -> StatesByNumber:
        """The states by number."""


class StateIndex(Protocol):
    """A store that can be asked both ways, from number to state and back: temporal properties are decided on its
    graph."""

    def __len__(self) -> int:
        """How many distinct states were found."""

    def __contains__(self, state: State, /) -> bool:
        """Whether a state was found."""

    def number(self, state: State) -> int:
        """The number of a state; raises KeyError if it was not found."""

    @property
    def states(self) -> list[State]:
        """The states by number."""


class PropertyMonitor(Protocol):
    """What a search found about the properties of its model: of each the first place that decides it.

    ``found`` maps the name of a decided property to that place, and ``undefined`` that of a property without value
    somewhere. ``beyond`` has the refinements that cannot be judged everywhere, because a mapped value is beyond what
    the abstract side can hold.
    """

    @property
    def found(self) -> Mapping[str, PropertyFinding]:
        """Where each decided property is decided: violated, or for a `reachable` reached."""

    @property
    def undefined(self) -> dict[str, PropertyFinding]:
        """Where a property has no value."""

    @property
    def beyond(self) -> Mapping[str, PropertyFinding]:
        """Where a refinement cannot be judged."""

    @property
    def refinements(self) -> Mapping[str, Refined]:
        """The selected refinements, ready to be asked."""

    def note_undefined(self, finding: PropertyFinding) -> None:
        """Remember what violates ``defined``, if it is the first."""


class EndedSearch(Protocol):
    """A search that has ended, as far as a report is assembled from it. Its attributes are whole after an interruption
    too."""

    interrupted: bool
    """Whether the user ended it; also set by what runs after it, such as scenarios."""
    refines: bool
    """Whether steps are followed on the abstract side of refinements."""

    @property
    def model(self) -> Model:
        """The model that was searched."""

    @property
    def options(self) -> SearchOptions:
        """What was asked for."""

    @property
    def reduction(self) -> Reduction | None:
        """The symmetry reduction, if there was one: then the store holds representatives."""

    @property
    def watch(self) -> PropertyMonitor:
        """What was found."""

    @property
    def store(self) -> ExploredStates:
        """The states that were found."""

    @property
    def initial(self) -> int:
        """How many initial states there are; they have the first numbers."""

    @property
    def generated(self) -> int:
        """How many states were made, each as often as it was."""

    @property
    def depth(self) -> int:
        """How many levels were searched, or (depth-first) the number of states of the longest run."""

    @property
    def seconds(self) -> float:
        """The time since the search began."""

    @property
    def bounds(self) -> Mapping[str, int]:
        """How many instances each bound cut, over all distinct states that were expanded."""

    @property
    def taken(self) -> Mapping[str, int]:
        """How many steps there are of each action."""

    @property
    def fresh(self) -> Mapping[str, int]:
        """How many steps of each action found a new state."""

    @property
    def stopped(self) -> str | None:
        """Why not every reachable state was seen, if that is so."""

    @property
    def up_to_depth(self) -> int | None:
        """How many levels were to be searched, where all of them were."""

    def trace(self, number: int, *more: Step) -> Trace:
        """A run to a state, and further steps after it."""

    def offenders(self, name: str, first: int) -> Iterator[PropertyFinding]:
        """Where else a violated property is violated: states with a number above ``first``, in their order, one finding
        for each."""
