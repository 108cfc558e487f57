"""What is looked through for garbage, and how often, while slices are answered."""

from __future__ import annotations

import gc

from assay.traces.gc_control import YOUNG_THRESHOLD, frozen_heap


def test_inside_garbage_is_looked_for_less_often_and_afterwards_as_before() -> None:
    before = gc.get_threshold()
    with frozen_heap():
        assert gc.get_threshold()[0] == max(before[0], YOUNG_THRESHOLD)
        with frozen_heap():
            assert gc.get_freeze_count() > 0
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_who_looks_for_no_garbage_at_all_goes_on_so() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with frozen_heap():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
