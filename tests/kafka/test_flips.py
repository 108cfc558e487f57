"""What is measured is the same where only those moments are looked at that can change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from assay.cli.settings import load
from assay.traces.impact.change_points import ConditionChanges, SharedChanges
from assay.traces.impact.step_times import TimedState, merged
from assay.traces.log_reader import read_logs
from assay.traces.result import Impact
from assay.traces.spec_selection import validate_with_selection

from .recorded import archive


def impact(run: str) -> tuple[Impact, ...]:
    _, found = validate_with_selection(read_logs([archive(run)]), None, lambda name: load(name, None, {}))
    return found.impact


@pytest.mark.slow
@pytest.mark.parametrize("run", ["A1", "B1", *(pytest.param(run, marks=pytest.mark.slow) for run in ("C1", "A9"))])
def test_looking_at_all_moments_tells_the_same(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few = impact(run)
    looked_at = 0

    def at_all(
        self: ConditionChanges, timeline: SharedChanges, own: Sequence[TimedState], truth: Callable[[TimedState], bool]
    ) -> Iterator[tuple[TimedState, bool]]:
        nonlocal looked_at
        for moment in merged(timeline.moments, own, self._own):
            looked_at += 1
            yield moment, truth(moment)

    monkeypatch.setattr(ConditionChanges, "of", at_all)
    assert impact(run) == few
    assert looked_at > 100
