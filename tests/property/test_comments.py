"""Comments anywhere in a spec survive the formatter, and change nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.grammar.formatting.format import format_module
from assay.grammar.parsing.parse import parse

CANONICAL = Path(__file__).parent.parent / "unit" / "grammar" / "goldens" / "canonical.assay"
LINES = CANONICAL.read_text(encoding="utf-8").splitlines()

comments = st.lists(
    st.tuples(st.integers(0, len(LINES) - 1), st.booleans(), st.integers(0, 12), st.booleans()), min_size=1, max_size=8
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(comments)
def test_no_comment_is_lost_wherever_it_stands(places: list[tuple[int, bool, int, bool]]) -> None:
    lines = list(LINES)
    for number, (at, own_line, depth, blank) in enumerate(sorted(places, reverse=True)):
        if own_line:
            lines[at:at] = [" " * depth + f"# inserted {number}", *([""] if blank else [])]
        else:
            lines[at] += f"  # inserted {number}"
    before = parse("\n".join(lines), "commented.assay")
    assert before.diagnostics == ()
    once = format_module(before.module)
    after = parse(once, "commented.assay")
    assert after.module == before.module
    assert sorted(c.text for c in after.module.comments) == sorted(c.text for c in before.module.comments)
    assert format_module(after.module) == once, once
