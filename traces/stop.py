"""A request to stop a validation: its time or memory is used up, or the user has pressed Ctrl-C.

The command line raises ``StopRequest`` once, wherever the validation is (``cli/terminal/limits.py``). Each phase that
has something to show for itself catches it and returns that. Later phases ask ``stopped`` before they begin work that
takes long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_why: str | None = None


class StopRequest(BaseException):
    """Raised where a validation has to stop; the text says why. No ``except Exception`` holds it up."""


def request(why: str) -> None:
    """Stop the validation: raises ``StopRequest`` the first time, and does nothing later."""
    global _why  # noqa: PLW0603 - one validation at a time
    if _why is None:
        _why = why
        raise StopRequest(why)


def stopped() -> str | None:
    """Why the validation has to stop; None if it may go on."""
    return _why


@contextmanager
def stop_requests() -> Iterator[None]:
    """A validation that may be stopped; afterwards the next one may go on."""
    global _why  # noqa: PLW0603 - one validation at a time
    _why = None
    try:
        yield
    finally:
        _why = None
