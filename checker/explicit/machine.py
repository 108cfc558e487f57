"""What the search asks of compiled code, whoever compiled it."""

from __future__ import annotations

from typing import Protocol

from assay.checker.layout.row import Rows


class Machine(Protocol):
    """Compiled code of a kernel; the context array and its words are described in ``layout.context``."""

    def expand(self, context: Rows, rows: Rows) -> int:
        """Write the successors of rows where the context says; how many of the rows were expanded."""

    def inspect(self, context: Rows, rows: Rows, base: int) -> None:
        """Check the properties of states in rows, which are numbered from ``base``."""

    def prints(self, rows: Rows) -> Rows:
        """The fingerprints of rows."""

    def canonical(self, rows: Rows) -> Rows:
        """The rows that stand for rows; asked only of code that was compiled with a symmetry."""
