"""Of the suspects with the same obstacles the one with the fewest hidden steps is blamed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay.traces.explain import blame


@pytest.mark.parametrize("depths", [(0, 2, 1), (2, 1, 0)])
def test_of_equal_obstacles_those_after_the_fewest_hidden_steps_are_kept(
    depths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    obstacle = SimpleNamespace(kind="guard", label="free")
    item = SimpleNamespace(index=3, time=5.0)
    monkeypatch.setattr(blame, "_states", lambda search, path, budget: ((depth, 7) for depth in depths))
    monkeypatch.setattr(blame, "obstacles_of", lambda model, item, state: [("take", [obstacle]), ("drop", [])])
    search: Any = SimpleNamespace(model=None)
    found = blame._blocked_items(search, [(SimpleNamespace(), item)], 2)  # type: ignore[list-item]
    assert [(each.action, each.hidden) for each in found] == [("take", 0)]
