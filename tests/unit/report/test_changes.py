"""What a step changed is told as small as it can be: elements that come and go, not the collections that hold them."""

from __future__ import annotations

import pytest

from assay.grammar.load import load_text
from assay.grammar.values import FrozenMap
from assay.report.specs.changes import change_lines

KERNEL = load_text(
    """
state:
    by: map[0 .. 1, bag[0 .. 3, max 8]] = [k -> {}]
"""
).kernel


def _bag(**numbers: int) -> FrozenMap:
    return FrozenMap({int(name[1:]): number for name, number in numbers.items()})


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (_bag(), _bag(n1=1), ["by[0]: + 1"]),
        (_bag(n1=2), _bag(n1=1), ["by[0]: - 1"]),
        (_bag(n1=3, n2=1), _bag(n2=3), ["by[0]: + 2 (2 times)", "by[0]: - 1 (3 times)"]),
        (_bag(n1=3), _bag(n1=3), []),
    ],
    ids=["comes", "goes", "several", "stays"],
)
def test_of_a_bag_what_came_and_went_is_told(old: FrozenMap, new: FrozenMap, lines: list[str]) -> None:
    before, after = FrozenMap({0: old, 1: _bag()}), FrozenMap({0: new, 1: _bag()})
    assert change_lines(KERNEL, (before,), (after,)) == lines
