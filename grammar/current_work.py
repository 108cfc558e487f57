"""What the program is doing, in a few words, for the process that watches over it. That process says it where the work
must be ended from outside (``cli/terminal/supervisor.py``).

Without a listener a note costs the call of an empty function.
"""

from __future__ import annotations

from collections.abc import Callable


def _nobody(*_: str) -> None:
    return None


_doing: Callable[[str], None] = _nobody
_answering: Callable[[], None] = _nobody


def listen(to_doing: Callable[[str], None], to_answering: Callable[[], None]) -> None:
    """Have both functions called from now on, by every thread of this process."""
    global _doing, _answering
    _doing, _answering = to_doing, to_answering


def doing(what: str) -> None:
    """Note what begins now, as it reads behind "while": "the invariant `i` was compiled"."""
    _doing(what)


def answering() -> None:
    """Note that the work has ended, by itself or at its limit, and that the answer is being made."""
    _answering()
