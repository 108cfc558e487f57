"""Where the answer about logs goes: the terminal, a JSON object, and the files that the user named."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from assay.api.log_answers import LogAnswer
from assay.checker.report import ExitCode, worst
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, output_width, say, say_json
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span
from assay.grammar.lazy_dataclass import dataclass
from assay.report.diagnostics import diagnostic_object
from assay.report.logs.history import histories

SLICES_LISTED = 12


@dataclass(frozen=True, slots=True)
class LogOutput:
    """What is written besides the first screen: everything (``details``), slices' histories, files."""

    as_json: bool
    junit: Path | None = None
    html: Path | None = None
    details: bool = False
    stories: tuple[str, ...] = ()


def output_options(command: Callable[..., int]) -> Callable[..., int]:
    """The options that become the argument ``output``."""
    file = click.Path(path_type=Path)
    options = (
        click.option(
            "--story",
            "stories",
            multiple=True,
            metavar="SLICE",
            help="Also tell the history of a slice, such as T-0; repeatable.",
        ),
        click.option(
            "--details", is_flag=True, help="Show everything that was found and noticed, not only the first screen."
        ),
        click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output."),
        click.option("--junit", type=file, metavar="FILE", help="Also write the answer as JUnit XML."),
        click.option("--html", type=file, metavar="FILE", help="Also write a report as one HTML page."),
    )

    @wraps(command)
    def gathered(
        stories: tuple[str, ...], details: bool, as_json: bool, junit: Path | None, html: Path | None, **others: Any
    ) -> int:
        return command(output=LogOutput(as_json, junit, html, details, stories), **others)

    decorated: Callable[..., int] = gathered
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _without_history(answer: LogAnswer, stories: tuple[str, ...]) -> list[Diagnostic]:
    """A diagnostic E906 for each slice without a history. Histories take time, so that they are only made if one is
    asked for.
    """
    if not stories:
        return []
    known = [each.slice for part in answer.parts for each in histories(part.validation) if each.slice]
    listed = ", ".join(known[:SLICES_LISTED]) + (", …" if len(known) > SLICES_LISTED else "") or "none"
    return [
        Diagnostic("E906", Span(name, 0, 0, 0, 0), f"no history of such a slice was found; there are {listed}")
        for name in stories
        if name not in known
    ]


def write_log_answer(answer: LogAnswer, output: LogOutput, title: str) -> int:
    """Print the answer, write the files that the user named, and return the exit code. ``title`` is that of the page."""
    # The user names a slice as the logs do. In redacted answers it has another name.
    stories = tuple(map(answer.shown_name, output.stories))
    problems = [*_write_files(answer, title, output.junit, output.html), *_without_history(answer, stories)]
    specs = [part.spec.loaded for part in answer.parts]
    remarks = [*dict.fromkeys(remark for spec in specs for remark in spec.diagnostics), *problems]
    complain_about(remarks, {name: text for spec in specs for name, text in spec.sources.items()})
    if output.as_json:
        found = [diagnostic_object(each) for each in remarks]
        stories_found = [answer.story_object(name) for name in stories]
        as_object = answer.to_object() | ({"stories": stories_found} if stories_found else {})
        say_json(as_object | ({"diagnostics": found} if found else {}))
    else:
        story = [line for name in stories for line in answer.story(name)]
        say([*answer.lines(details=output.details, width=output_width()), *story])
    return worst([answer.exit_code, *([ExitCode.BAD_INPUT] if problems else [])])


def _write_files(answer: LogAnswer, title: str, junit: Path | None, html: Path | None) -> list[Diagnostic]:
    """Write the reports that are files; returns what kept one from being written.

    Of several clusters the gravest has the page that was named, and each other one a page beside it.
    """
    problems: list[Diagnostic] = []
    if junit is not None:
        problems += write_result(junit, answer.junit())
    if html is not None:
        whole = f"{title}: cluster {answer.cluster}" if answer.clusters else title
        problems += write_result(html, answer.html(whole))
        for part in answer.clusters:
            # The answer about several clusters is that about the gravest one, whose page was just written.
            if part.validation is not answer.validation:
                # An id is text from a log: `/` or `..` in it must not choose another folder.
                name = "".join(each if each.isalnum() or each in "-_" else "-" for each in part.cluster) or "unknown"
                beside = html.with_name(f"{html.stem}-{name}{html.suffix}")
                problems += write_result(beside, part.html(f"{title}: cluster {part.cluster}"))
    return problems
