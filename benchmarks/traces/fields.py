"""One field of one line changed: how often it is noticed, and whether the changed line is blamed first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from assay.grammar import kernel as k
from assay.traces.event import Event, Field, LogPosition
from assay.traces.incremental.incremental_recheck import Change, RecheckAnswer, Retrial
from assay.traces.observe.model_size import trace_plan
from assay.traces.result import TraceVerdict

from .edit import edited, printed
from .recorded import StateWrite, asked, events_of, reading, retrial, state_writes

EPOCHS = ("epoch", "controller_epoch", "leader_epoch", "current", "latest")
BROKERS = ("leader", "broker", "controller", "winner", "removed", "target")
FACTS = frozenset({*EPOCHS, *BROKERS, "isr", "version", "epochs", "live"})
"""The fields of protocol lines that are changed: epochs, versions, broker ids, and members of the ISR."""


STORED = frozenset({"leader", "isr", "leader_epoch", "version"})
"""The fields that the stored state of a partition has."""


@dataclass(frozen=True, slots=True)
class FieldSite:
    """A field of a line, with all events of the line, and in how many other lines the same fact stands."""

    run: str
    events: tuple[Event, ...]
    event: Event
    field: str
    others: int

    @property
    def place(self) -> LogPosition:
        """Where the line is."""
        return self.event.record.place


@dataclass(frozen=True, slots=True)
class FieldMutant:
    """A site with another value, and the answer about the log with it."""

    site: FieldSite
    new: Field
    judgement: RecheckAnswer
    change: Change

    @property
    def still_true(self) -> bool:
        """Whether what the changed line states of a write is what was written, as ZooKeeper or the metadata log holds it.

        Nothing can reject such a line: writes that differ in nothing but their numbers follow one another, and each may have been told.
        """
        stated = [
            new.fields for events in self.change.values() for new in events if new.pattern == self.site.event.pattern
        ]
        return self.site.field in STORED and any(_was_written(self.site.run, fields) for fields in stated)

    @property
    def blamed(self) -> int | None:
        """At which place, from 1, the changed line is among those blamed."""
        places = [blame.place for violation in self.judgement.violations for blame in violation.blame]
        distinct = list(dict.fromkeys(places))
        return distinct.index(self.site.place) + 1 if self.site.place in distinct else None

    def as_line(self) -> dict[str, Any]:
        """The mutant in words."""
        old = self.site.event.fields[self.site.field]
        return {
            "run": self.site.run,
            "place": str(self.site.place).rpartition("!")[2],
            "kind": self.site.event.kind,
            "change": f"{self.site.field}: {old} -> {self.new}",
            "verdict": self.judgement.verdict.value,
            "rejected": self.judgement.rejected,
            "still_true": self.still_true,
            "blamed": self.blamed,
            "others": self.site.others,
        }


def _was_written(run: str, fields: Mapping[str, Field]) -> bool:
    """Whether a write of a partition left what a line states of it, and more than its number is stated."""
    of = f"{fields.get('topic')}-{fields.get('partition')}", fields.get("version")
    tells = not fields.keys().isdisjoint({"leader", "isr"})
    return tells and any(_says(fields, each) for each in state_writes()[run] if (each.partition, each.version) == of)


def _says(fields: Mapping[str, Field], written: StateWrite) -> bool:
    isr, leader, epoch = fields.get("isr"), fields.get("leader", written.leader), fields.get("leader_epoch")
    return (
        (not isinstance(isr, tuple) or frozenset(isr) == written.isr)
        and (-1 if leader is None else leader) == written.leader
        and epoch in (None, written.leader_epoch)
    )


def field_sites(run: str) -> list[FieldSite]:
    """The facts in the lines that the trace clause reads, those of a line once for each field."""
    loaded, clause = asked(events_of(run))
    spoken = {rule.event for rule in trace_plan(loaded.kernel, clause).rules} - {k.GAP}
    catalogue = reading(run).catalogue
    lines: dict[LogPosition, list[Event]] = defaultdict(list)
    for event in retrial(run).parts.all:
        lines[event.record.place].append(event)
    stated: Counter[tuple[object, ...]] = Counter()
    found: dict[tuple[LogPosition, str], tuple[Event, str]] = {}
    for place, events in lines.items():
        for event in events:
            for field in FACTS & event.fields.keys() & catalogue.pattern(event.pattern).fields.keys():
                if event.kind in spoken and printed(catalogue, event, field) is not None:
                    found.setdefault((place, field), (event, field))
    for event, field in found.values():
        stated[_fact(event, field)] += 1
    return [
        FieldSite(run, tuple(lines[place]), event, field, stated[_fact(event, field)] - 1)
        for (place, _), (event, field) in sorted(found.items(), key=lambda each: (str(each[0][0]), each[0][1]))
    ]


def _fact(event: Event, field: str) -> tuple[object, ...]:
    """What several lines state when they agree: the same of the same write, or of the same reign."""
    fields = event.fields
    if "version" in fields and "topic" in fields and field not in ("controller", "epoch", "broker"):
        return fields["topic"], fields["partition"], fields["version"], field, str(fields[field])
    if field in ("controller", "epoch", "winner") and "epoch" in fields:
        return "reign", fields.get("controller", fields.get("winner")), fields["epoch"]
    return event.record.place, field


def other_value(field: str, value: Field, brokers: Sequence[int], random: Random) -> Field:
    """What the field might say instead: a number nearby or one digit off, another broker, one member more, less or other."""
    if isinstance(value, tuple):
        members = [each for each in value if isinstance(each, int)]
        absent = [each for each in brokers if each not in members]
        choices = [tuple(m for m in members if m != gone) for gone in members] if len(members) > 1 else []
        choices += [(*members, new) for new in absent]
        choices += [tuple(new if m == gone else m for m in members) for gone in members for new in absent]
        return random.choice(choices)
    if isinstance(value, Mapping):
        key = random.choice(sorted(value, key=str))
        return {**value, key: _other_number(int(str(value[key])), random)}
    if value is None:
        return random.choice(brokers)
    number = int(str(value))
    return random.choice([b for b in brokers if b != number]) if field in BROKERS else _other_number(number, random)


def _other_number(number: int, random: Random) -> int:
    digits = str(number)
    at = random.randrange(len(digits))
    digit = int(digits[:at] + random.choice([d for d in "0123456789" if d != digits[at]]) + digits[at + 1 :])
    return random.choice([number + 1, digit] + ([number - 1] if number else []))


def field_mutants(run: str, count: int, seed: int, first: int = 0) -> Iterator[FieldMutant]:
    """So many one-field mutants of a run from the one with some number on, each at another site; the same for the same seed."""
    every = field_sites(run)
    asked: Retrial = retrial(run)
    brokers = sorted({broker for node in reading(run).nodes for broker in node.brokers})
    chosen = Random(f"{run} {seed}").sample(every, len(every))
    for number, site in enumerate(chosen[first : first + count], first):
        old = site.event.fields[site.field]
        # A generator for each mutant: pieces that are measured apart have the same mutants.
        new = other_value(site.field, old, brokers, Random(f"{run} {seed} {number}"))
        change = edited(reading(run).catalogue, site.events, site.event, site.field, new)
        if change is not None:
            yield FieldMutant(site, new, asked.judge(change, explained=True), change)


def summary(mutants: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The figures of the table, of mutants as lines. Lines that are true still are counted apart."""
    made = list(mutants)
    every = [each for each in made if not each["still_true"]]
    rejected = [each for each in every if each["rejected"]]
    several = [each for each in rejected if each["others"] >= 2]
    single = [each for each in rejected if each["others"] < 2]
    verdicts = Counter(each["verdict"] for each in every if not each["rejected"])
    return {
        "mutants": len(every),
        "still_true": len(made) - len(every),
        "rejected": len(rejected),
        "inconclusive": verdicts[TraceVerdict.INCONCLUSIVE.value],
        "accepted": verdicts[TraceVerdict.CONSISTENT.value],
        "stated_by_others": len(several),
        "of_these_blamed_first": sum(each["blamed"] == 1 for each in several),
        "stated_once": len(single),
        "of_these_blamed_first_or_second": sum(each["blamed"] in (1, 2) for each in single),
    }
