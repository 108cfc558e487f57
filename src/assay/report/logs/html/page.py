"""The page: findings as text, which needs no script, then the timeline and the list of events."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from assay.report.lines import clean
from assay.report.logs.first_screen import first_screen
from assay.report.logs.history import histories
from assay.report.logs.html.data import embedded, script_data
from assay.report.logs.html.lanes import timeline
from assay.report.logs.impact import clock, duration, longest_first, moment
from assay.report.logs.remarks import remark_groups
from assay.report.logs.validation_text import event_text, slice_noun
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.event import Event
from assay.traces.result import Validation


def html_report(validation: Validation, events: Sequence[Event], title: str, input_: Overview | None = None) -> str:
    """The whole page. ``events`` are the validated events, ``title`` names the logs, ``input_`` is their overview."""
    past = histories(validation)
    line = timeline(events, past, validation.impact)
    page = _environment().from_string(_file("report.html.jinja"))
    return page.render(
        title=title,
        v=validation,
        remarks=remark_groups(validation),
        noun=slice_noun(validation),
        screen=[] if input_ is None else first_screen(validation, input_)[:-2],
        input=input_,
        verdict=validation.verdict.value,
        begin=_moment(line.begin),
        end=_moment(line.end),
        data=Markup(embedded(script_data(validation, events, past, line))),  # escaped by `embedded`
        style=Markup(_file("report.css")),
        script=Markup(_file("report.js")),
    )


def _environment() -> Environment:
    """Templates in which every inserted text is escaped, and a misspelt name is an error."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["clean"] = lambda value: clean(str(value))
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
