"""What is found by sorting is what NumPy finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from assay.checker.jit.array_ops import among, distinct, repeated

VALUES = arrays(np.int64, st.integers(0, 60), elements=st.integers(-20, 20))


@given(VALUES)
def test_values_come_once_and_in_order(values: np.ndarray) -> None:
    assert distinct(values).tolist() == sorted(set(values.tolist()))


@given(VALUES)
def test_repeated_values_are_those_that_come_again(values: np.ndarray) -> None:
    counts = values.tolist()
    assert repeated(values).tolist() == sorted({each for each in counts if counts.count(each) > 1})


@given(VALUES, VALUES)
def test_among_says_which_values_another_array_has(values: np.ndarray, others: np.ndarray) -> None:
    assert among(values, distinct(others)).tolist() == np.isin(values, others).tolist()


def test_unsigned_values_beyond_the_signed_ones_stay_what_they_are() -> None:
    large = np.array([2**64 - 1, 1, 2**64 - 1], np.uint64)
    assert distinct(large).tolist() == [1, 2**64 - 1]
    assert repeated(large).tolist() == [2**64 - 1]
    assert among(large, np.array([2**64 - 1], np.uint64)).tolist() == [True, False, True]
