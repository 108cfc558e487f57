"""Errors for what the native engine cannot compile, with the place, so that the reference engine is used instead."""

from __future__ import annotations

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Span

UNSUPPORTED = "E807"
SMALLER = "choose smaller parameters for this model"
INSTEAD = "the reference engine checks it, more slowly; `--engine auto`, the default, takes that by itself"


class UnsupportedError(Exception):
    """A construct that the native engine does not compile; ``diagnostic`` says which and where.

    ``remedies`` say what to write so that it is compiled.
    """

    def __init__(self, what: str, span: Span = NOWHERE, *remedies: str) -> None:
        super().__init__(what)
        self.what = what
        self.span = span
        self.remedies = remedies

    @property
    def diagnostic(self) -> Diagnostic:
        """The message for people."""
        notes = tuple(Note(text) for text in (*self.remedies, INSTEAD))
        return Diagnostic(UNSUPPORTED, self.span, f"the native engine does not support {self.what}", notes)

    def at(self, span: Span) -> UnsupportedError:
        """The same, with a place if it had none."""
        # The innermost place wins; `type(self)`, so that a `TooLongError` stays one.
        return self if self.span != NOWHERE else type(self)(self.what, span, *self.remedies)


class TooLongError(UnsupportedError):
    """A function needs more instructions than LLVM handles in reasonable time; with more loops it may need fewer."""
