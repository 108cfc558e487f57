"""Columns of values that repeat: each value once, and its number for each entry."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from assay.traces.store.record_block import Numbers

Value = TypeVar("Value", bound=Hashable)


def distinct_values(given: Sequence[Value]) -> tuple[list[Value], Numbers]:
    """The distinct values in the order of their first places, and for each entry the index of its value.

    The values can be hashed. No loop of Python goes over them: there are millions.
    """
    known = {value: at for at, value in enumerate(dict.fromkeys(given))}
    return list(known), np.fromiter(map(known.__getitem__, given), np.int64, len(given))
