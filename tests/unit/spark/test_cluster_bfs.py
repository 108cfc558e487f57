"""Of what several tasks have found the same is looked at, whichever was done first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay.checker.explicit.shard import ShardFinding
from assay.spark.search.cluster_bfs import ClusterSearch


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_of_each_kind_the_finding_with_the_smallest_fingerprint_counts(order: tuple[int, ...]) -> None:
    found = [ShardFinding("dead", 0, number, (number,)) for number in (7, 5, 9)]
    reports = [SimpleNamespace(sources=(found[at],), states=(ShardFinding("state", 1, 3, (3,)),)) for at in order]
    noted: list[Any] = []
    search: Any = SimpleNamespace(
        _event=lambda finding, source: (finding, source), findings=SimpleNamespace(note=noted.append)
    )
    ClusterSearch._note(search, reports, 4)  # type: ignore[arg-type]  # what it reads of them
    assert sorted(noted, key=lambda each: each[0].kind) == [(found[1], 4), (ShardFinding("state", 1, 3, (3,)), 4)]
