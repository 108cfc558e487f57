"""The bug ladder, as `pytest tests/kafka` prints it at its end."""

from __future__ import annotations

from dataclasses import dataclass

LADDER = "ladder"
"""The name of the property of a test's report that holds a row of the table."""


@dataclass(frozen=True)
class Rung:
    """A safeguard that was switched off, and what `assay check` found; ``length`` counts states, ``seconds`` those of the search."""

    spec: str
    switch: str
    violated: str
    length: int
    seconds: float

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        return (self.spec, self.switch, self.violated, str(self.length), f"{self.seconds:.2f}")
