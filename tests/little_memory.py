"""A table of visited states that is full soon, so that small models go to disk as large ones do."""

from __future__ import annotations

import pytest

from assay.checker.explicit.store.hash_table import StateTable, TableFullError


def make_memory_little(patch: pytest.MonkeyPatch, states: int) -> None:
    """The table holds about so many states; blocks and groups are small, and records wait in files."""
    sizes_for = StateTable.sizes_for

    def full_soon(table: StateTable, incoming: object) -> object:
        if len(table) and len(table) + int(incoming.sum()) > states:  # type: ignore[attr-defined]
            raise TableFullError
        return sizes_for(table, incoming)  # type: ignore[arg-type]

    patch.setattr(StateTable, "sizes_for", full_soon)
    patch.setattr("assay.checker.explicit.visited_set.VisitedSet.room", 8 << 20)
    patch.setattr("assay.checker.explicit.bfs.BlockSearch._is_narrow", lambda _: False)
    patch.setattr("assay.checker.explicit.store.sorted_run.BLOCK", 16)
    patch.setattr("assay.checker.explicit.store.sorted_run.READ", 3)
    patch.setattr("assay.checker.explicit.expansion.visited_on_disk.TOGETHER", 1024)
    patch.setattr("assay.checker.explicit.expansion.visited_on_disk.RECORDS", 0.0)
