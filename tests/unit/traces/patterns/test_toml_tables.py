"""Tables of data are the same whether they are parsed or kept."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from assay.traces.patterns.container_files import BUILT_IN, mistakes_of
from assay.traces.patterns.toml_tables import toml_tables

PACKAGES = [f"assay.traces.patterns.{name}" for name in ("containers", "lines", "rules", "statements")]


@pytest.mark.parametrize("package", PACKAGES)
def test_tables_are_the_same_when_kept(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    parsed = {
        each.name: tomllib.loads(each.read_text(encoding="utf-8"))
        for each in files(package).iterdir()
        if each.name.endswith(".toml")
    }
    for _ in range(2):
        toml_tables.cache_clear()
        assert toml_tables(package) == parsed
    assert len(list(tmp_path.iterdir())) == 1
    toml_tables.cache_clear()


def test_built_in_containers_have_no_mistakes() -> None:
    tables = toml_tables("assay.traces.patterns.containers")
    assert set(tables) == set(BUILT_IN)
    assert [
        text for name in BUILT_IN for table in tables[name].get("container", ()) for text in mistakes_of(table)
    ] == []
