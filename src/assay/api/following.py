"""``follow``: the answer about a log while it grows, in this process.

Each answer is about all whole lines so far. It is made as for logs that Spark follows: slices are checked on from where
they were (``spark/streaming/incremental_answer.py``, which needs no Spark for this). The last answer is that of
``validate`` about the same lines. Why: docs/design/following-a-log.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from time import monotonic

from assay.api.input_error import InputError
from assay.api.log_answers import LogAnswer, LogQuestion, answer_about, read_options
from assay.api.spec import SpecLike, load
from assay.api.tail import FollowedFile, FollowedPipe, GrowingText
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs.read_tasks import read_file
from assay.spark.logs.spec_for_cluster import SpecSelection
from assay.spark.logs.tasks import ClusterQuestion, Texts
from assay.spark.streaming.incremental_answer import IncrementalValidator
from assay.traces.event import LogPosition, Notice
from assay.traces.input.sources import STDIN_NAME, ListedFile
from assay.traces.log_reader import LogReading, ReadOptions
from assay.traces.result import LogViolation, TraceVerdict, Validation
from assay.traces.scope import finding_id
from assay.traces.spec_selection import selectable_specs

POLL = 0.2
"""Seconds between two looks at a file."""


@dataclass(frozen=True, slots=True)
class FollowedAnswer:
    """The answer about the first ``lines`` lines, and the ``mismatches`` that were not in the answer before.

    ``final`` is the whole answer, in the last one alone.
    """

    lines: int
    validation: Validation
    mismatches: tuple[LogViolation, ...]
    final: LogAnswer | None = None

    @property
    def verdict(self) -> TraceVerdict:
        """Whether the model explains the lines."""
        return self.validation.verdict


def follow(
    log: str | PathLike[str],
    spec: SpecLike,
    *,
    clause: str | None = None,
    seconds: float | None = None,
    ended: Callable[[], bool] | None = None,
) -> Iterator[FollowedAnswer]:
    """Answers about a log that grows: a file, which may be rotated, or ``-`` for standard input.

    There is an answer when lines came that change the verdict or add a mismatch. The last one has ``final``; it comes
    after ``seconds``, when ``ended()`` is true, or at the end of standard input. Raises ``InputError`` as ``validate``
    does.
    """
    until = None if seconds is None else monotonic() + seconds

    def over() -> bool:
        return (ended is not None and ended()) or (until is not None and monotonic() >= until)

    try:
        yield from answers(LogQuestion((fspath(log),), load(spec), clause), over)
    except InputError:
        raise
    except SpecError as error:
        raise InputError(error.diagnostics, getattr(error, "sources", {})) from error


def answers(question: LogQuestion, over: Callable[[], bool]) -> Iterator[FollowedAnswer]:
    """The answers to a question about one path, until it is over. Raises ``SpecError``."""
    (path,) = question.paths
    source = _source(path)
    log = _LogSoFar(question, STDIN_NAME if path == "-" else path, source)
    try:
        yield from _answers(log, source, path, over)
    finally:
        source.close()


def _answers(log: _LogSoFar, source: GrowingText, path: str, over: Callable[[], bool]) -> Iterator[FollowedAnswer]:
    due, known = 0.0, _Known()
    while not (over() or source.ended):
        log.take(_read(source, path))
        if not log.has_news or monotonic() < due:
            continue
        begun = monotonic()
        news = known.news(log.lines, log.validation())
        due = 2 * monotonic() - begun  # at most half of the time goes into answers
        if news is not None:
            yield news
    final = log.final()
    yield FollowedAnswer(log.lines, final.validation, known.new(final.validation), final)


def _source(path: str) -> GrowingText:
    if path == "-":
        return FollowedPipe(sys.stdin.fileno())
    if Path(path).is_dir():
        raise SpecError(
            [Diagnostic("E901", Span(path, 0, 0, 0, 0), "a folder cannot be followed, only one file or `-`")]
        )
    return FollowedFile(Path(path))


def _read(source: GrowingText, path: str) -> bytes:
    try:
        return source.read(POLL)
    except OSError as error:
        raise SpecError([Diagnostic("E601", Span(path, 0, 0, 0, 0), f"cannot be read: {error.strerror}")]) from None


class _Known:
    """What was answered last: an answer is news if it says something else."""

    def __init__(self) -> None:
        self._last: tuple[TraceVerdict, str | None] | None = None
        self._ids: set[str] = set()

    def news(self, lines: int, validation: Validation) -> FollowedAnswer | None:
        new, said = self.new(validation), (validation.verdict, validation.reason)
        if said == self._last and not new:
            return None
        self._last = said
        return FollowedAnswer(lines, validation, new)

    def new(self, validation: Validation) -> tuple[LogViolation, ...]:
        found = {finding_id(each): each for each in validation.violations}
        new = tuple(each for id_, each in found.items() if id_ not in self._ids)
        self._ids |= found.keys()
        return new


class _LogSoFar:
    """The lines so far, and answers about them."""

    def __init__(self, question: LogQuestion, name: str, source: GrowingText) -> None:
        self._question = question
        self._options: ReadOptions = read_options(question)
        self._name = name
        self._source = source
        # All of the text: the last answer is made from its beginning, as `validate` would make it.
        self._text, self._begun = bytearray(), b""
        self.lines = 0
        self.has_news = False
        asked = ClusterQuestion(
            _selection(question),
            question.clause,
            # Mutants, and the search of all slices together, are for the last answer alone: the others are due soon
            # after a line.
            replace(question.options, mutants=0, whole=False),
            question.scope,
            self._options,
            measure=False,
        )
        # There is no cluster to ask, and a few new lines are checked sooner than a process is forked.
        self._validator = IncrementalValidator(asked, lambda *_: {}, sys.maxsize, processes=1)

    def take(self, new: bytes) -> None:
        """Take new bytes."""
        # `_begun` is a last line without its end: it waits for the rest.
        whole, mark, self._begun = (self._begun + new).rpartition(b"\n")
        self._text += whole + mark
        self.lines += (whole + mark).count(b"\n")
        self.has_news |= bool(mark)

    def validation(self) -> Validation:
        """The answer about the whole lines so far, without measures."""
        self.has_news = False
        return self._validator.answer(self._texts(bytes(self._text))).validation

    def final(self) -> LogAnswer:
        """The answer about all that was read, as ``validate`` gives it."""
        # No more will come: a last line without its end counts, as in a file.
        self.lines += bool(self._begun)
        reading: LogReading = self._texts(bytes(self._text) + self._begun).reading(self._options, self._remarks())
        return answer_about(self._question, reading, lambda _: None)

    def _texts(self, content: bytes) -> Texts:
        listed = ListedFile(self._name, str(Path(self._name).absolute()), named=True, size=len(content))
        texts = Texts()
        texts.take(read_file(listed, content, self._options))
        return texts

    def _remarks(self) -> list[Notice]:
        return [Notice("followed", LogPosition(self._name, 1, 0), each) for each in self._source.remarks]


def _selection(question: LogQuestion) -> SpecSelection:
    if question.spec is not None:
        return SpecSelection(question.spec.loaded)
    return SpecSelection(bundled={name: question.selected(name).loaded for name in selectable_specs()})
