"""Prints the table of the safeguards that were switched off."""

from __future__ import annotations

import pytest
from tests.kafka.ladder import LADDER

HEAD = ("spec", "switched off, or model", "violated", "states", "seconds")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = (report for report in terminalreporter.stats.get("passed", []) if report.when == "call")
    rows = sorted(tuple(cells) for report in passed for name, cells in report.user_properties if name == LADDER)
    if not rows:
        return
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    terminalreporter.section("bugs found")
    for row in (HEAD, *rows):
        terminalreporter.write_line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
