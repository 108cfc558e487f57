"""What logs exercise of a model is counted, kept in a file, and added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from assay.grammar.load import Loaded
from assay.traces.coverage import (
    UnfitCoverageError,
    all_guards,
    as_text,
    coverage_of,
    from_text,
    merge_coverage,
    uncovered_actions,
)
from assay.traces.event import Event
from assay.traces.validate import validate


def test_actions_guards_and_pairs_are_counted(election: Callable[..., Loaded], healthy: tuple[Event, ...]) -> None:
    found = coverage_of(validate(election(), healthy))
    assert found.actions == {"join": 2, "elect": 2, "expire": 1}
    assert found.guards["elect", "vacant"] == 2
    assert found.pairs["expire", "elect"] == 1


def test_what_no_log_has_shown_is_listed(election: Callable[..., Loaded], healthy: tuple[Event, ...]) -> None:
    loaded = election()
    found = coverage_of(validate(loaded, healthy))
    assert [each.action for each in uncovered_actions(loaded.kernel, found)] == ["leave"]
    assert set(all_guards(loaded.kernel)) - set(found.guards) == {("leave", "alive")}


def test_coverage_is_the_same_after_writing_and_reading(
    election: Callable[..., Loaded], healthy: tuple[Event, ...]
) -> None:
    found = coverage_of(validate(election(), healthy))
    again = from_text(as_text(found))
    assert (again.actions, again.guards, again.pairs) == (found.actions, found.guards, found.pairs)
    twice = merge_coverage([found, again])
    assert (twice.logs, twice.actions["elect"], twice.pairs["expire", "elect"]) == (2, 4, 2)


def test_coverage_of_another_spec_and_other_files_are_refused(
    election: Callable[..., Loaded], healthy: tuple[Event, ...]
) -> None:
    found = coverage_of(validate(election(), healthy))
    with pytest.raises(UnfitCoverageError, match="election and other"):
        merge_coverage([found, replace(found, spec="other")])
    endless = as_text(found).replace('"logs": 1', '"logs": 1e999')
    wrong = ("", "[]", "{}", '{"assay_coverage": "2"}', '{"assay_coverage": "1", "actions": 3}', endless, "[" * 100_000)
    for text in wrong:
        with pytest.raises(UnfitCoverageError):
            from_text(text)
