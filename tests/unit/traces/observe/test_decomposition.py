"""What slices read of the shared state, wherever the clause reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

SHELVES = (
    (Path(__file__).parents[1] / "shelves.txt")
    .read_text(encoding="utf-8")
    .replace("    when unlocked: open\n    GUARD\n", "")
)
"""No action of a shelf asks whether the room is open."""
READERS = {
    "observe": "on Looked(slice: Shelf): observe open",
    "then": "on Looked(slice: Shelf): mark(slice) then open",
}

Line = Callable[..., Any]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("looks", [5, 25])
def test_a_line_of_a_slice_may_read_what_no_action_of_it_reads(
    line: Line, shelf: Line, reader: str, looks: int
) -> None:
    text = SHELVES.replace("    on Unlocked", f"    {READERS[reader]}\n    on Unlocked")
    events = [
        shelf(1, 1, "Made", version=0),
        *([shelf(2, looks, "Looked")] if looks < 20 else []),
        line("n1", 3, 20, "Unlocked"),
        *([shelf(4, looks, "Looked")] if looks > 20 else []),
    ]
    found = validate(load_text(text), events)
    assert found.verdict is (TraceVerdict.CONSISTENT if looks > 20 else TraceVerdict.INCONSISTENT)
