"""What the playground says of a spec. It runs in the browser, where only the standard library and lark are."""

from __future__ import annotations

import json
from html import escape

from assay.checker.engines import reference_engine
from assay.checker.options import SearchOptions
from assay.checker.search_interface.finding import DEADLOCK
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.load import UnusableSpecError, load_text
from assay.grammar.loaded import Loaded
from assay.report.diagnostics import diagnostics_text
from assay.report.lines import Line, Tone
from assay.report.specs.text import report_lines

MOST_STATES = 20_000
"""Where a search ends: a browser takes a minute for so many, a computer with assay a second."""


def answered(text: str, settings: str) -> str:
    """The answer about a spec, as JSON: ``html``, and the ``verdict``. ``settings`` are lines or words `P=V`."""
    try:
        loaded = load_text(text, overrides=_settings(settings))
        left_out = [each.name for each in loaded.kernel.properties if each.kind == "temporal"]
        report = reference_engine.check(loaded.kernel, _options(loaded, left_out), loaded.sources)
    except UnusableSpecError as error:
        return _json("error", [Line(diagnostics_text(error.diagnostics, error.sources), Tone.BAD)])
    except SpecError as error:
        return _json("error", [Line(diagnostics_text(error.diagnostics, {"spec.assay": text}), Tone.BAD)])
    lines = report_lines(report)
    lines += [
        Line(f"not asked: `{name}`, which is about whole runs; the browser lacks numpy, which that needs", Tone.WARN)
        for name in left_out
    ]
    return _json(report.outcome.value, lines)


def _settings(text: str) -> dict[str, str]:
    """Settings as the command line's `--set` has them. Raises ``SpecError``."""
    found = {}
    for part in filter(None, (each.strip() for each in text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            raise SpecError([Diagnostic("E801", NOWHERE, f"`{part}` is no setting: write `P=V`, several with `;`")])
        found[name.strip()] = value.strip()
    return found


def _options(loaded: Loaded, left_out: list[str]) -> SearchOptions:
    kernel = loaded.kernel
    names = {DEADLOCK, *(each.name for each in (*kernel.properties, *kernel.scenarios))} - set(left_out)
    return SearchOptions(properties=frozenset(names), max_states=MOST_STATES)


def _json(verdict: str, lines: list[Line]) -> str:
    return json.dumps(
        {
            "verdict": verdict,
            "html": "\n".join(f'<span class="{line.tone.value}">{escape(line.text)}</span>' for line in lines),
        }
    )
