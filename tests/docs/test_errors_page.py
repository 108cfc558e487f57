"""docs/errors.md is what the table of codes says (`pytest --rewrite tests/docs` writes it anew)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.api.codes import ALL_CODES, COMMAND_LINE
from assay.grammar.diagnostics.codes import CODES
from assay.report.errors_page import errors_page


def test_the_page_is_made_of_the_table(checkout: Path, request: pytest.FixtureRequest) -> None:
    page = checkout / "docs" / "errors.md"
    if request.config.getoption("--rewrite"):
        page.write_text(errors_page(ALL_CODES.values()), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == errors_page(ALL_CODES.values())


def test_every_code_that_the_sources_use_is_in_the_table(checkout: Path) -> None:
    folders = [checkout / name for name in ("grammar", "checker", "traces", "src/assay/cli", "src/assay/report")]
    sources = [path for folder in folders for path in folder.rglob("*.py")]
    used = {code for path in sources for code in re.findall(r'"([EW]\d{3})"', path.read_text(encoding="utf-8"))}
    assert used
    assert used <= set(ALL_CODES)


def test_no_code_has_two_meanings() -> None:
    assert not {code.code for code in COMMAND_LINE} & set(CODES)
