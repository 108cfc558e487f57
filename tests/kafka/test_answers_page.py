"""The answers that `docs/kafka-answers.md` shows are those of today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.report.logs.first_screen import MOST_LINES, first_screen
from assay.traces.diagnosis.node_settings import overview
from assay.traces.log_reader import read_logs
from assay.traces.spec_selection import validate_with_selection

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "kafka-answers.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\$ assay validate (\S+)\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.parametrize(("logs", "shown"), SHOWN, ids=[Path(logs).name for logs, _ in SHOWN])
def test_the_answer_about_a_recorded_cluster_is_the_one_on_the_page(logs: str, shown: str) -> None:
    reading = read_logs([ROOT / logs])
    _, validation = validate_with_selection(reading, None, lambda name: load(name, None, {}))
    lines = [line.text for line in first_screen(validation, overview(reading))]
    assert lines == shown.split("\n")


def test_the_page_shows_six_answers_of_at_most_25_lines() -> None:
    assert len(SHOWN) == 6
    assert all(len(shown.split("\n")) <= MOST_LINES for _, shown in SHOWN)
