"""Which of many cases alike are run every day, and which in the slow stage alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def everyday(cases: Sequence[Any], most: int) -> list[Any]:
    """All cases for ``parametrize``, of which ``most``, evenly spread, carry no mark and the others the mark ``slow``.

    So a range of ten seeds with ``most=2`` leaves the seeds 0 and 5 to the everyday stage.
    """
    kept = {number * len(cases) // most for number in range(most)}
    return [case if number in kept else slow(case) for number, case in enumerate(cases)]


def slow(case: Any) -> Any:
    """A case for ``parametrize`` that is run in the slow stage alone; a plain tuple is one case of several arguments."""
    if type(case) is tuple:
        return pytest.param(*case, marks=pytest.mark.slow)
    return pytest.param(case, marks=pytest.mark.slow)


def rounds(few: int, many: int) -> pytest.MarkDecorator:
    """Parametrizes ``rounds``, the number of random cases that a test compares: few every day, many in the slow stage."""
    return pytest.mark.parametrize("rounds", [few, slow(many)])


def mark_seldom_cases(items: Sequence[pytest.Item]) -> None:
    """Of the cases of a function with the mark ``everyday(most)`` so many, evenly spread, stay; the others become slow.

    For functions whose cases come from several lists; ``everyday`` is for one list.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("everyday") is not None and item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for alike in cases.values():
        mark = alike[0].get_closest_marker("everyday")
        assert mark is not None
        (most,) = mark.args
        kept = {number * len(alike) // most for number in range(most)}
        for number, item in enumerate(alike):
            if number not in kept:
                item.add_marker(pytest.mark.slow)
