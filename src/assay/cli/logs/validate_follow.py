"""``assay validate --follow``: verdicts while lines come."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING

import click

from assay.api.log_answers import LogQuestion
from assay.checker.report import ExitCode
from assay.cli.logs.log_output import LogOutput, write_log_answer
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.output import complain, say, say_json
from assay.grammar.current_work import doing
from assay.report.lines import Line, Tone
from assay.report.logs.following import followed_lines, followed_object

if TYPE_CHECKING:
    from assay.api.following import FollowedAnswer


def refuse_following(paths: tuple[str, ...], *, memory: bool, redact: bool) -> None:
    """Raise ``click.UsageError`` for what cannot be followed."""
    if len(paths) != 1:
        raise click.UsageError("--follow follows one file, or `-`; give the others to a command of their own")
    if memory or redact:
        raise click.UsageError(f"--follow does not go together with {'--memory' if memory else '--redact'}")


def follow_log(question: LogQuestion, seconds: float | None, output: LogOutput) -> int:
    """Print each answer that says something new, and at the end the whole one, whose exit code is returned."""
    from assay.api.following import answers  # noqa: PLC0415 - half a second, which only this option needs

    begun = monotonic()
    doing("a log was followed")
    # Ctrl-C ends the following alone: nothing is raised into the answer, which is made of what was read.
    with stoppable() as asked:

        def over() -> bool:
            return asked() or (seconds is not None and monotonic() - begun >= seconds)

        return _written(answers(question, over), question, output)


def _written(found: Iterator[FollowedAnswer], question: LogQuestion, output: LogOutput) -> int:
    if not output.as_json:
        complain([Line(f"following {question.paths[0]}; Ctrl-C ends this, with the answer so far", Tone.FAINT)])
    for each in found:
        if each.final is not None:
            if not output.as_json:
                say([Line("")])
            return write_log_answer(each.final, output, question.paths[0])
        if output.as_json:
            say_json(followed_object(each.lines, each.validation, each.mismatches), in_a_line=True)
        else:
            say(followed_lines(each.lines, each.validation, each.mismatches))
    # Not reached: the last answer is final.
    return ExitCode.INTERNAL
