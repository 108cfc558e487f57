"""A small election protocol and lines of its logs, for tests of validation."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun

ELECTION = """\
module election

param Process: set = {p1}
size param MaxTerm: int = 3

type Term = 0 .. MaxTerm

state:
    live: set[Process] = {}
    owner: Process? = none
    term: Term = 0
    mine: map[Process, Term] = [p -> 0]

action join(p: Process):
    when absent: p not in live
    live := live + {p}

action elect(p: Process):
    when member: p in live
    when vacant: owner == none
    bound terms: term < 2
    owner := p
    term := term + 1
    mine[p] := term + 1

action expire(p: Process):
    when alive: p in live
    live := live - {p}
    owner := if owner == p then none else owner

action leave(p: Process):
    when alive: p in live
    live := live - {p}
    owner := if owner == p then none else owner
    mine[p] := 0

invariant owner_lives: owner is some(p) implies p in live
invariant few_terms: term <= 2

trace log:
    from toy
    on Joined(node: Process): join(node)
    on Elected(node: Process, number: Term): elect(node) then term == number
    on Left(node: Process): leave(node)
    on Leading(node: Process, number: Term): observe mine[node] == number
    on Seen(number: Term) if number > 0: observe term == number
    on Full(node: Process): observe count(live) == 3
    on Gone(node: Process): observe live == {}
    ignore Noise "says nothing"
    hidden expire; at most LIMIT between two pinned events
    order: file; WINDOWskew 5 ms
"""

Line = Callable[..., Event]


def _line(
    node: str, line: int, time: int | None, kind: str, /, *, run: int = 1, file: str = "a.log", **fields: Field
) -> Event:
    record = LogRecord(LogPosition(f"{node}/{file}", line, 0), time, "INFO", "toy", None, kind)
    return Event(kind, kind, MappingProxyType(fields), record, ProcessRun(node, run))


@pytest.fixture(scope="session")
def line() -> Line:
    """Makes an event: node, line number, milliseconds, kind, fields."""
    return _line


@pytest.fixture(scope="session")
def election() -> Callable[..., Loaded]:
    """Loads the election with a limit of hidden steps and perhaps a window in milliseconds from commit to line."""

    def load(limit: int = 2, window: int | None = None, text: str = ELECTION) -> Loaded:
        within = "" if window is None else f"commit before line within {window} ms; "
        return load_text(text.replace("LIMIT", str(limit)).replace("WINDOW", within))

    return load


@pytest.fixture(scope="session")
def healthy() -> tuple[Event, ...]:
    """The log of two nodes in which the first is elected, is lost unseen, and the second is elected."""
    return (
        _line("n1", 1, 100, "Joined"),
        _line("n1", 2, 110, "Elected", number=1),
        _line("n1", 3, 120, "Leading", number=1),
        _line("n2", 1, 105, "Joined"),
        _line("n2", 2, 200, "Elected", number=2),
        _line("n2", 3, 210, "Leading", number=2),
        _line("n2", 4, 220, "Seen", number=2),
        _line("n1", 4, 300, "Leading", number=1),
        _line("n1", 5, 310, "Noise"),
        _line("n1", 6, 320, "Odd"),
    )


@pytest.fixture(scope="session")
def load() -> Callable[[str], Loaded]:
    """Loads a spec from its text."""
    return load_text


@pytest.fixture(scope="session")
def shelf(line: Line) -> Line:
    """Lines about a shelf in room a; see `shelves.txt`."""

    def make(number: int, time: int, kind: str, shelf: int = 1, node: str = "n1", **fields: Any) -> Any:
        return line(node, number, time, kind, room="a", shelf=shelf, **fields)

    return make
