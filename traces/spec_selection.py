"""Select the bundled spec for logs by the kinds of their events: ``traces/patterns/rules/spec_selection.toml`` holds
the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache, partial

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.traces.diagnosis.missing_logs import EXPLAINED
from assay.traces.event import Notice
from assay.traces.input.sources import NO_FILE
from assay.traces.log_reader import LogReading
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.patterns.rule_files import rule_file
from assay.traces.result import TraceVerdict, Validation
from assay.traces.scoped_validate import AnswerScope, validate_in_scope
from assay.traces.stop import StopRequest, stopped
from assay.traces.trouble.identity import signs_of
from assay.traces.validate import NOTHING_HELD

KIND = "model"


@dataclass(frozen=True, slots=True)
class SpecChoice:
    """A spec and a trace clause of it (None for the only one), with the reason.

    ``assumed`` says what is assumed because logs are missing; ``unsupported`` why the spec cannot be applied at all. A
    clause that ``supposes`` is for logs of which parts are missing: its hidden steps stand for what these would report.
    ``alone`` says of logs that are compared by themselves that they were not, and ``beside`` that of others.
    """

    spec: str
    clause: str | None
    because: str
    assumed: str | None = None
    unsupported: str | None = None
    supposes: bool = False
    by_user: bool = False
    alone: str | None = None
    beside: str | None = None

    def apply_to(self, options: Options) -> Options:
        """The options for this clause."""
        return replace(options, supposes=self.supposes)


@dataclass(frozen=True, slots=True)
class _Model:
    """A row of the table: the kinds of events that must be there, and those that must not."""

    kinds: tuple[frozenset[str], ...]
    without: frozenset[str]
    choice: SpecChoice

    def fits(self, present: frozenset[str]) -> bool:
        """Whether the row applies to logs with exactly these kinds of events."""
        return self.without.isdisjoint(present) and all(not group.isdisjoint(present) for group in self.kinds)


def select_spec(
    kinds: Mapping[str, int], named: k.Kernel | None = None, signs: Collection[str] = frozenset()
) -> SpecChoice:
    """The spec for logs with events of these kinds and these signs of a mode. If a user has named a spec, only its
    clause is selected.

    A bundled spec is recognised by its module name, however the user named it. If none of its clauses is meant for such
    lines, the first is selected: nothing fits it.
    """
    present = frozenset(kind for kind, count in kinds.items() if count).union(signs)
    # In the order of the table, which is that of preference.
    fitting = [each.choice for each in _models() if each.fits(present)]
    if named is None:
        others = () if fitting[0].alone else (each.alone for each in fitting)
        # The last row of the table asks for nothing, so some row always fits.
        return replace(fitting[0], beside=next(filter(None, others), None))
    clauses = {trace.name for trace in named.traces}
    # First what fits the lines. A spec that a user names is used even where nothing fits it.
    for choice in (*fitting, *(each.choice for each in _models())):
        of_it = choice.spec.replace("/", ".") == named.name and (choice.clause is None or choice.clause in clauses)
        if of_it and choice.unsupported is None:
            return replace(choice, by_user=True)
    return SpecChoice(named.name, None, "", by_user=True)


def selectable_specs() -> tuple[str, ...]:
    """The specs that may be selected if a user names none."""
    return tuple(dict.fromkeys(each.choice.spec for each in _models()))


def with_selection(validation: Validation, choice: SpecChoice, events: int) -> Validation:
    """The answer with the selected spec, the reason, and what that leaves undecided; ``events`` counts those of the
    logs.
    """
    empty = [each.place for each in validation.notices if each.kind == NO_FILE and each.place is not None]
    # Nothing was noticed but that there is no file: then no spec has to be spoken of.
    if not validation.counts.read and empty and len(empty) == len(validation.notices):
        return replace(validation, reason=f"no file was found in {', '.join(f'`{each.file}`' for each in empty)}")
    if choice.unsupported is not None:
        unmapped = validation.counts.unmapped
        counts = replace(validation.counts, read=events + unmapped, ignored=events)
        return replace(validation, verdict=TraceVerdict.INCONCLUSIVE, reason=choice.unsupported, counts=counts)
    notice = Notice(KIND, None, f"validated against {choice.spec}, because there are {choice.because}")
    notices = (*validation.notices, notice) if events and not choice.by_user else validation.notices
    if choice.beside is not None:
        notices = (*notices, Notice("not compared", None, choice.beside))
    open_ = validation.verdict is TraceVerdict.INCONCLUSIVE and not validation.violations
    if choice.assumed is None or not (open_ or validation.verdict is TraceVerdict.CONSISTENT):
        return replace(validation, notices=notices)
    own = validation.reason or ""
    rests_on = (choice.assumed, *(each for each in validation.rests_on if not each.startswith(EXPLAINED)))
    if not open_:
        # The first line is explained by what was supposed for it: one line alone says nothing.
        held = validation.held if len(rests_on) > 1 else max(0, validation.held - 1)
        answer = replace(validation, notices=notices, rests_on=rests_on, held=held)
        return answer if held else replace(answer, verdict=TraceVerdict.VACUOUS, reason=NOTHING_HELD)
    return replace(
        validation, notices=notices, reason="; ".join(filter(None, (choice.assumed, own))), rests_on=rests_on
    )


def strictly(validation: Validation, options: Options) -> Validation:
    """The answer; where a user asked for a strict one, open if its explanation rests on anything that no line
    tells."""
    if not (options.strict and validation.rests_on and validation.verdict is TraceVerdict.CONSISTENT):
        return validation
    return replace(validation, verdict=TraceVerdict.INCONCLUSIVE, reason="; ".join(validation.rests_on))


def validate_with_selection(
    reading: LogReading,
    named: Loaded | None,
    load: Callable[[str], Loaded],
    options: Options = DEFAULT_OPTIONS,
    clause: str | None = None,
    scope: AnswerScope | None = None,
) -> tuple[Loaded, Validation]:
    """The spec that a user has named, or else the selected one, and its answer; raises what ``load`` raises."""
    choice = select_spec(reading.kinds, None if named is None else named.kernel, sign_names(reading))
    loaded = load(choice.spec) if named is None else named
    supported = choice.unsupported is None
    clause_options, asked = choice.apply_to(options), clause or choice.clause
    ask = partial(validate_in_scope, loaded, reading, clause_options, asked, scope or AnswerScope())
    events = sum(reading.kinds.values())
    try:
        found = ask(supported=supported and stopped() is None)
    except StopRequest:  # before there was anything to show
        found = ask(supported=False)
    return loaded, _as_stopped(strictly(with_selection(found, choice, events), options), events)


def _as_stopped(validation: Validation, events: int) -> Validation:
    """The answer of a validation that was stopped: undecided, unless it has found something wrong."""
    why = stopped()
    if why is None:
        return validation
    reason = f"{why}; what is left was not checked"
    if validation.violations:
        return replace(validation, reason=validation.reason or reason)
    counts = validation.counts
    if not counts.used:
        counts = replace(counts, read=events + counts.unmapped, ignored=events)
    return replace(validation, verdict=TraceVerdict.INCONCLUSIVE, reason=reason, counts=counts)


def sign_names(reading: LogReading) -> frozenset[str]:
    """The names of the signs of a mode that the logs show (``traces/patterns/rules/identity.toml``)."""
    return frozenset(sign.name for sign, _ in signs_of(reading))


@cache
def _models() -> tuple[_Model, ...]:
    """The rows of the table, in the order of preference."""
    content = rule_file("spec_selection.toml")
    return tuple(
        _Model(
            tuple(frozenset(group) for group in entry["kinds"]),
            frozenset(entry.get("without", ())),
            SpecChoice(
                spec=entry["spec"],
                clause=entry.get("clause"),
                because=entry["because"],
                assumed=entry.get("assumed"),
                unsupported=entry.get("unsupported"),
                supposes=entry.get("supposes", False),
                alone=entry.get("alone"),
            ),
        )
        for entry in content["model"]
    )
