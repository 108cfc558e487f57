"""How much a verdict is worth: mutants of the log with one field of one line changed, and how many of them are
rejected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from assay.checker.interpreter.values.show import show_value
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.event import Event, Field, LogPosition
from assay.traces.explain.alternative_values import alternatives
from assay.traces.incremental.incremental_recheck import Change, Retrial
from assay.traces.observe.binding import bind
from assay.traces.observe.field_values import encode
from assay.traces.observe.observation import Observation
from assay.traces.options import Options
from assay.traces.result import KillRate, Repair, TraceVerdict
from assay.traces.search.transition_system import TraceModel
from assay.traces.table.statement_keys import EVERY_SLICE, OF_THE_FILE


@dataclass(frozen=True, slots=True)
class Site:
    """A field of a line that the model reads, with all events of the line, each of which may hold the field."""

    events: tuple[Event, ...]
    observation: Observation
    field: k.EventField
    model: TraceModel

    @property
    def value(self) -> Value:
        """The value in the log."""
        return dict(self.observation.values)[self.field.field]

    def changed(self, other: Value) -> Change:
        """The line with another value in the field, in every event that holds the field."""
        return changed_line(
            self.events, self.field.field, self.observation.event.fields[self.field.field], encode(other)
        )

    def others(self) -> list[Value]:
        """The other values that the field might have, among those that the rule applies to."""
        return [other for other in alternatives(self.value, self.field.binder.type) if self._is_read(other)]

    def _is_read(self, other: Value) -> bool:
        bound = {**self.observation.bound, self.field.binder.name: other}
        return self.model.applies(self.observation.rule, bound)


def changed_line(events: Iterable[Event], field: str, old: Field, new: Field) -> Change:
    """The change of one field of a line, in every event of the line that holds the old value."""
    # Only where the old value stands: events of one line may use a name for different things.
    stating = (event for event in events if field in event.fields and event.fields[field] == old)
    return IdentityMemo((event, (replace(event, fields={**event.fields, field: new}),)) for event in stating)


def sites(retrial: Retrial) -> list[Site]:
    """The fields that the model reads, each field of each line once. Inferred events have none."""
    lines: dict[LogPosition, list[Event]] = {}
    for event in retrial.parts.all:
        if not event.is_inferred:
            lines.setdefault(event.record.place, []).append(event)
    found: dict[tuple[LogPosition, str], Site] = {}
    for model, seen in _observations(retrial):
        place = seen.event.record.place
        for field in seen.rule.fields:
            if field.field not in OF_THE_FILE and field.field != EVERY_SLICE and field.field in seen.event.fields:
                # A field that several rules read is one mutant, not several.
                found.setdefault((place, field.field), Site(tuple(lines[place]), seen, field, model))
    return list(found.values())


def _observations(retrial: Retrial) -> Iterator[tuple[TraceModel, Observation]]:
    for item in retrial.search.frontier.order.items:
        if not item.observation.event.is_inferred:
            yield retrial.search.model, item.observation
    if retrial.joiner is not None:
        model = retrial.joiner.model
        events = [event for own in retrial.parts.slices.values() for event in own]
        for seen in bind(model.plan, events, model.applies).observations:
            yield model, seen


def kill_rate(retrial: Retrial, options: Options) -> KillRate:
    """The share of mutants that are rejected; reproducible for one ``options.seed``."""
    random = Random(options.seed)
    tried = rejected = undecided = 0
    survivors: list[Repair] = []
    for site, other in _sample(random, sites(retrial), options.mutants):
        tried += 1
        judgement = retrial.judge(site.changed(other))
        if judgement.rejected:
            rejected += 1
        # Counted apart: a limit says nothing of the mutant, neither that it lives nor that it is dead.
        elif judgement.verdict is TraceVerdict.INCONCLUSIVE:
            undecided += 1
        else:
            survivors.append(_description(site, other))
    return KillRate(tried, rejected, undecided, tuple(survivors))


def _sample(random: Random, every: Sequence[Site], wanted: int) -> Iterator[tuple[Site, Value]]:
    """At most ``wanted`` distinct sites, each with another value for its field."""
    for site in random.sample(every, len(every)):  # a shuffle, since some sites have no other value and are skipped
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
