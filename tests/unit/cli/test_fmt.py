"""`assay fmt` rewrites a spec in its canonical form, or leaves it alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.cli.specs import fmt
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic

UGLY = "module   ugly\nstate:\n   x:bool=false   # a flag\naction flip:\n   x:=not   x\n"


def test_a_file_is_rewritten_once_and_keeps_its_comments(assay: Any, tmp_path: Path) -> None:
    path = tmp_path / "ugly.assay"
    path.write_text(UGLY)
    assert assay("fmt", "--check", "ugly.assay").code == 1
    assert path.read_text() == UGLY
    assert assay("fmt", "ugly.assay").code == 0
    assert "x := not x" in path.read_text()
    assert "# a flag" in path.read_text()
    again = assay("fmt", "--check", "ugly.assay", "--json")
    assert (again.code, again.json["verdict"]) == (0, "canonical")


def test_no_file_is_touched_where_one_has_a_mistake(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "ugly.assay").write_text(UGLY)
    (tmp_path / "bad.assay").write_text("module bad\nstate\n")
    ran = assay("fmt", "ugly.assay", "bad.assay", "--json")
    assert ran.code == 2
    assert (tmp_path / "ugly.assay").read_text() == UGLY


def test_the_files_that_would_change_are_listed(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "ugly.assay").write_text(UGLY)
    ran = assay("fmt", "--check", "ugly.assay", "--json")
    assert ran.json == {"assay": "1", "verdict": "not canonical", "files": [{"file": "ugly.assay", "changed": True}]}


def test_a_file_that_cannot_be_written_is_not_called_rewritten(
    assay: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ugly.assay").write_text(UGLY)
    refused = [Diagnostic("E902", NOWHERE, "the file cannot be written")]
    monkeypatch.setattr(fmt, "write_result", lambda *_: refused)
    ran = assay("fmt", "ugly.assay")
    assert ran.code == 2
    assert "rewritten" not in ran.out
    assert assay("fmt", "ugly.assay", "--json").json["verdict"] == "not canonical"
