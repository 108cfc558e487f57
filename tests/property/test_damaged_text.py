"""No text makes the parser fail: what it cannot read it reports, with places that can be shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.diagnostics.render import render
from assay.grammar.formatting.format import format_module
from assay.grammar.parsing.parse import parse
from assay.grammar.parsing.split_declarations import scan, scan_block

CANONICAL = Path(__file__).parent.parent / "unit" / "grammar" / "goldens" / "canonical.assay"
PIECES = re.findall(r"\s+|\w+|\S", CANONICAL.read_text(encoding="utf-8"))
INSERTED = (*sorted(set(PIECES)), *"()[]{}\"'#\n\t:=<>!&|é\0\u2028\\", "    ", '"""', "\n    ", ":\n")

damages = st.lists(
    st.tuples(
        st.integers(0, len(PIECES) - 1), st.sampled_from(("delete", "replace", "insert")), st.sampled_from(INSERTED)
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(damages)
def test_a_damaged_spec_is_read_or_reported(places: list[tuple[int, str, str]]) -> None:
    pieces = list(PIECES)
    for at, how, piece in places:
        pieces[at] = {"delete": "", "replace": piece, "insert": pieces[at] + piece}[how]
    _read_or_reported("".join(pieces))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(INSERTED), max_size=30).map("".join) | st.text(max_size=60))
def test_any_text_is_read_or_reported(text: str) -> None:
    _read_or_reported(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from((*INSERTED, "\nstate", "\ninit: ", "\n")), max_size=30).map("".join))
def test_a_text_is_cut_as_if_it_were_read_in_one_piece(text: str) -> None:
    diagnostics = Diagnostics()
    found = scan(text, "damaged.assay", diagnostics)
    whole, reports = scan_block(text, "damaged.assay")
    assert (found, diagnostics.items) == (whole, list(reports))


def _read_or_reported(text: str) -> None:
    parsed = parse(text, "damaged.assay")
    lines = text.count("\n") + text.count("\r") + 1
    assert all(1 <= d.span.line <= lines for d in parsed.diagnostics)
    assert render(parsed.diagnostics, {"damaged.assay": text}) or not parsed.diagnostics
    if parsed.ok:
        assert parse(format_module(parsed.module), "damaged.assay").module == parsed.module
