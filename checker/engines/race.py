"""Two engines side by side on one question: the first conclusive answer ends the other, and their answers are compared.

An exhaustive search ends with an answer about everything; a bounded search is conclusive once it finds a violation. If
the exhaustive search reaches a limit without an answer, the other continues up to the time limit or the depth. Which of
them ends first depends on the clock, and so do the counts; verdicts and lengths of counterexamples do not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report
from assay.grammar.diagnostics.diagnostic import SpecError

Engine = Callable[[SearchOptions], Report]


class RaceDisagreementError(Exception):
    """Two engines contradict each other about a property, so one of them is wrong. The message says what each found."""


def race(explicit: Engine, symbolic: Engine, options: SearchOptions) -> Report:
    """The answer of the exhaustive search, or of the bounded search if that finds a violation first.

    If the bounded search does not support the spec, the other runs alone. Raises as the engines do, and
    ``RaceDisagreementError``.
    """
    rival = _Rival(symbolic, options)
    rival.start()
    try:
        # Once the rival has found a violation, the exhaustive search ends as if the user had asked.
        report = explicit(replace(options, interrupted=lambda: options.interrupted() or rival.is_conclusive))
        if report.stopped is not None and not report.interrupted and _has_end(options):
            rival.wait()  # the search of all states has used up its budget, the other has not
    finally:
        rival.stop()
    other = rival.report()
    if other is None:
        return report
    _compare(report, other)
    unfinished = report.interrupted or report.stopped is not None
    # A whole search answers about everything, so it is preferred to the rival's violations.
    return other if unfinished and rival.is_conclusive and not options.interrupted() else report


def _has_end(options: SearchOptions) -> bool:
    """Whether a bounded search that finds nothing ends by itself."""
    return options.timeout is not None or options.max_depth is not None


class _Rival(threading.Thread):
    """The bounded search, in a thread of its own; most of the time it waits for a solver in another process."""

    def __init__(self, engine: Engine, options: SearchOptions) -> None:
        # A process that is told to end does not wait for a search that nobody listens to.
        super().__init__(daemon=True)
        self._engine = engine
        self._ended = threading.Event()
        self._options = replace(
            options, progress=lambda _: None, interrupted=lambda: options.interrupted() or self._ended.is_set()
        )
        self._report: Report | None = None
        self._error: Exception | None = None
        self.is_conclusive = False

    def run(self) -> None:
        """Search; an exception is kept for ``report``."""
        try:
            self._report = self._engine(self._options)
            self.is_conclusive = any(_is_found(each) for each in self._report.properties)
        except SpecError:
            self._report = None  # the other engine says what there is to say about the spec
        except Exception as error:  # noqa: BLE001 - raised again where it can be heard
            # As if it had found something, so that the other search ends and the error is told at once.
            self._error, self.is_conclusive = error, True

    def wait(self) -> None:
        """Wait until it ends by itself, or the user interrupts it."""
        self.join()

    def stop(self) -> None:
        """End the search and wait for it."""
        self._ended.set()
        self.join()

    def report(self) -> Report | None:
        """What was found, once it has ended. Raises what went wrong."""
        if self._error is not None:
            raise self._error
        return self._report


def _is_found(result: PropertyResult) -> bool:
    return result.outcome is Outcome.VIOLATED and result.trace is not None and result.kind != "scenario"


def _compare(explicit: Report, symbolic: Report) -> None:
    """Raise ``RaceDisagreementError`` if both cannot be right."""
    mine = {each.name: each for each in explicit.properties}
    for theirs in symbolic.properties:
        # What the bounded search has not found it has not refuted either.
        if not _is_found(theirs) or theirs.name not in mine:
            continue
        own = mine[theirs.name]
        assert theirs.trace is not None
        if own.kind == "temporal":  # on the graph a run takes the shortest way to its loop, not the shortest way in all
            agree = own.outcome in {Outcome.VIOLATED, Outcome.UNKNOWN}
        elif own.trace is not None and _is_found(own):
            agree = len(own.trace) == len(theirs.trace)
        else:  # a level beyond the run was reached without it, or all were
            seen = explicit.statistics.depth > len(theirs.trace)
            agree = not seen and own.outcome not in {Outcome.HOLDS, Outcome.UP_TO_BOUND}
        if not agree:
            raise RaceDisagreementError(_both(own, theirs))


def _both(explicit: PropertyResult, symbolic: PropertyResult) -> str:
    assert symbolic.trace is not None
    steps = "; ".join(
        f"{step.action}{tuple(value for _, value in step.arguments)}" for step in symbolic.trace.steps[1:]
    )
    length = "" if explicit.trace is None else f" in {len(explicit.trace)} states"
    return (
        f"about `{explicit.name}` the search of all states says `{explicit.outcome.value}`{length}; the bounded search found a run of "
        f"{len(symbolic.trace)} states: {steps}"
    )
