"""Undefined expressions, and domains that are too large to list."""

from __future__ import annotations

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Span, SpecError

ENUMERATION_LIMIT = 10_000_000
"""The most values of a domain, instances of an action, or initial states that an explicit search lists."""

LONGEST_BITS = 14_000
"""An integer of as many bits has 4,215 digits. Python prints none of more than 4,300."""

TOO_LARGE = "E801"
TOO_DEEP = "E802"


class Undefined(Exception):  # noqa: N818 - an answer of the semantics, not a mistake
    """An operation has no value. Whoever turns it into an answer catches it: the property ``defined`` is violated."""

    def __init__(self, message: str, span: Span = NOWHERE) -> None:
        super().__init__(message)
        self.message = message
        self.span = span

    def at(self, span: Span) -> Undefined:
        """The same, with a place if it had none."""
        return self if self.span != NOWHERE else Undefined(self.message, span)


def is_printed(value: int) -> bool:
    """Whether an integer has few enough digits to be printed."""
    return value.bit_length() < LONGEST_BITS


def integer_text(value: int) -> str:
    """An integer as text; one of very many digits by its size."""
    if is_printed(value):
        return str(value)
    return f"about {'-' if value < 0 else ''}2^{value.bit_length() - 1}"


def too_large(what: str, size: int, span: Span) -> SpecError:
    """The error that ``size`` values are too many to list one by one."""
    note = Note(f"an explicit search lists at most {ENUMERATION_LIMIT:,}; choose a smaller model or set")
    return SpecError([Diagnostic(TOO_LARGE, span, f"{what} has {_size(size)} values, too many to list", (note,))])


def _size(size: int) -> str:
    return f"{size:,}" if size < 10**15 else f"about 2^{size.bit_length() - 1}"
