"""Where deadlocks are not looked for, every state of the module may stay as it is."""

from __future__ import annotations

from assay.checker.tla.module import export
from assay.grammar.load import load_text

STOPS = load_text("module stops\nstate:\n    x: 0 .. 3 = 0\naction go:\n    when x < 3\n    x := x + 1\n").kernel


def test_a_module_without_deadlocks_has_a_step_that_changes_nothing() -> None:
    text = export(STOPS, deadlock=False).files["stops.tla"]
    assert "Stay == UNCHANGED vars" in text
    assert "\\/ Stay" in text
    assert "Stay" not in export(STOPS).files["stops.tla"]
