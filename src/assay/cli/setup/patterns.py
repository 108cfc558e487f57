"""``assay patterns test FILE``: whether the patterns of a file describe their examples, and lines of logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from assay.checker.report import ExitCode
from assay.cli.terminal.output import complain_about, say, say_json
from assay.report.diagnostics import diagnostic_object
from assay.report.lines import Line, Tone, plural
from assay.traces.input.events.pattern_test import (
    DescribedLines,
    PatternExample,
    described,
    examples_of,
    problems_of,
    text_catalogue,
)

MOST_OTHERS = 10


@click.group()
def patterns() -> None:
    """Look at files of patterns, which describe the lines of text logs."""


@patterns.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("logs", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[LOG…]")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def test(file: Path, logs: tuple[Path, ...], as_json: bool) -> int:
    """Read the example of each pattern of FILE by all patterns, and count the lines of LOGs that they describe.

    Exit code 2 if a pattern does not describe its example, or one that is another's.
    """
    catalogue = text_catalogue(file)
    examples = examples_of(catalogue)
    problems = problems_of(examples, file)
    found = described(_lines(logs), catalogue)
    if as_json:
        say_json(_object(examples, found, problems, logs))
        return ExitCode.BAD_INPUT if problems else ExitCode.OK
    say(_reported(examples, found, logs))
    complain_about(problems)
    return ExitCode.BAD_INPUT if problems else ExitCode.OK


def _lines(logs: tuple[Path, ...]) -> Iterator[str]:
    for log in logs:
        # A line of a log ends with a line feed alone: a carriage return within a message must not cut it.
        with log.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            yield from (line.rstrip("\r\n") for line in lines)


def _reported(examples: list[PatternExample], found: DescribedLines, logs: tuple[Path, ...]) -> Iterator[Line]:
    wrong = sum(bool(each.wrong) for each in examples)
    answer = f"{plural(wrong, 'pattern')} wrong" if wrong else "every pattern describes its example"
    yield Line(f"{plural(len(examples), 'pattern')}: {answer}", Tone.BAD if wrong else Tone.GOOD)
    yield Line("")
    width = max((len(each.pattern.name) for each in examples), default=0)
    for each in examples:
        count = f"  {found.by_pattern[each.pattern.name]:>8,} lines" if logs else ""
        yield Line(f"  {each.pattern.name:<{width}}{count}  {_event(each)}")
    if found.others:
        yield Line("")
        yield Line(f"{plural(found.others.total(), 'line')} described by no pattern, such as:")
        yield from (Line(f"  {count:>8,}  {text}") for text, count in found.others.most_common(MOST_OTHERS))
    for name, beginning in found.beginnings.items():
        yield Line(
            f"`{name}` would describe some of them without their beginning `{beginning}`: put it into a [[line]]"
        )


def _event(example: PatternExample) -> str:
    """The event of an example, as a trace clause sees it."""
    if not example.found:
        return "no event"
    first = {name: value for name, value in example.found[0].items() if name != "event"}
    return f"{example.found[0].get('event', example.pattern.kind)}({', '.join(f'{name} = {value}' for name, value in first.items())})"


def _object(
    examples: list[PatternExample], found: DescribedLines, problems: list[Any], logs: tuple[Path, ...]
) -> Mapping[str, Any]:
    return {
        "assay": "1",
        "verdict": "wrong" if problems else "ok",
        "patterns": [
            {
                "name": each.pattern.name,
                "events": [dict(fields) for fields in each.found],
                "wrong": list(each.wrong),
                "lines": found.by_pattern[each.pattern.name] if logs else None,
            }
            for each in examples
        ],
        "undescribed": found.others.total(),
        "problems": [diagnostic_object(each) for each in problems],
    }
