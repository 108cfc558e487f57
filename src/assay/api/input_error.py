"""The one exception of the Python interface: an input that cannot be used, with the diagnostics that the command line
would print.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import UnusableSpecError
from assay.report.diagnostics import diagnostics_text

P = ParamSpec("P")
R = TypeVar("R")


class InputError(UnusableSpecError):
    """A spec, a log or an argument that cannot be used (the command line's exit code 2).

    ``diagnostics`` are the findings, each with code, place, message and notes; ``sources`` the texts of the files that
    were read, by name. Its text is what the command line prints: each finding with its line, underlined.
    """

    def __str__(self) -> str:
        return diagnostics_text(self.diagnostics, self.sources)


def raises_input_error(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with every ``SpecError`` raised as an ``InputError``."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        # One function may call another: what that one raised has its sources already.
        except InputError:
            raise
        except UnusableSpecError as error:
            raise InputError(error.diagnostics, error.sources) from error
        except SpecError as error:
            raise InputError(error.diagnostics, {}) from error

    return wrapped
