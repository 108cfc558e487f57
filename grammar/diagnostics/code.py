"""The type of diagnostic codes."""

from __future__ import annotations

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """A kind of diagnostic: ``title`` is half a line, ``explanation`` a paragraph that says what to do about it."""

    code: str
    title: str
    explanation: str
