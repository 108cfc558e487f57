"""Which one lost line would explain the mismatches of slices: a line about what the false conditions read.

A slice is held against the shared timeline, and against what lines say of its topic. Where such a line was lost,
healthy slices contradict the others. So the log is validated again with it: what explains the log then was no
contradiction. Lines with a version are no matter of this: a version that is missing is seen to be missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice, product

from assay.checker.interpreter.expressions.traverse import assignments, variables_of
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.traces.event import Event, Field
from assay.traces.observe.decomposition import Split, split
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.result import LogViolation
from assay.traces.table.statement_keys import EVERY_SLICE

LOST = "a lost line"
"""The name of the stream of a lost line."""

LINES_TRIED = 8
"""How many lost lines are tried."""


def lost_lines(kernel: k.Kernel, clause: str, violations: Sequence[LogViolation]) -> Iterator[tuple[Event, ...]]:
    """The events of each line that may have been lost before the first of some violations, the likeliest first.

    One line may tell of several topics, such as a list of replicas that are offline: of each that has a violation.
    """
    plan = next(each for each in kernel.traces if each.name == clause)
    first = min(violations, key=lambda each: each.event.record.time or 0, default=None)
    if plan.slicing is None or first is None:
        return
    divided = split(kernel, plan.slicing)
    wanted = _read(divided, plan, {each.event.kind for each in violations})
    kinds = frozenset(load_catalogue().kinds)
    # Only lines that Kafka itself writes, that change the state, and that no version numbers.
    rules = [each for each in plan.rules if each.event in kinds and each.steps and each.at is None]
    shares = {at: _share(_writes(divided.kernel, each), wanted) for at, each in enumerate(rules)}
    ways = [(at, list(_fields(rules[at], first.event, plan.slicing))) for at, share in shares.items() if share]
    likely = sorted(ways, key=lambda way: (-shares[way[0]], len(way[1])))
    for at, fields in islice(((at, each) for at, every in likely for each in every), LINES_TRIED):
        rule = rules[at]
        topics = _topics([each.event for each in violations], [each for each in _group(plan.slicing) if each in fields])
        told = {
            name: " and ".join(dict.fromkeys(str(topic.get(name, fields[name])) for topic in topics)) for name in fields
        }
        text = f"{rule.event}({', '.join(f'{name} {value}' for name, value in told.items())})"
        # No earlier than it has to be: the lines before the first mismatch are explained without it.
        record = replace(first.event.record, time=(first.event.record.time or 0) - 1, message=text)
        # It is of the same process, so that it bounds and is bounded as the line itself would be; its file is unknown.
        yield tuple(Event(rule.event, "", fields | each, record, first.event.run, LOST) for each in topics)


def _topics(events: Sequence[Event], names: Sequence[str]) -> list[dict[str, Field]]:
    """The topics of some events, each once, as the fields that name them."""
    found = [{name: each.fields[name] for name in names} for each in events if each.fields.keys() >= set(names)]
    return [topic for number, topic in enumerate(found) if topic not in found[:number]]


def _read(divided: Split, plan: k.TracePlan, kinds: Collection[str]) -> frozenset[str]:
    """The variables that is read by what lines of these kinds tell of, but for those that versions number."""
    rules = [each for each in divided.plan_of_slices(plan).rules if each.event in kinds]
    called = {call.action for rule in rules for step in rule.steps for call in step}
    logged = [each for rule in rules for each in (rule.then, rule.observe) if each is not None]
    numbered = [rule for rule in plan.rules if rule.at is not None]
    written = frozenset(name for rule in numbered for name in _writes(divided.kernel, rule))
    nodes = [*(divided.kernel.action(each) for each in called), *logged]
    return frozenset(name for node in nodes for name in variables_of(node)) - written


def _share(writes: frozenset[str], wanted: frozenset[str]) -> float:
    """How much of what an action writes is wanted: what changes little else is likelier."""
    return len(writes & wanted) / max(1, len(writes))


def _writes(kernel: k.Kernel, rule: k.TraceRule) -> frozenset[str]:
    called = (call.action for step in rule.steps for call in step)
    return frozenset(each.variable for name in called for each in assignments(kernel.action(name).body))


def _fields(rule: k.TraceRule, event: Event, slicing: k.Slicing) -> Iterator[dict[str, Field]]:
    """The fields that a line of a rule may have had beside an event. Its writer, numbers and topic are those of the
    event."""
    choices: dict[str, list[Field]] = {}
    for field in rule.fields:
        if field.field == EVERY_SLICE:
            choices |= {name: [event.fields[name]] for name in _group(slicing) if name in event.fields}
        elif field.field == "node":
            choices["node"] = [event.fields.get("node", event.run.node)]
        elif isinstance(field.binder.type, t.AtomType):
            names = field.binder.type.sort.elements
            choices[field.field] = [int(name) if name.isdecimal() else name for name in names]
        elif field.field in event.fields:
            choices[field.field] = [event.fields[field.field]]
        else:
            return
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _group(slicing: k.Slicing) -> tuple[str, ...]:
    """The fields that name a slice's topic, in all its partitions."""
    return slicing.fields[:1] if slicing.identity is None else (slicing.fields[0], slicing.identity)
