"""Every verdict about a log has a word, a tone, an exit code and a status of JUnit, on every output."""

from __future__ import annotations

from assay.report.logs.first_screen import KEPT
from assay.report.logs.validation_object import EXIT_CODES
from assay.report.logs.validation_text import TONES
from assay.traces.result import TraceVerdict


def test_every_verdict_has_a_first_line_a_tone_and_an_exit_code() -> None:
    verdicts = set(TraceVerdict)
    assert set(KEPT) == set(TONES) == set(EXIT_CODES) == verdicts
