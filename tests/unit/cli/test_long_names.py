"""A name that no file can have is bad input: somebody gave the text of a spec where its file was asked for."""

from __future__ import annotations

import pytest

from assay.cli.main import invoke

LONG = "module light " * 400


@pytest.mark.parametrize(
    "command",
    [["check", LONG], ["check", f"{LONG}.assay"], ["validate", LONG], ["simulate", LONG], ["fmt", LONG]],
    ids=lambda command: command[0],
)
def test_a_name_that_is_too_long_is_said(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(command) == 2
    assert "File name too long" in capsys.readouterr().err
