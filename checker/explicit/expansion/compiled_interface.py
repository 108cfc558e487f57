"""What the search asks of compiled code, whoever compiled it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from assay.checker.layout.call_frame import Starts
from assay.checker.layout.refinement_image import Flags, ImageLayout
from assay.checker.layout.row import RowLayout, Rows
from assay.checker.liveness.plan import Plan


class CompiledCode(Protocol):
    """Compiled code of a kernel; the context array and its words are described in ``layout.context``.

    Once it is told to halt, calls return soon, whatever they were doing, and raise ``HaltedError``.
    """

    @property
    def starts(self) -> Starts | None:
        """What room ``begin`` needs; None if it cannot be called."""

    def halt(self, now: bool) -> None:
        """Have calls in other threads return soon, or run to their end again."""

    def begin(self, context: Rows) -> None:
        """Write initial states where the context says, from where the last call paused."""

    def expand(self, context: Rows, rows: Rows) -> int:
        """Write the successors of rows where the context says; how many of the rows were expanded."""

    def inspect(self, context: Rows, rows: Rows, base: int) -> None:
        """Check the properties of states in rows, which are numbered from ``base``."""

    def prints(self, rows: Rows) -> Rows:
        """The fingerprints of rows."""

    def judge(self, rows: Rows) -> npt.NDArray[np.uint8]:
        """For each row and condition whether it is true, then for each condition whether it has no value."""

    def images(self, at: int, rows: Rows) -> tuple[Rows, Flags]:
        """The images of rows in the refinement in place ``at``, and flags (``layout.refined``) of those that have none."""

    def canonical(self, rows: Rows) -> Rows:
        """The rows that stand for rows; asked only of code that was compiled with a symmetry."""


@dataclass(frozen=True, slots=True)
class Behaviours:
    """What temporal properties need: their plan, and code in which each part of the plan is an action.

    The code hands on an instance that is cut as a step that changes nothing, by an action whose number is larger by the number of parts.
    """

    plan: Plan
    code: Compiled


@dataclass(frozen=True, slots=True)
class Compiled:
    """Compiled code with the names behind its arrays: bound labels, guards (action, label), properties of states and of steps.

    ``actions`` is how many there are; ``identity`` is a hash of all that the code does, of 32 bytes. ``behaviours`` is further code, of the parts
    of actions that the plan of the temporal properties tells apart, if there is such a plan.
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
