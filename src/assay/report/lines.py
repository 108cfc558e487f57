"""Lines of human output with a tone, so that layout is decided here and colour where a terminal is known to be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Tone(Enum):
    """What a line is about; a terminal may colour it, plain text does not show it."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    FAINT = "faint"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of output without its line end."""

    text: str
    tone: Tone = Tone.PLAIN

    def indented(self, columns: int) -> Line:
        """The same line further to the right."""
        return Line(" " * columns + self.text, self.tone)


def plural(number: int, noun: str, plural_form: str | None = None) -> str:
    """``1 state``, ``1,204 states``."""
    return f"{number:,} {noun if number == 1 else plural_form or noun + 's'}"


def clean(text: str) -> str:
    """The text with control characters shown as escapes: what a log line holds must not reach a terminal raw."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
