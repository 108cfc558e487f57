"""Whether a cluster suits is found out before anything is searched."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.spark.storage.filesystem import Storage
from assay.spark.tasks.preflight import require_suitable_cluster

NO_SPARK: Any = SimpleNamespace(conf={})


def test_a_work_directory_into_which_the_driver_cannot_write_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as problem:
        require_suitable_cluster(NO_SPARK, 2, storage=Storage(str(tmp_path / "nothing")))
    (found,) = problem.value.diagnostics
    assert (found.code, found.message.rpartition(": ")[2]) == ("E834", "No such file or directory")
