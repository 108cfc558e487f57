"""A level of a search has at most as many states as a predecessor's place has numbers."""

from __future__ import annotations

import pytest

from assay.checker.explicit.store import levels
from assay.checker.explicit.store.levels import Levels


def test_a_state_whose_place_has_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "MOST", 100)
    found = Levels(1, b"of this search")
    found.stage(100)
    with pytest.raises(MemoryError, match="a level of more than 100 states cannot be numbered"):
        found.stage(101)
