"""Lines of text output, each with a tone. So the layout is decided here, and colours where the terminal is known."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from assay.grammar.lazy_dataclass import dataclass


class Tone(Enum):
    """What a line is about. A terminal may colour it; plain text does not show it."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    FAINT = "faint"
    HEADING = "heading"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of output, without its line end."""

    text: str
    tone: Tone = Tone.PLAIN

    def indented(self, columns: int) -> Line:
        """The same line, indented by so many columns."""
        return Line(" " * columns + self.text, self.tone)


def plural(number: int, noun: str, plural_form: str | None = None) -> str:
    """``1 state``, ``1,204 states``."""
    return f"{number:,} {noun if number == 1 else plural_form or noun + 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: ``a, b and 3 more``."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def clean(text: str) -> str:
    """The text with control characters as escapes. Text of a log must not reach a terminal raw: it could contain
    escape sequences.
    """
    # Marks of direction such as U+202E are not printable either: they could turn the text of a line round.
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
