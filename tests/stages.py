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
