"""docs/kafka-models.md is made of the numbers that are pinned here (`pytest --rewrite tests/kafka/test_models.py` writes it anew)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.kafka.models import AREAS, bounds, looked_up, of_kafka, page_of, pinned, rows_of
from tests.kafka.test_replication import SHARED

from assay.api.bundled import bundled_specs


@pytest.fixture(scope="module")
def page(checkout: Path, request: pytest.FixtureRequest) -> str:
    path = checkout / "docs" / "kafka-models.md"
    if request.config.getoption("--rewrite"):
        path.write_text(page_of(looked_up(path.read_text(encoding="utf-8"))), encoding="utf-8")
    return path.read_text(encoding="utf-8")


def test_the_page_is_made_of_the_pinned_numbers(page: str) -> None:
    assert set(rows_of(page)) == {row.key for row in of_kafka()}
    assert page == page_of(rows_of(page))


@pytest.mark.slow
def test_the_page_shows_the_bounds_of_every_model(page: str) -> None:
    shown = {key: bounded for key, (bounded, _) in rows_of(page).items()}
    assert shown == {row.key: bounds(row) for row in of_kafka()}


def test_every_spec_of_kafka_is_in_one_area_and_has_a_pinned_model() -> None:
    """What the versions of replication share is no protocol by itself."""
    shared = {f"kafka/replication/{name}" for name in SHARED}
    placed = Counter(f"kafka/{name}" for specs in AREAS.values() for name in specs)
    assert placed == Counter({spec: 1 for spec in bundled_specs() if spec.startswith("kafka/") and spec not in shared})
    assert {row.spec for row in of_kafka()} == set(placed)


def test_no_model_is_pinned_twice() -> None:
    assert max(Counter(row.key for row in pinned()).values()) == 1


def test_the_index_shows_the_states_of_every_default_model(checkout: Path) -> None:
    lines = (checkout / "spec" / "README.md").read_text(encoding="utf-8").splitlines()
    for row in pinned():
        if row.model is None:
            (shown,) = [line for line in lines if line.startswith(f"| `{row.spec}` |")]
            assert f" {row.distinct:,} " in shown
