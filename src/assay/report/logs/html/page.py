"""The page: findings as text, which needs no script, then the timeline and the list of events."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from assay.report.lines import clean
from assay.report.logs.first_screen import page_lines
from assay.report.logs.history import histories
from assay.report.logs.html.data import embedded, script_data
from assay.report.logs.html.findings import FIRST, page_findings
from assay.report.logs.html.lane_rules import band_styles
from assay.report.logs.html.lanes import timeline
from assay.report.logs.impact import clock, duration, longest_first
from assay.report.logs.shown_line import place_text
from assay.report.logs.timeline import is_closing
from assay.report.logs.validation_text import event_text, slice_noun
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.durations import moment
from assay.traces.event import Event
from assay.traces.result import Validation
from assay.traces.trouble.finding import Gravity

if TYPE_CHECKING:
    from jinja2 import Environment


def html_report(validation: Validation, events: Sequence[Event], title: str, input_: Overview | None = None) -> str:
    """The whole page. ``events`` are the validated events, ``title`` names the logs, ``input_`` is their overview."""
    from markupsafe import Markup  # noqa: PLC0415 - as in `_environment`

    past = histories(validation)
    moments = () if input_ is None else input_.moments
    terms = [(each.time, each.term) for each in moments if each.term]
    line = timeline(events, past, validation.impact, terms, band_styles(validation.kernel))
    kind, data = embedded(script_data(validation, events, past, line, _nodes(input_)))
    found = page_findings(validation, input_)
    # A new one for each page: the test below is about this answer.
    environment = _environment()
    end = None if input_ is None else input_.shut_down
    environment.tests["closing"] = lambda spell: is_closing(spell, end)
    page = environment.from_string(_file("report.html.jinja"))
    return page.render(
        title=title,
        v=validation,
        findings=found,
        # A green verdict alone would hide that records are lost: the gravest finding stands beside it.
        gravest=next((each for each in found if FIRST < each.rank <= Gravity.RISK), None),
        noun=slice_noun(validation),
        screen=[] if input_ is None else page_lines(validation, input_),
        input=input_,
        verdict=validation.verdict.value,
        begin=_moment(line.begin),
        end=_moment(line.end),
        data_type=kind,
        data=Markup(data),  # escaped by `embedded`
        style=Markup(_file("report.css")),
        script=Markup(_file("report.js")),
    )


def _nodes(input_: Overview | None) -> dict[int, list[str]]:
    """The names of the nodes with each id."""
    found: dict[int, list[str]] = {}
    for each in () if input_ is None else input_.nodes:
        for number in each.node.brokers:
            found.setdefault(number, []).append(each.node.name)
    return found


def _environment() -> Environment:
    """Templates in which every inserted text is escaped, and a misspelt name is an error."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - most answers are no page

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["clean"] = lambda value: clean(str(value))
    environment.filters["short"] = place_text
    environment.filters["event"] = event_text
    environment.filters["number"] = "{:,}".format
    environment.filters["moment"] = _moment
    environment.filters["clock"] = clock
    environment.filters["longest"] = longest_first
    environment.filters["duration"] = lambda impact: duration(impact.at_least, impact.at_most)
    return environment


def _moment(milliseconds: int) -> str:
    return f"{moment(milliseconds):%Y-%m-%d %H:%M:%S}"


def _file(name: str) -> str:
    return (files("assay.report.logs.html") / name).read_text(encoding="utf-8")
