"""A status line while something long runs. Only on a terminal, and on standard error, so that it never mixes with
output.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from assay.checker.options import Progress
from assay.grammar.current_work import doing


@contextmanager
def search_progress() -> Iterator[Callable[[Progress], None]]:
    """Shows the progress of a search."""
    with activity("searching") as show:
        yield partial(_show, show)


def _show(show: Callable[[str], None], at: Progress) -> None:
    # Without a terminal, too: if the search has to be ended from outside, the parent process says this.
    doing(f"level {at.level} was searched, {at.distinct:,} distinct states so far")
    show(progress_text(at))


def progress_text(at: Progress) -> str:
    """The progress of a search in one line. What its engine does not measure is left out."""
    parts = [
        f"level {at.level}: {at.distinct:,} distinct states",
        f"{at.generated:,} generated ({at.duplicates:.0%} seen before)",
        f"{at.frontier:,} to expand",
        f"{at.rate:,.0f} states/s",
    ]
    if at.memory:
        parts.append(f"{at.memory / 1e6:,.0f} MB")
    if at.disk:
        parts.append(f"{at.disk / 1e6:,.0f} MB in files")
    if at.load:
        parts.append(f"table {at.load:.0%} full")
    return f"{', '.join(parts)}, {at.seconds:.0f} s"


@contextmanager
def activity(first: str) -> Iterator[Callable[[str], None]]:
    """Shows what is being done; the function given changes the text."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - half a second, which only a terminal needs

    console = Console(stderr=True)
    with console.status(first) as status:
        yield status.update
