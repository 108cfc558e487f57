"""How much a verdict is worth: copies of the log with one field of one line changed, and how many of them are rejected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from assay.checker.interpreter.values.show import show_value
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.event import Event, Field, LogPosition
from assay.traces.explain.alternative_values import alternatives
from assay.traces.incremental.incremental_recheck import Change, Retrial
from assay.traces.observe.binding import Observation, bind
from assay.traces.observe.field_values import encode
from assay.traces.options import Options
from assay.traces.result import KillRate, Repair, TraceVerdict
from assay.traces.search.transition_system import TraceModel
from assay.traces.table.statement_keys import EVERY_SLICE, OF_THE_FILE


@dataclass(frozen=True, slots=True)
class Site:
    """A field of a line that the model reads, and all events of the line, each of which may state it."""

    events: tuple[Event, ...]
    observation: Observation
    field: k.EventField
    model: TraceModel

    @property
    def value(self) -> Value:
        """What the line states."""
        return dict(self.observation.values)[self.field.field]

    def changed(self, other: Value) -> Change:
        """The line with another value in the field, in every event that states the field so."""
        return changed_line(
            self.events, self.field.field, self.observation.event.fields[self.field.field], encode(other)
        )

    def others(self) -> list[Value]:
        """What the line might state instead, among the values that the rule speaks of."""
        return [other for other in alternatives(self.value, self.field.binder.type) if self._is_read(other)]

    def _is_read(self, other: Value) -> bool:
        bound = {**self.observation.bound, self.field.binder.name: other}
        return self.model.applies(self.observation.rule, bound)


def changed_line(events: Iterable[Event], field: str, old: Field, new: Field) -> Change:
    """A line with another value in a field: the change of every event of it that states the field so."""
    stating = (event for event in events if field in event.fields and event.fields[field] == old)
    return {id(event): (replace(event, fields={**event.fields, field: new}),) for event in stating}


def sites(retrial: Retrial) -> list[Site]:
    """The fields of the lines that the model reads, of each line each field once."""
    lines: dict[LogPosition, list[Event]] = {}
    for event in retrial.parts.all:
        if not event.is_supposed:
            lines.setdefault(event.record.place, []).append(event)
    found: dict[tuple[LogPosition, str], Site] = {}
    for model, seen in _observations(retrial):
        place = seen.event.record.place
        for field in seen.rule.fields:
            if field.field not in OF_THE_FILE and field.field != EVERY_SLICE and field.field in seen.event.fields:
                found.setdefault((place, field.field), Site(tuple(lines[place]), seen, field, model))
    return list(found.values())


def _observations(retrial: Retrial) -> Iterator[tuple[TraceModel, Observation]]:
    for item in retrial.search.frontier.order.items:
        if not item.observation.event.is_supposed:
            yield retrial.search.model, item.observation
    if retrial.joiner is not None:
        model = retrial.joiner.model
        events = [event for own in retrial.parts.slices.values() for event in own]
        for seen in bind(model.plan, events, model.applies).observations:
            yield model, seen


def kill_rate(retrial: Retrial, options: Options) -> KillRate:
    """The share of one-field mutants of the used lines that are rejected; the same for the same seed."""
    random = Random(options.seed)
    tried = rejected = undecided = 0
    survivors: list[Repair] = []
    for site, other in _sample(random, sites(retrial), options.mutants):
        tried += 1
        judgement = retrial.judge(site.changed(other))
        if judgement.rejected:
            rejected += 1
        elif judgement.verdict is TraceVerdict.INCONCLUSIVE:
            undecided += 1
        else:
            survivors.append(_description(site, other))
    return KillRate(tried, rejected, undecided, tuple(survivors))


def _sample(random: Random, every: Sequence[Site], wanted: int) -> Iterator[tuple[Site, Value]]:
    """That many sites with what the line might state instead, no site twice; fewer if there are not so many."""
    for site in random.sample(every, len(every)):
        if wanted == 0:
            return
        others = site.others()
        if others:
            wanted -= 1
            yield site, random.choice(others)


def _description(site: Site, other: Value) -> Repair:
    name, type_ = site.field.field, site.field.binder.type
    old, new = show_value(site.value, type_), show_value(other, type_)
    return Repair("change", f"`{name}` is {new} instead of {old}", site.observation.event, name, old, new)
