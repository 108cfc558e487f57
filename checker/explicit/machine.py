"""What the search asks of compiled code, whoever compiled it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from assay.checker.layout.refined import Flags, ImageLayout
from assay.checker.layout.row import RowLayout, Rows


class Machine(Protocol):
    """Compiled code of a kernel; the context array and its words are described in ``layout.context``."""

    def expand(self, context: Rows, rows: Rows) -> int:
        """Write the successors of rows where the context says; how many of the rows were expanded."""

    def inspect(self, context: Rows, rows: Rows, base: int) -> None:
        """Check the properties of states in rows, which are numbered from ``base``."""

    def prints(self, rows: Rows) -> Rows:
        """The fingerprints of rows."""

    def images(self, at: int, rows: Rows) -> tuple[Rows, Flags]:
        """The images of rows in the refinement in place ``at``, and flags (``layout.refined``) of those that have none."""

    def canonical(self, rows: Rows) -> Rows:
        """The rows that stand for rows; asked only of code that was compiled with a symmetry."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Compiled code with the names behind its arrays: bound labels, guards (action, label), properties of states and of steps.

    ``actions`` is how many there are; ``identity`` is a hash of all that the code does, of 32 bytes.
    """

    machine: Machine
    layout: RowLayout
    hits: tuple[str, ...]
    guards: tuple[tuple[str, str], ...]
    states: tuple[str, ...]
    steps: tuple[str, ...]
    actions: int
    identity: bytes
    refinements: tuple[tuple[str, ImageLayout], ...] = ()
    """The refinements that are checked, with the layouts of their images."""
