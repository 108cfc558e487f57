"""What `show:` asks for stands with each state of a trace: as text, as JSON, and in ITF."""

from __future__ import annotations

from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.report import Trace
from assay.checker.saved_traces.itf import trace_to_itf
from assay.grammar import kernel as k
from assay.grammar.load import load_text
from assay.report.specs.check_object import trace_object
from assay.report.specs.text import trace_lines

TEXT = """
state:
    x: 0 .. 3 = 0
action go:
    x := x + 1
show: x+10, 6 // x, {y in 0 .. 3 if y < x}
invariant small: x < 2
"""
Found = tuple[k.Kernel, Trace]


@pytest.fixture
def found() -> Found:
    kernel = load_text(TEXT).kernel
    trace = next(p for p in check(kernel, None).properties if p.name == "small").trace
    assert trace is not None
    return kernel, trace


def test_text_has_a_line_for_each_expression_and_state(found: Found) -> None:
    lines = [line.text.strip() for line in trace_lines(*found) if "show" in line.text]
    assert lines[:2] == ["show x + 10 = 10", "show 6 // x is undefined: `//` by zero"]
    assert lines[-3:] == ["show x + 10 = 12", "show 6 // x = 3", "show {y in 0 .. 3 if y < x} = {0, 1}"]
    assert len(lines) == 9


def test_json_has_the_values_of_each_state(found: Found) -> None:
    steps: list[dict[str, Any]] = trace_object(*found)
    assert [step["show"]["x + 10"] for step in steps] == [10, 11, 12]
    assert [step["show"]["6 // x"] for step in steps] == [None, 6, 3]


def test_itf_has_the_values_of_each_state(found: Found) -> None:
    kernel, trace = found
    states = trace_to_itf(trace, kernel, "spec.assay", "small")["states"]
    assert [state["#meta"]["show"]["x + 10"] for state in states] == [{"#bigint": str(n)} for n in (10, 11, 12)]
    assert "6 // x" not in states[0]["#meta"]["show"]


def test_a_pick_is_shown_by_the_name_that_stands_in_the_text() -> None:
    lines = "    when forall m in S: m >= 0", "    pick m in {m in S if m > 0}", "    x := m"
    text = "\n".join(["type S = 0 .. 1", "state:", "    x: S = 0", "action go:", *lines, "invariant small: x < 1"])
    kernel = load_text(text).kernel
    trace = next(p for p in check(kernel, None).properties if p.name == "small").trace
    assert trace is not None
    assert any(line.text.endswith("go with m = 1") for line in trace_lines(kernel, trace))
