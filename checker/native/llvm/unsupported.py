"""Errors for what the native engine cannot compile, with the place, so that the reference engine is used instead."""

from __future__ import annotations

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Span

UNSUPPORTED = "E807"


class UnsupportedError(Exception):
    """A construct that the native engine does not compile; ``diagnostic`` says which and where."""

    def __init__(self, what: str, span: Span = NOWHERE) -> None:
        super().__init__(what)
        self.what = what
        self.span = span

    @property
    def diagnostic(self) -> Diagnostic:
        """The message for people."""
        return Diagnostic(UNSUPPORTED, self.span, f"the native engine does not support {self.what}")

    def at(self, span: Span) -> UnsupportedError:
        """The same, with a place if it had none."""
        return self if self.span != NOWHERE else type(self)(self.what, span)


class TooLongError(UnsupportedError):
    """A function needs more instructions than LLVM handles in reasonable time; with more loops it may need fewer."""
