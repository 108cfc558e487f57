"""Whether a slice's first write is known from hearsay alone, as its lines come."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay.traces.slices.versions import first_update
from assay.traces.slices.versions.first_update import FirstWrite


def line(number: int | None, names_action: bool) -> Any:
    return SimpleNamespace(number=number, observation=SimpleNamespace(names_action=names_action))


@pytest.fixture(autouse=True)
def _numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_update, "number_of", lambda model, line: line.number)


MODEL: Any = None


def test_lines_of_later_writes_say_nothing_of_the_first() -> None:
    first = FirstWrite().with_lines(MODEL, [line(None, True), line(3, False), line(4, True)])
    assert (first.number, first.is_hearsay) == (3, True)


def test_an_earlier_write_takes_its_place_and_a_line_of_who_did_it_decides() -> None:
    first = FirstWrite().with_lines(MODEL, [line(3, True)])
    assert not first.is_hearsay
    earlier = first.with_lines(MODEL, [line(2, False)])
    assert earlier.is_hearsay
    assert not earlier.with_lines(MODEL, [line(2, True), line(2, False)]).is_hearsay


def test_without_a_write_there_is_no_hearsay() -> None:
    assert not FirstWrite().with_lines(MODEL, [line(None, False)]).is_hearsay
