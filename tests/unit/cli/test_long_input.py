"""Names that no file can have are bad input; saved runs may be longer than specs."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import invoke
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.parsing import spec_text

LONG = "module light " * 400


@pytest.mark.parametrize(
    "command",
    [["check", LONG], ["check", f"{LONG}.assay"], ["validate", LONG], ["simulate", LONG], ["fmt", LONG]],
    ids=lambda command: command[0],
)
def test_a_name_that_is_too_long_is_said(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(command) == 2
    assert "File name too long" in capsys.readouterr().err


def test_a_saved_run_may_be_longer_than_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_text, "MAX_BYTES", 100)
    path = tmp_path / "run.json"
    path.write_text(" " * 20_000)
    diagnostics = Diagnostics()
    assert spec_text.read_run(path, diagnostics) == " " * 20_000
    assert spec_text.read_text(path, diagnostics) is None
    assert [each.code for each in diagnostics] == ["E605"]
