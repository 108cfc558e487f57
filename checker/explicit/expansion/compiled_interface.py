"""The interface between the search and compiled code. The search does not know which compiler made the code."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from assay.checker.layout.call_frame import Starts
from assay.checker.layout.refinement_image import Flags, ImageLayout
from assay.checker.layout.row import RowLayout, Rows
from assay.checker.liveness.plan import Plan
from assay.checker.partial_order.stubborn_sets import StubbornFilter
from assay.grammar.lazy_dataclass import dataclass


class CompiledCode(Protocol):
    """The compiled functions of a kernel. ``layout.call_frame`` describes the context array and its words.

    After ``halt(True)`` all running calls return soon and raise ``HaltedError``.
    """

    @property
    def starts(self) -> Starts | None:
        """The arrays that ``begin`` needs, by size; None if initial states were not compiled."""

    @property
    def addresses(self) -> tuple[int, int]:
        """Where the machine code of ``expand`` and ``inspect`` is, for other machine code that calls it."""

    def refuse_halted(self) -> None:
        """Raise ``HaltedError`` if calls are cancelled."""

    def halt(self, now: bool) -> None:
        """Make calls in other threads return soon (True), or let them run to their end again (False)."""

    def begin(self, context: Rows) -> None:
        """Write initial states where the context says, continuing where the last call paused."""

    def expand(self, context: Rows, rows: Rows) -> int:
        """Write the successors of rows where the context says. Returns how many of the rows were expanded."""

    def inspect(self, context: Rows, rows: Rows, base: int) -> None:
        """Check the properties of states in rows, which are numbered from ``base``."""

    def prints(self, rows: Rows) -> Rows:
        """The fingerprints of rows."""

    def judge(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """For each row and condition whether it is true, then for each condition whether it has no value: a
        0/1 matrix."""

    def images(self, at: int, rows: Rows) -> tuple[Rows, Flags]:
        """The abstract images of rows under refinement ``at``, with flags (``layout.refinement_image``) for rows that
        have none."""

    def canonical(self, rows: Rows) -> Rows:
        """The representatives of rows under the symmetry that the code was compiled with; not available otherwise."""


@dataclass(frozen=True, slots=True)
class Behaviours:
    """What temporal properties need: their plan, and code in which each part of the plan is an action of its own.

    An instance that a bound cuts off is reported as a step to the same state. Its action number is increased by the
    number of parts.
    """

    plan: Plan
    code: Compiled


@dataclass(frozen=True, slots=True)
class Compiled:
    """Compiled code with the names behind its arrays: bound labels, guards (action, label), properties of states and of
    steps.

    ``actions`` is the number of actions; ``identity`` is a 32-byte hash of everything the code does. ``behaviours`` is
    further code for temporal properties, if there are any: it separates the parts of actions that their plan tells
    apart.
    """

    machine: CompiledCode
    layout: RowLayout
    hits: tuple[str, ...]
    guards: tuple[tuple[str, str], ...]
    states: tuple[str, ...]
    steps: tuple[str, ...]
    actions: int
    identity: bytes
    behaviours: Behaviours | None = None
    refinements: tuple[tuple[str, ImageLayout], ...] = ()
    """The refinements that are checked, with the layouts of their images."""
    stubborn: StubbornFilter | None = None
    """What keeps some of the steps of each state, in a search with partial-order reduction."""
