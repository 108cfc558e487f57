"""Compiled models that several tests search."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.options import SearchOptions
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec, load_text

from .searched import GRID


def prepared(kernel: Kernel, folder: Path) -> tuple[Kernel, Compiled]:
    return kernel, compile_kernel(kernel, SearchOptions(), folder)


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kernel, Compiled]:
    return prepared(load_text(GRID).kernel, tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="session")
def kip320(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Kernel, Compiled]:
    spec = checkout / "spec" / "kafka" / "replication" / "kip320.assay"
    return prepared(load_spec(spec, model="r3l2m2e1").kernel, tmp_path_factory.mktemp("objects"))
