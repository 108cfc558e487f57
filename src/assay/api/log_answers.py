"""``validate``: logs against a spec, and the answer as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from assay.api.input_error import raises_input_error
from assay.api.spec import Spec, SpecLike, load
from assay.checker.report import PRECEDENCE, ExitCode, worst
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.report.lines import Line, plural
from assay.report.logs.clusters import ClusterReport, clusters_lines, clusters_object, junit_of_clusters
from assay.report.logs.first_screen import answer_lines
from assay.report.logs.story import story_lines, story_object
from assay.report.logs.validation_object import exit_code, junit_of_validation, validation_object
from assay.traces.diagnosis.cluster_division import ClusterLogs, divided_by_cluster
from assay.traces.diagnosis.node_settings import Overview, overview
from assay.traces.diagnosis.redact import Redaction, redacted
from assay.traces.log_reader import LogReading, ReadOptions, read_logs
from assay.traces.observe.model_size import orders_by_thread, source_of, trace_plan
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import LogViolation, TraceVerdict, Validation
from assay.traces.scoped_validate import AnswerScope
from assay.traces.spec_selection import selectable_specs, validate_with_selection

LISTED = 12
"""How many topics a message lists."""

EVERYTHING = AnswerScope()
"""The scope of an answer about all that was read."""
PathLikes = str | PathLike[str] | Iterable[str | PathLike[str]]


@dataclass(frozen=True, slots=True)
class LogAnswer:
    """An answer about logs. Its text is what ``assay validate --details`` prints.

    ``validation`` is the whole answer, ``overview`` what is known of the nodes, ``reading`` the lines that were read.
    ``shown_name`` gives the name that a topic or a slice has in the answer: another one where names are redacted.

    Logs of several clusters have an answer for each in ``clusters``, with its id in ``cluster`` (empty if it is not
    known). Verdict, reason and spec are then those of the gravest, and text, JSON and XML are about all.
    """

    spec: Spec
    validation: Validation = field(repr=False)
    overview: Overview = field(repr=False)
    reading: LogReading = field(repr=False)
    shown_name: Callable[[str], str] = field(default=str, repr=False)
    cluster: str = ""
    clusters: tuple[LogAnswer, ...] = field(default=(), repr=False)

    @property
    def parts(self) -> tuple[LogAnswer, ...]:
        """The answers about single clusters: this one, if there is one."""
        return self.clusters or (self,)

    @property
    def verdict(self) -> TraceVerdict:
        """Whether the model explains the logs."""
        return self.validation.verdict

    @property
    def reason(self) -> str | None:
        """Why the verdict is inconclusive or vacuous."""
        return self.validation.reason

    @property
    def ok(self) -> bool:
        """Whether the logs are consistent with the model, and no property of it is broken."""
        return self.exit_code is ExitCode.OK

    @property
    def mismatches(self) -> tuple[LogViolation, ...]:
        """The lines at which no execution continues, each with what is to blame and the smallest repair."""
        return tuple(each for part in self.parts for each in part.validation.violations)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command line: of several clusters the gravest."""
        return worst([exit_code(part.validation) for part in self.parts])

    def lines(self, *, details: bool = True, width: int | None = None) -> list[Line]:
        """The answer as lines of text; without ``details`` those of the first screen."""
        if self.clusters:
            return clusters_lines(self._reports(), details=details, width=width)
        return answer_lines(self.validation, self.overview, details=details, width=width)

    def _reports(self) -> list[ClusterReport]:
        return [ClusterReport(part.cluster, part.validation, part.overview) for part in self.clusters]

    def to_object(self) -> dict[str, Any]:
        """The answer as ``--json`` prints it (docs/cli.md)."""
        return clusters_object(self._reports()) if self.clusters else validation_object(self.validation, self.overview)

    def junit(self) -> str:
        """The answer as JUnit XML."""
        return junit_of_clusters(self._reports()) if self.clusters else junit_of_validation(self.validation)

    def html(self, title: str) -> str:
        """The answer as one HTML page with a timeline; of several clusters that of the gravest."""
        from assay.report.logs.html import html_report  # noqa: PLC0415 - most answers are no page

        return html_report(self.validation, list(self.reading.events), title, self.overview)

    def story(self, slice_: str) -> list[Line]:
        """The history of a slice as lines of text; none if no history of it was found."""
        return [line for part in self.parts for line in story_lines(part.validation, slice_, part.reading.explain)]

    def story_object(self, slice_: str) -> dict[str, Any]:
        """The same as ``--json`` prints it; of several clusters the first that has such a slice."""
        known = (part for part in self.parts if any(each.name == slice_ for each in part.validation.slices))
        part = next(known, self)
        return story_object(part.validation, slice_, part.reading.explain)

    def __str__(self) -> str:
        return "\n".join(line.text for line in self.lines())


@dataclass(frozen=True, slots=True)
class LogQuestion:
    """What is asked about logs.

    ``paths`` are files, directories, archives, or ``-`` for standard input. Without a ``spec`` the bundled spec for such
    lines is taken, which ``selected`` loads. ``clause`` is the trace clause of the spec, if it has several. ``shapes``
    are files of further line patterns. With ``redact`` all names are replaced by others.
    """

    paths: tuple[str, ...]
    spec: Spec | None = None
    clause: str | None = None
    options: Options = DEFAULT_OPTIONS
    scope: AnswerScope = EVERYTHING
    shapes: tuple[Path, ...] = ()
    redact: bool = False
    selected: Callable[[str], Spec] = load


@raises_input_error
def validate(
    logs: PathLikes,
    spec: SpecLike | None = None,
    *,
    clause: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    scope: AnswerScope = EVERYTHING,
    shapes: Iterable[str | PathLike[str]] = (),
    redact: bool = False,
) -> LogAnswer:
    """Validate logs against a spec: whether some execution of the model explains all of their lines.

    ``logs`` are files, directories or archives. Without a spec the bundled one for such lines is taken. ``options``
    limit the search, and ``scope`` what the answer is about. With ``jobs`` other than 1, processes are forked to check
    slices. For the others see ``LogQuestion``. Raises ``InputError`` for a spec with mistakes, a clause that it does
    not have, and logs that are not there.
    """
    paths = (fspath(logs),) if isinstance(logs, str | PathLike) else tuple(fspath(each) for each in logs)
    asked = None if spec is None else load(spec)
    return answer(LogQuestion(paths, asked, clause, options, scope, tuple(map(Path, shapes)), redact))


def answer(question: LogQuestion, progress: Callable[[str], None] | None = None) -> LogAnswer:
    """The answer to a question; ``progress`` is called with what is being done. Raises ``SpecError``."""
    options = read_options(question)
    doing("logs were read")
    return answer_about(question, read_logs(question.paths, options), progress or _silent)


def read_options(question: LogQuestion) -> ReadOptions:
    """How the logs are to be read. Raises ``SpecError`` for a clause that the spec does not have."""
    if question.spec is not None:
        _refuse_clause(question.spec, question.clause)
    loaded = None if question.spec is None else question.spec.loaded
    return ReadOptions(
        pattern_files=question.shapes, source=source_of(loaded, question.clause), threads=orders_by_thread(loaded)
    )


def answer_about(question: LogQuestion, reading: LogReading, show: Callable[[str], None]) -> LogAnswer:
    """The answer about logs that were read. Raises ``SpecError``."""
    loaded = None if question.spec is None else question.spec.loaded
    # Before names are redacted: the user writes a topic as the logs do.
    _refuse_unknown(question.scope.topics, reading, redact=question.redact)
    scope = question.scope
    shown: Callable[[str], str] = str
    if question.redact:
        # All that follows sees the replaced names alone, so that no part of the answer can tell others.
        names = Redaction(reading)
        reading, scope, shown = redacted(reading, names), scope.renamed(names.text), names.text
    show(f"validating {sum(reading.kinds.values()):,} events")
    doing("logs were validated")
    bundled = _loader(question.selected)
    parts = divided_by_cluster(reading) if _is_of_kafka(question.spec) else [ClusterLogs("", reading)]
    answers: list[LogAnswer] = []
    for part in parts:
        own = part.reading
        found, validation = validate_with_selection(own, loaded, bundled, question.options, question.clause, scope)
        spec = question.spec or Spec(found.kernel.name.replace(".", "/"), found)
        answers.append(LogAnswer(spec, validation, overview(own), own, shown, part.cluster))
    # No `clusters`: text and JSON of one cluster are those of logs that name none.
    if len(answers) == 1:
        return answers[0]
    # Of equally grave ones the first, as in `gravest_first`: text, JSON and page are about the same one.
    gravest = min(answers, key=lambda each: PRECEDENCE.index(each.exit_code))
    return replace(gravest, clusters=tuple(answers))


def _silent(_: str) -> None:
    return None


def _loader(selected: Callable[[str], Spec]) -> Callable[[str], Loaded]:
    return lambda name: selected(name).loaded


def _refuse_clause(spec: Spec, clause: str | None) -> None:
    """Raise ``SpecError`` if the spec has not this trace clause, or not a single one, before logs are read: that may
    take minutes.

    For a bundled spec with several clauses the logs select one later.
    """
    if clause is not None or not _is_of_kafka(spec):
        trace_plan(spec.kernel, clause)


def _is_of_kafka(spec: Spec | None) -> bool:
    """Whether the spec is a bundled one that logs select: a user's own may be about several clusters together."""
    return spec is None or spec.kernel.name.replace(".", "/") in selectable_specs()


def _refuse_unknown(topics: Sequence[str], reading: LogReading, *, redact: bool) -> None:
    """Raise ``SpecError`` (E906) for a topic that no line mentions.

    Otherwise the answer about the lines of no topic, such as the controller's, would look like an answer about that
    topic.
    """
    if not topics:
        return
    known = sorted({name for event in reading.events if isinstance(name := event.fields.get("topic"), str)})
    listed = ", ".join(known[:LISTED]) + (", …" if len(known) > LISTED else "") or "none"
    unknown = [name for name in topics if name not in known]
    if unknown:
        # Of redacted logs only their number: their names are what is to be hidden.
        text = f"no line tells of such a topic; there are {plural(len(known), 'other') if redact else listed}"
        raise SpecError([Diagnostic("E906", Span(name, 0, 0, 0, 0), text) for name in unknown])
