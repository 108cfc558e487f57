"""Decides how large a model a log needs: the elements of its set parameters, and the values of its size parameters.

It also adapts the trace clause to the options: strict validation, product versions, and logs with missing parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, Span, SpecError
from assay.grammar.kernel import types as t
from assay.grammar.kernel.event_source import DEFAULT_SOURCE
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded, log_kernel
from assay.traces.event import Event
from assay.traces.observe.field_values import Named, Reached, needs
from assay.traces.observe.observation import fields_of, rules_by_kind
from assay.traces.observe.slice_name import by_number
from assay.traces.options import Options

NO_CLAUSE = "E710"
UNLISTED = "E711"


@dataclass(frozen=True, slots=True)
class Sizing:
    """The elements of the set parameters, and the values of the size parameters, by parameter name."""

    sorts: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]


def trace_plan(kernel: k.Kernel, name: str | None) -> k.TracePlan:
    """The trace clause of that name, or the only one; raises SpecError (E710)."""
    found = [plan for plan in kernel.traces if name in (None, plan.name)]
    if len(found) != 1:
        names = ", ".join(f"`{plan.name}`" for plan in kernel.traces) or "none"
        wanted = f"trace clause `{name}`" if name else "single trace clause"
        choose = "; choose one with `--clause NAME` (`clause=` in Python)" if kernel.traces else ""
        text = f"{kernel.name} has no {wanted}; it has {names}{choose}"
        raise SpecError([Diagnostic(NO_CLAUSE, _place(kernel), text)])
    return found[0]


def source_of(loaded: Loaded | None, clause: str | None) -> k.EventSource:
    """How lines become events, for a clause of a spec; the default where the lines decide which clause is used."""
    found = [] if loaded is None else [plan for plan in loaded.kernel.traces if clause in (None, plan.name)]
    return found[0].source if len(found) == 1 else DEFAULT_SOURCE


def orders_by_thread(loaded: Loaded | None) -> bool:
    """Whether a clause of a named spec orders the lines of a file by thread; no bundled one does."""
    return loaded is not None and any(plan.ordering.unit == "thread" for plan in loaded.kernel.traces)


def _place(kernel: k.Kernel) -> Span:
    return kernel.traces[0].span if kernel.traces else kernel.span


def sized_kernel(
    loaded: Loaded, events: Iterable[Event], count: int, clause: str | None
) -> tuple[k.Kernel, k.TracePlan]:
    """The kernel that is large enough for ``count`` events, and its trace clause; raises SpecError.

    ``events`` must contain every distinct statement of the log; repetitions may be left out.
    """
    asked = NeedsOfEvents(trace_plan(loaded.kernel, clause))
    return kernel_for(loaded, map(asked, events), count, clause)


def kernel_for(loaded: Loaded, needed: Iterable[Needs], count: int, clause: str | None) -> tuple[k.Kernel, k.TracePlan]:
    """The same as :func:`sized_kernel`, where the needs of the events are known already."""
    wanted = sizing(loaded.kernel, trace_plan(loaded.kernel, clause), needed, count)
    kernel = _kernel(loaded, wanted)
    plan = trace_plan(kernel, clause)
    _check_wildcards(kernel, plan)
    return kernel, plan


_last_made: list[tuple[Loaded, Sizing, k.Kernel]] = []


def _kernel(loaded: Loaded, wanted: Sizing) -> k.Kernel:
    """The kernel of that size. The last one is kept: a log that grows needs a larger kernel only now and then."""
    for spec, size, kernel in tuple(_last_made):
        if spec is loaded and size == wanted:
            return kernel
    made = log_kernel(loaded, wanted.sorts, wanted.sizes)
    _last_made[:] = [(loaded, wanted, made)]
    return made


def adapt_clause(plan: k.TracePlan, options: Options) -> k.TracePlan:
    """The clause under the given options: another clock skew, strict, for certain versions, for logs with missing
    parts.
    """
    if options.skew is not None:
        plan = replace(plan, ordering=replace(plan.ordering, skew=options.skew))
    plan = strict_clause(plan) if options.strict else clause_for_versions(plan, options.versions)
    return clause_for_partial_logs(plan) if options.partial and not options.begun else plan


KNOWN = "known"
"""The severity of a reported action that no rule of the protocol allows: some versions of the product are known to do
it.
"""


def strict_clause(plan: k.TracePlan) -> k.TracePlan:
    """The clause without the actions that it reports as known behaviour: these explain nothing."""
    return _without(plan, {each.action for each in plan.reported if each.severity == KNOWN})


def clause_for_versions(plan: k.TracePlan, versions: Sequence[str]) -> k.TracePlan:
    """The clause without the known behaviours of other versions; unchanged if no version is given.

    An action may be listed for several version ranges: it stays if one of them contains a given version.
    """
    found = [_version(each) for each in versions]

    def can_be(each: k.Reported) -> bool:
        # A bug without `since` begins with (), which is below every version.
        low, high = _version(each.since or ""), None if each.before is None else _version(each.before)
        return not found or any(low <= version and (high is None or version < high) for version in found)

    known = [each for each in plan.reported if each.severity == KNOWN]
    # By action: an entry for another version range of the same action must not take it away.
    fitting = {each.action for each in known if can_be(each)}
    # What stays says why it was known, so entries for other versions of the same action are dropped.
    others = {each for each in known if each.action in fitting and not can_be(each)}
    reported = tuple(each for each in plan.reported if each not in others)
    return _without(replace(plan, reported=reported), {each.action for each in known} - fitting)


def clause_for_partial_logs(plan: k.TracePlan) -> k.TracePlan:
    """The clause for logs with missing parts: no action that counts a version is hidden, since a missing line may
    report it.
    """
    return replace(plan, hidden=tuple(name for name in plan.hidden if name not in plan.numbered))


def _version(text: str) -> tuple[int, ...]:
    """``3.9.1`` and ``2.8-IV1`` as numbers that compare as versions do."""
    return tuple(int(part) for part in re.findall(r"\d+", text.partition("-")[0]))


def _without(plan: k.TracePlan, actions: Set[str]) -> k.TracePlan:
    def kept(rule: k.TraceRule) -> k.TraceRule:
        steps = tuple(tuple(call for call in step if call.action not in actions) for step in rule.steps)
        return replace(rule, steps=steps)

    return replace(
        plan,
        rules=tuple(map(kept, plan.rules)),
        hidden=tuple(name for name in plan.hidden if name not in actions),
        numbered=tuple(name for name in plan.numbered if name not in actions),
    )


Needs = tuple[frozenset[tuple[str, str]], int]
"""The elements that an event needs, each with its set parameter, and its largest number where a size parameter limits
the type.
"""


class NeedsOfEvents:
    """Computes what an event needs for the rules of a clause."""

    def __init__(self, plan: k.TracePlan) -> None:
        self.plan = plan
        numbers: dict[tuple[str, t.Type], int] = {}
        self._fields = {
            kind: [
                (
                    frozenset(each.field for each in rule.fields),
                    [numbers.setdefault((each.field, each.binder.type), len(numbers)) for each in rule.fields],
                )
                for rule in rules
            ]
            for kind, rules in rules_by_kind(plan).items()
        }
        """Of each rule, by kind of event: the names of its fields, and the numbers of these with their types."""
        self._typed = tuple(numbers)

    def __call__(self, event: Event) -> Needs:
        """The needs of one event."""
        rules = self._fields.get(event.kind)
        if rules is None:
            return _NOTHING
        given = fields_of(event)
        named: set[tuple[str, str]] = set()
        largest = 0
        # Rules may give a field different types: the event needs what each of them needs.
        read: set[int] = set()
        for names, numbers in rules:
            # A rule that lacks one of its fields does not apply to the event, so it needs nothing of the model.
            if names <= given.keys():
                read.update(numbers)
        for number in read:
            field, type_ = self._typed[number]
            for need in needs(given[field], type_):
                match need:
                    case Named(sort, name):
                        named.add((sort, name))
                    case Reached(number):
                        largest = max(largest, number)
        return frozenset(named), largest


_NOTHING: Needs = (frozenset(), 0)


def sizing(kernel: k.Kernel, plan: k.TracePlan, needed: Iterable[Needs], count: int) -> Sizing:
    """The sizes that ``count`` events with these needs require.

    All size parameters get one value, of the form 2**n - 1. It is beyond every number in the log. It is also beyond
    every number that an action can count up to during the log's events and the hidden steps between them.
    """
    distinct = frozenset(needed)
    names: dict[str, set[str]] = {}
    for sort, name in frozenset().union(*(named for named, _ in distinct)):
        names.setdefault(sort, set()).add(name)
    largest = max((number for _, number in distinct), default=0)
    # Each line and each hidden step before it may count by one. A bound below that would cut off executions.
    reach = max(largest + 1, (count + 1) * (plan.hidden_limit + 1))
    # Rounded up to 2**n - 1: a log that grows by a few lines keeps its kernel, and all that is cached for it.
    size = (1 << reach.bit_length()) - 1
    sizes = {p.name: max(size, p.value) for p in kernel.parameters if p.size and isinstance(p.value, int)}
    return Sizing({sort: tuple(sorted(found, key=_natural)) for sort, found in names.items()}, sizes)


def _natural(name: str) -> list[tuple[bool, int, str, str]]:
    # By number, `b2` before `b10`: elements of a set parameter are numbered in this order.
    return [by_number(part) for part in re.split(r"(\d+)", name) if part]


def _check_wildcards(kernel: k.Kernel, plan: k.TracePlan) -> None:
    """Refuse a clause that leaves an argument open whose type grows with the log: to enumerate it would take forever.
    E711.
    """
    open_arguments = [(plan.span, name, p) for name in plan.hidden for p in kernel.action(name).parameters]
    for rule in plan.rules:
        for call in (call for steps in rule.steps for call in steps):
            parameters = kernel.action(call.action).parameters
            pairs = zip(parameters, call.arguments, strict=True)
            open_arguments += [(call.span, call.action, p) for p, given in pairs if given is None]
    problems = [
        Diagnostic(
            UNLISTED,
            span,
            f"`{p.binder.name}` of `{action}` is left open, and its type is as large as the log",
            (Note("name the value in the event's fields, or choose it in the action", p.span),),
        )
        for span, action, p in open_arguments
        if is_sized(p.binder.type)
    ]
    if problems:
        raise SpecError(problems)


def is_sized(type_: t.Type) -> bool:
    """Whether a size parameter limits a type, or a part of it."""
    match type_:
        case t.RangeType():
            return type_.sized
        case t.OptionType(item) | t.SetType(item) | t.SeqType(item) | t.BagType(item):
            return is_sized(item)
        case t.MapType(key, value):
            return is_sized(key) or is_sized(value)
        case t.RecordType(_, fields):
            return any(is_sized(field.type) for field in fields)
        case t.EnumType(_, variants):
            return any(is_sized(field.type) for variant in variants for field in variant.fields)
        case _:
            return False


def has_calls(loaded: Loaded, clause: str | None) -> bool:
    """Whether a trace clause is about calls."""
    plans = [plan for plan in loaded.kernel.traces if clause in (None, plan.name)]
    return len(plans) == 1 and any(rule.call is not None for rule in plans[0].rules)
