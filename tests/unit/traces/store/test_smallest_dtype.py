"""Columns of whole numbers in few bytes."""

from __future__ import annotations

import numpy as np
import pytest

from assay.traces.store.packed_records import NEVER
from assay.traces.store.smallest_dtype import CompactColumn


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], np.int64),
        ([5], np.int32),
        ([-1, 3, 254], np.int32),
        ([1_700_000_000_000, 1_700_000_000_255, 1_700_000_000_256], np.int64),
        ([NEVER, 1_700_000_000_000, 0], np.int64),
        ([0, 1 << 40], np.int64),
        ([-(1 << 31), (1 << 31) - 1], np.int32),
    ],
)
def test_numbers_are_as_they_were(values: list[int], kind: type[np.signedinteger]) -> None:
    column = CompactColumn(np.array(values, kind))
    assert column.all().tolist() == values
    assert column.all().dtype == kind
    assert [column.one(at) for at in range(len(column))] == values
    assert column.at(np.arange(len(values))[::-1]).tolist() == values[::-1]
    assert column.at(slice(1, None)).tolist() == values[1:]
