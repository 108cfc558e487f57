"""``assay fmt``: specs in their canonical form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from assay.checker.report import ExitCode
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, say, say_json
from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.grammar.formatting.format import format_module
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import UnusableSpecError
from assay.grammar.parsing.parse import parse
from assay.grammar.parsing.read_file import read_spec
from assay.report.diagnostics import diagnostic_object
from assay.report.lines import Line, Tone


@dataclass(frozen=True, slots=True)
class Formatted:
    """A spec with its canonical text."""

    path: Path
    text: str
    canonical: str

    @property
    def changed(self) -> bool:
        """Whether the file differs from its canonical form."""
        return self.text != self.canonical


@click.command()
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SPEC…")
@click.option(
    "--check", "only_check", is_flag=True, help="Change nothing; exit code 1 if a file is not in its canonical form."
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def fmt(specs: tuple[Path, ...], only_check: bool, as_json: bool) -> int:
    """Rewrite each SPEC in its canonical form. Comments are kept; a file with mistakes is left alone, and so are all others then."""
    formatted = _format_all(specs)
    changed = [each for each in formatted if each.changed]
    problems: list[Diagnostic] = []
    written: list[Formatted] = []
    for each in [] if only_check else changed:
        trouble = write_result(each.path, each.canonical)
        problems += trouble
        written += [] if trouble else [each]
    complain_about(problems)
    if as_json:
        say_json(_object(formatted, problems, only_check))
    else:
        verb = "would be rewritten" if only_check else "rewritten"
        say(
            [
                *(Line(f"{each.path}: {verb}", Tone.WARN) for each in (changed if only_check else written)),
                Line(f"{len(formatted) - len(changed)} unchanged", Tone.FAINT),
            ]
        )
    if problems:
        return ExitCode.BAD_INPUT
    return ExitCode.VIOLATED if only_check and changed else ExitCode.OK


def _format_all(specs: tuple[Path, ...]) -> list[Formatted]:
    """The canonical text of every file. Raises UnusableSpecError with the mistakes of all files."""
    formatted: list[Formatted] = []
    mistakes: list[Diagnostic] = []
    sources: dict[str, str] = {}
    for path in specs:
        read = read_spec(path)
        sources[read.file] = read.text or ""
        # Gone on with, so that one command reports the mistakes of all files.
        if read.text is None or read.parsed is None or not read.parsed.ok:
            mistakes += read.diagnostics
            continue
        canonical = format_module(read.parsed.module)
        # The file is overwritten with this: a mistake of the formatter must not change a spec.
        if parse(canonical, read.file).module != read.parsed.module:
            raise AssertionError(f"the formatter would change the meaning of {path}; it was left alone")
        formatted.append(Formatted(path, read.text, canonical))
    if mistakes:
        raise UnusableSpecError(mistakes, sources)
    return formatted


def _object(formatted: list[Formatted], problems: list[Diagnostic], only_check: bool) -> Mapping[str, object]:
    changed = [each for each in formatted if each.changed]
    verdict = "canonical" if not changed else "not canonical" if only_check or problems else "rewritten"
    found = {"diagnostics": [diagnostic_object(each) for each in problems]} if problems else {}
    files = [{"file": str(each.path), "changed": each.changed} for each in formatted]
    return {"assay": "1", "verdict": verdict, "files": files, **found}
